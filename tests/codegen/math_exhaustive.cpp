// Every f32 through the inline functions of f32, and a dense sample through those of f64: the largest error in ULP.
// Usage: math_exhaustive [STEP] [TARGET] [NAME,NAME…]. A slow target of its own, not part of the fast set.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "run_kernel.h"
#include "weft/codegen/llvm/math.h"
#include "weft/core/special.h"

using namespace weft;

namespace {

struct Function {
  const char* name;
  long double (*exact)(long double);
  double (*single)(double);
};
long double logistic_of(long double x) { return 1 / (1 + expl(-x)); }
// Two steps of Newton's method from the f64 function.
long double erf_inv_of(long double x) {
  long double y = weft::erf_inv(static_cast<double>(x));
  for (int i = 0; i < 2 && std::isfinite(y) && y != 0; ++i) {
    long double size = std::fabs(x), rest = (1 - size) - erfcl(std::fabs(y));
    long double error = size < 0.5L ? erfl(y) - x : x < 0 ? -rest : rest;
    y -= error * expl(y * y) * 0.88622692545275801365L;
  }
  return y;
}
const Function functions[] = {{"exp", expl, exp},
                              {"exp2", exp2l, exp2},
                              {"log", logl, log},
                              {"log2", log2l, log2},
                              {"log10", log10l, log10},
                              {"asinh", asinhl, asinh},
                              {"acosh", acoshl, acosh},
                              {"atanh", atanhl, atanh},
                              {"tanh", tanhl, tanh},
                              {"erf", erfl, erf},
                              {"erfc", erfcl, erfc},
                              {"erf_inv", erf_inv_of, [](double x) { return static_cast<double>(erf_inv_of(x)); }},
                              {"asin", asinl, asin},
                              {"acos", acosl, acos},
                              {"atan", atanl, atan},
                              {"sin", sinl, sin},
                              {"cos", cosl, cos},
                              {"tan", tanl, tan},
                              {"sinh", sinhl, sinh},
                              {"cosh", coshl, cosh},
                              {"cbrt", cbrtl, cbrt},
                              {"expm1", expm1l, expm1},
                              {"log1p", log1pl, log1p},
                              {"logistic", logistic_of, [](double x) { return 1 / (1 + exp(-x)); }}};

template <class T>
double ulp_error(T got, long double wanted) {
  if (std::isnan(wanted)) return std::isnan(got) ? 0 : INFINITY;
  auto nearest = static_cast<T>(wanted);
  if (got == nearest && (nearest == 0 || std::isinf(nearest)) ) return std::signbit(got) == std::signbit(nearest) ? 0 : INFINITY;
  if (std::isnan(got) || std::isinf(nearest) || std::isinf(got))
    return std::isinf(nearest) && std::fabs(got) >= std::numeric_limits<T>::max() ? 1 : INFINITY;
  int exponent;
  std::frexp(nearest, &exponent);
  long double unit =
      std::ldexp(1.0L, std::max(exponent, std::numeric_limits<T>::min_exponent) - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - wanted) / unit);
}

// A function `run(from, to, count)` over whole vectors.
std::string module_of(const Target& target, const char* function, DType dtype, int lanes, bool is_binary = false) {
  ModuleText module{target, {}, {}, {}};
  MathFunction math = math_function(module, function, dtype, lanes);
  std::string type = math.argument_type, other = cat(", ", type, " %b"),
              out = cat("define void @run(ptr %from, ptr %second, ptr %to, i64 %count) #0 {\nentry:\n  br label %loop\nloop:\n",
                        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n  %p = getelementptr ", type,
                        ", ptr %from, i64 %i\n  %q = getelementptr ", type, ", ptr %to, i64 %i\n  %x = load ", type,
                        ", ptr %p, align 4\n  %r = getelementptr ", type, ", ptr %second, i64 %i\n  %b = load ", type,
                        ", ptr %r, align 4\n  %y = call ", type, " @", math.name, "(", type, " %x", is_binary ? other : "",
                        ")\n  store ", type,
                        " %y, ptr %q, align 4\n  %next = add i64 %i, 1\n  %more = icmp ult i64 %next, %count\n  br i1 "
                        "%more, label %loop, label %done\ndone:\n  ret void\n}\n\n");
  for (const auto& [name, text] : module.functions) out += text;
  for (const std::string& line : module.declarations) append(out, line, "\n");
  std::string vectors = cat("\"prefer-vector-width\"=\"", target.vector_bytes * 8, "\"");
  append(out, "attributes #0 = { nounwind ", vectors, " }\nattributes #1 = { nounwind noinline ", vectors,
         " }\nattributes #2 = { nounwind alwaysinline ", vectors, " }\n");
  return out;
}

constexpr size_t block = 1 << 14;
using Run = void (*)(const void*, const void*, void*, int64_t);

void check_single(const Function& f, const Target& target, uint64_t step) {
  int lanes = target.vector_bytes / 4;
  CodeObject code(compile_to_object(module_of(target, f.name, DType::f32, lanes), target).bytes);
  auto run = reinterpret_cast<Run>(code.find("run"));
  std::vector<float> from(block), to(block);
  double worst = 0;
  float where = 0;
  for (uint64_t start = 0; start < (uint64_t{1} << 32); start += block * step) {
    for (size_t i = 0; i < block; ++i) from[i] = std::bit_cast<float>(static_cast<uint32_t>(start + i * step));
    run(from.data(), from.data(), to.data(), static_cast<int64_t>(block) / lanes);
    for (size_t i = 0; i < block; ++i) {
      double error = ulp_error(to[i], static_cast<long double>(f.single(static_cast<double>(from[i]))));
      if (error > worst) worst = error, where = from[i];
    }
  }
  std::printf("%-8s %-9s f32  %.3f ULP at %a (%.9g)\n", target.name.c_str(), f.name, worst, static_cast<double>(where),
              static_cast<double>(where));
}

