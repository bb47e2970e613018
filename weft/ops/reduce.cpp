// reduce: combining elements along dimensions by a body.
#include "weft/core/element.h"
#include "weft/ir/graph.h"
#include "weft/ir/interpret.h"
#include "weft/ops/infer.h"
#include "weft/ops/walk.h"

namespace weft {
namespace {

using Literals = std::vector<Literal>;

Types infer_reduce(const Call& call) {
  call.require(call.operands.size() == 2, "operands", "takes an input and its initial value, got ", call.operands.size(), " operands");
  const Type &x = call.operand(0), &init = call.operand(1);
  const Ints& dimensions = call.attrs.ints(Attr::dimensions);
  call.require(init.rank() == 0 && init.dtype == x.dtype, "c2", "the initial value must be a scalar of ", name(x.dtype), ", got ", init);
  call.require(are_axes(dimensions, x.rank()), "c4", "dimensions ", dimensions, " must be different ones of ", x);
  const Graph& body = *call.regions[0];
  bool fits = body.parameters().size() == 2 && body.outputs().size() == 1 &&
              body.outputs()[0].value.type() == init && body.node(body.parameters()[0]).type() == init &&
              body.node(body.parameters()[1]).type() == init;
  call.require(fits, "c6", "the body must take two scalars of ", name(x.dtype), " to one");
  Type result{x.dtype, {}};
  for (size_t i = 0; i < x.dims.size(); ++i)
    if (!contains(dimensions, static_cast<int64_t>(i))) result.dims.push_back(x.dims[i]);
  return {result};
}

// Combines the elements at `offsets` from `base` pairwise, so that rounding errors grow with the logarithm of their
// number; sums of floats narrower than f64 are added up in f64.
Element tree(Scalar op, const Literal& x, int64_t base, std::span<const int64_t> offsets) {
  if (offsets.size() == 1) {
    Element element = load(x.bytes().data() + (base + offsets[0]) * size_of(x.dtype()), x.dtype());
    return op == Scalar::add && is_float(x.dtype()) ? convert(element, DType::f64) : element;
  }
  size_t half = offsets.size() / 2;
  Element pair[2] = {tree(op, x, base, offsets.first(half)), tree(op, x, base, offsets.subspan(half))};
  return apply(op, pair[0].dtype, pair);
}

Element fold_body(const Graph& body, const Literal& x, int64_t base, std::span<const int64_t> offsets, const Literal& init) {
  Literal total = init;
  for (int64_t offset : offsets) {
    Literal element(Type{x.dtype(), {}});
    copy_element(element, 0, x, base + offset);
    Literal pair[2] = {total, element};
    total = interpret(body, pair)[0];
  }
  return load(total.bytes().data(), total.dtype());
}

Literals eval_reduce(const Node& node, std::span<const Literal> operands) {
  const Literal& x = operands[0];
  const Ints& dimensions = node.ints(Attr::dimensions);
  Ints dims = x.type().static_dims(), strides = row_major_strides(dims);
  Ints reduced_dims, reduced_strides, kept_dims, kept_strides;
  for (size_t i = 0; i < dims.size(); ++i) {
    bool reduced = contains(dimensions, static_cast<int64_t>(i));
    (reduced ? reduced_dims : kept_dims).push_back(dims[i]);
    (reduced ? reduced_strides : kept_strides).push_back(strides[i]);
  }
  Ints offsets;
  for_each_index(reduced_dims, [&](const Ints& index) { offsets.push_back(linear(index, reduced_strides)); });
  std::optional<Op> op = single_op(*node.regions[0]);
  Literal result(node.type());
  Element init = load(operands[1].bytes().data(), x.dtype());
  int64_t at = 0, size = size_of(x.dtype());
  for_each_index(kept_dims, [&](const Ints& index) {
    int64_t base = linear(index, kept_strides);
    Element total = init;
    if (!op) {
      total = fold_body(*node.regions[0], x, base, offsets, operands[1]);
    } else if (!offsets.empty()) {
      Element combined = tree(def(*op).scalar, x, base, offsets);
      Element pair[2] = {convert(init, combined.dtype), combined};
      total = convert(apply(def(*op).scalar, combined.dtype, pair), x.dtype());
    }
    store(result.mutable_bytes() + at++ * size, total);
  });
  return {result};
}

}  // namespace

OpDef define_reduce() {
  return {.doc = "Combines elements along dimensions by a body of two scalars, from an initial value, in an order that depends on "
                 "the shape only.",
          .operands = -1,
          .attrs = {{Attr::dimensions, AttrKind::ints}},
          .regions = 1,
          .infer = infer_reduce,
          .eval = eval_reduce,
          .names = {.stablehlo = "reduce", .hlo = "reduce"}};
}

}  // namespace weft
