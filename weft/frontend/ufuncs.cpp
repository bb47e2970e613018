// The table of NumPy's element-wise functions, and the dtypes that their calls compute in.
#include "weft/frontend/ufuncs.h"

#include <array>
#include <unordered_map>

#include "weft/frontend/functions.h"
#include "weft/frontend/lowering.h"
#include "weft/frontend/promote.h"
#include "weft/frontend/special.h"

namespace weft {
namespace {

using enum Least;

template <Tensor (*form)(const Ufunc&, const Tensor&)>
std::vector<Tensor> of_one(const Ufunc& ufunc, std::span<const Tensor> x) {
  return {form(ufunc, x[0])};
}
template <Tensor (*form)(const Ufunc&, const Tensor&, const Tensor&)>
std::vector<Tensor> of_two(const Ufunc& ufunc, std::span<const Tensor> x) {
  return {form(ufunc, x[0], x[1])};
}

constexpr Ufunc ufuncs[] = {
    {"absolute", 1, boolean, Most::complex, of_one<magnitude>},
    {"add", 2, boolean, Most::complex, of_two<sum_of_two>},
    {"arccos", 1, floating, Most::complex, single_op, Op::acos},
    {"arccosh", 1, floating, Most::complex, single_op, Op::acosh},
    {"arcsin", 1, floating, Most::complex, single_op, Op::asin},
    {"arcsinh", 1, floating, Most::complex, single_op, Op::asinh},
    {"arctan", 1, floating, Most::complex, single_op, Op::atan},
    {"arctan2", 2, floating, Most::real, single_op, Op::atan2},
    {"arctanh", 1, floating, Most::complex, single_op, Op::atanh},
    {"bitwise_and", 2, boolean, Most::integer, single_op, Op::and_},
    {"bitwise_count", 1, integer, Most::integer, of_one<bits_set>},
    {"bitwise_or", 2, boolean, Most::integer, single_op, Op::or_},
    {"bitwise_xor", 2, boolean, Most::integer, single_op, Op::xor_},
    {"cbrt", 1, floating, Most::real, single_op, Op::cbrt},
    {"ceil", 1, boolean, Most::real, of_one<rounded>, Op::ceil},
    {"conjugate", 1, integer, Most::complex, of_one<conjugate>},
    {"copysign", 2, floating, Most::real, single_op, Op::copysign},
    {"cos", 1, floating, Most::complex, single_op, Op::cosine},
    {"cosh", 1, floating, Most::complex, single_op, Op::cosh},
    {"deg2rad", 1, floating, Most::real, of_one<to_radians>},
    {"degrees", 1, floating, Most::real, of_one<to_degrees>},
    {"divide", 2, f64, Most::complex, single_op, Op::divide},
    {"divmod", 2, integer, Most::real, divided_with_rest},
    {"equal", 2, boolean, Most::complex, of_two<comparison>, Op::compare, "EQ"},
    {"exp", 1, floating, Most::complex, single_op, Op::exponential},
    {"exp2", 1, floating, Most::complex, of_one<power_of_two>},
    {"expm1", 1, floating, Most::complex, single_op, Op::exponential_minus_one},
    {"fabs", 1, floating, Most::real, single_op, Op::abs},
    {"float_power", 2, widest, Most::complex, of_two<power_of>},
    {"floor", 1, boolean, Most::real, of_one<rounded>, Op::floor},
    {"floor_divide", 2, integer, Most::real, single_op, Op::floor_divide},
    {"fmax", 2, boolean, Most::complex, of_two<number_extreme>, Op::fmax, "GE"},
    {"fmin", 2, boolean, Most::complex, of_two<number_extreme>, Op::fmin, "LE"},
    {"fmod", 2, integer, Most::real, of_two<c_remainder>},
    {"frexp", 1, floating, Most::real, mantissa_and_exponent},
    {"gcd", 2, no_boolean, Most::integer, single_op, Op::gcd},
    {"greater", 2, boolean, Most::complex, of_two<comparison>, Op::compare, "GT"},
    {"greater_equal", 2, boolean, Most::complex, of_two<comparison>, Op::compare, "GE"},
    {"heaviside", 2, floating, Most::real, single_op, Op::heaviside},
    {"hypot", 2, floating, Most::real, single_op, Op::hypot},
    {"invert", 1, boolean, Most::integer, single_op, Op::not_},
    {"isfinite", 1, boolean, Most::complex, of_one<both_finite>},
    {"isinf", 1, boolean, Most::complex, of_one<one_infinite>},
    {"isnan", 1, boolean, Most::complex, of_one<differs_from_itself>},
    {"lcm", 2, no_boolean, Most::integer, of_two<common_multiple>},
    {"ldexp", 2, floating, Most::real, of_two<scaled_by_power>, {}, nullptr, true},
    {"left_shift", 2, integer, Most::integer, single_op, Op::shift_left},
    {"less", 2, boolean, Most::complex, of_two<comparison>, Op::compare, "LT"},
    {"less_equal", 2, boolean, Most::complex, of_two<comparison>, Op::compare, "LE"},
    {"log", 1, floating, Most::complex, single_op, Op::log},
    {"log10", 1, floating, Most::complex, of_one<log_of_ten>},
    {"log1p", 1, floating, Most::complex, single_op, Op::log_plus_one},
    {"log2", 1, floating, Most::complex, of_one<log_of_two>},
    {"logaddexp", 2, floating, Most::real, single_op, Op::logaddexp},
    {"logaddexp2", 2, floating, Most::real, of_two<log_of_sum>},
    {"logical_and", 2, boolean, Most::complex, of_two<of_truths>, Op::and_},
    {"logical_not", 1, boolean, Most::complex, of_one<of_truth>, Op::not_},
    {"logical_or", 2, boolean, Most::complex, of_two<of_truths>, Op::or_},
    {"logical_xor", 2, boolean, Most::complex, of_two<of_truths>, Op::xor_},
    {"maximum", 2, boolean, Most::complex, of_two<extreme>, {}, "GE"},
    {"minimum", 2, boolean, Most::complex, of_two<extreme>, {}, "LE"},
    {"modf", 1, floating, Most::real, fraction_and_whole},
    {"multiply", 2, boolean, Most::complex, of_two<product_of_two>},
    {"negative", 1, no_boolean, Most::complex, single_op, Op::negate},
    {"nextafter", 2, floating, Most::real, of_two<next_number>},
    {"not_equal", 2, boolean, Most::complex, of_two<comparison>, Op::compare, "NE"},
    {"positive", 1, no_boolean, Most::complex, of_one<unchanged>},
    {"power", 2, integer, Most::complex, of_two<power_of>, Op::power},
    {"rad2deg", 1, floating, Most::real, of_one<to_degrees>},
    {"radians", 1, floating, Most::real, of_one<to_radians>},
    {"reciprocal", 1, integer, Most::complex, of_one<reciprocal>},
    {"remainder", 2, integer, Most::real, single_op, Op::mod},
    {"right_shift", 2, integer, Most::integer, of_two<right_shifted>},
    {"rint", 1, floating, Most::complex, of_one<rounded>, Op::round_nearest_even},
    {"sign", 1, no_boolean, Most::complex, of_one<sign_of>},
    {"signbit", 1, floating, Most::real, single_op, Op::signbit},
    {"sin", 1, floating, Most::complex, single_op, Op::sine},
    {"sinh", 1, floating, Most::complex, single_op, Op::sinh},
    {"spacing", 1, floating, Most::real, of_one<distance_to_next>},
    {"sqrt", 1, floating, Most::complex, single_op, Op::sqrt},
    {"square", 1, integer, Most::complex, of_one<squared>},
    {"subtract", 2, no_boolean, Most::complex, single_op, Op::subtract},
    {"tan", 1, floating, Most::complex, single_op, Op::tan},
    {"tanh", 1, floating, Most::complex, single_op, Op::tanh},
    {"trunc", 1, boolean, Most::real, of_one<rounded>, Op::trunc},
};

// The dtype that operands which promote to this one are computed in.
DType loop_type(const Ufunc& ufunc, DType dtype) {
  const bool none = (ufunc.least == no_boolean && is_bool(dtype)) ||
                    (ufunc.most == Most::integer && !is_whole(dtype)) ||
                    (ufunc.most == Most::real && is_complex(dtype));
  if (none) fail(ErrorKind::type, "no_loop", "not defined for ", numpy_name(dtype));
  switch (ufunc.least) {
    case integer:
      return is_bool(dtype) ? DType::i8 : dtype;
    case floating:
      return inexact_type(dtype);
    case Least::f64:
      return is_whole(dtype) ? DType::f64 : dtype;
    case widest:
      return is_complex(dtype) ? DType::c128 : DType::f64;
    case boolean:
    case no_boolean:
      return dtype;
  }
  return dtype;
}

// An exponent as a tensor of i64.
Tensor exponent_of(const Operand& operand) {
  const DType dtype = result_type({&operand});
  if (!is_whole(dtype) || dtype == DType::u64)
    fail(ErrorKind::type, "no_loop", "not defined for an exponent of ", numpy_name(dtype));
  return as_tensor(operand, DType::i64);
}

// An integer outside of the tensor's dtype is above or below all of its elements.
std::optional<Tensor> compare_outside(std::string_view direction, const Operand& lhs, const Operand& rhs) {
  if (lhs.is_tensor() == rhs.is_tensor()) return {};
  const Operand &given = lhs.is_tensor() ? rhs : lhs, &other = lhs.is_tensor() ? lhs : rhs;
  if (other.weak || !is_integer(other.tensor.dtype()) || !given.is_integer() || fits(given, other.tensor.dtype()))
    return {};
  const auto* value = std::get_if<int64_t>(&given.number);  // else greater than all of them
  const bool above = !value || *value > 0, left_is_less = lhs.is_tensor() ? above : !above;
  return full(other.tensor.dims(), direction == "NE" || direction[0] == (left_is_less ? 'L' : 'G'), DType::boolean);
}

// i64 and u64, whose common dtype does not hold all of either, compare as they are.
std::optional<Tensor> compare_mixed(const Ufunc& ufunc, const Operand& lhs, const Operand& rhs) {
  const auto is_strong_integer = [](const Operand& x) {
    return x.is_tensor() && !x.weak && is_integer(x.tensor.dtype());
  };
  if (!is_strong_integer(lhs) || !is_strong_integer(rhs)) return {};
  const auto wide = [](const Tensor& x) { return cast_to(x, is_signed(x.dtype()) ? DType::i64 : DType::u64); };
  return compare_signs(ufunc.direction, wide(lhs.tensor), wide(rhs.tensor));
}

std::optional<Tensor> compared_by_value(const Ufunc& ufunc, std::span<const Operand> operands, DType common) {
  if (ufunc.op != Op::compare) return {};
  if (std::optional<Tensor> known = compare_outside(ufunc.direction, operands[0], operands[1])) return known;
  return common == DType::f64 ? compare_mixed(ufunc, operands[0], operands[1]) : std::nullopt;
}

}  // namespace

std::span<const Ufunc> all_ufuncs() { return ufuncs; }

const Ufunc* find_ufunc(std::string_view name) {
  static const auto* by_name = [] {
    auto* made = new std::unordered_map<std::string_view, const Ufunc*>;
    for (const Ufunc& ufunc : ufuncs) made->emplace(ufunc.name, &ufunc);
    for (const Ufunc& ufunc : special_ufuncs()) made->emplace(ufunc.name, &ufunc);
    return made;
  }();
  auto found = by_name->find(name);
  return found == by_name->end() ? nullptr : found->second;
}

namespace {

// Two of integers and booleans that are computed as floats: in the one that holds each of them, not in what they
// promote to.
std::optional<DType> float_of_both(const Ufunc& ufunc, std::span<const Operand> operands, DType common) {
  const auto is_strong = [](const Operand& operand) { return operand.is_tensor() && !operand.weak; };
  if (ufunc.least != floating || !is_whole(common) || operands.size() != 2 || !is_strong(operands[0]) ||
      !is_strong(operands[1]))
    return {};
  return promote(inexact_type(operands[0].tensor.dtype()), inexact_type(operands[1].tensor.dtype()));
}

}  // namespace

std::vector<Tensor> call(const Ufunc& ufunc, std::span<const Operand> operands) {
  if (operands.size() != ufunc.operands)
    fail(ErrorKind::type, "operand_count", ufunc.name, " takes ", ufunc.operands, " operands, got ", operands.size());
  std::array<const Operand*, 2> given{};
  for (size_t i = 0; i < operands.size(); ++i) given[i] = &operands[i];
  const DType common = result_type(std::span<const Operand* const>(given).first(ufunc.exponent ? 1 : operands.size()));
  if (std::optional<Tensor> known = compared_by_value(ufunc, operands, common)) return {*known};
  if (ufunc.exponent) {
    // An integer that is no tensor is a float of 16 bits, but not beside booleans.
    const bool is_number = (!operands[0].is_tensor() || operands[0].weak) && !is_bool(result_type({&operands[1]}));
    const DType dtype = loop_type(ufunc, is_number && is_whole(common) ? DType::i8 : common);
    return ufunc.record(ufunc, std::array{as_tensor(operands[0], dtype), exponent_of(operands[1])});
  }
  const std::optional<DType> floats = float_of_both(ufunc, operands, common);
  const DType dtype = floats ? *floats : loop_type(ufunc, common);
  std::array<Tensor, 2> taken;
  for (size_t i = 0; i < operands.size(); ++i) taken[i] = as_tensor(operands[i], dtype);
  return ufunc.record(ufunc, std::span<const Tensor>(taken).first(operands.size()));
}

}  // namespace weft
