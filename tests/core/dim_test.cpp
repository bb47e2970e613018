// Symbolic extents.
#include <doctest/doctest.h>

#include <array>
#include <random>

#include "weft/core/dim.h"
#include "weft/core/error.h"
#include "weft/core/type.h"

using namespace weft;

namespace {

Dim symbol(const char* name, int64_t min, int64_t max) { return Dim(Symbol{name, min, min, max}); }

}  // namespace

TEST_CASE("equal polynomials are equal however they were made") {
  Dim n = symbol("n", 1, 100), m = symbol("m", 1, 100);
  CHECK((n + m) * (n + m) == n * n + Dim(2) * n * m + m * m);
  CHECK(n - n == Dim(0));
  CHECK((n + Dim(1)).hash() == (Dim(1) + n).hash());
  CHECK(n != m);
}

TEST_CASE("text reads back as the same extent") {
  std::map<std::string, Symbol, std::less<>> symbols{{"n", {"n", 1, 4, 100}}, {"m", {"m", 0, 4, 100}}};
  Dim n(symbols.at("n")), m(symbols.at("m"));
  for (const Dim& dim :
       {n, n * Dim(2) + Dim(1), floordiv(n, Dim(2)) - m, max(n, m), mod(n * m, Dim(7)), min(n, Dim(5)), n * m - Dim(3)})
    CHECK(parse_dim(dim.text(), symbols) == dim);
  CHECK_THROWS_AS(parse_dim("n +", symbols), Error);
  CHECK_THROWS_AS(parse_dim("foo(n, 1)", symbols), Error);
}

TEST_CASE("division simplifies where the bounds say so") {
  Dim n = symbol("n", 0, 9), k = symbol("k", 1, 100);
  CHECK(floordiv(k * Dim(10) + n, Dim(10)) == k);
  CHECK(mod(k * Dim(10) + n, Dim(10)) == n);
  CHECK(floordiv(k * n, k) == n);
  CHECK(mod(k * n, k) == Dim(0));
  CHECK(floordiv(Dim(-7), Dim(2)) == Dim(-4));
  CHECK(mod(Dim(-7), Dim(2)) == Dim(1));
}

TEST_CASE("a place that is taken apart and put together is itself") {
  Dim row = symbol("row", 0, 7), column = symbol("column", 0, 47), n = symbol("n", -50, 50);
  Dim at = row * Dim(48) + column;
  CHECK(floordiv(at, Dim(192)) == floordiv(row, Dim(4)));
  CHECK(mod(at, Dim(192)) == mod(row, Dim(4)) * Dim(48) + column);
  CHECK(floordiv(at, Dim(192)) * Dim(192) + mod(at, Dim(192)) == at);
  CHECK(floordiv(n, Dim(8)) * Dim(2) + floordiv(mod(n, Dim(8)), Dim(4)) == floordiv(n, Dim(4)));
  CHECK(row - floordiv(n, Dim(12)) * Dim(9) - floordiv(mod(n, Dim(12)), Dim(4)) * Dim(3) ==
        row - floordiv(n, Dim(4)) * Dim(3));
  CHECK(floordiv(n, Dim(8)) * Dim(2) + floordiv(mod(n, Dim(8)), Dim(3)) != floordiv(n, Dim(3)));
  CHECK(floordiv(n, Dim(6)) * Dim(-12) - mod(n, Dim(6)) * Dim(2) + row == row - n * Dim(2));
  // Of all values, also those below zero.
  for (int64_t a = -50; a <= 50; ++a)
    for (int64_t b : {0, 5, 47}) {
      const int64_t place = (a * 48 + b) * 2 + 96;
      const Dim whole = (n * Dim(48) + column) * Dim(2) + Dim(96), divided = floordiv(whole, Dim(288)),
                rest = mod(whole, Dim(288));
      CHECK(divided.evaluate({{"n", a}, {"column", b}}) == (place - ((place % 288) + 288) % 288) / 288);
      CHECK(rest.evaluate({{"n", a}, {"column", b}}) == ((place % 288) + 288) % 288);
    }
}

TEST_CASE("bounds are never too narrow") {
  Dim n = symbol("n", 2, 5), m = symbol("m", -3, 4);
  Dim dim = n * m - floordiv(m, n) + max(n, m * Dim(2));
  for (int64_t a = 2; a <= 5; ++a)
    for (int64_t b = -3; b <= 4; ++b) {
      int64_t value = dim.evaluate({{"n", a}, {"m", b}});
      CHECK(value >= dim.min());
      CHECK(value <= dim.max());
      CHECK(dim.substitute({{"n", a}, {"m", b}}) == Dim(value));
    }
}

