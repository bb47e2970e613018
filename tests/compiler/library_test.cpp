// The loops that are compiled when Weftwork is built: who has them, and what is left to write.
#include "weft/compiler/library.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "weft/compiler/compile.h"
#include "weft/ir/text.h"
#include "weft/kernel/lower.h"

using namespace weft;

namespace {

// The text of a product of 40 x 40 with weights of that type, for a library's target.
std::string emitted(std::string_view weights, const Target& target) {
  GraphPtr graph = parse(cat(
      "func.func @main(%0: tensor<40x40xf32>, %1: tensor<40x40x", weights, ">) -> tensor<40x40xf32> {\n",
      weights == "f32" ? "" : cat("  %2 = stablehlo.convert %1 : (tensor<40x40x", weights, ">) -> tensor<40x40xf32>\n"),
      "  %3 = stablehlo.dot_general %0, %", weights == "f32" ? 1 : 2,
      ", contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>\n",
      "  return %3 : tensor<40x40xf32>\n}\n"));
  return emit(lower_to_program(*graph), target, library_for(target));
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void drop(Target& target, const char* feature) { std::erase(target.needs, feature); }

}  // namespace

TEST_CASE("a product of common types calls loops that are compiled already; others have their own") {
  for (const Target& target : library_targets()) {
    std::string common = emitted("f32", target), rare = emitted("i16", target);
    CHECK(has(common, "declare hidden void @weft.dot.f32.f32.f32("));
    CHECK_FALSE(has(common, "@weft.tile."));
    CHECK(has(rare, "define internal void @weft.tile."));
    CHECK(library_for(target).contains("weft.dot.bf16.bf16.f32") == target.bf16);
  }
}

TEST_CASE("a CPU gets the loops that use all of its ways to multiply, and nothing it lacks") {
  std::vector<Target> targets = library_targets();
  for (size_t i = 0; i < targets.size(); ++i)
    for (size_t j = 0; j < targets.size(); ++j) CHECK(serves(targets[i], targets[j]) == (i == j));
  Target narrow = targets[1], more = targets[1], small = targets[0];
  more.needs.push_back("avx512vbmi");
  CHECK(serves(targets[1], more));
  drop(narrow, "avx512bw");
  CHECK_FALSE(serves(targets[1], narrow));
  drop(small, "avx512vbmi");
  CHECK_FALSE(serves(targets[0], small));
  CHECK(library_for(small).empty());
  CHECK(library_for(target_named("x86-64")).empty());
}
