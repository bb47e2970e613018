#include "weft/interop/hlo.h"

#include <doctest/doctest.h>

#include "weft/ir/builder.h"

using namespace weft;

TEST_CASE("a graph at trace level is refused") {
  Builder build(Level::trace, "f");
  Value x = build.parameter({DType::f32, {2}}, "x");
  GraphPtr graph = build.finish({{x, "y"}});
  CHECK_THROWS_WITH_AS(hlo_proto(*graph), doctest::Contains("[hlo_level]"), Error);
}

TEST_CASE("an op that HLO cannot spell is refused by name") {
  Builder build(Level::flat, "f");
  Value x = build.parameter({DType::f32, {2}}, "x");
  GraphPtr graph = build.finish({{build(Op::silu, {x}), "y"}});
  CHECK_THROWS_WITH_AS(hlo_proto(*graph), doctest::Contains("silu: cannot be written as HLO"), Error);
}

TEST_CASE("the same graph gives the same bytes") {
  Builder build(Level::flat, "f");
  Value x = build.parameter({DType::f32, {2}}, "x");
  GraphPtr graph = build.finish({{build(Op::tanh, {x}), "y"}});
  CHECK(hlo_proto(*graph) == hlo_proto(*graph));
}
