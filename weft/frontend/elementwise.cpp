// Element-wise functions: which dtype NumPy computes each in, and where its operation is not that of the op of its name.
#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"

namespace weft {
namespace {

Tensor same_shape(const Tensor& x, bool value) { return full(x.dims(), value, DType::boolean); }

// The sign of -0.0 is 0.0 in NumPy.
Tensor sign_of(const Tensor& x) {
  if (is_unsigned(x.dtype())) return cast_to(compared("NE", x, number(0, x.dtype())), x.dtype());
  Tensor sign = apply(Op::sign, {x});
  return is_float(x.dtype()) ? apply(Op::select, {compared("EQ", x, number(0, x.dtype())), number(0, x.dtype()), sign}) : sign;
}

// What an op of one operand does to the dtypes that it is not defined for.
Tensor unary(Op op, const Tensor& x) {
  switch (op) {
    case Op::abs: return is_bool(x.dtype()) || is_unsigned(x.dtype()) ? x : apply(op, {x});
    case Op::sign: return sign_of(x);
    case Op::ceil:
    case Op::floor:
    case Op::round_nearest_afz:
    case Op::round_nearest_even: return is_whole(x.dtype()) ? x : apply(op, {x});
    case Op::is_finite: return is_whole(x.dtype()) ? same_shape(x, true) : apply(op, {x});
    case Op::real: return is_whole(x.dtype()) ? x : apply(op, {x});
    case Op::imag: return is_whole(x.dtype()) ? zeros_like(x) : apply(op, {x});
    case Op::count_leading_zeros:
    case Op::negate:
    case Op::not_:
    case Op::popcnt: return apply(op, {x});
    default: return apply(op, {cast_to(x, inexact_type(x.dtype()))});
  }
}

Tensor composite(Op op, const Tensor& x, Where where) {
  return recorded(name(op), where, [&] { return apply(op, {cast_to(x, inexact_type(x.dtype()))}); });
}

// NumPy computes these powers as the simpler operation.
Tensor power_of(const Operand& base, const Operand& exponent, DType dtype) {
  Tensor x = as_tensor(base, dtype);
  const auto* integer = std::get_if<int64_t>(&exponent.number);
  const auto* real = std::get_if<double>(&exponent.number);
  if (!exponent.is_tensor() && is_whole(dtype) && integer && *integer < 0)
    fail(ErrorKind::value, "negative_power", "integers to negative integer powers are not allowed, got ", *integer);
  if (!exponent.is_tensor() && !is_whole(dtype) && (integer || real)) {
    double number_given = integer ? static_cast<double>(*integer) : *real;
    if (number_given == 2) return apply(Op::multiply, {x, x});
    if (number_given == 1) return x;
    if (number_given == 0.5 && is_float(dtype)) return apply(Op::sqrt, {x});
    if (number_given == -1 && is_float(dtype)) return apply(Op::divide, {number(1, dtype), x});
    if (number_given == 3 && is_float(dtype) && size_of(dtype) >= 4) return apply(Op::multiply, {apply(Op::multiply, {x, x}), x});
  }
  return apply(Op::power, {x, as_tensor(exponent, dtype)});
}

Tensor converted(Op op, const Operand& lhs, const Operand& rhs, DType dtype) {
  return apply(op, {as_tensor(lhs, dtype), as_tensor(rhs, dtype)});
}

Tensor binary(Op op, const Operand& lhs, const Operand& rhs) {
  DType dtype = result_type({&lhs, &rhs});
  switch (op) {
    case Op::divide: return converted(op, lhs, rhs, is_whole(dtype) ? DType::f64 : dtype);
    case Op::power: return power_of(lhs, rhs, is_bool(dtype) ? DType::i8 : dtype);
    case Op::remainder: return converted(Op::mod, lhs, rhs, is_bool(dtype) ? DType::i8 : dtype);
    case Op::floor_divide:
    case Op::shift_left:
    case Op::shift_right_arithmetic:
    case Op::shift_right_logical: return converted(op, lhs, rhs, is_bool(dtype) ? DType::i8 : dtype);
    case Op::add:
    case Op::and_:
    case Op::maximum:
    case Op::minimum:
    case Op::multiply:
    case Op::or_:
    case Op::subtract:
    case Op::xor_: return converted(op, lhs, rhs, dtype);
    case Op::complex: return converted(op, lhs, rhs, dtype == DType::f32 ? dtype : bit_width(inexact_type(dtype)) < 32 ? DType::f32 : inexact_type(dtype));
    default: return converted(op, lhs, rhs, inexact_type(dtype));
  }
}

Tensor call(std::string_view function, Op op, const Operand& lhs, const Operand& rhs) {
  return recorded(function, lhs.where, [&] { return binary(op, lhs, rhs); });
}

// i64 with u64, whose common dtype does not hold all of either: a negative number is less than all unsigned ones.
Tensor compare_signs(std::string_view direction, const Tensor& lhs, const Tensor& rhs) {
  if (is_unsigned(lhs.dtype())) {
    static constexpr std::pair<std::string_view, std::string_view> turned[] = {{"LT", "GT"}, {"GT", "LT"}, {"LE", "GE"}, {"GE", "LE"}};
    for (auto [from, to] : turned)
      if (direction == from) return compare_signs(to, rhs, lhs);
    return compare_signs(direction, rhs, lhs);
  }
  Tensor negative = compared("LT", lhs, number(0, lhs.dtype()));
  Tensor among_unsigned = compared(std::string(direction).c_str(), cast_to(lhs, rhs.dtype()), rhs);
  if (direction == "LT" || direction == "LE" || direction == "NE") return apply(Op::or_, {negative, among_unsigned});
  return apply(Op::and_, {apply(Op::not_, {negative}), among_unsigned});
}

// An integer outside of the tensor's dtype is above or below all of its elements.
std::optional<Tensor> compare_outside(std::string_view direction, const Operand& lhs, const Operand& rhs) {
  const Operand &given = lhs.is_tensor() ? rhs : lhs, &other = lhs.is_tensor() ? lhs : rhs;
  const auto* value = std::get_if<int64_t>(&given.number);
  if (given.is_tensor() || !value || !other.is_tensor() || !is_integer(other.tensor.dtype())) return {};
  DType dtype = other.tensor.dtype();
  int bits = bit_width(dtype);
  bool below = *value < (is_unsigned(dtype) ? 0 : bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1)));
  bool above = bits < 63 && *value >= int64_t{1} << (is_unsigned(dtype) ? bits : bits - 1);
  if (!below && !above) return {};
  bool left_is_less = lhs.is_tensor() ? above : below;
  bool holds = direction == "NE" || (direction[0] == (left_is_less ? 'L' : 'G'));
  return same_shape(other.tensor, holds);
}

