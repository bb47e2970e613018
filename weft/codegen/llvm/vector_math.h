// Elementary functions as straight vector code, for lanes of f32 or f64 (operators of ir.h).
#pragma once

#include <initializer_list>

#include "weft/codegen/llvm/ir.h"

namespace weft {

// Horner's scheme, highest power first.
V polynomial(const V& x, std::initializer_list<double> coefficients);
// Bits (i32) of a float narrower than f32 and its value (f32), and back, rounded once.
V small_to_float(const V& pattern, DType dtype);
V float_to_small(const V& x, DType dtype);
V double_to_small(const V& x, DType dtype);

// x within [low, high], NaN kept.
V clamped(const V& x, double low, double high);

namespace f32 {
V exp(const V& x);
V expm1(const V& x);
V log(const V& x);
V log1p(const V& x);
V tanh(const V& x);
V logistic(const V& x);
V erf(const V& x);
V sin(const V& x);  // these three with fused multiply-add only
V cos(const V& x);
V tan(const V& x);
V sinh(const V& x);
V cosh(const V& x);
V cbrt(const V& x);
V pow(const V& x, const V& y);
}  // namespace f32

namespace f64 {
V exp(const V& x);
V expm1(const V& x);
V log(const V& x);
V tanh(const V& x);
V logistic(const V& x);
}  // namespace f64

}  // namespace weft
