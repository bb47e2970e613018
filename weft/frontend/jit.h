// Functions of tensors as compiled programs.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/frontend/operand.h"
#include "weft/runtime/executable.h"

namespace weft {

class Graph;
using GraphPtr = std::shared_ptr<const Graph>;

// An argument of a function that is traced: its extents may be symbolic, Dim(Symbol{"n", 1, 64, 4096}).
struct Spec {
  Dims dims = {};
  DType dtype = DType::f32;
  std::string name = {};  // "x0", "x1" … where it is empty
};

// A function of tensors one after the other.
using TensorFunction = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

// A function that was traced, compiled for this CPU.
class WEFT_API CompiledFunction {
 public:
  const GraphPtr& graph() const { return graph_; }
  const Executable& executable() const { return executable_; }
  // Runs on the values of tensors. Error as Executable::run.
  std::vector<Tensor> operator()(std::span<const Tensor> arguments) const;
  std::vector<Tensor> operator()(std::initializer_list<Tensor> arguments) const {
    return (*this)(std::span(arguments.begin(), arguments.size()));
  }
  // Writes a file that Executable::load reads, in a process without a compiler too. Error(io).
  void save(const std::filesystem::path& file) const;

 private:
  friend CompiledFunction compile(GraphPtr graph);
  GraphPtr graph_;
  Executable executable_;
  std::shared_ptr<const void> compiled_;
};

// The program as StableHLO text that other tools read; and as text for people: a line for each call, with the line that
// made it.
WEFT_API std::string stablehlo(const GraphPtr& graph);
WEFT_API std::string graph_text(const GraphPtr& graph);

// Compiled for this CPU. Error where something is not supported, naming op, dtype and the line.
WEFT_API CompiledFunction compile(GraphPtr graph);

namespace jit_parts {

WEFT_API GraphPtr trace(const TensorFunction& function, const std::vector<Spec>& specs, std::string name);

// The programs of a function, one for each signature; the last 256 are kept. Thread-safe.
class WEFT_API Programs {
 public:
  Programs(std::vector<Spec> specs, std::string name);
  // `lengths`: how many tensors each argument has. `function` is called where the signature is met for the first time,
  // and where a function that is traced calls this one.
  std::vector<Tensor> call(std::vector<Tensor> arguments, Ints lengths, const TensorFunction& function) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

template <class T>
concept Several = requires(const T& tensors) {
  { *std::begin(tensors) } -> std::convertible_to<const Tensor&>;
};

template <class T>
void flatten(std::vector<Tensor>& flat, const T& value) {
  if constexpr (std::convertible_to<const T&, Tensor>)
    flat.push_back(value);
  else if constexpr (Several<T>)
    flat.insert(flat.end(), std::begin(value), std::end(value));
  else
    std::apply([&](const auto&... parts) { (flatten(flat, parts), ...); }, value);
}

template <class T>
std::vector<Tensor> flattened(const T& value) {
  std::vector<Tensor> flat;
  flatten(flat, value);
  return flat;
}

// The next tensors as a value like `like`, of as many.
template <class T>
T taken(const Tensor*& next, const T& like) {
  if constexpr (std::same_as<T, Tensor>) {
    return *next++;
  } else if constexpr (Several<T>) {
    T result = like;
    for (auto& tensor : result) tensor = *next++;
    return result;
  } else {
    return std::apply([&](const auto&... parts) { return T{taken(next, parts)...}; }, like);
  }
}

// How many vectors a type has, which may be of any length; and they, made so long.
template <class T>
constexpr size_t vectors_in() {
  if constexpr (std::same_as<T, std::vector<Tensor>>)
    return 1;
  else if constexpr (std::same_as<T, Tensor> || Several<T>)
    return 0;
  else
    return []<size_t... i>(std::index_sequence<i...>) {
      return (size_t{0} + ... + vectors_in<std::tuple_element_t<i, T>>());
    }(std::make_index_sequence<std::tuple_size_v<T>>());
}
template <class T>
void resize_vectors(T& value, size_t size) {
  if constexpr (std::same_as<T, std::vector<Tensor>>)
    value.resize(size);
  else if constexpr (vectors_in<T>() > 0)
    std::apply([&](auto&... parts) { (resize_vectors(parts, size), ...); }, value);
}

// What a function gave as these tensors: what is not elsewhere is in the vector.
template <class T>
T result_of(std::vector<Tensor> flat) {
  static_assert(vectors_in<T>() <= 1,
                "a function that jit compiles may give one vector of tensors: where another begins is not known");
  T like{};
  resize_vectors(like, flat.size() - flattened(like).size());
  const Tensor* next = flat.data();
  return taken<T>(next, like);
}

template <class F, size_t... i>
TensorFunction of_tensors(const F& f, std::index_sequence<i...>) {
  return [&f](std::span<const Tensor> x) { return flattened(f(x[i]...)); };
}

}  // namespace jit_parts

// What jit() gives: called as the function is, with tensors and vectors of them.
template <class F>
class Jit {
 public:
  Jit(F f, std::vector<Spec> specs, std::string name)
      : f_(std::move(f)), programs_(std::move(specs), std::move(name)) {}

  template <class... Arguments>
    requires std::invocable<const F&, const Arguments&...>
  auto operator()(const Arguments&... arguments) const {
    using Result = std::invoke_result_t<const F&, const Arguments&...>;
    std::vector<Tensor> flat;
    Ints lengths;
    ((jit_parts::flatten(flat, arguments), lengths.push_back(static_cast<int64_t>(flat.size()))), ...);
    auto like = std::tie(arguments...);
    auto function = [this, &like](std::span<const Tensor> tensors) {
      const Tensor* next = tensors.data();
      return std::apply(
          [&](const auto&... parts) {
            std::tuple<std::remove_cvref_t<decltype(parts)>...> taken{jit_parts::taken(next, parts)...};
            return jit_parts::flattened(std::apply(f_, taken));
          },
          like);
    };
    return jit_parts::result_of<Result>(programs_.call(std::move(flat), std::move(lengths), std::ref(function)));
  }

 private:
  F f_;
  jit_parts::Programs programs_;
};

// The function, which gives a tensor or a vector, array, pair or tuple of them, compiled: it is called once for each
// signature (dtypes and shapes) to record what it does, and that program runs from then on. With specs there is one
// program for all shapes that they allow. The function must do the same for the same signature; tensors that it uses
// beside its arguments are constants of the program. Error as what it calls, with the caller's line.
template <class F>
Jit<F> jit(F f, std::vector<Spec> specs = {}, std::string name = "main") {
  return {std::move(f), std::move(specs), std::move(name)};
}

// What a function does to placeholders of specs, as a graph named `name`.
template <size_t count, class F>
GraphPtr trace(const F& f, const Spec (&specs)[count], std::string name = "main") {
  return jit_parts::trace(jit_parts::of_tensors(f, std::make_index_sequence<count>()), {specs, specs + count},
                          std::move(name));
}
// The same compiled, to be run or saved.
template <size_t count, class F>
CompiledFunction compile(const F& f, const Spec (&specs)[count], std::string name = "main") {
  return compile(trace(f, specs, std::move(name)));
}

}  // namespace weft
