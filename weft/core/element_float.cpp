// Float and complex operations: computed in the element type, small floats in f32 and rounded once.
#include "weft/core/element_float.h"

#include <array>
#include <cmath>
#include <limits>

#include "weft/core/error.h"
#include "weft/core/special.h"

namespace weft {
namespace {

[[noreturn]] void no_meaning(Scalar op, DType dtype) {
  fail(ErrorKind::unsupported, "scalar", name(op), " has no meaning for ", name(dtype));
}

template <class T>
T unary(Scalar op, T x) {
  switch (op) {
    case Scalar::abs:
      return std::fabs(x);
    case Scalar::cbrt:
      return std::cbrt(x);
    case Scalar::ceil:
      return std::ceil(x);
    case Scalar::cos:
      return std::cos(x);
    case Scalar::exp:
      return std::exp(x);
    case Scalar::expm1:
      return std::expm1(x);
    case Scalar::floor:
      return std::floor(x);
    case Scalar::log:
      return std::log(x);
    case Scalar::log1p:
      return std::log1p(x);
    case Scalar::logistic:
      return static_cast<T>(1 / (1 + std::exp(-static_cast<double>(x))));
    case Scalar::negate:
      return -x;
    case Scalar::round_away:
      return std::round(x);
    case Scalar::round_even:
      return std::nearbyint(x);
    case Scalar::rsqrt:
      return 1 / std::sqrt(x);
    case Scalar::sign:
      return std::isnan(x) || x == 0 ? x : x > 0 ? T(1) : T(-1);
    case Scalar::sin:
      return std::sin(x);
    case Scalar::sqrt:
      return std::sqrt(x);
    case Scalar::tan:
      return std::tan(x);
    case Scalar::tanh:
      return std::tanh(x);
    case Scalar::real:
      return x;
    case Scalar::imag:
      return 0;
    case Scalar::acos:
      return std::acos(x);
    case Scalar::acosh:
      return std::acosh(x);
    case Scalar::asin:
      return std::asin(x);
    case Scalar::asinh:
      return std::asinh(x);
    case Scalar::atan:
      return std::atan(x);
    case Scalar::atanh:
      return std::atanh(x);
    case Scalar::cosh:
      return std::cosh(x);
    case Scalar::sinh:
      return std::sinh(x);
    case Scalar::erf:
      return std::erf(x);
    case Scalar::erfc:
      return std::erfc(x);
    case Scalar::lgamma:
      return std::lgamma(x);
    case Scalar::digamma:
      return static_cast<T>(digamma(x));
    case Scalar::erf_inv:
      return static_cast<T>(erf_inv(x));
    case Scalar::exp2:
      return std::exp2(x);
    case Scalar::log2:
      return std::log2(x);
    case Scalar::log10:
      return std::log10(x);
    case Scalar::bessel_i1e:
      return static_cast<T>(bessel_i1e(x));
    default:
      fail(ErrorKind::unsupported, "scalar", name(op), " has no meaning for floats");
  }
}

template <class T>
T binary(Scalar op, T a, T b) {
  switch (op) {
    case Scalar::add:
      return a + b;
    case Scalar::subtract:
      return a - b;
    case Scalar::multiply:
      return a * b;
    case Scalar::divide:
      return a / b;
    case Scalar::remainder:
      return std::fmod(a, b);
    case Scalar::power:
      return std::pow(a, b);
    case Scalar::atan2:
      return std::atan2(a, b);
    case Scalar::hypot:
      return std::hypot(a, b);
    case Scalar::maximum:
      return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? b : a;
    case Scalar::minimum:
      return std::isnan(a) ? a : std::isnan(b) ? b : b < a ? b : a;
    case Scalar::next_after:
      return std::nextafter(a, b);
    case Scalar::polygamma:
      return static_cast<T>(polygamma(a, b));
    case Scalar::zeta:
      return static_cast<T>(zeta(a, b));
    default:
      fail(ErrorKind::unsupported, "scalar", name(op), " has no meaning for floats");
  }
}

// A sum and what its rounding lost (Knuth).
std::array<double, 2> exact_sum(double a, double b) {
  double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

// e^x cos y - 1 without the digits that meet: (e^x - 1) cos y - 2 sin^2(y / 2).
std::complex<double> complex_expm1(std::complex<double> z) {
  std::complex<double> power = std::exp(z);
  bool is_plain = std::isfinite(z.real()) && std::isfinite(z.imag()) && z.real() < 1;
  if (!is_plain) return power - 1.0;
  double half = std::sin(z.imag() / 2);
  return {std::fma(std::expm1(z.real()), std::cos(z.imag()), -2 * half * half), power.imag()};
}

// log |1 + z| by |1 + z|^2 - 1 = 2 x + x^2 + y^2, whose parts are added with what their rounding lost.
std::complex<double> complex_log1p(std::complex<double> z) {
  double x = z.real(), y = z.imag();
  bool is_near = std::hypot(1 + x, y) > 0.5 && std::hypot(1 + x, y) < 2;
  if (!is_near) return std::log(1.0 + z);
  double xx = x * x, yy = y * y;
  std::array<double, 2> first = exact_sum(2 * x, yy), both = exact_sum(first[0], xx);
  double lost = std::fma(x, x, -xx) + std::fma(y, y, -yy) + first[1] + both[1];
  return {std::log1p(both[0] + lost) / 2, std::atan2(y, 1 + x)};
}

// By the exponential e^w that does not grow past all bounds; 1 + e^w without the digits that meet near its zeros.
std::complex<double> complex_logistic(std::complex<double> z) {
  bool is_left = z.real() < 0;
  std::complex<double> w = is_left ? z : -z;
  double power = std::exp(w.real()), less = std::expm1(w.real()), half = std::cos(w.imag() / 2), ones = 2 * half * half;
  double re = std::fma(less, std::cos(w.imag()), ones), im = power * std::sin(w.imag()),
         size = std::fma(re, re, im * im);
  return is_left ? std::complex<double>(power * (ones + less) / size, im / size)
                 : std::complex<double>(re / size, -im / size);
}

template <class T>
std::complex<T> unary_complex(Scalar op, std::complex<T> x, DType dtype) {
  switch (op) {
    case Scalar::cos:
      return std::cos(x);
    case Scalar::exp:
      return std::exp(x);
    case Scalar::expm1:
      return std::complex<T>(complex_expm1(x));
    case Scalar::log:
      return std::log(x);
    case Scalar::log1p:
      return std::complex<T>(complex_log1p(x));
    case Scalar::logistic:
      return std::complex<T>(complex_logistic(x));
    case Scalar::negate:
      return -x;
    case Scalar::rsqrt:
      return T(1) / std::sqrt(x);
    case Scalar::sin:
      return std::sin(x);
    case Scalar::sqrt:
      return std::sqrt(x);
    case Scalar::tan:
      return std::tan(x);
    case Scalar::tanh:
      return std::tanh(x);
    case Scalar::acos:
      return std::acos(x);
    case Scalar::acosh:
      return std::acosh(x);
    case Scalar::asin:
      return std::asin(x);
    case Scalar::asinh:
      return std::asinh(x);
    case Scalar::atan:
      return std::atan(x);
    case Scalar::atanh:
      return std::atanh(x);
    case Scalar::cosh:
      return std::cosh(x);
    case Scalar::sinh:
      return std::sinh(x);
    case Scalar::sign: {
      if (x == std::complex<T>()) return x;
      T size = std::abs(x);
      if (std::isnan(x.real()) || std::isnan(x.imag()))
        return {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::quiet_NaN()};
      return x / size;
    }
    default:
      no_meaning(op, dtype);
  }
}

// What the C library has in f32 loses places where parts of it meet: in f64 they are there.
std::complex<float> unary_complex_single(Scalar op, std::complex<float> x, DType dtype) {
  bool is_near =
      op == Scalar::exp || op == Scalar::log || op == Scalar::sqrt || op == Scalar::negate || op == Scalar::sign;
  return is_near ? unary_complex<float>(op, x, dtype) : std::complex<float>(unary_complex<double>(op, x, dtype));
}

// Smith's method, operation for operation as NumPy has it: it decides what is infinite and what NaN.
template <class T>
std::complex<T> quotient(std::complex<T> a, std::complex<T> b) {
  T re = std::abs(b.real()), im = std::abs(b.imag());
  if (re == 0 && im == 0) return {a.real() / re, a.imag() / re};
  if (re >= im) {
    T ratio = b.imag() / b.real(), scale = 1 / (b.real() + b.imag() * ratio);
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  }
  T ratio = b.real() / b.imag(), scale = 1 / (b.imag() + b.real() * ratio);
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

template <class T>
std::complex<T> product(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// As NumPy has it: small whole exponents by products.
template <class T>
std::complex<T> complex_power(std::complex<T> a, std::complex<T> b) {
  std::complex<T> zero, one(1);
  if (b == zero) return one;
  if (a == zero && b.real() > 0) return zero;
  if (a == zero) return {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::quiet_NaN()};
  if (b.imag() != 0 || std::trunc(b.real()) != b.real() || std::abs(b.real()) >= 100) return std::pow(a, b);
  int n = std::abs(static_cast<int>(b.real()));
  std::complex<T> result = one, power = a;
  if (b.real() > 0 && n <= 3) {
    result = a;
    for (int i = 1; i < n; ++i) result = product(a, result);
    return result;
  }
  for (int mask = 1; mask <= n; mask <<= 1) {
    if (n & mask) result = product(result, power);
    power = product(power, power);
  }
  return b.real() < 0 ? quotient(one, result) : result;
}

template <class T>
std::complex<T> binary_complex(Scalar op, std::complex<T> a, std::complex<T> b, DType dtype) {
  switch (op) {
    case Scalar::add:
      return a + b;
    case Scalar::subtract:
      return a - b;
    case Scalar::multiply:
      // As NumPy has it where the machine has fused multiply-add.
      return {std::fma(a.real(), b.real(), -(a.imag() * b.imag())), std::fma(a.real(), b.imag(), a.imag() * b.real())};
    case Scalar::divide:
      return quotient(a, b);
    case Scalar::power:
      return complex_power(a, b);
    default:
      no_meaning(op, dtype);
  }
}

// As NumPy computes it, and so machine code does.
template <class T>
T magnitude(T a, T b) {
  T most = std::max(a, b), ratio = std::min(a, b) / most;
  if (std::isinf(a) || std::isinf(b)) return std::numeric_limits<T>::infinity();
  return a + b == 0 ? T(0) : most * std::sqrt(std::fma(ratio, ratio, T(1)));
}

template <class T>
Element apply_complex(Scalar op, DType result, const Element* operands) {
  DType dtype = operands[0].dtype;
  std::complex<T> a(operands[0].c);
  if (op == Scalar::real) return Element::of_double(result, a.real());
  if (op == Scalar::imag) return Element::of_double(result, a.imag());
  if (op == Scalar::abs) return Element::of_double(real_type(dtype), magnitude(std::abs(a.real()), std::abs(a.imag())));
  if (op == Scalar::is_finite) return {DType::boolean, std::isfinite(a.real()) && std::isfinite(a.imag()), {}};
  if (arity(op) == 1) {
    if constexpr (sizeof(T) == 4)
      return Element::of_complex(dtype, unary_complex_single(op, a, dtype));
    else
      return Element::of_complex(dtype, unary_complex(op, a, dtype));
  }
  return Element::of_complex(dtype, binary_complex(op, a, std::complex<T>(operands[1].c), dtype));
}

}  // namespace

Element apply_float(Scalar op, DType result, const Element* operands) {
  DType dtype = operands[0].dtype;
  if (dtype == DType::c64) return apply_complex<float>(op, result, operands);
  if (dtype == DType::c128) return apply_complex<double>(op, result, operands);
  double a = operands[0].real();
  if (op == Scalar::is_finite) return {DType::boolean, std::isfinite(a), {}};
  if (op == Scalar::complex) return {result, 0, {a, operands[1].real()}};
  if (op == Scalar::fma) {
    double b = operands[1].real(), c = operands[2].real();
    if (dtype == DType::f64) return Element::of_double(dtype, std::fma(a, b, c));
    return Element::of_double(dtype, std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
  }
  if (op == Scalar::next_after && bit_width(dtype) < 32) no_meaning(op, dtype);
  if (dtype == DType::f64)
    return Element::of_double(dtype, arity(op) == 1 ? unary(op, a) : binary(op, a, operands[1].real()));
  auto x = static_cast<float>(a);
  return Element::of_double(dtype,
                            arity(op) == 1 ? unary(op, x) : binary(op, x, static_cast<float>(operands[1].real())));
}

}  // namespace weft
