// The inline functions against the C library's of twice the digits: the largest error found, in last places.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "run_kernel.h"
#include "weft/codegen/llvm/math.h"
#include "weft/core/special.h"

namespace weft {

// Two steps of Newton's method from the f64 function.
inline long double erf_inv_of(long double x) {
  long double y = erf_inv(static_cast<double>(x));
  for (int i = 0; i < 2 && std::isfinite(y) && y != 0; ++i) {
    long double size = std::fabs(x), rest = (1 - size) - erfcl(std::fabs(y));
    long double error = size < 0.5L ? erfl(y) - x : x < 0 ? -rest : rest;
    y -= error * expl(y * y) * 0.88622692545275801365L;
  }
  return y;
}

// What is promised: with fused multiply-add and, where the function is inline there, without. `single`: of f32, where
// that is more.
struct Bounds {
  double fused, plain, single = 0;
  double of(bool has_fma, bool is_single) const { return is_single && single > 0 ? single : has_fma ? fused : plain; }
};
struct Unary {
  const char* name;
  long double (*exact)(long double);
  double (*single)(double);
  Bounds bounds;
};
inline const Unary unaries[] = {
    {"exp", expl, exp, {1.1, 1.1}},
    {"exp2", exp2l, exp2, {1.2, 1.6}},
    {"expm1", expm1l, expm1, {1.4, 1.4}},
    {"log", logl, log, {0.9, 0.9}},
    {"log2", log2l, log2, {0.8, 0}},
    {"log10", log10l, log10, {0.8, 0}},
    {"log1p", log1pl, log1p, {1, 1}},
    {"sin", sinl, sin, {0.9, 0}},
    {"cos", cosl, cos, {0.9, 0}},
    {"tan", tanl, tan, {1.1, 0}},
    {"asin", asinl, asin, {0.9, 1.1}},
    {"acos", acosl, acos, {0.9, 1.1}},
    {"atan", atanl, atan, {1, 1.6}},
    {"sinh", sinhl, sinh, {1, 1}},
    {"cosh", coshl, cosh, {1, 1}},
    {"tanh", tanhl, tanh, {1, 1.5, 2.5}},
    {"asinh", asinhl, asinh, {1.4, 1.4}},
    {"acosh", acoshl, acosh, {1, 1.2}},
    {"atanh", atanhl, atanh, {1.2, 1.4}},
    {"logistic",
     [](long double x) { return 1 / (1 + expl(-x)); },
     [](double x) { return 1 / (1 + std::exp(-x)); },
     {0.9, 1.5, 2.5}},
    {"erf", erfl, erf, {1.1, 1.4}},
    {"erfc", erfcl, erfc, {3, 0}},
    {"erf_inv", erf_inv_of, [](double x) { return static_cast<double>(erf_inv_of(x)); }, {3.5, 0}},
    {"cbrt", cbrtl, cbrt, {0.6, 0}},
    {"three_halves_power", [](long double x) { return powl(x, 1.5L); }, [](double x) { return pow(x, 1.5); }, {0.8, 0}},
    {"minus_half_power", [](long double x) { return powl(x, -0.5L); }, [](double x) { return pow(x, -0.5); }, {0.8, 0}},
    {"minus_three_halves_power",
     [](long double x) { return powl(x, -1.5L); },
     [](double x) { return pow(x, -1.5); },
     {0.8, 0}},
};
struct Binary {
  const char* name;
  long double (*exact)(long double, long double);
  Bounds bounds;
};
inline const Binary binaries[] = {
    {"power", powl, {0.8, 0}}, {"atan2", atan2l, {1.5, 1.7}}, {"hypot", hypotl, {1.3, 1.3}}};

template <class T>
double ulp_error(T got, long double wanted) {
  if (std::isnan(wanted)) return std::isnan(got) ? 0 : INFINITY;
  auto nearest = static_cast<T>(wanted);
  if (got == nearest && (nearest == 0 || std::isinf(nearest)))
    return std::signbit(got) == std::signbit(nearest) ? 0 : INFINITY;
  if (std::isnan(got) || std::isinf(nearest) || std::isinf(got))
    return std::isinf(nearest) && std::fabs(got) >= std::numeric_limits<T>::max() ? 1 : INFINITY;
  int exponent;
  std::frexp(nearest, &exponent);
  long double unit =
      std::ldexp(1.0L, std::max(exponent, std::numeric_limits<T>::min_exponent) - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - wanted) / unit);
}

