// The functions that generated code may call: the C library's, and ours for what it lacks.
#include "weft/runtime/symbols.h"

#include <cmath>
#include <cstring>

#include "weft/core/element.h"
#include "weft/core/half.h"
#include "weft/library/fft.h"
#include "weft/library/routine.h"
#include "weft/library/sort.h"
#include "weft/runtime/scratch.h"
#include "weft/runtime/thread_pool.h"

namespace weft {
namespace {

float small_to_float_bits(uint32_t bits, int32_t dtype) { return small_to_float(bits, static_cast<DType>(dtype)); }
uint32_t float_to_small_bits(float value, int32_t dtype) { return float_to_small(value, static_cast<DType>(dtype)); }
uint32_t double_to_small_bits(double value, int32_t dtype) { return double_to_small(value, static_cast<DType>(dtype)); }

template <Scalar op>
double real_double(double x) {
  Element e = Element::of_double(DType::f64, x);
  return apply(op, DType::f64, &e).real();
}
template <Scalar op>
float real_float(float x) {
  Element e = Element::of_double(DType::f32, x);
  return static_cast<float>(apply(op, DType::f32, &e).real());
}

template <Scalar op, class T>
T real_pair(T a, T b) {
  DType dtype = sizeof(T) == 8 ? DType::f64 : DType::f32;
  Element pair[2] = {Element::of_double(dtype, a), Element::of_double(dtype, b)};
  return static_cast<T>(apply(op, dtype, pair).real());
}

// Parts of complex functions of one or two numbers: the same code as the interpreter's.
template <Scalar op, bool imaginary, class T>
T complex_one(T re, T im) {
  DType dtype = sizeof(T) == 8 ? DType::c128 : DType::c64;
  Element e = Element::of_complex(dtype, {re, im});
  std::complex<double> result = apply(op, dtype, &e).c;
  return static_cast<T>(imaginary ? result.imag() : result.real());
}
template <Scalar op, bool imaginary, class T>
T complex_two(T re_a, T im_a, T re_b, T im_b) {
  DType dtype = sizeof(T) == 8 ? DType::c128 : DType::c64;
  Element pair[2] = {Element::of_complex(dtype, {re_a, im_a}), Element::of_complex(dtype, {re_b, im_b})};
  std::complex<double> result = apply(op, dtype, pair).c;
  return static_cast<T>(imaginary ? result.imag() : result.real());
}

// The routines whose work threads share.
void by_threads(int64_t count, int64_t cost, void (*body)(void** args, int64_t begin, int64_t end), void** args) {
  parallel_for(count, cost, body, args);
}
void fourier(const int64_t* numbers, void* const* buffers, const RoutineBody*) {
  fft_routine(numbers, buffers, by_threads);
}
void sort(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies) {
  sort_routine(numbers, buffers, bodies, by_threads);
}

struct Row {
  std::string_view name;
  void* address;
};

template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

using Real = double (*)(double);
using RealF = float (*)(float);
using Real2 = double (*)(double, double);
using RealF2 = float (*)(float, float);

#define WEFT_LIBM(name) \
  {#name, address(static_cast<Real>(::name))}, { #name "f", address(static_cast<RealF>(::name##f)) }
#define WEFT_LIBM2(name) \
  {#name, address(static_cast<Real2>(::name))}, { #name "f", address(static_cast<RealF2>(::name##f)) }
#define WEFT_COMPLEX(name, op)                                                         \
  {"weft_complex_" name "_re", address(complex_one<Scalar::op, false, double>)},       \
      {"weft_complex_" name "_im", address(complex_one<Scalar::op, true, double>)},    \
      {"weft_complex_" name "_ref", address(complex_one<Scalar::op, false, float>)}, { \
    "weft_complex_" name "_imf", address(complex_one<Scalar::op, true, float>)         \
  }
#define WEFT_COMPLEX2(name, op)                                                        \
  {"weft_complex_" name "_re", address(complex_two<Scalar::op, false, double>)},       \
      {"weft_complex_" name "_im", address(complex_two<Scalar::op, true, double>)},    \
      {"weft_complex_" name "_ref", address(complex_two<Scalar::op, false, float>)}, { \
    "weft_complex_" name "_imf", address(complex_two<Scalar::op, true, float>)         \
  }

const Row rows[] = {
    {"memcpy", address(static_cast<void* (*)(void*, const void*, size_t)>(std::memcpy))},
    {"memmove", address(static_cast<void* (*)(void*, const void*, size_t)>(std::memmove))},
    {"memset", address(static_cast<void* (*)(void*, int, size_t)>(std::memset))},
    WEFT_LIBM(acos),
    WEFT_LIBM(acosh),
    WEFT_LIBM(asin),
    WEFT_LIBM(asinh),
    WEFT_LIBM(atan),
    WEFT_LIBM(atanh),
    WEFT_LIBM(cbrt),
    WEFT_LIBM(ceil),
    WEFT_LIBM(cos),
    WEFT_LIBM(cosh),
    WEFT_LIBM(erf),
    WEFT_LIBM(erfc),
    WEFT_LIBM(exp),
    WEFT_LIBM(expm1),
    WEFT_LIBM(exp2),
    WEFT_LIBM(log2),
    WEFT_LIBM(log10),
    WEFT_LIBM(floor),
    WEFT_LIBM(lgamma),
    WEFT_LIBM(log),
    WEFT_LIBM(log1p),
    WEFT_LIBM(rint),
    WEFT_LIBM(round),
    WEFT_LIBM(sin),
    WEFT_LIBM(sinh),
    WEFT_LIBM(sqrt),
    WEFT_LIBM(tan),
    WEFT_LIBM(tanh),
    WEFT_LIBM(trunc),
    WEFT_LIBM2(atan2),
    WEFT_LIBM2(fmod),
    WEFT_LIBM2(hypot),
    WEFT_LIBM2(nextafter),
    WEFT_LIBM2(pow),
    {"fma", address(static_cast<double (*)(double, double, double)>(::fma))},
    {"fmaf", address(static_cast<float (*)(float, float, float)>(::fmaf))},
    {"weft_digamma", address(real_double<Scalar::digamma>)},
    {"weft_digammaf", address(real_float<Scalar::digamma>)},
    {"weft_erf_inv", address(real_double<Scalar::erf_inv>)},
    {"weft_erf_invf", address(real_float<Scalar::erf_inv>)},
    {"weft_bessel_i1e", address(real_double<Scalar::bessel_i1e>)},
    {"weft_bessel_i1ef", address(real_float<Scalar::bessel_i1e>)},
    {"weft_polygamma", address(real_pair<Scalar::polygamma, double>)},
    {"weft_polygammaf", address(real_pair<Scalar::polygamma, float>)},
    {"weft_zeta", address(real_pair<Scalar::zeta, double>)},
    {"weft_zetaf", address(real_pair<Scalar::zeta, float>)},
    {"weft_logistic", address(real_double<Scalar::logistic>)},
    {"weft_logisticf", address(real_float<Scalar::logistic>)},
    {"weft_small_to_float", address(small_to_float_bits)},
    {"weft_float_to_small", address(float_to_small_bits)},
    {"weft_double_to_small", address(double_to_small_bits)},
    WEFT_COMPLEX("acos", acos),
    WEFT_COMPLEX("acosh", acosh),
    WEFT_COMPLEX("asin", asin),
    WEFT_COMPLEX("asinh", asinh),
    WEFT_COMPLEX("atan", atan),
    WEFT_COMPLEX("atanh", atanh),
    WEFT_COMPLEX("cos", cos),
    WEFT_COMPLEX("cosh", cosh),
    WEFT_COMPLEX("exp", exp),
    WEFT_COMPLEX("expm1", expm1),
    WEFT_COMPLEX("log", log),
    WEFT_COMPLEX("log1p", log1p),
    WEFT_COMPLEX("logistic", logistic),
    WEFT_COMPLEX("rsqrt", rsqrt),
    WEFT_COMPLEX("sign", sign),
    WEFT_COMPLEX("sin", sin),
    WEFT_COMPLEX("sinh", sinh),
    WEFT_COMPLEX("sqrt", sqrt),
    WEFT_COMPLEX("tan", tan),
    WEFT_COMPLEX("tanh", tanh),
    WEFT_COMPLEX2("divide", divide),
    WEFT_COMPLEX2("power", power),
    {"weft_routine_fft", address(fourier)},
    {"weft_routine_sort", address(sort)},
    {"weft_support_scratch", address(thread_scratch)},
    {"weft_support_kept_scratch", address(kept_scratch)},
};

}  // namespace

void* runtime_symbol(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.address;
  constexpr std::string_view routines = "weft_routine_";
  if (name.starts_with(routines)) return reinterpret_cast<void*>(find_routine(name.substr(routines.size())));
  return nullptr;
}

}  // namespace weft
