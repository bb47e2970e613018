// Large results go past the caches, whole lines at a time, wherever the caller's memory begins.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "weft/compiler/compile.h"
#include "weft/ir/text.h"
#include "weft/kernel/lower.h"

using namespace weft;

namespace {

constexpr int64_t rows = 2048, columns = 2064;

GraphPtr sum(const char* extents, bool is_read = false) {
  std::string type = cat("tensor<", extents, "xf32>"), types = is_read ? cat(type, ", ", type) : type;
  std::string more =
      is_read ? cat("  %1 = stablehlo.cholesky %0 : ", type, "\n  return %0, %1 : ") : std::string("  return %0 : ");
  return parse(cat("func.func @main(%x: ", type, ", %y: ", type, ") -> (", types,
                   ") {\n  %0 = stablehlo.add %x, %y : ", type, "\n", more, types, "\n}\n"));
}

bool goes_past_caches(const char* extents, bool is_read = false) {
  Program program = lower_to_program(*sum(extents, is_read));
  write_past_caches(program);
  return program.text().find("past caches") != std::string::npos;
}

}  // namespace

TEST_CASE("results that no cache holds go past them") {
  CHECK(goes_past_caches("2048x2064"));
  CHECK_FALSE(goes_past_caches("64x2064"));
  CHECK(goes_past_caches("2048x2048"));
  CHECK_FALSE(goes_past_caches("2048x2048", true));
}

TEST_CASE("results of rows that nothing reads again go past the caches") {
  auto rows_less_their_sums = [](int64_t rows) {
    std::string row = cat("tensor<", rows, "xf32>"), all = cat("tensor<", rows, "x2048xf32>");
    Program program = lower_to_program(*parse(
        cat("func.func @main(%x: ", all, ") -> ", all, " {\n  %0 = stablehlo.constant dense<0.0> : tensor<f32>\n",
            "  %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1] : (", all,
            ", tensor<f32>) -> ", row, "\n  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (", row, ") -> ", all,
            "\n  %3 = stablehlo.subtract %x, %2 : ", all, "\n  return %3 : ", all, "\n}\n")));
    write_past_caches(program);
    return program.text().find("past caches") != std::string::npos;
  };
  CHECK(rows_less_their_sums(2048));
  CHECK_FALSE(rows_less_their_sums(1024));
}

TEST_CASE("memory of results may begin anywhere") {
  Compiled compiled = compile(*sum("2048x2064"));
  std::vector<float> x(rows * columns), y(x.size()), wanted(x.size()), got(x.size() + 16);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i), y[i] = 3, wanted[i] = x[i] + y[i];
  std::vector<const void*> inputs{x.data(), y.data()};
  for (size_t shift : {0, 1, 5, 16}) {
    std::fill(got.begin(), got.end(), -1.0f);
    std::vector<void*> outputs{got.data() + shift};
    compiled.executable.run({}, inputs, outputs);
    CHECK(std::memcmp(got.data() + shift, wanted.data(), wanted.size() * sizeof(float)) == 0);
    CHECK((shift == 0 || got[shift - 1] == -1.0f));
    CHECK((shift == 16 || got[shift + wanted.size()] == -1.0f));
  }
}

TEST_CASE("memory of results that nearly are large ones may begin anywhere") {
  constexpr int64_t count = (1 << 18) - 1, terms = 32;
  std::string type = cat("tensor<", count, "xf32>"), whole = cat("tensor<", terms, "x", count, "xf32>");
  Compiled compiled = compile(*parse(
      cat("func.func @main(%x: ", whole, ") -> ", type, " {\n  %0 = stablehlo.constant dense<0.0> : tensor<f32>\n",
          "  %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0] : (", whole,
          ", tensor<f32>) -> ", type, "\n  return %1 : ", type, "\n}\n")));
  std::vector<float> x(count * terms, 1), got(count + 1);
  std::vector<const void*> inputs{x.data()};
  std::vector<void*> outputs{got.data() + 1};
  compiled.executable.run({}, inputs, outputs);
  CHECK(std::all_of(got.begin() + 1, got.end(), [](float value) { return value == terms; }));
}

TEST_CASE("memory of results of symbolic extents may begin anywhere") {
  const char* type = "tensor<?x2064xf32, \"n\">";
  Compiled compiled = compile(*parse(cat("func.func @main(%x: ", type, ", %y: ", type, ") -> ", type,
                                         " attributes {weft.symbols = \"n 512 2048 4096\"} {\n",
                                         "  %0 = stablehlo.add %x, %y : ", type, "\n  return %0 : ", type, "\n}\n")));
  for (int64_t count : {512, 1500}) {
    std::vector<float> x(static_cast<size_t>(count * columns), 1), got(x.size() + 2, -1);
    std::vector<const void*> inputs{x.data(), x.data()};
    std::vector<void*> outputs{got.data() + 1};
    compiled.executable.run(std::vector<int64_t>{count}, inputs, outputs);
    CHECK(std::all_of(got.begin() + 1, got.end() - 1, [](float value) { return value == 2; }));
    CHECK((got.front() == -1 && got.back() == -1));
  }
}

// With each other's results in cache, or not.
TEST_CASE("results that may fit the caches are the same however they are stored") {
  constexpr int64_t lines = 1500;
  Compiled compiled = compile(*sum("1500x2064"));
  std::vector<float> x(lines * columns), y(x.size(), 3), wanted(x.size()), got(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000) / 7, wanted[i] = x[i] + y[i];
  std::vector<const void*> inputs{x.data(), y.data()};
  std::vector<void*> outputs{got.data()};
  for (int run = 0; run < 12; ++run) {
    std::fill(got.begin(), got.end(), -1.0f);
    compiled.executable.run({}, inputs, outputs);
    CHECK(got == wanted);
  }
}