// The same for normal results of f32, without the C library.
inline double ulp_error_fast(float got, double wanted) {
  auto nearest = static_cast<float>(wanted);
  uint32_t exponent = std::bit_cast<uint32_t>(nearest) >> 23 & 255;
  if (exponent == 0 || exponent == 255 || !(std::fabs(got) <= std::numeric_limits<float>::max()))
    return ulp_error(got, static_cast<long double>(wanted));
  return std::fabs(static_cast<double>(got) - wanted) * std::bit_cast<double>(uint64_t{1023 + 150 - exponent} << 52);
}

// A function `run(from, second, to, count)` over whole vectors.
inline std::string module_of(const Target& target, const char* function, DType dtype, int lanes, bool is_binary) {
  ModuleText module{target, {}, {}, {}};
  MathFunction math = math_function(module, function, dtype, lanes);
  std::string type = math.argument_type, second = is_binary ? cat(", ", type, " %b") : std::string();
  std::string out =
      cat("define void @run(ptr %from, ptr %second, ptr %to, i64 %count) #0 {\nentry:\n  br label %loop\nloop:\n",
          "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n  %p = getelementptr ", type,
          ", ptr %from, i64 %i\n  %q = getelementptr ", type, ", ptr %to, i64 %i\n  %r = getelementptr ", type,
          ", ptr %second, i64 %i\n  %x = load ", type, ", ptr %p, align 4\n  %b = load ", type,
          ", ptr %r, align 4\n  %y = call ", type, " @", math.name, "(", type, " %x", second, ")\n  store ", type,
          " %y, ptr %q, align 4\n  %next = add i64 %i, 1\n  %more = icmp ult i64 %next, %count\n  br i1 "
          "%more, label %loop, label %done\ndone:\n  ret void\n}\n\n");
  for (const auto& [name, text] : module.functions) out += text;
  for (const std::string& line : module.declarations) append(out, line, "\n");
  std::string vectors = cat("\"prefer-vector-width\"=\"", target.vector_bytes * 8, "\"");
  append(out, "attributes #0 = { nounwind ", vectors, " }\nattributes #1 = { nounwind noinline ", vectors,
         " }\nattributes #2 = { nounwind alwaysinline ", vectors, " }\n");
  return out;
}

inline bool is_inline(const Target& target, const char* function, DType dtype) {
  ModuleText module{target, {}, {}, {}};
  return !vector_math(module, function, dtype, "f", 2).empty();
}

constexpr size_t ulp_block = 1 << 14;

// A function compiled for vectors of a target, run over blocks.
template <class T>
class Vectors {
 public:
  Vectors(const Target& target, const char* function, bool is_binary = false)
      : lanes_(target.vector_bytes / static_cast<int>(sizeof(T))),
        code_(std::array{
            compile_to_object(module_of(target, function, sizeof(T) == 8 ? DType::f64 : DType::f32, lanes_, is_binary),
                              target)
                .bytes}),
        run_(reinterpret_cast<Run>(code_.find("run"))) {}
  void operator()(const std::vector<T>& from, const std::vector<T>& second, std::vector<T>& to) const {
    run_(from.data(), second.data(), to.data(), static_cast<int64_t>(from.size()) / lanes_);
  }

 private:
  using Run = void (*)(const void*, const void*, void*, int64_t);
  int lanes_;
  CodeObject code_;
  Run run_;
};

struct Worst {
  double error = 0, x = 0, y = 0;
  void take(double found, double at, double second = 0) {
    if (found > error) *this = {found, at, second};
  }
};

