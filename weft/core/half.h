// Floats narrower than f32, as storage: conversion to f32 (exact) and from it (round to nearest, ties to even).
#pragma once

#include <bit>
#include <cstdint>

#include "weft/core/dtype.h"

namespace weft {

// How a small float is laid out: sign, exponent, mantissa from the top.
struct SmallFloat {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;       // all-ones exponent is infinity and NaN, as in IEEE
  bool nan_is_minus_zero;  // the FNUZ types: no infinity, no -0, NaN is the pattern of -0
  bool finite_only;        // f4 and f6: no NaN and no infinity
  bool no_sign;            // f8e8m0fnu: a power of two, no zero
};

constexpr SmallFloat layout_of(DType dtype) {
  switch (dtype) {
    case DType::f4e2m1fn:
      return {2, 1, 1, false, false, true, false};
    case DType::f6e2m3fn:
      return {2, 3, 1, false, false, true, false};
    case DType::f6e3m2fn:
      return {3, 2, 3, false, false, true, false};
    case DType::f8e3m4:
      return {3, 4, 3, true, false, false, false};
    case DType::f8e4m3:
      return {4, 3, 7, true, false, false, false};
    case DType::f8e4m3b11fnuz:
      return {4, 3, 11, false, true, false, false};
    case DType::f8e4m3fn:
      return {4, 3, 7, false, false, false, false};
    case DType::f8e4m3fnuz:
      return {4, 3, 8, false, true, false, false};
    case DType::f8e5m2:
      return {5, 2, 15, true, false, false, false};
    case DType::f8e5m2fnuz:
      return {5, 2, 16, false, true, false, false};
    case DType::f8e8m0fnu:
      return {8, 0, 127, false, false, false, true};
    case DType::bf16:
      return {8, 7, 127, true, false, false, false};
    case DType::f16:
      return {5, 10, 15, true, false, false, false};
    default:
      return {8, 23, 127, true, false, false, false};
  }
}

// Bits of a small float as f32. Exact for every pattern.
float small_to_float(uint32_t bits, DType dtype);
// The nearest small float: values past the largest become infinity where there is one, NaN where there is none (FN,
// FNUZ) and the largest finite value in the finite-only types; NaN in the finite-only types becomes -0 as in ml_dtypes.
uint32_t float_to_small(float value, DType dtype);
// The same from f64, rounded once.
uint32_t double_to_small(double value, DType dtype);

inline float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
inline uint16_t float_to_bf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace weft
