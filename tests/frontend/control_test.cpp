// Loops and branches that are decided when the program runs.
#include <doctest/doctest.h>

#include "tests/label_of.h"
#include "weft/weft.h"

using namespace weft;

TEST_CASE("a while loop runs as long as its condition holds, at once and compiled") {
  auto doubled = [](Tensor x) {
    return while_loop([](Tensor v) { return max(v) < 100; }, [](Tensor v) { return v * 2; }, x);
  };
  Tensor x = tensor({3.0, 5.0});
  for (Tensor y : {doubled(x), jit(doubled)(x)}) CHECK(y.text() == "[ 96. 160.]");
  CHECK(doubled(x * 100).text() == "[300. 500.]");
  // Fibonacci, with what is around: a computed tensor, one that is not, and an argument.
  Tensor limit = tensor<int64_t>({100}, Ints{}), step = limit - 99;
  eval({limit});
  auto fibonacci = [&](Tensor start) {
    return while_loop(
        [&](const auto& s) { return std::get<0>(s) < limit; },
        [&](const auto& s) { return std::pair(std::get<1>(s), std::get<0>(s) + std::get<1>(s) * step + start * 0); },
        std::pair(start, start + 1));
  };
  for (auto [a, b] : {fibonacci(tensor<int64_t>({0}, Ints{})), jit(fibonacci)(tensor<int64_t>({0}, Ints{}))}) {
    CHECK(a.item<int>() == 144);
    CHECK(b.item<int>() == 233);
  }
}

TEST_CASE("a for loop has an extent for its counter, and may stand in another and take a symbolic number of turns") {
  auto table = [](Dim rows, Dim columns) {
    return for_loop(
        rows,
        [&](const Dim& i, Tensor t) {
          return for_loop(
              columns, [&](const Dim& j, Tensor u) { return update(u, {i, j}, extent(i) * 10 + extent(j)); }, t);
        },
        zeros({rows, columns}, DType::i64));
  };
  CHECK(table(3, 2).text() == "[[ 0  1]\n [10 11]\n [20 21]]");
  CHECK(table(0, 2).dims() == Dims{0, 2});
  Dim n(Symbol{"n", 0, 4, 50});
  auto f = compile(
      [&](Tensor x) {
        return for_loop(n, [&](const Dim& i, Tensor sum) { return sum + x[i] * x[i]; }, zeros({}, DType::f32));
      },
      {{.dims = {n}}});
  CHECK(f({cast(arange(5), DType::f32)})[0].item<int>() == 30);
  CHECK(f({zeros({0}, DType::f32)})[0].item<int>() == 0);
  auto g = compile(
      [&](Tensor x) {
        Tensor y = for_loop(
            n, [&](const Dim& i, Tensor v) { return roll(v, 1, 0) + cast(extent(i), DType::f32); },
            concatenate({x, x}));
        return sort(for_loop(n, [&](const Dim&, Tensor v) { return sort(v * 2); }, y) * 2);
      },
      {{.dims = {n}}});
  CHECK(g({zeros({0}, DType::f32)})[0].dims() == Dims{0});
  CHECK(g({cast(arange(2), DType::f32)})[0].text() == "[ 8.  8. 16. 16.]");
  // Loops one after the other, of other lengths and of the same.
  Tensor x = ones({});
  for (int64_t trips : {3, 2, 3}) x = for_loop(trips, [&](const Dim& i, Tensor v) { return v * 2 + extent(i); }, x);
  double wanted = 1;
  for (int64_t trips : {3, 2, 3})
    for (int64_t i = 0; i < trips; ++i) wanted = wanted * 2 + static_cast<double>(i);
  CHECK(x.item<double>() == wanted);
}

TEST_CASE("of two branches the one chosen is run") {
  auto root = [](Tensor x) {
    return cond(sum(x) > 0, [&] { return std::pair(sqrt(x), x); }, [&] { return std::pair(-x, x + 1); });
  };
  auto compiled = jit(root);
  for (double sign : {1.0, -1.0}) {
    Tensor x = tensor({4.0, 9.0}) * sign;
    for (auto [y, z] : {root(x), compiled(x)}) {
      CHECK(y.text() == (sign > 0 ? "[2. 3.]" : "[4. 9.]"));
      CHECK(z.text() == (sign > 0 ? "[4. 9.]" : "[-3. -8.]"));
    }
  }
  // The loop of the other branch would never end.
  Tensor none = zeros({}),
         loop = cond(
             none, [&] { return while_loop([](Tensor v) { return v < 1; }, [](Tensor v) { return v; }, none); },
             [&] { return none + 7; });
  CHECK(loop.item<int>() == 7);
}

TEST_CASE("a state keeps its types, and branches agree") {
  Tensor x = zeros({2}, DType::f32), yes = zeros({}, DType::boolean);
  auto label = [](auto call) { return label_of([&] { call(); }); };
  CHECK(label([&] { return while_loop([](Tensor v) { return v < 1; }, [](Tensor v) { return v; }, x); }) == "while_c1");
  CHECK(label([&] { return while_loop([](Tensor v) { return sum(v) < 1; }, [](Tensor v) { return sum(v); }, x); }) ==
        "while_c2");
  CHECK(label([&] { return for_loop(3, [](const Dim& i, Tensor v) { return v + extent(i); }, x); }) == "for_c2");
  CHECK(label([&] { return cond(yes, [&] { return x; }, [&] { return x[0]; }); }) == "if_c3");
  CHECK(label([&] { return cond(x, [&] { return x; }, [&] { return x; }); }) == "if_i1");
  try {
    cond(yes, [&] { return x; }, [&] { return x[5]; });
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.message().find("out of bounds") != std::string::npos);
    CHECK(error.loc().line() == __LINE__ - 4);
  }
}

TEST_CASE("places that count turns are brought inside") {
  Tensor x = tensor({1.0, 2.0, 4.0}), start = zeros({});
  CHECK(for_loop(5, [&](const Dim& i, Tensor sum) { return sum + x[i]; }, start).text() == "15.");
  CHECK(for_loop(
            5, [&](const Dim& i, Tensor u) { return update(u, {i}, 1.0 + extent(i)); }, zeros({3}))
            .text() == "[1. 2. 5.]");
  CHECK(for_loop(3, [&](const Dim& i, Tensor sum) { return sum + x[i - 3]; }, start).text() == "7.");
}
