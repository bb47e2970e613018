// Elementary functions as straight vector code, for lanes of f32 or f64 (operators of ir.h).
//
// One text serves both formats; what differs are constants and the degrees of polynomials. Coefficients come from
// scripts/fit_math.py, the largest errors measured are in docs/math.md.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "weft/codegen/llvm/ir.h"

namespace weft {

// What the bits of a format are.
struct Format {
  Elem whole;    // the integers of its width
  int mantissa;  // bits
  int64_t bias;  // of exponents
  double magic;  // 1.5 * 2**mantissa: adding it rounds to an integer
  int64_t magic_bits;
};
const Format& format_of(Elem elem);
// The constant of the format: `wide` in f64, `single` in f32.
V pick(const V& like, double wide, double single);
// Horner's scheme, highest power first: the coefficients of the format.
using Coefficients = std::initializer_list<double>;
V polynomial(const V& x, Coefficients coefficients);
V polynomial(const V& x, Coefficients wide, Coefficients single);

// x within [low, high], NaN kept.
V clamped(const V& x, double low, double high);
// x rounded to an integer: as a float, and as bits.
struct Rounded {
  V number, integer;
};
Rounded rounded(const V& x, const V& factor);  // x * factor, for less than 2**(mantissa - 1)
// 2**n for n an integer within the exponents of normal numbers.
V power_of_two(const V& n);
// `v` in parts of so many lanes, and one value of such parts.
std::vector<std::string> split(const V& v, int lanes);
V join(Writer& w, Elem elem, std::vector<std::string> parts, int lanes);
// p * 2**n, n the integer of `n` and the largest that is no more than its number, rounded once where the result is
// denormal, and infinite where it overflows.
V scaled(const V& p, const Rounded& n);
V infinity_like(const V& x);
V nan_like(const V& x);
V wide(const V& x);    // f32 as f64
V narrow(const V& x);  // and back

// hi + lo, where lo is less than the last place of hi: about twice the digits.
struct Pair {
  V hi, lo;
};
Pair fast_sum(const V& a, const V& b);       // exact for |a| >= |b|, or a = 0
Pair exact_product(const V& a, const V& b);  // needs fused multiply-add
Pair operator+(const Pair& a, const V& b);   // for |a| >= |b|
// (a + b) / (c + d), one division.
V quotient(const Pair& a, const Pair& b);
Pair quotient_pair(const Pair& a, const Pair& b);

// e**(x + more) = (hi + lo) * 2**n
struct Exponential {
  Pair value;
  Rounded n;
};
Exponential exp_parts(const V& x, const V* more = nullptr);
// e**x - 1 for x in [-60, 0].
Pair expm1_parts(const V& x);

// x = 2**k (1 + f) for x > 0, 1 + f between sqrt(1/2) and sqrt(2).
struct Mantissa {
  V f, k, exponent;  // exponent: k as the format has it, of a normal number
};
Mantissa mantissa_of(const V& x);
// (log((1 + s) / (1 - s)) - 2 s) / s**3 as a polynomial in z = s**2.
V log_tail(const V& z);

// log(u + lost) for u > 0, plus ln 2 where `doubled`; `lost` is less than the last place of u.
V log_of_pair(const V& u, const V& lost, const V* doubled = nullptr);
struct SinCos {
  V sine, cosine;
};
SinCos sin_cos(const V& x);

// Bits (i32) of a float narrower than f32 and its value (f32), and back, rounded once.
V small_to_float(const V& pattern, DType dtype);
V float_to_small(const V& x, DType dtype);
V double_to_small(const V& x, DType dtype);

// The functions by name; NaN, infinities, signed zeros and denormals included. vector_math.cpp tells which of them need
// fused multiply-add.
namespace inlined {
V exp(const V& x);
V exp_near(const V& x);  // f32: e**x, for no number beyond 2**17 and with fused multiply-add
V exp2(const V& x);
V expm1(const V& x);
V sinh(const V& x);
V cosh(const V& x);
V tanh(const V& x);
V logistic(const V& x);
V sin(const V& x);
V cos(const V& x);
V tan(const V& x);
V log(const V& x);
V log2(const V& x);
V log10(const V& x);
V log1p(const V& x);
V asinh(const V& x);
V acosh(const V& x);
V atanh(const V& x);
V asin(const V& x);
V acos(const V& x);
V atan(const V& x);
V atan2(const V& y, const V& x);
V erf(const V& x);
V erfc(const V& x);
V erf_inv(const V& x);
V cbrt(const V& x);
V hypot(const V& x, const V& y);
V magnitude(const V& re, const V& im);
V next_after(const V& x, const V& y);
V power(const V& x, const V& y);
V three_halves_power(const V& x);        // x**1.5
V minus_half_power(const V& x);          // x**-0.5
V minus_three_halves_power(const V& x);  // x**-1.5
}  // namespace inlined

// A complex number, and functions of complex numbers by name (vector_complex.cpp): all need fused multiply-add.
struct Complex {
  V re, im;
};
using ComplexFunction = Complex (*)(const Complex& z);
ComplexFunction complex_function(std::string_view name);

}  // namespace weft
