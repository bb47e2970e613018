// Floats narrower than f32: conversions by integer arithmetic over lanes, exact and rounded once.
#include "weft/codegen/llvm/vector_math.h"
#include "weft/core/half.h"

namespace weft {
namespace {

int64_t largest_finite(const SmallFloat& f) {
  int64_t all = (int64_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1;
  if (f.has_infinity) return all - (int64_t{1} << f.mantissa_bits);
  return f.finite_only || f.nan_is_minus_zero ? all : all - 1;
}

int64_t nan_pattern(const SmallFloat& f) {
  if (f.nan_is_minus_zero || f.finite_only) return int64_t{1} << (f.exponent_bits + f.mantissa_bits);
  int64_t exponent = ((int64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
  return f.has_infinity ? exponent | int64_t{1} << (f.mantissa_bits - 1)
                        : exponent | ((int64_t{1} << f.mantissa_bits) - 1);
}

// Powers of two without sign or zero.
V scale_to_float(const V& pattern) {
  Writer& w = *pattern.w;
  auto whole = [&](int64_t value) { return w.integer(Elem::i32, value); };
  V value = select(equal(pattern, whole(0)), whole(0x00400000), shl(pattern, 23));
  return bits(select(equal(pattern, whole(255)), whole(0x7fc00000), value), Elem::f32);
}

V float_to_scale(const V& x) {
  Writer& w = *x.w;
  auto whole = [&](int64_t value) { return w.integer(Elem::i32, value); };
  V pattern = bits(x, Elem::i32);
  V tiny = w.cast("zext", w.compare("icmp uge", pattern, whole(0x00600000)), Elem::i32);
  V result = select(w.compare("icmp ult", pattern, whole(0x00800000)), tiny, lshr(pattern + whole(0x00400000), 23));
  // Zero, negative numbers, infinity and NaN have no power.
  V good = w.compare("icmp ult", pattern - whole(1), whole(0x7f800000 - 1));
  return select(good, result, whole(255));
}

}  // namespace

V small_to_float(const V& pattern, DType dtype) {
  SmallFloat f = layout_of(dtype);
  if (f.no_sign) return scale_to_float(pattern);
  Writer& w = *pattern.w;
  auto whole = [&](int64_t value) { return w.integer(Elem::i32, value); };
  int width = f.exponent_bits + f.mantissa_bits;
  V magnitude = pattern & whole((int64_t{1} << width) - 1);
  V sign = shl(pattern & whole(int64_t{1} << width), 31 - width);
  // Read with the exponent of f32 the number is 2**(bias - 127) too small, denormals included.
  V number = bits(shl(magnitude, 23 - f.mantissa_bits), Elem::f32) * __builtin_ldexp(1, 127 - f.bias);
  V value = bits(number, Elem::i32);
  if (f.has_infinity) {
    int64_t infinity = ((int64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
    V special = w.compare("icmp uge", magnitude, whole(infinity));
    value = select(special, shl(magnitude, 23 - f.mantissa_bits) | whole(0x7f800000), value);
  } else if (!f.finite_only) {
    V nan = f.nan_is_minus_zero ? equal(pattern, whole(nan_pattern(f))) : equal(magnitude, whole(nan_pattern(f)));
    value = select(nan, whole(0x7fc00000), value);
  }
  return bits(value | sign, Elem::f32);
}

V float_to_small(const V& x, DType dtype) {
  SmallFloat f = layout_of(dtype);
  if (f.no_sign) return float_to_scale(x);
  Writer& w = *x.w;
  auto whole = [&](int64_t value) { return w.integer(Elem::i32, value); };
  int width = f.exponent_bits + f.mantissa_bits, dropped = 23 - f.mantissa_bits;
  V pattern = bits(x, Elem::i32), magnitude = pattern & whole(0x7fffffff);
  // Ties to even: half a unit less one, plus the bit that stays last.
  V odd = lshr(magnitude, dropped) & whole(1);
  V rounded = lshr(magnitude + odd + whole((int64_t{1} << (dropped - 1)) - 1), dropped);
  V result = rounded - whole(static_cast<int64_t>(127 - f.bias) << f.mantissa_bits);
  if (f.bias != 127) {
    // Below the normal range a sum rounds: its last place is the smallest number.
    double magic = __builtin_ldexp(1, 24 - f.bias - f.mantissa_bits);
    V sum = bits(bits(magnitude, Elem::f32) + magic, Elem::i32);
    V denormal = sum - bits(w.real(Elem::f32, magic), Elem::i32);
    result =
        select(w.compare("icmp ult", magnitude, whole(static_cast<int64_t>(128 - f.bias) << 23)), denormal, result);
  }
  int64_t largest = largest_finite(f), past = f.has_infinity ? largest + 1 : f.finite_only ? largest : nan_pattern(f);
  result = select(w.compare("icmp ugt", result, whole(largest)), whole(past), result);
  V sign = lshr(pattern, 31 - width) & whole(int64_t{1} << width);
  if (f.nan_is_minus_zero) sign = select(equal(result, whole(0)), whole(0), sign);
  V nan = w.compare("icmp ugt", magnitude, whole(0x7f800000));
  return select(nan, whole(nan_pattern(f)), result) | sign;
}

V double_to_small(const V& x, DType dtype) {
  // Rounded to odd the f32 between carries what the last rounding needs to know.
  Writer& w = *x.w;
  V single = w.cast("fptrunc", x, Elem::f32), back = w.cast("fpext", single, Elem::f64);
  V pattern = bits(single, Elem::i32);
  V past = w.cast("zext", w.compare("fcmp ogt", abs_of(back), abs_of(x)), Elem::i32);
  V inexact = w.cast("zext", w.compare("fcmp one", back, x), Elem::i32);
  return float_to_small(bits((pattern - past) | inexact, Elem::f32), dtype);
}

}  // namespace weft
