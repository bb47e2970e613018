// Every f32 through the inline functions of f32, and a dense sample through those of f64: the largest errors as rows of
// NAME TYPE TARGET ULP BOUND STEP X Y. Fails where one is past its bound.
// Usage: math_exhaustive [STEP] [TARGET|all] [NAME,NAME…]. A slow target of its own, not part of the fast set.
#include <cstdio>
#include <cstdlib>

#include "ulp.h"

using namespace weft;

namespace {

bool failed = false;
uint64_t step = 1;

void report(const char* name, const char* type, const Target& target, const Bounds& bounds, const Worst& worst) {
  double bound = bounds.of(target.fma, type[1] == '3');
  bool is_kept = worst.error <= bound;
  failed |= !is_kept;
  std::printf("%s %s %s %.3f %.1f %llu %a %a%s\n", name, type, target.name.c_str(), worst.error, bound,
              static_cast<unsigned long long>(step), worst.x, worst.y, is_kept ? "" : " FAILED");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) step = std::strtoull(argv[1], nullptr, 10);
  std::string wanted = argc > 2 ? argv[2] : "all";
  auto chosen = [&](const char* name) {
    return argc <= 3 || cat(',', argv[3], ',').find(cat(',', name, ',')) != std::string::npos;
  };
  for (const Target& target : test_targets()) {
    if (wanted != "all" && wanted != target.name) continue;
    for (const Unary& f : unaries) {
      if (!chosen(f.name) || !is_inline(target, f.name, DType::f32)) continue;
      report(f.name, "f32", target, f.bounds, worst_single(f, target, step));
      report(f.name, "f64", target, f.bounds, worst_double(f, target, step));
    }
    for (const Binary& f : binaries) {
      if (!chosen(f.name) || !is_inline(target, f.name, DType::f32)) continue;
      report(f.name, "f32", target, f.bounds, worst_pair<float>(f, target, step));
      report(f.name, "f64", target, f.bounds, worst_pair<double>(f, target, step));
    }
  }
  return failed;
}
