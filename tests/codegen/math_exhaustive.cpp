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

using namespace weft;

namespace {

struct Function {
  const char* name;
  long double (*exact)(long double);
  double (*single)(double);
};
long double logistic_of(long double x) { return 1 / (1 + expl(-x)); }
const Function functions[] = {{"exp", expl, exp},
                              {"exp2", exp2l, exp2},
                              {"log", logl, log},
                              {"tanh", tanhl, tanh},
                              {"erf", erfl, erf},
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
std::string module_of(const Target& target, const char* function, DType dtype, int lanes) {
  ModuleText module{target, {}, {}, {}};
  MathFunction math = math_function(module, function, dtype, lanes);
  std::string type = math.argument_type,
              out = cat("define void @run(ptr %from, ptr %to, i64 %count) #0 {\nentry:\n  br label %loop\nloop:\n",
                        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n  %p = getelementptr ", type,
                        ", ptr %from, i64 %i\n  %q = getelementptr ", type, ", ptr %to, i64 %i\n  %x = load ", type,
                        ", ptr %p, align 4\n  %y = call ", type, " @", math.name, "(", type, " %x)\n  store ", type,
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
using Run = void (*)(const void*, void*, int64_t);

void check_single(const Function& f, const Target& target, uint64_t step) {
  int lanes = target.vector_bytes / 4;
  CodeObject code(compile_to_object(module_of(target, f.name, DType::f32, lanes), target).bytes);
  auto run = reinterpret_cast<Run>(code.find("run"));
  std::vector<float> from(block), to(block);
  double worst = 0;
  float where = 0;
  for (uint64_t start = 0; start < (uint64_t{1} << 32); start += block * step) {
    for (size_t i = 0; i < block; ++i) from[i] = std::bit_cast<float>(static_cast<uint32_t>(start + i * step));
    run(from.data(), to.data(), static_cast<int64_t>(block) / lanes);
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
    run(from.data(), to.data(), static_cast<int64_t>(block) / lanes);
    for (size_t i = 0; i < block; ++i) {
      double error = ulp_error(to[i], f.exact(static_cast<long double>(from[i])));
      if (error > worst) worst = error, where = from[i];
    }
  }
  std::printf("%-8s %-9s f64  %.3f ULP at %a (%.17g)\n", target.name.c_str(), f.name, worst, where, where);
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t step = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  for (const char* name : {"avx512", "avx2", "x86-64"}) {
    if (argc > 2 && std::string(argv[2]) != name) continue;
    Target target = target_named(name);
    target.name = name;
    for (const Function& f : functions) {
      if (argc > 3 && cat(',', argv[3], ',').find(cat(',', f.name, ',')) == std::string::npos) continue;
      ModuleText module{target, {}, {}, {}};
      if (!vector_math(module, f.name, DType::f32, "f", 4).empty()) check_single(f, target, step);
      if (!vector_math(module, f.name, DType::f64, "f", 2).empty()) check_double(f, target, step);
    }
  }
}
