// What an element-wise operation does to one element: the closed set that interpreter, folding and emitters implement.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

// Arithmetic of floats is in the element type (f16, bf16 and f8 compute in f32 and round once); integers wrap in two's
// complement; booleans are 0 or 1. Comparison results are booleans.
enum class Scalar : uint8_t {
  none,
  // unary
  abs,
  cbrt,
  ceil,
  cos,
  count_leading_zeros,
  exp,
  expm1,
  floor,
  is_finite,
  log,
  log1p,
  logistic,
  negate,
  bit_not,
  popcount,
  round_away,
  round_even,
  rsqrt,
  sign,
  sin,
  sqrt,
  tan,
  tanh,
  real,
  imag,
  acos,
  acosh,
  asin,
  asinh,
  atan,
  atanh,
  cosh,
  sinh,
  erf,
  erfc,
  lgamma,
  digamma,
  erf_inv,
  exp2,
  log2,
  log10,
  bessel_i1e,
  // binary
  add,
  subtract,
  multiply,
  divide,
  remainder,
  power,
  atan2,
  hypot,
  gcd,  // of magnitudes; of 0 and 0 it is 0
  maximum,
  minimum,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right_arithmetic,
  shift_right_logical,
  complex,
  next_after,
  polygamma,
  zeta,
  // comparisons: IEEE for floats (NaN makes all but ne false); complex numbers: eq and ne only
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  // ternary
  select,  // condition, on_true, on_false
  clamp,   // min, operand, max
  fma,     // a * b + c, rounded once
  // element type changes: the target type is given beside the scalar
  convert,
  bitcast,
};

// Operands taken by a scalar operation (0 for none).
int arity(Scalar scalar);
std::string_view name(Scalar scalar);
bool is_comparison(Scalar scalar);

}  // namespace weft
