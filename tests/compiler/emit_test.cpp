// What makes loops fast and changes no result: in the text that is handed to LLVM.
#include <doctest/doctest.h>

#include <string>

#include "weft/codegen/emit.h"
#include "weft/compiler/compile.h"
#include "weft/ir/builder.h"
#include "weft/ir/text.h"
#include "weft/kernel/lower.h"

using namespace weft;

namespace {

// Of a chain of so many additions and subtractions of two arrays.
std::string emitted(std::string_view type, int steps) {
  std::string text = cat("func.func @main(%0: tensor<", type, ">, %1: tensor<", type, ">) -> tensor<", type, "> {\n");
  for (int i = 0; i < steps; ++i)
    append(text, "  %", i + 2, " = stablehlo.", i % 2 ? "subtract" : "add", " %", i + 1, ", %", i, " : tensor<", type,
           ">\n");
  append(text, "  return %", steps + 1, " : tensor<", type, ">\n}\n");
  Program program = lower_to_program(*parse(text));
  write_past_caches(program);
  return emit(program, target_named("avx512"));
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("large results are stored past the caches, and what is read is asked for ahead") {
  std::string large = emitted("2048x2048xf32", 2), small = emitted("64x2048xf32", 2);
  CHECK(has(large, "!nontemporal !1"));
  CHECK(has(large, "call void @llvm.x86.sse.sfence()"));
  CHECK(has(large, "call void @llvm.prefetch"));
  CHECK_FALSE(has(small, "!nontemporal !1"));
  CHECK_FALSE(has(small, "call void @llvm.prefetch"));
}

TEST_CASE("results that may fit the caches are stored in two ways, of which runs take the faster") {
  std::string both = emitted("1408x2048xf32", 2), large = emitted("2048x2048xf32", 2),
              small = emitted("1000x2048xf32", 2), busy = emitted("1408x2048xf32", 60);
  CHECK(has(both, ".kept(ptr %args"));
  CHECK(has(both, "!nontemporal !1"));
  CHECK(has(both, "call i64 %begin_trial"));
  for (const std::string& one : {large, small, busy}) CHECK_FALSE(has(one, "_trial"));
}

TEST_CASE("long chains of short floats round in two ways") {
  for (const char* type : {"64x512xf16", "64x512xbf16"}) {
    CHECK(has(emitted(type, 12), "label %quick"));
    CHECK_FALSE(has(emitted(type, 3), "label %quick"));
  }
}

TEST_CASE("LLVM does not look through the shuffles that transpose blocks of lines") {
  Builder build(Level::trace);
  Value x = build.parameter({DType::f16, {64, 64}}, "x");
  Value sums = build(Op::cumulative_sum, {x}, {{Attr::axis, int64_t{1}}});
  CHECK(has(emit(lower_to_program(*build.finish({{sums, "y"}})), target_named("avx512")),
            "asm \"\", \"=v,0\"(<32 x i16>"));
}
