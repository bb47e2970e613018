// Promotion, and numbers as tensors.
#include "weft/frontend/promote.h"

#include <algorithm>
#include <limits>

#include "weft/core/element.h"

namespace weft {
namespace {

// The kind of a number that has met no tensor; later ones take in earlier ones.
DType number_type(const Operand& operand) {
  static constexpr DType types[] = {DType::boolean, DType::i64, DType::f64, DType::c128};
  return types[operand.number.index() - 1];
}

DType promoted(DType lhs, DType rhs) {
  std::optional<DType> common = promote(lhs, rhs);
  if (!common) fail(ErrorKind::type, "promotion", "dtypes ", numpy_name(lhs), " and ", numpy_name(rhs), " have no common one");
  return *common;
}

// What a number makes of the dtype of the tensors that it meets.
DType met(DType dtype, DType number) {
  if (is_bool(number) || is_bool(dtype)) return promoted(dtype, number);
  if (is_complex(number)) return is_complex(dtype) ? dtype : dtype == DType::f64 || is_integer(dtype) ? DType::c128 : DType::c64;
  return is_float(number) && is_integer(dtype) ? DType::f64 : dtype;
}

bool fits(int64_t value, DType dtype) {
  if (is_bool(dtype)) return value == 0 || value == 1;
  int bits = bit_width(dtype);
  if (is_unsigned(dtype)) return value >= 0 && (bits >= 63 || value < int64_t{1} << bits);
  return bits == 64 || (value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1));
}

Tensor scalar(Element element, DType dtype) {
  Literal literal(Type{dtype, {}});
  store(literal.mutable_bytes(), convert(element, dtype));
  return constant(std::move(literal));
}

// Floats as small or unsigned integers: those outside come around, as by way of the wider integers of the CPU.
Tensor wrapped_integer(const Tensor& x, DType dtype) {
  bool narrow = bit_width(dtype) < 32;
  Tensor wide = apply(Op::convert, {x}, {{Attr::type, narrow ? DType::i32 : DType::i64}});
  Tensor wrapped = apply(Op::convert, {wide}, {{Attr::type, dtype}});
  if (bit_width(dtype) < 64) return wrapped;
  return apply(Op::select, {compared("LT", x, number(0, x.dtype())), wrapped, apply(Op::convert, {x}, {{Attr::type, dtype}})});
}

}  // namespace

bool is_whole(DType dtype) { return is_bool(dtype) || is_integer(dtype); }
DType inexact_type(DType dtype) { return is_whole(dtype) ? promoted(dtype, DType::f16) : dtype; }

DType result_type(std::initializer_list<const Operand*> operands) {
  std::optional<DType> tensors, numbers;
  for (const Operand* operand : operands) {
    std::optional<DType>& kind = operand->is_tensor() ? tensors : numbers;
    DType dtype = operand->is_tensor() ? operand->tensor.dtype() : number_type(*operand);
    kind = !kind ? dtype : operand->is_tensor() ? promoted(*kind, dtype) : std::max(*kind, dtype);
  }
  return !tensors ? *numbers : numbers ? met(*tensors, *numbers) : *tensors;
}

DType result_type(const std::vector<Tensor>& tensors) {
  DType result = tensors.at(0).dtype();
  for (const Tensor& tensor : tensors) result = promoted(result, tensor.dtype());
  return result;
}

Tensor as_tensor(const Operand& operand, DType dtype) {
  if (operand.is_tensor()) return cast_to(operand.tensor, dtype);
  if (const auto* flag = std::get_if<bool>(&operand.number)) return scalar(Element::of_int(DType::i64, *flag), dtype);
  if (const auto* value = std::get_if<double>(&operand.number)) return number(*value, dtype);
  if (const auto* value = std::get_if<std::complex<double>>(&operand.number)) return scalar(Element::of_complex(DType::c128, *value), dtype);
  int64_t value = std::get<int64_t>(operand.number);
  if (is_whole(dtype) && !fits(value, dtype))
    fail(ErrorKind::value, "number_range", "the integer ", value, " is out of bounds for ", numpy_name(dtype));
  return scalar(Element::of_int(DType::i64, value), dtype);
}

Tensor number(double value, DType dtype) { return scalar(Element::of_double(DType::f64, value), dtype); }

Tensor cast_to(const Tensor& given, DType dtype) {
  Tensor x = given;
  if (x.dtype() == dtype) return x;
  if (is_complex(x.dtype()) && !is_complex(dtype) && !is_bool(dtype)) x = apply(Op::real, {x});
  if (x.dtype() == dtype) return x;
  bool wraps = is_integer(dtype) && is_float(x.dtype()) && (bit_width(dtype) < 32 || is_unsigned(dtype));
  return wraps ? wrapped_integer(x, dtype) : apply(Op::convert, {x}, {{Attr::type, dtype}});
}

int64_t one_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) fail(ErrorKind::value, "axis", "axis ", axis, " is out of bounds for a tensor of ", rank, " dimensions");
  return axis < 0 ? axis + rank : axis;
}

Ints axes_of(const Axes& axes, int64_t rank) {
  Ints result;
  for (int64_t axis = 0; !axes.list && axis < rank; ++axis) result.push_back(axis);
  if (axes.list)
    for (int64_t axis : *axes.list) result.push_back(one_axis(axis, rank));
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    fail(ErrorKind::value, "axis_duplicate", "an axis stands twice among ", *axes.list);
  return result;
}

}  // namespace weft
