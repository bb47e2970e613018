#include "weft/ir/direct.h"

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

namespace weft {
namespace {

// How a result's elements are walked: rows, and in each of them elements so far apart in every operand.
struct Rows {
  Ints dims;                     // of the rows' beginnings
  int64_t length = 1;            // of a row
  std::array<Ints, 3> strides;   // of each operand along dims
  std::array<int64_t, 3> steps;  // and along a row
};

void add_operand(Rows& rows, size_t k, const Ints& from, const Ints& to) {
  Ints strides = broadcast_strides(from, to);
  rows.steps[k] = strides.empty() ? 0 : strides.back();
  if (!strides.empty()) strides.pop_back();
  rows.strides[k] = std::move(strides);
}

Rows rows_of(const Type& type, std::span<const Literal> operands) {
  Rows rows;
  Ints to = type.static_dims();
  bool is_flat = true;
  for (const Literal& operand : operands) is_flat &= operand.count() == 1 || operand.type().static_dims() == to;
  if (is_flat) {
    rows.length = 1;
    for (int64_t extent : to) rows.length *= extent;
    for (size_t k = 0; k < operands.size(); ++k) rows.steps[k] = operands[k].count() == 1 ? 0 : 1;
    return rows;
  }
  for (size_t k = 0; k < operands.size(); ++k) add_operand(rows, k, operands[k].type().static_dims(), to);
  rows.length = to.back();
  to.pop_back();
  rows.dims = std::move(to);
  return rows;
}

// Calls row(at, begins) for every row: where it begins in the result and in each operand.
template <class Row>
void for_rows(const Rows& rows, const Row& row) {
  int64_t count = rows.length == 0 ? 0 : 1;
  for (int64_t extent : rows.dims) count *= extent;
  Ints index(rows.dims.size());
  std::array<int64_t, 3> begins{};
  for (int64_t r = 0; r < count; ++r) {
    row(r * rows.length, begins);
    for (size_t axis = rows.dims.size(); axis-- > 0;) {
      bool is_past = ++index[axis] == rows.dims[axis];
      for (size_t k = 0; k < 3; ++k)
        if (axis < rows.strides[k].size())
          begins[k] += is_past ? -rows.strides[k][axis] * (rows.dims[axis] - 1) : rows.strides[k][axis];
      if (!is_past) break;
      index[axis] = 0;
    }
  }
}

template <class R, class A, class F>
Literal each(const Type& type, std::span<const Literal> operands, const F& f) {
  Literal result(type);
  Rows rows = rows_of(type, operands);
  R* out = reinterpret_cast<R*>(result.mutable_bytes());
  const A* a = operands[0].data<A>().data();
  for_rows(rows, [&](int64_t at, const std::array<int64_t, 3>& begins) {
    for (int64_t j = 0; j < rows.length; ++j) out[at + j] = f(a[begins[0] + j * rows.steps[0]]);
  });
  return result;
}

template <class R, class A, class F>
Literal each_pair(const Type& type, std::span<const Literal> operands, const F& f) {
  Literal result(type);
  Rows rows = rows_of(type, operands);
  R* out = reinterpret_cast<R*>(result.mutable_bytes());
  const A *a = operands[0].data<A>().data(), *b = operands[1].data<A>().data();
  for_rows(rows, [&](int64_t at, const std::array<int64_t, 3>& begins) {
    for (int64_t j = 0; j < rows.length; ++j)
      out[at + j] = f(a[begins[0] + j * rows.steps[0]], b[begins[1] + j * rows.steps[1]]);
  });
  return result;
}

template <class T>
Literal chosen(const Type& type, std::span<const Literal> operands) {
  Literal result(type);
  Rows rows = rows_of(type, operands);
  T* out = reinterpret_cast<T*>(result.mutable_bytes());
  const uint8_t* conditions = operands[0].data<uint8_t>().data();
  const T *a = operands[1].data<T>().data(), *b = operands[2].data<T>().data();
  for_rows(rows, [&](int64_t at, const std::array<int64_t, 3>& begins) {
    for (int64_t j = 0; j < rows.length; ++j)
      out[at + j] = conditions[begins[0] + j * rows.steps[0]] ? a[begins[1] + j * rows.steps[1]]
                                                              : b[begins[2] + j * rows.steps[2]];
  });
  return result;
}

// Integers wrap, by the unsigned of their width.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

template <class T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  return a < b ? b : a;
}
template <class T>
T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  return b < a ? b : a;
}