// Every `step`-th f32.
inline Worst worst_single(const Unary& f, const Target& target, uint64_t step) {
  Vectors<float> run(target, f.name);
  std::vector<float> from(ulp_block), to(ulp_block);
  Worst worst;
  for (uint64_t start = 0; start < (uint64_t{1} << 32); start += ulp_block * step) {
    for (size_t i = 0; i < ulp_block; ++i) from[i] = std::bit_cast<float>(static_cast<uint32_t>(start + i * step));
    run(from, from, to);
    for (size_t i = 0; i < ulp_block; ++i)
      worst.take(ulp_error_fast(to[i], f.single(static_cast<double>(from[i]))), static_cast<double>(from[i]));
  }
  return worst;
}

// 2**24 / step numbers, half of them over all bits, half where the functions are interesting, and edges.
inline Worst worst_double(const Unary& f, const Target& target, uint64_t step) {
  Vectors<double> run(target, f.name);
  std::vector<double> from(ulp_block), to(ulp_block);
  Worst worst;
  std::mt19937_64 random(1);
  for (uint64_t start = 0; start < std::max<uint64_t>((uint64_t{1} << 24) / step, ulp_block); start += ulp_block) {
    for (size_t i = 0; i < ulp_block; ++i) {
      uint64_t bits = random();
      from[i] =
          i % 2 ? std::bit_cast<double>(bits)
                : std::ldexp(static_cast<double>(static_cast<int64_t>(bits)), -63 + static_cast<int>(bits % 24) - 12);
    }
    const double edges[] = {0.0,    -0.0,   INFINITY, -INFINITY, NAN,  5e-324, -5e-324, 709.78, 709.79,
                            -745.1, -745.2, -708.5,   1.0,       -1.0, 0.5,    0x1p40,  1e22};
    if (start == 0) std::copy(std::begin(edges), std::end(edges), from.begin());
    run(from, from, to);
    for (size_t i = 0; i < ulp_block; ++i)
      worst.take(ulp_error(to[i], f.exact(static_cast<long double>(from[i]))), from[i]);
  }
  return worst;
}

// 2**24 / step pairs: of any bits, of moderate size, and a first number near 1 with a large second one.
template <class T>
Worst worst_pair(const Binary& f, const Target& target, uint64_t step) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  Vectors<T> run(target, f.name, true);
  std::vector<T> from[2] = {std::vector<T>(ulp_block), std::vector<T>(ulp_block)}, to(ulp_block);
  Worst worst;
  std::mt19937_64 random(1);
  const T edges[] = {0,    -T(0), 1, -1, INFINITY, -INFINITY, NAN,     0.5,
                     -0.5, 2,     3, -3, T(1e-40), T(-1e-40), T(1e38), T(-1e38)};
  for (uint64_t start = 0; start < std::max<uint64_t>((uint64_t{1} << 24) / step, ulp_block); start += ulp_block) {
    for (size_t i = 0; i < ulp_block; ++i)
      for (std::vector<T>& values : from) {
        uint64_t bits = random();
        int spread = i % 4 == 2 ? 8 : 4;
        auto moderate = static_cast<T>(std::ldexp(static_cast<double>(static_cast<int64_t>(bits)),
                                                  -63 + (static_cast<int>(bits % 64) - 32) / spread));
        values[i] = i % 4 == 0        ? std::bit_cast<T>(static_cast<Bits>(bits))
                    : i % 4 != 3      ? moderate
                    : &values == from ? 1 + moderate / 256
                                      : moderate * 1000;
      }
    for (size_t i = 0; start == 0 && i < 256; ++i) from[0][i] = edges[i / 16], from[1][i] = edges[i % 16];
    run(from[0], from[1], to);
    for (size_t i = 0; i < ulp_block; ++i) {
      T x = from[0][i], y = from[1][i];
      worst.take(ulp_error(to[i], f.exact(static_cast<long double>(x), static_cast<long double>(y))),
                 static_cast<double>(x), static_cast<double>(y));
    }
  }
  return worst;
}

}  // namespace weft
