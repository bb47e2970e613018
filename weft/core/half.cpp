// Small floats, by one generic algorithm over their layouts.
#include "weft/core/half.h"

#include <cmath>
#include <limits>

namespace weft {
namespace {

uint32_t nan_bits(const SmallFloat& f, uint32_t sign) {
  uint32_t exponent = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
  if (f.no_sign) return 0xffu;
  if (f.nan_is_minus_zero) return 1u << (f.exponent_bits + f.mantissa_bits);
  if (f.finite_only) return 1u << (f.exponent_bits + f.mantissa_bits);
  if (f.has_infinity) return sign | exponent | (1u << (f.mantissa_bits - 1));
  return sign | exponent | ((1u << f.mantissa_bits) - 1);
}

// The largest magnitude pattern that is a number.
uint32_t largest_finite(const SmallFloat& f) {
  uint32_t all = (1u << (f.exponent_bits + f.mantissa_bits)) - 1;
  if (f.has_infinity) return all - (1u << f.mantissa_bits);
  if (f.finite_only || f.nan_is_minus_zero) return all;
  return all - 1;
}

}  // namespace

float small_to_float(uint32_t bits, DType dtype) {
  SmallFloat f = layout_of(dtype);
  if (f.no_sign) {
    if (bits == 0xffu) return std::numeric_limits<float>::quiet_NaN();
    return std::ldexp(1.0f, static_cast<int>(bits) - f.bias);
  }
  uint32_t sign_mask = 1u << (f.exponent_bits + f.mantissa_bits);
  bool negative = bits & sign_mask;
  uint32_t magnitude = bits & (sign_mask - 1);
  uint32_t exponent = magnitude >> f.mantissa_bits, mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  uint32_t top = (1u << f.exponent_bits) - 1;
  float nan = std::copysign(std::numeric_limits<float>::quiet_NaN(), negative ? -1.0f : 1.0f);
  if (f.nan_is_minus_zero && bits == sign_mask) return std::numeric_limits<float>::quiet_NaN();
  if (f.has_infinity && exponent == top)
    return mantissa ? nan : (negative ? -1.0f : 1.0f) * std::numeric_limits<float>::infinity();
  if (!f.has_infinity && !f.finite_only && !f.nan_is_minus_zero && magnitude == sign_mask - 1) return nan;
  float value = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits)
                              : std::ldexp(static_cast<float>(mantissa | (1u << f.mantissa_bits)),
                                           static_cast<int>(exponent) - f.bias - f.mantissa_bits);
  return negative ? -value : value;
}

uint32_t double_to_small(double value, DType dtype) {
  SmallFloat f = layout_of(dtype);
  bool negative = std::signbit(value);
  uint32_t sign = negative && !f.no_sign ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
  if (std::isnan(value)) return nan_bits(f, sign);
  if (f.no_sign) {
    if (negative || value == 0 || std::isinf(value)) return 0xffu;
    int exponent;
    double fraction = std::frexp(value, &exponent);  // in [0.5, 1): 2**(exponent-1) <= value
    int power = exponent - 1 + (fraction >= 0.75 ? 1 : 0) + f.bias;
    return power < 0 ? 0u : power > 0xfe ? 0xffu : static_cast<uint32_t>(power);
  }
  uint32_t overflow = f.has_infinity  ? sign | (((1u << f.exponent_bits) - 1) << f.mantissa_bits)
                      : f.finite_only ? sign | largest_finite(f)
                                      : nan_bits(f, sign);
  if (std::isinf(value)) return overflow;
  double magnitude = std::fabs(value);
  int exponent = 0;
  if (magnitude != 0) exponent = std::ilogb(magnitude);
  if (exponent < 1 - f.bias || magnitude == 0) exponent = 1 - f.bias;
  // In units of the last place at that exponent; nearbyint ties to even.
  double units = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent));
  auto mantissa = static_cast<uint64_t>(units);
  uint64_t pattern = mantissa;
  if (mantissa >= (uint64_t{1} << f.mantissa_bits))
    pattern = (static_cast<uint64_t>(exponent + f.bias - 1) << f.mantissa_bits) + mantissa;
  if (pattern > largest_finite(f)) return overflow;
  if (pattern == 0 && f.nan_is_minus_zero) return 0;
  return sign | static_cast<uint32_t>(pattern);
}

uint32_t float_to_small(float value, DType dtype) { return double_to_small(static_cast<double>(value), dtype); }

}  // namespace weft
