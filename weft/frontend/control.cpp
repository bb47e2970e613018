// Loops and branches as calls with regions.
#include "weft/frontend/control.h"

#include <algorithm>

#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"

namespace weft::control_parts {
namespace {

using Tensors = std::vector<Tensor>;

Tensors joined(Tensors lhs, const Tensors& rhs) {
  lhs.insert(lhs.end(), rhs.begin(), rhs.end());
  return lhs;
}

// What bodies use of their surroundings, each once.
Tensors captured_by(const Tensors& parameters, std::initializer_list<Tensors> bodies, uint64_t since) {
  Tensors all;
  for (const Tensors& outputs : bodies)
    for (const Tensor& tensor : record_region(parameters, outputs, since).captured)
      if (std::none_of(all.begin(), all.end(), [&](const Tensor& other) { return tensor.is_same(other); }))
        all.push_back(tensor);
  return all;
}

Tensors parameters_for(const Tensors& state) {
  Tensors parameters;
  for (const Tensor& tensor : state) parameters.push_back(parameter(tensor.type(), "carried"));
  return parameters;
}

// How many loops the counter of one that is recorded stands in.
thread_local int depth = 0;

}  // namespace

Tensors run_while(const TensorFunction& condition, const TensorFunction& body, const Tensors& init, Where where) {
  return recorded("while_loop", where, [&] {
    uint64_t since = next_serial();
    Tensors state = parameters_for(init), holds = condition(state), next = body(state),
            captured = captured_by(state, {holds, next}, since);
    Tensors inside = joined(state, captured);
    Tensors results = apply_all(
        Op::while_, joined(init, captured), {},
        {record_region(inside, holds, since).graph, record_region(inside, joined(next, captured), since).graph});
    results.resize(init.size());
    return results;
  });
}

Tensors run_for(const Dim& trips, const Turn& body, const Tensors& init, Where where) {
  return recorded("for_loop", where, [&] {
    if (trips.max() < 1) return init;
    struct Inside {
      Inside() { ++depth; }
      ~Inside() { --depth; }
    };
    int64_t last = trips.max() - 1;
    std::string counter = cat("loop", depth + 1, "_", last);
    uint64_t since = next_serial();
    Tensors state = parameters_for(init), next;
    {
      Inside inside;
      next = body(Dim(Symbol{counter, 0, last / 2, last}), state);
    }
    RecordedRegion region = record_region(state, next, since);
    return apply_all(Op::for_, joined(init, region.captured),
                     {{Attr::counter, counter},
                      {Attr::first, Dims{0}},
                      {Attr::trips, Dims{trips}},
                      {Attr::step, int64_t{1}},
                      {Attr::carried, static_cast<int64_t>(init.size())}},
                     {region.graph});
  });
}

Tensors run_if(const Tensor& predicate, const TensorFunction& then, const TensorFunction& otherwise, Where where) {
  return recorded("cond", where, [&] {
    uint64_t since = next_serial();
    Tensors first = then({}), second = otherwise({}), captured = captured_by({}, {first, second}, since);
    return apply_all(Op::if_, joined({cast_to(predicate, DType::boolean)}, captured), {},
                     {record_region(captured, first, since).graph, record_region(captured, second, since).graph});
  });
}

}  // namespace weft::control_parts
