// StableHLO text in and out.
#include <doctest/doctest.h>

#include <random>

#include "weft/ir/builder.h"
#include "weft/ir/interpret.h"
#include "weft/ir/text.h"

using namespace weft;

namespace {

GraphPtr sample() {
  Builder build(Level::flat);
  Value x = build.parameter({DType::f32, {2, 3}}, "x");
  Value sum = build(Op::reduce, {x, build.scalar(DType::f32, 0)}, {{Attr::dimensions, Ints{1}}},
                    {binary_body(Op::add, DType::f32)});
  Value wide = build.broadcast_to(build.reshape(sum, {2, 1}), {2, 3});
  Value y = build(Op::divide, {build(Op::exponential, {x}), wide});
  Value dot = build(Op::dot_general, {y, x},
                    {{Attr::lhs_batching_dimensions, Ints{}},
                     {Attr::rhs_batching_dimensions, Ints{}},
                     {Attr::lhs_contracting_dimensions, Ints{1}},
                     {Attr::rhs_contracting_dimensions, Ints{1}}});
  return build.finish({{y, "y"}, {dot, "dot"}});
}

}  // namespace

TEST_CASE("what is printed reads back as the same graph") {
  GraphPtr graph = sample();
  verify(*graph);
  GraphPtr again = parse(print(*graph));
  CHECK(equal(*graph, *again));
  CHECK(hash(*graph) == hash(*again));
}

TEST_CASE("long constants are kept apart where that is asked for") {
  Builder build(Level::flat);
  Literal few = Literal::ints({1, 2, 3}), many = Literal::ints(Ints(17, 5));
  many.mutable_data<int64_t>()[16] = 6;
  GraphPtr graph = build.finish({{build.constant(many), "y"}, {build.constant(few), "z"}});
  std::vector<Literal> resources;
  std::string text = print(*graph, {.resources = &resources});
  CHECK(text.find("[1, 2, 3]") != std::string::npos);
  CHECK(text.find("dense_resource<c0> : tensor<17xi64>") != std::string::npos);
  REQUIRE(resources.size() == 1);
  CHECK(equal(*graph, *parse(text, "<text>", resources)));
  CHECK_THROWS_AS(parse(text), Error);
  resources[0] = few;
  CHECK_THROWS_AS(parse(text, "<text>", resources), Error);
}

TEST_CASE("a select whose operands broadcast reads back") {
  Builder build(Level::trace);
  Value condition = build.parameter({DType::boolean, {3}}, "c"), x = build.parameter({DType::f32, {2, 3}}, "x"),
        y = build.parameter({DType::f32, {}}, "y");
  GraphPtr graph =
      build.finish({{build(Op::select, {condition, x, y}), "xy"}, {build(Op::select, {condition, y, x}), "yx"}});
  CHECK(equal(*graph, *parse(print(*graph))));
}

TEST_CASE("an extent has one range") {
  Builder build(Level::flat);
  Value x = build.parameter({DType::f32, {Dim(Symbol{"n", 1, 4, 8})}}, "x");
  GraphPtr graph = build.finish({{build(Op::tanh, {x}), "y"}});
  verify(*graph);
  Builder other(Level::flat);
  other.parameter({DType::f32, {Dim(Symbol{"n", 1, 4, 8})}}, "x");
  Value iota =
      other(Op::iota, {},
            {{Attr::type, DType::f32}, {Attr::dims, Dims{Dim(Symbol{"n", 1, 4, 9})}}, {Attr::dimension, int64_t{0}}});
  GraphPtr two = other.finish({{iota, "y"}});
  CHECK_THROWS_WITH_AS(verify(*two), doctest::Contains("must have one range, got 1 to 8 and 1 to 9"), Error);
}

TEST_CASE("pretty text is read") {
  GraphPtr graph = parse(R"(
    func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
      %c = stablehlo.constant dense<2.0> : tensor<f32>
      %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %0 = stablehlo.multiply %x, %b : tensor<2x3xf32>
      %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
      return %1 : tensor<3x2xf32>
    })");
  Literal x(Type{DType::f32, {2, 3}});
  for (int i = 0; i < 6; ++i) x.mutable_data<float>()[static_cast<size_t>(i)] = static_cast<float>(i);
  CHECK(interpret(*graph, std::span(&x, 1))[0].as_double(1) == 6);
}

TEST_CASE("an error has line and column and says what was wanted") {
  try {
    parse("func.func @main() {\n  %0 = stablehlo.nothing %1 : tensor<f32>\n}", "a.mlir");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.loc().line() == 2);
    CHECK(error.loc().column() == 3);
    CHECK(error.message().find("stablehlo.nothing") != std::string::npos);
  }
}

TEST_CASE("damaged text is rejected with an Error, never otherwise") {
  std::string text = print(*sample());
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    for (unsigned i = 0; i <= random() % 4; ++i) {
      size_t at = random() % damaged.size();
      switch (random() % 4) {
        case 0:
          damaged.erase(at, random() % 9);
          break;
        case 1:
          damaged[at] = static_cast<char>(random() % 256);
          break;
        case 2:
          damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 30));
          break;
        default:
          damaged.insert(at, 1, "0123456789<>(){}[]%x,:-\""[random() % 24]);
          break;
      }
      if (damaged.empty()) damaged = " ";
    }
    try {
      verify(*parse(damaged));
    } catch (const Error&) {
    }
  }
}