void check_double(const Function& f, const Target& target, uint64_t step) {
  int lanes = target.vector_bytes / 8;
  CodeObject code(compile_to_object(module_of(target, f.name, DType::f64, lanes), target).bytes);
  auto run = reinterpret_cast<Run>(code.find("run"));
  std::vector<double> from(block), to(block);
  double worst = 0, where = 0;
  std::mt19937_64 random(1);
  uint64_t count = std::max<uint64_t>((uint64_t{1} << 22) / step, 4 * block);
  for (uint64_t start = 0; start < count; start += block) {
    for (size_t i = 0; i < block; ++i) {
      uint64_t bits = random();
      // Half over all bits, half where the functions are interesting.
      from[i] = i % 2 ? std::bit_cast<double>(bits)
                      : std::ldexp(static_cast<double>(static_cast<int64_t>(bits)), -63) *
                            std::ldexp(1.0, static_cast<int>(bits % 24) - 12);
    }
    if (start == 0) {
      const double special[] = {0.0,    -0.0,   INFINITY, -INFINITY, NAN,    5e-324, -5e-324,
                                709.78, 709.79, -745.1,   -745.2,    -708.5, 1.0,    -1.0};
      std::copy(std::begin(special), std::end(special), from.begin());
    }
    run(from.data(), from.data(), to.data(), static_cast<int64_t>(block) / lanes);
    for (size_t i = 0; i < block; ++i) {
      double error = ulp_error(to[i], f.exact(static_cast<long double>(from[i])));
      if (error > worst) worst = error, where = from[i];
    }
  }
  std::printf("%-8s %-9s f64  %.3f ULP at %a (%.17g)\n", target.name.c_str(), f.name, worst, where, where);
}

// Functions of two numbers: half the pairs of any bits, half where the functions are interesting.
struct Binary {
  const char* name;
  long double (*exact)(long double, long double);
};
const Binary binaries[] = {{"power", powl}, {"atan2", atan2l}, {"hypot", hypotl}};

template <class T>
void check_pair(const Binary& f, const Target& target, uint64_t step) {
  constexpr bool is_wide = sizeof(T) == 8;
  using Bits = std::conditional_t<is_wide, uint64_t, uint32_t>;
  int lanes = target.vector_bytes / static_cast<int>(sizeof(T));
  CodeObject code(compile_to_object(module_of(target, f.name, is_wide ? DType::f64 : DType::f32, lanes, true), target).bytes);
  auto run = reinterpret_cast<Run>(code.find("run"));
  std::vector<T> from[2] = {std::vector<T>(block), std::vector<T>(block)}, to(block);
  double worst = 0;
  T where[2] = {};
  std::mt19937_64 random(1);
  const T special[] = {0, -T(0), 1, -1, INFINITY, -INFINITY, NAN, 0.5, -0.5, 2, 3, -3, T(1e-40), T(-1e-40), T(1e38), T(-1e38)};
  uint64_t count = std::max<uint64_t>((uint64_t{1} << 26) / step, 4 * block);
  for (uint64_t start = 0; start < count; start += block) {
    for (size_t i = 0; i < block; ++i)
      for (std::vector<T>& values : from) {
        uint64_t bits = random();
        int spread = i % 4 == 2 ? 8 : 4;
        values[i] = i % 4 == 0 ? std::bit_cast<T>(static_cast<Bits>(bits))
                               : static_cast<T>(std::ldexp(static_cast<double>(static_cast<int64_t>(bits)), -63 + static_cast<int>(bits % 64) / spread - 32 / spread));
        if (i % 4 == 3 && &values == from) values[i] = static_cast<T>(1 + std::ldexp(static_cast<double>(values[i]), -8));
        else if (i % 4 == 3) values[i] *= 1000;
      }
    if (start == 0)
      for (size_t i = 0; i < 256; ++i) from[0][i] = special[i / 16], from[1][i] = special[i % 16];
    run(from[0].data(), from[1].data(), to.data(), static_cast<int64_t>(block) / lanes);
    for (size_t i = 0; i < block; ++i) {
      double error = ulp_error(to[i], f.exact(static_cast<long double>(from[0][i]), static_cast<long double>(from[1][i])));
      if (error > worst) worst = error, where[0] = from[0][i], where[1] = from[1][i];
    }
  }
  std::printf("%-8s %-9s %s  %.3f ULP at %a, %a\n", target.name.c_str(), f.name, is_wide ? "f64" : "f32", worst,
              static_cast<double>(where[0]), static_cast<double>(where[1]));
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t step = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  auto chosen = [&](const char* name) { return argc <= 3 || cat(',', argv[3], ',').find(cat(',', name, ',')) != std::string::npos; };
  for (const char* name : {"avx512", "avx2", "x86-64"}) {
    if (argc > 2 && std::string(argv[2]) != name) continue;
    Target target = target_named(name);
    target.name = name;
    for (const Function& f : functions) {
      if (!chosen(f.name)) continue;
      ModuleText module{target, {}, {}, {}};
      if (!vector_math(module, f.name, DType::f32, "f", 4).empty()) check_single(f, target, step);
      if (!vector_math(module, f.name, DType::f64, "f", 2).empty()) check_double(f, target, step);
    }
    for (const Binary& f : binaries) {
      if (!chosen(f.name)) continue;
      ModuleText module{target, {}, {}, {}};
      if (!vector_math(module, f.name, DType::f32, "f", 4).empty()) check_pair<float>(f, target, step);
      if (!vector_math(module, f.name, DType::f64, "f", 2).empty()) check_pair<double>(f, target, step);
    }
  }
}
