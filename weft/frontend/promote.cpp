// Promotion, and numbers as tensors.
#include "weft/frontend/promote.h"

#include <algorithm>

#include "weft/core/element.h"

namespace weft {
namespace {

// The kind of a number that has met no tensor, an integer being i64 whether it fits or not; later ones take in earlier
// ones.
DType number_type(const Operand& operand) {
  static constexpr DType types[] = {DType::boolean, DType::i64, DType::i64, DType::f64, DType::c128};
  return operand.is_tensor() ? operand.tensor.dtype() : types[operand.number.index() - 1];
}

DType promoted(DType lhs, DType rhs) {
  std::optional<DType> common = promote(lhs, rhs);
  if (!common)
    fail(ErrorKind::type, "promotion", "dtypes ", numpy_name(lhs), " and ", numpy_name(rhs), " have no common one");
  return *common;
}

// What a number makes of the dtype of the tensors that it meets.
DType met(DType dtype, DType number) {
  if (is_bool(number) || is_bool(dtype)) return promoted(dtype, number);
  if (is_complex(number))
    return is_complex(dtype) ? dtype : dtype == DType::f64 || is_integer(dtype) ? DType::c128 : DType::c64;
  return is_float(number) && is_integer(dtype) ? DType::f64 : dtype;
}

Tensor scalar(Element element, DType dtype) {
  Literal literal(Type{dtype, {}});
  store(literal.mutable_bytes(), convert(element, dtype));
  return constant(std::move(literal));
}

}  // namespace

bool fits(const Operand& integer, DType dtype) {
  const int bits = bit_width(dtype);
  if (const auto* large = std::get_if<uint64_t>(&integer.number))
    return is_unsigned(dtype) && (bits == 64 || *large < uint64_t{1} << bits);
  const int64_t value = std::get<int64_t>(integer.number);
  if (is_bool(dtype)) return value == 0 || value == 1;
  if (is_unsigned(dtype)) return value >= 0 && (bits >= 63 || value < int64_t{1} << bits);
  return bits == 64 || (value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1));
}

bool is_whole(DType dtype) { return is_bool(dtype) || is_integer(dtype); }
DType inexact_type(DType dtype) { return is_whole(dtype) ? promoted(dtype, DType::f16) : dtype; }

DType result_type(std::span<const Operand* const> operands) {
  std::optional<DType> tensors, numbers;
  for (const Operand* operand : operands) {
    const DType dtype = number_type(*operand);
    const bool is_strong = operand->is_tensor() && !operand->weak;
    std::optional<DType>& kind = is_strong ? tensors : numbers;
    kind = !kind ? dtype : is_strong ? promoted(*kind, dtype) : std::max(*kind, dtype);
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
  if (const auto* value = std::get_if<std::complex<double>>(&operand.number))
    return scalar(Element::of_complex(DType::c128, *value), dtype);
  const auto* large = std::get_if<uint64_t>(&operand.number);
  if (is_whole(dtype) && !fits(operand, dtype))
    fail(ErrorKind::value, "number_range", "the integer ", large ? cat(*large) : cat(std::get<int64_t>(operand.number)),
         " is out of bounds for ", numpy_name(dtype));
  if (large) return scalar(Element::of_int(DType::u64, static_cast<int64_t>(*large)), dtype);
  return scalar(Element::of_int(DType::i64, std::get<int64_t>(operand.number)), dtype);
}

Tensor wrapped_tensor(const Operand& operand, DType dtype) {
  const bool is_large = std::holds_alternative<uint64_t>(operand.number);
  return cast_to(as_tensor(operand, is_large ? DType::u64 : number_type(operand)), dtype);
}

Tensor number(double value, DType dtype) { return scalar(Element::of_double(DType::f64, value), dtype); }

int64_t one_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    fail(ErrorKind::value, "axis", "axis ", axis, " is out of bounds for array of dimension ", rank);
  return axis < 0 ? axis + rank : axis;
}

Ints axes_of(const Axes& axes, int64_t rank) {
  Ints result;
  for (int64_t axis = 0; !axes.list && axis < rank; ++axis) result.push_back(axis);
  if (axes.list)
    for (int64_t axis : *axes.list) result.push_back(one_axis(axis, rank));
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    fail(ErrorKind::value, "axis_duplicate", "duplicate value in axis ", tuple_text(*axes.list));
  return result;
}

Ints reduced_axes(const Axes& axes, int64_t rank) {
  const bool is_first =
      rank == 0 && axes.list && axes.list->size() == 1 && (axes.list->front() == 0 || axes.list->front() == -1);
  return is_first ? Ints{} : axes_of(axes, rank);
}

}  // namespace weft