Tensor compare(std::string_view function, const char* direction, const Operand& lhs, const Operand& rhs) {
  return recorded(function, lhs.where, [&] {
    if (std::optional<Tensor> known = compare_outside(direction, lhs, rhs)) return *known;
    bool mixed = lhs.is_tensor() && rhs.is_tensor() && is_integer(lhs.tensor.dtype()) && is_integer(rhs.tensor.dtype());
    DType dtype = result_type({&lhs, &rhs});
    if (mixed && dtype == DType::f64) {
      DType left = is_signed(lhs.tensor.dtype()) ? DType::i64 : DType::u64, right = left == DType::i64 ? DType::u64 : DType::i64;
      return compare_signs(direction, cast_to(lhs.tensor, left), cast_to(rhs.tensor, right));
    }
    return compared(direction, as_tensor(lhs, dtype), as_tensor(rhs, dtype));
  });
}

Tensor logical(std::string_view function, Op op, const Operand& lhs, const Operand& rhs) {
  return recorded(function, lhs.where, [&] {
    auto truth = [](const Operand& x) { return x.is_tensor() ? cast_to(x.tensor, DType::boolean) : cast_to(as_tensor(x, result_type({&x})), DType::boolean); };
    return apply(op, {truth(lhs), truth(rhs)});
  });
}

Tensor nan_ignoring(Op op, Op plain, const Operand& lhs, const Operand& rhs) {
  return recorded(name(op), lhs.where, [&] {
    DType dtype = result_type({&lhs, &rhs});
    return converted(is_whole(dtype) ? plain : op, lhs, rhs, dtype);
  });
}

}  // namespace