TEST_CASE("what is said to be at most something is so for all values") {
  Dim n = symbol("n", 1, 9), m = symbol("m", 0, 7);
  CHECK(known_at_most(min(n, m), n));
  CHECK(!known_at_most(m, n));
  CHECK(known_at_most(n, max(n, m)));
  CHECK(known_at_most(floordiv(n, Dim(2)), n));
  Dim start = min(n, floordiv(n, Dim(2)));
  CHECK(known_at_most(start + max(Dim(0), n - start), n));
  CHECK(known_at_most(floordiv(n + Dim(1), Dim(2)) * Dim(2) - Dim(1), n));
  CHECK(!known_at_most(floordiv(n + Dim(1), Dim(2)) * Dim(2), n));
  std::minstd_rand random(1);
  int shown = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    std::vector<Dim> some{n, m, Dim(static_cast<int64_t>(random() % 5))};
    auto any = [&] { return some[random() % some.size()]; };
    for (int i = 0; i < 4; ++i) {
      Dim a = any(), b = any(), k = static_cast<int64_t>(1 + random() % 3);
      std::array<Dim, 6> next{min(a, b), max(a, b), floordiv(a, k), a + b, a - b, a * k};
      some.push_back(next[random() % next.size()]);
    }
    Dim low = any(), high = some.back();
    if (!known_at_most(low, high)) continue;
    ++shown;
    for (int64_t x = 1; x <= 9; ++x)
      for (int64_t y = 0; y <= 7; ++y) CHECK(low.evaluate({{"n", x}, {"m", y}}) <= high.evaluate({{"n", x}, {"m", y}}));
  }
  CHECK(shown > 500);
}

TEST_CASE("nested extents keep their bounds at no cost") {
  Dim dim = symbol("a0", 0, 1000);
  for (int i = 1; i < 60; ++i) dim = max(dim * Dim(1), symbol(("a" + std::to_string(i)).c_str(), 0, 1000));
  CHECK(dim.max() == 1000);
}

TEST_CASE("sizes past 64 bits are an error") {
  Dim big = int64_t{1} << 62;
  CHECK_THROWS_AS(big * Dim(4), Error);
  CHECK_THROWS_AS((Type{DType::f32, {int64_t{1} << 40, int64_t{1} << 40}}).count(), Error);
}

TEST_CASE("broadcasting is NumPy's") {
  Dim n = symbol("n", 2, 50);
  CHECK(broadcast({3, 1}, {4}) == Dims{3, 4});
  CHECK(broadcast({n, 1}, {1, 5}) == Dims{n, 5});
  CHECK_THROWS_AS(broadcast({2}, {3}), Error);
  CHECK_THROWS_AS(broadcast({n}, {7}), Error);
}

TEST_CASE("extents that nobody wrote are an error, not a wait or a crash") {
  std::map<std::string, Symbol, std::less<>> symbols;
  std::string sum, power = "n";
  for (char c = 'a'; c <= 'z'; ++c) {
    symbols.emplace(std::string(1, c), Symbol{std::string(1, c), 1, 1, 2});
    append(sum, sum.empty() ? "" : " + ", c);
  }
  // A minimum that is known is the sum itself.
  std::string factor = cat("min(", sum, ", 1000000)"), product = factor;
  CHECK(parse_dim(cat(factor, "*", factor), symbols).terms().size() == 351);
  for (int i = 0; i < 9; ++i) append(product, "*", factor), power += "*n*n*n*n*n*n*n*n";
  CHECK_THROWS_AS(parse_dim(product, symbols), Error);
  CHECK_THROWS_AS(parse_dim(power, symbols), Error);
  std::string least = "-9223372036854775807 - 1";
  CHECK_THROWS_AS(parse_dim(cat("floordiv(", least, ", -1)"), symbols), Error);
  CHECK_THROWS_AS(parse_dim(cat("floordiv(", least, ", a - 2)"), symbols).evaluate({{"a", 1}}), Error);
  CHECK(parse_dim(cat("mod(", least, ", a - 2)"), symbols).evaluate({{"a", 1}}) == 0);
}