using Operands = std::span<const Literal>;
using Found = std::optional<Literal>;

template <class T>
Found compared(Scalar op, const Type& type, Operands operands) {
  auto by = [&](auto f) -> Found { return each_pair<uint8_t, T>(type, operands, f); };
  switch (op) {
    case Scalar::eq:
      return by([](T a, T b) { return a == b; });
    case Scalar::ne:
      return by([](T a, T b) { return a != b; });
    case Scalar::lt:
      return by([](T a, T b) { return a < b; });
    case Scalar::le:
      return by([](T a, T b) { return a <= b; });
    case Scalar::gt:
      return by([](T a, T b) { return a > b; });
    case Scalar::ge:
      return by([](T a, T b) { return a >= b; });
    default:
      return {};
  }
}

template <class T>
Found combined(Scalar op, const Type& type, Operands operands) {
  using U = Wrapping<T>;
  auto by = [&](auto f) -> Found { return each_pair<T, T>(type, operands, f); };
  switch (op) {
    case Scalar::add:
      return by([](T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); });
    case Scalar::subtract:
      return by([](T a, T b) { return static_cast<T>(static_cast<U>(a) - static_cast<U>(b)); });
    case Scalar::multiply:
      return by([](T a, T b) { return static_cast<T>(static_cast<U>(a) * static_cast<U>(b)); });
    case Scalar::maximum:
      return by([](T a, T b) { return larger(a, b); });
    case Scalar::minimum:
      return by([](T a, T b) { return smaller(a, b); });
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>)
    if (op == Scalar::divide) return by([](T a, T b) { return a / b; });
  return compared<T>(op, type, operands);
}

Found combined_booleans(Scalar op, const Type& type, Operands operands) {
  auto by = [&](auto f) -> Found { return each_pair<uint8_t, uint8_t>(type, operands, f); };
  switch (op) {
    case Scalar::bit_and:
    case Scalar::minimum:
    case Scalar::multiply:
      return by([](uint8_t a, uint8_t b) { return a && b; });
    case Scalar::bit_or:
    case Scalar::maximum:
    case Scalar::add:
      return by([](uint8_t a, uint8_t b) { return a || b; });
    case Scalar::bit_xor:
    case Scalar::ne:
      return by([](uint8_t a, uint8_t b) { return (a != 0) != (b != 0); });
    case Scalar::eq:
      return by([](uint8_t a, uint8_t b) { return (a != 0) == (b != 0); });
    default:
      return {};
  }
}

template <class T>
Found changed(Scalar op, const Type& type, Operands operands) {
  auto by = [&](auto f) -> Found { return each<T, T>(type, operands, f); };
  if (op == Scalar::negate) return by([](T a) { return static_cast<T>(-static_cast<Wrapping<T>>(a)); });
  if constexpr (std::is_floating_point_v<T>) switch (op) {
      case Scalar::abs:
        return by([](T a) { return std::fabs(a); });
      case Scalar::sqrt:
        return by([](T a) { return std::sqrt(a); });
      case Scalar::exp:
        return by([](T a) { return std::exp(a); });
      case Scalar::log:
        return by([](T a) { return std::log(a); });
      case Scalar::sin:
        return by([](T a) { return std::sin(a); });
      case Scalar::cos:
        return by([](T a) { return std::cos(a); });
      case Scalar::is_finite:
        return each<uint8_t, T>(type, operands, [](T a) { return std::isfinite(a); });
      default:
        break;
    }
  return {};
}

