// Functions of tensors as compiled programs.
#include <doctest/doctest.h>

#include <thread>

#include "tests/label_of.h"
#include "weft/weft.h"

using namespace weft;

TEST_CASE("a function is called once for each signature") {
  int calls = 0;
  auto f = jit([&](Tensor x, Tensor w) {
    ++calls;
    return tanh(matmul(x, w));
  });
  Tensor x = tensor({1.f, 2.f}, {1, 2}), w = tensor({.5f, 0.f, 0.f, -.25f}, {2, 2});
  for (int i = 0; i < 3; ++i) {
    Tensor y = f(x, w);
    CHECK(y.is_computed());
    CHECK(y.data<float>()[0] == doctest::Approx(std::tanh(.5)));
    CHECK(y.data<float>()[1] == doctest::Approx(std::tanh(-.5)));
  }
  CHECK(calls == 1);
  CHECK(f(cast(x, DType::f64), w).dtype() == DType::f64);
  CHECK(f(concatenate({x, x}), w).dims() == Dims{2, 2});
  CHECK(calls == 3);
}

TEST_CASE("results are what the function gives: a tensor, or several as a tuple, pair, array or vector") {
  Tensor x = tensor({1.0, 2.0, 3.0});
  auto [low, high] = jit([](Tensor t) { return std::pair(min(t), max(t)); })(x);
  CHECK(high.item<double>() - low.item<double>() == 2);
  auto [a, b, c] = jit([](Tensor t) { return std::tuple(t, t + 1, sum(t)); })(x);
  CHECK(c.item<int>() == 6);
  CHECK(b[2].item<int>() == 4);
  CHECK(jit([](Tensor t) { return split(t, 3); })(x)[1].item<int>() == 2);
  CHECK(jit([](Tensor t) { return std::array{t, t * t}; })(x)[1][2].item<int>() == 9);
  auto one_and_all =
      jit([](Tensor t, std::vector<Tensor> ts) { return std::tuple(sum(t), ts, std::pair(max(t), min(t))); });
  for (size_t length : {2, 0, 3, 2}) {
    auto [total, all, ends] = one_and_all(x, std::vector<Tensor>(length, x));
    CHECK(total.item<int>() == 6);
    REQUIRE(all.size() == length);
    for (const Tensor& each : all) CHECK(each.data<double>()[2] == 3);
    CHECK(ends.first.item<int>() - ends.second.item<int>() == 2);
  }
  static_assert(jit_parts::vectors_in<std::pair<std::vector<Tensor>, std::tuple<Tensor, std::vector<Tensor>>>>() == 2);
}

TEST_CASE("arguments may be vectors of tensors, each length a signature of its own") {
  int calls = 0;
  auto f = jit([&](const std::vector<Tensor>& xs, Tensor y) {
    ++calls;
    for (const Tensor& x : xs) y = y + x;
    return y;
  });
  Tensor one = tensor({1.0});
  CHECK(f(std::vector{one, one}, one).item<int>() == 3);
  CHECK(f(std::vector{one, one + 1}, one).item<int>() == 4);
  CHECK(f(std::vector{one}, one).item<int>() == 2);
  CHECK(calls == 2);
}

TEST_CASE("tensors that a function uses beside its arguments are constants, and functions call functions") {
  Tensor weight = tensor({2.f, 3.f}), lazy = weight * 10;
  auto scale = jit([&](Tensor x) { return x * weight + lazy; });
  auto twice = jit([&](Tensor x) { return scale(scale(x)); });
  Tensor x = tensor({1.f, 1.f});
  CHECK(scale(x).data<float>()[1] == 33);
  CHECK(twice(x).data<float>()[0] == 2 * 22 + 20);
}

TEST_CASE("with symbolic extents one program serves a range of shapes, and others are errors") {
  int calls = 0;
  Dim n(Symbol{"n", 1, 8, 64});
  auto f = jit(
      [&](Tensor x) {
        ++calls;
        return sum(x, 1) / static_cast<double>(3);
      },
      {{.dims = {n, 3}, .dtype = DType::f64, .name = "x"}});
  for (int64_t rows : {1, 5, 64}) CHECK(f(ones({rows, 3})).dims() == Dims{rows});
  CHECK(calls == 1);
  CHECK(label_of([&] { f(ones({65, 3})); }) == "extent_range");
  CHECK(label_of([&] { f(ones({5, 4})); }) == "input_shape");
  CHECK(label_of([&] { f(ones({5, 3}, DType::f32)); }) == "input_dtype");
}

TEST_CASE("what a function cannot do with placeholders is an error, and the next call tries again") {
  int line = __LINE__ + 1;
  auto f = jit([](Tensor x) { return x.item<float>() > 0 ? x : -x; });
  CHECK(label_of([&] { f(tensor({1.f})); }) == "data_dependent");
  CHECK(label_of([&] { f(tensor({1.f})); }) == "data_dependent");
  try {
    f(tensor({1.f}));
  } catch (const Error& error) {
    CHECK(error.message() == "eval: the value of a traced tensor, tensor<1xf32>, is known only when the program runs");
    CHECK(error.loc().line() == line);
  }
  Tensor kept;
  trace([&](Tensor x) { return kept = x; }, {{.dims = {1}}});
  CHECK(label_of([&] { kept.eval(); }) == "data_dependent");
  CHECK(label_of([&] { trace([&](Tensor x) { return x + kept; }, {{.dims = {1}}}); }) == "foreign_placeholder");
}

TEST_CASE("symbolic extents have names that programs as text can have") {
  for (const char* name : {"batch size", "a\"b", "2n", ""})
    CHECK(label_of([&] { trace([](Tensor x) { return x; }, {{.dims = {Dim(Symbol{name})}}}); }) == "dim_name");
}

TEST_CASE("a compiled function is saved, and loaded where no compiler is needed") {
  auto path = std::filesystem::temp_directory_path() / "weft_jit_test.weft";
  Tensor w = tensor({1.f, 2.f, 3.f, 4.f}, {2, 2});
  CompiledFunction f = compile([&](Tensor x, Tensor y) { return std::pair(matmul(x, w), x - y); },
                               {{.dims = {1, 2}, .name = "left"}, {.dims = {2}}}, "layer");
  CHECK(f({tensor({1.f, 1.f}, {1, 2}), tensor({0.f, 1.f})})[0].data<float>()[1] == 6);
  CHECK(stablehlo(f.graph()).find("stablehlo.dot_general") != std::string::npos);
  CHECK(graph_text(f.graph()).find("jit_test.cpp") != std::string::npos);
  f.save(path);
  Executable loaded = Executable::load(path);
  std::filesystem::remove(path);
  CHECK(loaded.name() == "layer");
  CHECK(loaded.inputs()[0].name == "left");
  CHECK(loaded.inputs()[1].name == "x1");
  CHECK(loaded.outputs()[1].name == "y1");
  Tensor x = tensor({1.f, 1.f}, {1, 2}), y = tensor({0.f, 1.f});
  CHECK(loaded.run({x.eval(), y.eval()})[1].elements<float>()[0] == 1);
}

TEST_CASE("threads call one function, whose program is compiled once") {
  std::atomic<int> calls = 0;
  auto f = jit([&](Tensor x) {
    ++calls;
    return exp(x) + 1;
  });
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) right += f(tensor({0.f})).item<float>() == 2;
    });
  threads.clear();
  CHECK(right == 800);
  CHECK(calls == 1);
}
