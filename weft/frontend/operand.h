// What functions of tensors take besides tensors: numbers, axes, indices, and where they were called.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <variant>

#include "weft/frontend/tensor.h"

namespace weft {

// A tensor, or a number that takes the type of what it meets, as Python's numbers do in NumPy: an integer stays with
// any dtype but bool, a float makes integers f64, a complex number makes floats complex. A bool is a boolean tensor.
class Operand {
 public:
  Operand(const Tensor& tensor, Where where = Where::current()) : where(where), tensor(tensor) {}  // NOLINT: on purpose
  template <std::integral T>
  Operand(T number, Where where = Where::current()) : where(where), number(number_of(number)) {}  // NOLINT
  template <std::floating_point T>
  Operand(T number, Where where = Where::current()) : where(where), number(static_cast<double>(number)) {}  // NOLINT
  template <std::floating_point T>
  Operand(std::complex<T> number, Where where = Where::current())
      : where(where), number(std::complex<double>(number)) {}  // NOLINT

  bool is_tensor() const { return number.index() == 0; }
  bool is_integer() const {
    return std::holds_alternative<int64_t>(number) || std::holds_alternative<uint64_t>(number);
  }

  using Number =
      std::variant<std::monostate, bool, int64_t, uint64_t, double, std::complex<double>>;  // nothing for a tensor
  Where where;
  Tensor tensor;      // nothing for a number
  bool weak = false;  // a tensor of a number that only the run knows: it promotes as one
  Number number;

 private:
  template <std::integral T>
  static Number number_of(T number) {
    if constexpr (std::same_as<T, bool>)
      return number;
    else if constexpr (std::unsigned_integral<T>)
      return number > static_cast<uint64_t>(INT64_MAX) ? Number(static_cast<uint64_t>(number))
                                                       : Number(static_cast<int64_t>(number));
    else
      return static_cast<int64_t>(number);
  }
};

// The axes that a function is about: one, several, or all (the default). Negative ones count from the last.
class Axes {
 public:
  Axes() = default;
  template <std::integral T>
  Axes(T axis) : list(Ints{static_cast<int64_t>(axis)}) {}         // NOLINT: on purpose
  Axes(std::initializer_list<int64_t> axes) : list(Ints(axes)) {}  // NOLINT
  Axes(Ints axes) : list(std::move(axes)) {}                       // NOLINT
  std::optional<Ints> list;
};

// A range of an axis, as start:stop:step in Python: negative bounds count from the end, both are cut off at the ends,
// and a negative step goes from the end down. Bounds may be symbolic.
struct Slice {
  std::optional<Dim> start = {}, stop = {};
  int64_t step = 1;
};
// Places of x[{…}]: a new axis of extent 1, and as many whole axes as are left.
struct NewAxis {};
struct Ellipsis {};
inline constexpr NewAxis newaxis;
inline constexpr Ellipsis ellipsis;

// What x[…] takes for an axis: a place, places that are integers of a tensor, a range, a new axis, or an ellipsis.
class Selector {
 public:
  template <std::integral T>
  Selector(T place, Where where = Where::current())
      : item(Dim(static_cast<int64_t>(place))), where(where) {}                                    // NOLINT: on purpose
  Selector(Dim place, Where where = Where::current()) : item(std::move(place)), where(where) {}    // NOLINT
  Selector(Slice range, Where where = Where::current()) : item(std::move(range)), where(where) {}  // NOLINT
  Selector(NewAxis, Where where = Where::current()) : item(newaxis), where(where) {}               // NOLINT
  Selector(Ellipsis, Where where = Where::current()) : item(ellipsis), where(where) {}             // NOLINT
  Selector(Tensor places, Where where = Where::current()) : item(std::move(places)), where(where) {}  // NOLINT
  // Integers of i64 that are known to lie inside of the axis, counted from its beginning.
  static Selector inside(Tensor places) {
    Selector result(std::move(places), Where{});
    result.is_inside = true;
    return result;
  }
  std::variant<Dim, Slice, NewAxis, Ellipsis, Tensor> item;
  Where where;
  bool is_inside = false;
};

}  // namespace weft
