// Flattening and rewriting.
#include <doctest/doctest.h>

#include <functional>

#include "weft/ir/builder.h"
#include "weft/passes/pass.h"

using namespace weft;

namespace {

size_t count(const Graph& graph, Op op) {
  size_t found = 0;
  for (const Node& node : graph.nodes()) found += node.op == op;
  return found;
}

}  // namespace

TEST_CASE("silu of a doubly transposed value times one is two operations") {
  Builder build(Level::trace);
  Value x = build.parameter({DType::f32, {2, 3}}, "x");
  Value twice = build.transpose(build.transpose(x, {1, 0}), {1, 0});
  Value y = build(Op::silu, {build(Op::multiply, {twice, build.scalar(DType::f32, 1)})});
  GraphPtr graph = run_pipeline(*build.finish({{y, "y"}}));
  verify(*graph);
  CHECK(graph->size() == 3);
  CHECK(count(*graph, Op::logistic) == 1);
  CHECK(count(*graph, Op::multiply) == 1);
}

TEST_CASE("x plus zero stays, for it is not x where x is -0.0") {
  Builder build(Level::trace);
  Value x = build.parameter({DType::f32, {4}}, "x");
  GraphPtr graph = run_pipeline(*build.finish({{build(Op::add, {x, build.scalar(DType::f32, 0)}), "y"}}));
  CHECK(count(*graph, Op::add) == 1);
}

TEST_CASE("bfloat16 times a float goes through float64 only where float32 does not hold the float") {
  auto widest = [](double factor) {
    Builder build(Level::trace);
    Value x = build.parameter({DType::bf16, {4}}, "x");
    Value product = build(Op::multiply, {build.scalar(DType::f64, factor), build.convert(x, DType::f64)});
    DType widest = DType::bf16;
    GraphPtr graph = run_pipeline(*build.finish({{build.convert(product, DType::f32), "y"}}));
    for (const Node& node : graph->nodes())
      if (bit_width(node.type().dtype) > bit_width(widest)) widest = node.type().dtype;
    return widest;
  };
  CHECK(widest(0.25) == DType::f32);
  CHECK(widest(0.1) == DType::f64);
}

TEST_CASE("equal calls are one") {
  Builder build(Level::trace);
  Value x = build.parameter({DType::f32, {4}}, "x");
  Value y = build(Op::add, {build(Op::tanh, {x}), build(Op::tanh, {x})});
  CHECK(count(*run_pipeline(*build.finish({{y, "y"}})), Op::tanh) == 1);
}

TEST_CASE("symbolic extents pass through") {
  Builder build(Level::trace);
  Dim n(Symbol{"n", 1, 8, 64});
  Value x = build.parameter({DType::f32, {n, 3}}, "x");
  Value y = build(Op::softmax, {x}, {{Attr::axis, int64_t{1}}});
  GraphPtr graph = run_pipeline(*build.finish({{y, "y"}}));
  verify(*graph);
  CHECK(graph->outputs()[0].value.type().dims == Dims{n, 3});
  REQUIRE(graph->symbols().size() == 1);
  CHECK(graph->symbols()[0].max == 64);
}

namespace {

// Ten turns of y = turn(w, y).
GraphPtr turns(const std::function<Value(Builder&, Value w, Value y)>& turn) {
  Builder body(Level::trace, "body");
  Value y = body.parameter({DType::f64, {64}}, "y"), w = body.parameter({DType::f64, {64, 64}}, "w");
  Value next = turn(body, w, y);
  Builder build(Level::trace);
  Value first = build.parameter({DType::f64, {64}}, "y"), matrix = build.parameter({DType::f64, {64, 64}}, "w");
  Attrs attrs{{Attr::counter, std::string("i")},
              {Attr::first, Dims{0}},
              {Attr::trips, Dims{10}},
              {Attr::step, int64_t{1}},
              {Attr::carried, int64_t{1}}};
  Value last = build(Op::for_, {first, matrix}, std::move(attrs), {body.finish({{next, ""}})});
  GraphPtr graph = run_pipeline(*build.finish({{last, "y"}}));
  verify(*graph);
  return graph;
}

size_t in_body(const GraphPtr& graph, Op op) {
  size_t found = 0;
  for (const Node& node : graph->nodes())
    if (node.op == Op::for_) found += count(*node.regions[0], op);
  return found;
}

Value product(Builder& build, Value w, Value y) {
  return build(Op::dot_general, {w, y},
               {{Attr::lhs_contracting_dimensions, Ints{1}},
                {Attr::rhs_contracting_dimensions, Ints{0}},
                {Attr::lhs_batching_dimensions, Ints{}},
                {Attr::rhs_batching_dimensions, Ints{}}});
}

}  // namespace

TEST_CASE("what a product reads in all turns is computed before the loop") {
  GraphPtr graph = turns([](Builder& build, Value w, Value y) {
    return product(build, build.transpose(build(Op::negate, {w}), {1, 0}), y);
  });
  CHECK(in_body(graph, Op::negate) == 0);
  CHECK(in_body(graph, Op::dot_general) == 1);
  CHECK(count(*graph, Op::negate) == 1);
}

TEST_CASE("products of what stays are computed before the loop") {
  GraphPtr graph = turns([](Builder& build, Value w, Value y) {
    Value row = build(Op::tanh, {product(build, w, build.splat({DType::f64, {64}}, 2))});
    return build(Op::add, {y, row});
  });
  CHECK(in_body(graph, Op::dot_general) == 0);
  CHECK(in_body(graph, Op::tanh) == 0);
  CHECK(in_body(graph, Op::add) == 1);
}

TEST_CASE("what a turn would read beside what it reads anyway stays in the loop") {
  // All of w is read for itself too.
  GraphPtr graph = turns([](Builder& build, Value w, Value y) {
    Value grid = build(Op::multiply, {build(Op::negate, {w}),
                                      build(Op::add, {w, build.broadcast_to(build.reshape(y, {1, 64}), {64, 64})})});
    return product(build, grid, y);
  });
  CHECK(in_body(graph, Op::negate) == 1);
}
