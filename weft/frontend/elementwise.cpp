// Element-wise functions of C++: NumPy's by the table, others here.
#include <array>

#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"
#include "weft/frontend/ufuncs.h"

namespace weft {
namespace {

// The row of an op that is NumPy's function by another name, or by its own.
const Ufunc* ufunc_of(Op op) {
  static constexpr std::pair<Op, std::string_view> renamed[] = {
      {Op::abs, "absolute"},
      {Op::acos, "arccos"},
      {Op::acosh, "arccosh"},
      {Op::asin, "arcsin"},
      {Op::asinh, "arcsinh"},
      {Op::atan, "arctan"},
      {Op::atanh, "arctanh"},
      {Op::atan2, "arctan2"},
      {Op::and_, "bitwise_and"},
      {Op::or_, "bitwise_or"},
      {Op::xor_, "bitwise_xor"},
      {Op::not_, "invert"},
      {Op::cosine, "cos"},
      {Op::sine, "sin"},
      {Op::exponential, "exp"},
      {Op::is_finite, "isfinite"},
      {Op::log_plus_one, "log1p"},
      {Op::negate, "negative"},
      {Op::shift_left, "left_shift"},
      {Op::exponential_minus_one, "expm1"},
      {Op::next_after, "nextafter"},
  };
  for (auto [named, numpy_name] : renamed)
    if (named == op) return find_ufunc(numpy_name);
  return find_ufunc(name(op));
}

// Ops that NumPy has no element-wise function for.
Tensor unary(Op op, const Tensor& x) {
  switch (op) {
    case Op::round_nearest_afz:
    case Op::round_nearest_even:
    case Op::real:
      return is_whole(x.dtype()) ? x : apply(op, {x});
    case Op::imag:
      return is_whole(x.dtype()) ? zeros_like(x) : apply(op, {x});
    case Op::count_leading_zeros:
    case Op::popcnt:
      return apply(op, {x});
    default:
      return apply(op, {cast_to(x, inexact_type(x.dtype()))});
  }
}

Tensor binary(Op op, const Operand& lhs, const Operand& rhs) {
  DType dtype = result_type({&lhs, &rhs});
  const bool shifts = op == Op::shift_right_arithmetic || op == Op::shift_right_logical;
  const bool joins = op == Op::complex && dtype != DType::f32;
  if (shifts)
    dtype = is_bool(dtype) ? DType::i8 : dtype;
  else if (joins)
    dtype = bit_width(inexact_type(dtype)) < 32 ? DType::f32 : inexact_type(dtype);
  else
    dtype = inexact_type(dtype);
  return apply(op, {as_tensor(lhs, dtype), as_tensor(rhs, dtype)});
}

Tensor numpys(std::string_view function, const Ufunc& ufunc, const Tensor& x, Where where) {
  return recorded(function, where, [&] { return call(ufunc, std::array{Operand(x)}).front(); });
}

Tensor numpys(std::string_view function, const Ufunc& ufunc, const Operand& lhs, const Operand& rhs) {
  return recorded(function, lhs.where, [&] {
    const auto* exponent = std::get_if<int64_t>(&rhs.number);
    if (ufunc.op == Op::power && exponent && *exponent < 0 && is_whole(result_type({&lhs, &rhs})))
      fail(ErrorKind::value, "negative_power", "integers to negative integer powers are not allowed, got ", *exponent);
    return call(ufunc, std::array{lhs, rhs}).front();
  });
}

}  // namespace

#define UNARY(name)                                                                                              \
  Tensor name(const Tensor& x, Where where) {                                                                    \
    static const Ufunc* const ufunc = ufunc_of(Op::name);                                                        \
    return ufunc ? numpys(#name, *ufunc, x, where) : recorded(#name, where, [&] { return unary(Op::name, x); }); \
  }
#define BINARY(name)                                                                       \
  Tensor name(const Operand& lhs, const Operand& rhs) {                                    \
    static const Ufunc* const ufunc = ufunc_of(Op::name);                                  \
    return ufunc ? numpys(#name, *ufunc, lhs, rhs)                                         \
                 : recorded(#name, lhs.where, [&] { return binary(Op::name, lhs, rhs); }); \
  }
#include "weft/frontend/regular.def"

// NumPy's functions that are no op of that name.
#define UNARY(name, numpy)                                \
  Tensor name(const Tensor& x, Where where) {             \
    static const Ufunc* const ufunc = find_ufunc(#numpy); \
    return numpys(#name, *ufunc, x, where);               \
  }
#define BINARY(name)                                     \
  Tensor name(const Operand& lhs, const Operand& rhs) {  \
    static const Ufunc* const ufunc = find_ufunc(#name); \
    return numpys(#name, *ufunc, lhs, rhs);              \
  }
UNARY(rint, rint)
UNARY(exp2, exp2)
UNARY(log2, log2)
UNARY(log10, log10)
UNARY(trunc, trunc)
UNARY(square, square)
UNARY(conj, conjugate)
UNARY(isnan, isnan)
UNARY(isinf, isinf)
UNARY(isfinite, isfinite)
UNARY(signbit, signbit)
UNARY(logical_not, logical_not)
BINARY(floor_divide)
BINARY(fmod)
BINARY(fmax)
BINARY(fmin)
BINARY(hypot)
BINARY(logaddexp)
BINARY(copysign)
BINARY(heaviside)
BINARY(gcd)
BINARY(lcm)
BINARY(ldexp)
BINARY(left_shift)
BINARY(right_shift)
BINARY(equal)
BINARY(not_equal)
BINARY(less)
BINARY(less_equal)
BINARY(greater)
BINARY(greater_equal)
BINARY(logical_and)
BINARY(logical_or)
BINARY(logical_xor)
#undef UNARY
#undef BINARY

Tensor gelu(const Tensor& x, Where where) {
  return recorded("gelu", where, [&] { return unary(Op::gelu, x); });
}
Tensor silu(const Tensor& x, Where where) {
  return recorded("silu", where, [&] { return unary(Op::silu, x); });
}
Tensor relu(const Tensor& x, Where where) { return maximum({x, where}, 0); }

Tensor where(const Operand& condition, const Operand& x, const Operand& y) {
  return recorded("where", condition.where, [&] {
    DType dtype = result_type({&x, &y});
    Tensor chooses = wrapped_tensor(condition, DType::boolean);
    return apply(Op::select, {chooses, wrapped_tensor(x, dtype), wrapped_tensor(y, dtype)});
  });
}

namespace {

// Whether it is an integer below or above which no integer of the dtype lies.
bool is_beyond(const Operand& bound, DType dtype, bool is_low) {
  if (!bound.is_integer() || !is_integer(dtype)) return false;
  const auto* value = std::get_if<int64_t>(&bound.number);  // else at least 2**63
  const int bits = bit_width(dtype) - is_signed(dtype);
  const uint64_t greatest = UINT64_MAX >> (64 - bits);
  if (is_low) return value && *value <= (is_signed(dtype) ? -1 - static_cast<int64_t>(greatest) : 0);
  return value ? *value >= 0 && static_cast<uint64_t>(*value) >= greatest
               : std::get<uint64_t>(bound.number) >= greatest;
}

}  // namespace

Tensor clip(const Tensor& x, const Operand* low, const Operand* high) {
  if (low && is_beyond(*low, x.dtype(), true)) low = nullptr;
  if (high && is_beyond(*high, x.dtype(), false)) high = nullptr;
  const Operand given(x);
  std::vector<const Operand*> operands{&given};
  for (const Operand* bound : {low, high})
    if (bound) operands.push_back(bound);
  const DType dtype = result_type(operands);
  Tensor result = cast_to(x, dtype);
  if (low) result = apply(Op::maximum, {result, as_tensor(*low, dtype)});
  if (high) result = apply(Op::minimum, {result, as_tensor(*high, dtype)});
  return result;
}
Tensor clip(const Tensor& x, const Operand& low, const Operand& high) {
  return recorded("clip", low.where, [&] { return clip(x, &low, &high); });
}

Tensor cast(const Tensor& x, DType dtype, Where where) {
  return recorded("cast", where, [&] { return cast_to(x, dtype); });
}

}  // namespace weft
