// A thin sample of math_exhaustive: bounds kept on every target, and the same bits wherever multiply-adds are fused.
#include <doctest/doctest.h>

#include <cstring>

#include "ulp.h"

using namespace weft;

TEST_CASE("inline functions keep the errors that are promised") {
  for (const Target& target : test_targets()) {
    auto bound = [&](const Bounds& bounds, bool is_single = false) { return bounds.of(target.fma, is_single); };
    for (const Unary& f : unaries) {
      if (!is_inline(target, f.name, DType::f32)) continue;
      CAPTURE(f.name);
      CAPTURE(target.name);
      CHECK(worst_single(f, target, 65521).error <= bound(f.bounds, true));
      CHECK(worst_double(f, target, 1024).error <= bound(f.bounds));
    }
    for (const Binary& f : binaries) {
      if (!is_inline(target, f.name, DType::f32)) continue;
      CAPTURE(f.name);
      CAPTURE(target.name);
      CHECK(worst_pair<float>(f, target, 1024).error <= bound(f.bounds, true));
      CHECK(worst_pair<double>(f, target, 1024).error <= bound(f.bounds));
    }
  }
}

namespace {

template <class T>
std::vector<std::vector<T>> on_fused_targets(const char* name, bool is_binary) {
  std::vector<T> from(ulp_block), second(ulp_block);
  std::mt19937_64 random(2);
  for (size_t i = 0; i < ulp_block; ++i) {
    from[i] = static_cast<T>(
        std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -63 + static_cast<int>(i % 24) - 12));
    second[i] = static_cast<T>(std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -61));
  }
  std::vector<std::vector<T>> results;
  for (const Target& target : test_targets()) {
    if (!target.fma) continue;
    results.emplace_back(ulp_block);
    Vectors<T>(target, name, is_binary)(from, second, results.back());
  }
  return results;
}

template <class T>
bool is_same_everywhere(const char* name, bool is_binary) {
  auto results = on_fused_targets<T>(name, is_binary);
  for (const std::vector<T>& result : results)
    for (size_t i = 0; i < ulp_block; ++i)
      if (std::memcmp(&result[i], &results[0][i], sizeof(T)) != 0 && !std::isnan(result[i])) return false;
  return true;
}

}  // namespace

TEST_CASE("inline functions give the same bits in vectors of any width") {
  for (const Unary& f : unaries) {
    CAPTURE(f.name);
    CHECK(is_same_everywhere<float>(f.name, false));
    CHECK(is_same_everywhere<double>(f.name, false));
  }
  for (const Binary& f : binaries) {
    CAPTURE(f.name);
    CHECK(is_same_everywhere<float>(f.name, true));
    CHECK(is_same_everywhere<double>(f.name, true));
  }
}