// From A, whose elements lie as S; from floats to integers is what saturates, which is done for each element.
template <class A, class S = A>
Found converted(const Type& type, Operands operands) {
  auto to = [&]<class R>(R) -> Found {
    return each<R, S>(type, operands, [](S s) { return static_cast<R>(static_cast<A>(s)); });
  };
  switch (type.dtype) {
    case DType::f64:
      return to(double{});
    case DType::f32:
      return to(float{});
    case DType::boolean:
      return each<uint8_t, S>(type, operands, [](S s) { return s != 0; });
    default:
      break;
  }
  if constexpr (std::is_integral_v<A>) {
    if (type.dtype == DType::i64) return to(int64_t{});
    if (type.dtype == DType::i32) return to(int32_t{});
  }
  return {};
}

template <class T>
Found of_type(Scalar op, const Type& type, Operands operands) {
  if (op == Scalar::convert) return converted<T>(type, operands);
  return arity(op) == 1 ? changed<T>(op, type, operands) : combined<T>(op, type, operands);
}

Found of_booleans(Scalar op, const Type& type, Operands operands) {
  if (op == Scalar::bit_not) return each<uint8_t, uint8_t>(type, operands, [](uint8_t a) { return a == 0; });
  if (op == Scalar::convert) return converted<bool, uint8_t>(type, operands);
  return arity(op) == 2 ? combined_booleans(op, type, operands) : Found();
}

Found selected(const Type& type, Operands operands) {
  switch (size_of(type.dtype)) {
    case 1:
      return chosen<uint8_t>(type, operands);
    case 4:
      return chosen<uint32_t>(type, operands);
    case 8:
      return chosen<uint64_t>(type, operands);
    case 16:
      return chosen<std::array<uint64_t, 2>>(type, operands);
    default:
      return {};
  }
}

}  // namespace

std::optional<Literal> evaluate_directly(Scalar op, const Type& type, std::span<const Literal> operands) {
  if (op == Scalar::select) return selected(type, operands);
  if (arity(op) > 2) return {};
  switch (operands[0].dtype()) {
    case DType::f64:
      return of_type<double>(op, type, operands);
    case DType::f32:
      return of_type<float>(op, type, operands);
    case DType::i64:
      return of_type<int64_t>(op, type, operands);
    case DType::i32:
      return of_type<int32_t>(op, type, operands);
    case DType::boolean:
      return of_booleans(op, type, operands);
    default:
      return {};
  }
}

Ints broadcast_strides(const Ints& from, const Ints& to) {
  Ints own = row_major_strides(from), strides(to.size());
  size_t offset = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) strides[offset + i] = from[i] == 1 ? 0 : own[i];
  return strides;
}

Literal strided(const Type& type, const Literal& operand, int64_t first, const Ints& strides) {
  Literal result(type);
  Rows rows;
  rows.dims = type.static_dims();
  rows.strides[0] = strides;
  if (!strides.empty()) {
    rows.length = rows.dims.back();
    rows.dims.pop_back();
    rows.strides[0].pop_back();
  }
  int64_t step = strides.empty() ? 0 : strides.back();
  auto size = static_cast<size_t>(size_of(type.dtype));
  const std::byte* from = operand.bytes().data() + first * static_cast<int64_t>(size);
  std::byte* to = result.mutable_bytes();
  for_rows(rows, [&](int64_t at, const std::array<int64_t, 3>& begins) {
    const std::byte* row = from + begins[0] * static_cast<int64_t>(size);
    std::byte* out = to + at * static_cast<int64_t>(size);
    if (step == 1) {
      std::memcpy(out, row, size * static_cast<size_t>(rows.length));
      return;
    }
    for (int64_t j = 0; j < rows.length; ++j)
      std::memcpy(out + j * static_cast<int64_t>(size), row + j * step * static_cast<int64_t>(size), size);
  });
  return result;
}

}  // namespace weft
