// Two rows at a time: where the cache holds them, and what they do together.
#include <doctest/doctest.h>

#include <string>

#include "weft/compiler/compile.h"
#include "weft/ir/text.h"
#include "weft/kernel/lower.h"

using namespace weft;

namespace {

// Rows by their sums, e to the power of f32 and f16 as it is, times a row of the same element type where `is_scaled`.
std::string lowered(int64_t rows, int64_t columns, const char* element, bool is_scaled) {
  bool is_single = std::string_view(element) == "f32";
  std::string row = cat("tensor<", rows, "xf32>"), line = cat("tensor<", columns, "xf32>"),
              all = cat("tensor<", rows, "x", columns, "xf32>");
  std::string from = cat("tensor<", rows, "x", columns, "x", element, ">"),
              factor = cat("tensor<", columns, "x", element, ">");
  std::string text = cat("func.func @main(%x: ", from, ", %s: ", factor, ") -> ", all,
                         " {\n  %0 = stablehlo.constant dense<0.0> : tensor<f32>\n", "  %1 = stablehlo.",
                         is_single ? cat("exponential %x : ", all) : cat("convert %x : (", from, ") -> ", all),
                         "\n  %2 = stablehlo.reduce(%1 init: %0) applies stablehlo.add across ", "dimensions = [1] : (",
                         all, ", tensor<f32>) -> ", row, "\n  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (", row,
                         ") -> ", all, "\n  %4 = stablehlo.divide %1, %3 : ", all, "\n  %5 = stablehlo.convert %s : (",
                         factor, ") -> ", line, "\n  %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (", line, ") -> ",
                         all, "\n  %7 = stablehlo.multiply %4, %6 : ", all);
  return lower_to_program(*parse(cat(text, "\n  return ", is_scaled ? "%7" : "%4", " : ", all, "\n}\n"))).text();
}

int count(const std::string& text, std::string_view part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("rows whose results go past the caches leave room for another") {
  CHECK(count(lowered(8192, 1024, "f32", false), "parallel for .p < 256") == 1);
  CHECK(count(lowered(512, 1024, "f32", false), "parallel for .p < 512") == 1);
  CHECK(count(lowered(512, 512, "f32", false), "parallel for .p < 256") == 1);
}

TEST_CASE("rows that widen the same numbers are stored side by side, others one after the other") {
  CHECK(count(lowered(128, 1024, "f16", true), "vector for") == 2);
  CHECK(count(lowered(128, 1024, "f16", false), "vector for") == 3);
  CHECK(count(lowered(128, 512, "f32", true), "vector for") == 3);
}

TEST_CASE("rows are divided beside the sums of the next ones, in blocks of as many as divide them evenly") {
  std::string text = lowered(8192, 1024, "f32", false);
  CHECK(count(text, "for .q < 16") == 1);
  CHECK(count(text, "scratch 2048") == 2);
  CHECK(count(lowered(4104, 1024, "f32", false), "for .q < 4") == 1);
  for (int64_t rows : {1000, 4099}) CHECK(count(lowered(rows, 1024, "f32", false), "for .q") == 0);
}
