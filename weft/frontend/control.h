// Loops and branches on what is known only when a program runs. Functions are called once, to record what they do; what
// they use beside their arguments is as it was before.
//
// A state is a tensor, or a vector, array, pair or tuple of them. Its dtypes and shapes stay from turn to turn:
// Error(type) with both where they do not, where branches differ, or where a condition is not one boolean.
#pragma once

#include "weft/frontend/jit.h"

namespace weft {

namespace control_parts {

using Turn = std::function<std::vector<Tensor>(const Dim& i, std::span<const Tensor> state)>;
WEFT_API std::vector<Tensor> run_while(const TensorFunction& condition, const TensorFunction& body,
                                       const std::vector<Tensor>& init, Where where);
WEFT_API std::vector<Tensor> run_for(const Dim& trips, const Turn& body, const std::vector<Tensor>& init, Where where);
WEFT_API std::vector<Tensor> run_if(const Tensor& predicate, const TensorFunction& then,
                                    const TensorFunction& otherwise, Where where);

template <class State>
State like(const State& init, std::span<const Tensor> tensors) {
  const Tensor* next = tensors.data();
  return jit_parts::taken(next, init);
}

}  // namespace control_parts

// `body` applied to a state for as long as `condition` of it, one boolean, holds: while_loop([](Tensor v) { return v <
// 100; },
// [](Tensor v) { return v * 2; }, x).
template <class State, class Condition, class Body>
State while_loop(const Condition& condition, const Body& body, const State& init, Where where = Where::current()) {
  using control_parts::like;
  auto holds = [&](std::span<const Tensor> state) { return std::vector<Tensor>{condition(like(init, state))}; };
  auto turn = [&](std::span<const Tensor> state) { return jit_parts::flattened(State(body(like(init, state)))); };
  return like(init, control_parts::run_while(holds, turn, jit_parts::flattened(init), where));
}

// state = body(i, state) for i = 0, 1, … trips - 1. The counter is an extent: x[i] is a place, extent(i) its value.
template <class State, class Body>
State for_loop(const Dim& trips, const Body& body, const State& init, Where where = Where::current()) {
  using control_parts::like;
  auto turn = [&](const Dim& i, std::span<const Tensor> state) {
    return jit_parts::flattened(State(body(i, like(init, state))));
  };
  return like(init, control_parts::run_for(trips, turn, jit_parts::flattened(init), where));
}

// What `then()` gives where the predicate, a scalar, is not zero, else what `otherwise()` does; only the one chosen
// runs.
template <class Then, class Otherwise, class Result = std::invoke_result_t<Then>>
Result cond(const Tensor& predicate, const Then& then, const Otherwise& otherwise, Where where = Where::current()) {
  auto first = [&](std::span<const Tensor>) { return jit_parts::flattened(then()); };
  auto second = [&](std::span<const Tensor>) { return jit_parts::flattened(Result(otherwise())); };
  return jit_parts::result_of<Result>(control_parts::run_if(predicate, first, second, where));
}

}  // namespace weft