#define UNARY(name) \
  Tensor name(const Tensor& x, Where where) { return recorded(#name, where, [&] { return unary(Op::name, x); }); }
#define BINARY(name) \
  Tensor name(const Operand& lhs, const Operand& rhs) { return call(#name, Op::name, lhs, rhs); }
#include "weft/frontend/regular.def"

Tensor rint(const Tensor& x, Where where) { return composite(Op::round_nearest_even, x, where); }
Tensor exp2(const Tensor& x, Where where) { return composite(Op::exp2, x, where); }
Tensor log2(const Tensor& x, Where where) { return composite(Op::log2, x, where); }
Tensor log10(const Tensor& x, Where where) { return composite(Op::log10, x, where); }
Tensor gelu(const Tensor& x, Where where) { return composite(Op::gelu, x, where); }
Tensor silu(const Tensor& x, Where where) { return composite(Op::silu, x, where); }
Tensor trunc(const Tensor& x, Where where) {
  return recorded("trunc", where, [&] { return is_whole(x.dtype()) ? x : apply(Op::trunc, {x}); });
}
Tensor square(const Tensor& x, Where where) { return multiply({x, where}, x); }
Tensor conj(const Tensor& x, Where where) {
  return recorded("conj", where, [&] { return is_complex(x.dtype()) ? apply(Op::conj, {x}) : x; });
}
Tensor relu(const Tensor& x, Where where) { return maximum({x, where}, 0); }
Tensor isnan(const Tensor& x, Where where) {
  return recorded("isnan", where, [&] { return compared("NE", x, x); });
}
Tensor isinf(const Tensor& x, Where where) {
  return recorded("isinf", where, [&] {
    if (is_whole(x.dtype())) return same_shape(x, false);
    if (!is_complex(x.dtype())) return apply(Op::is_inf, {x});
    return apply(Op::or_, {apply(Op::is_inf, {apply(Op::real, {x})}), apply(Op::is_inf, {apply(Op::imag, {x})})});
  });
}
Tensor isfinite(const Tensor& x, Where where) {
  return recorded("isfinite", where, [&] {
    if (!is_complex(x.dtype())) return unary(Op::is_finite, x);
    return apply(Op::and_, {apply(Op::is_finite, {apply(Op::real, {x})}), apply(Op::is_finite, {apply(Op::imag, {x})})});
  });
}
Tensor signbit(const Tensor& x, Where where) {
  return recorded("signbit", where, [&] { return is_unsigned(x.dtype()) || is_bool(x.dtype()) ? same_shape(x, false) : apply(Op::signbit, {x}); });
}

Tensor floor_divide(const Operand& lhs, const Operand& rhs) { return call("floor_divide", Op::floor_divide, lhs, rhs); }
Tensor fmod(const Operand& lhs, const Operand& rhs) {
  return recorded("fmod", lhs.where, [&] {
    DType dtype = result_type({&lhs, &rhs});
    if (is_bool(dtype)) dtype = DType::i8;
    Tensor x = as_tensor(lhs, dtype), y = as_tensor(rhs, dtype);
    if (!is_integer(dtype)) return apply(Op::remainder, {x, y});
    Tensor by_zero = compared("EQ", y, number(0, dtype));
    return apply(Op::select, {by_zero, number(0, dtype), apply(Op::remainder, {x, apply(Op::select, {by_zero, number(1, dtype), y})})});
  });
}
Tensor fmax(const Operand& lhs, const Operand& rhs) { return nan_ignoring(Op::fmax, Op::maximum, lhs, rhs); }
Tensor fmin(const Operand& lhs, const Operand& rhs) { return nan_ignoring(Op::fmin, Op::minimum, lhs, rhs); }
Tensor hypot(const Operand& lhs, const Operand& rhs) { return call("hypot", Op::hypot, lhs, rhs); }
Tensor logaddexp(const Operand& lhs, const Operand& rhs) { return call("logaddexp", Op::logaddexp, lhs, rhs); }
Tensor copysign(const Operand& lhs, const Operand& rhs) { return call("copysign", Op::copysign, lhs, rhs); }
Tensor heaviside(const Operand& lhs, const Operand& rhs) { return call("heaviside", Op::heaviside, lhs, rhs); }
Tensor left_shift(const Operand& lhs, const Operand& rhs) { return call("left_shift", Op::shift_left, lhs, rhs); }
Tensor right_shift(const Operand& lhs, const Operand& rhs) {
  return recorded("right_shift", lhs.where, [&] {
    return binary(is_unsigned(result_type({&lhs, &rhs})) ? Op::shift_right_logical : Op::shift_right_arithmetic, lhs, rhs);
  });
}

Tensor equal(const Operand& lhs, const Operand& rhs) { return compare("equal", "EQ", lhs, rhs); }
Tensor not_equal(const Operand& lhs, const Operand& rhs) { return compare("not_equal", "NE", lhs, rhs); }
Tensor less(const Operand& lhs, const Operand& rhs) { return compare("less", "LT", lhs, rhs); }
Tensor less_equal(const Operand& lhs, const Operand& rhs) { return compare("less_equal", "LE", lhs, rhs); }
Tensor greater(const Operand& lhs, const Operand& rhs) { return compare("greater", "GT", lhs, rhs); }
Tensor greater_equal(const Operand& lhs, const Operand& rhs) { return compare("greater_equal", "GE", lhs, rhs); }
Tensor logical_and(const Operand& lhs, const Operand& rhs) { return logical("logical_and", Op::and_, lhs, rhs); }
Tensor logical_or(const Operand& lhs, const Operand& rhs) { return logical("logical_or", Op::or_, lhs, rhs); }
Tensor logical_xor(const Operand& lhs, const Operand& rhs) { return logical("logical_xor", Op::xor_, lhs, rhs); }
Tensor logical_not(const Tensor& x, Where where) {
  return recorded("logical_not", where, [&] { return apply(Op::not_, {cast_to(x, DType::boolean)}); });
}

Tensor where(const Operand& condition, const Operand& x, const Operand& y) {
  return recorded("where", condition.where, [&] {
    DType dtype = result_type({&x, &y});
    Tensor chooses = condition.is_tensor() ? cast_to(condition.tensor, DType::boolean) : as_tensor(condition, DType::boolean);
    return apply(Op::select, {chooses, as_tensor(x, dtype), as_tensor(y, dtype)});
  });
}
Tensor clip(const Tensor& x, const Operand& low, const Operand& high) {
  return recorded("clip", low.where, [&] {
    Operand given(x);
    DType dtype = result_type({&given, &low, &high});
    return apply(Op::minimum, {apply(Op::maximum, {cast_to(x, dtype), as_tensor(low, dtype)}), as_tensor(high, dtype)});
  });
}
Tensor cast(const Tensor& x, DType dtype, Where where) {
  return recorded("cast", where, [&] { return cast_to(x, dtype); });
}

}  // namespace weft
