// Ordering elements.
#include <algorithm>
#include <numeric>

#include "weft/ir/scalar_body.h"
#include "weft/ops/infer.h"
#include "weft/ops/walk.h"

namespace weft {
namespace {

using Literals = std::vector<Literal>;

Types infer_sort(const Call& call) {
  call.require(!call.operands.empty(), "operands", "needs at least one operand");
  const Type& first = call.operand(0);
  int64_t dimension = call.attrs.integer(Attr::dimension);
  call.require(dimension >= -first.rank() && dimension < std::max<int64_t>(first.rank(), 1), "c4", "dimension ",
               dimension, " must be one of ", first);
  for (const Type& type : call.operands)
    call.require(type.dims == first.dims, "c2", "operands must agree in shape, got ", first, " and ", type);
  const Graph& body = *call.regions[0];
  bool fits = body.parameters().size() == 2 * call.operands.size() && body.outputs().size() == 1 &&
              body.outputs()[0].value.type() == Type{DType::boolean, {}};
  for (size_t i = 0; fits && i < body.parameters().size(); ++i)
    fits = body.node(body.parameters()[i]).type() == Type{call.operand(i / 2).dtype, {}};
  call.require(fits, "c5", "the comparator must take two scalars of each operand to one boolean");
  return {call.operands.begin(), call.operands.end()};
}

Literals eval_sort(const Node& node, std::span<const Literal> operands) {
  int64_t dimension = node.attrs.integer(Attr::dimension);
  Ints dims = node.type().static_dims();
  Literals results;
  for (const Literal& operand : operands) results.emplace_back(operand.type());
  if (dims.empty()) return {operands.begin(), operands.end()};
  auto axis = static_cast<size_t>(dimension < 0 ? dimension + static_cast<int64_t>(dims.size()) : dimension);
  Ints strides = row_major_strides(dims);
  int64_t length = dims[axis], stride = strides[axis];
  Ints lines = dims;
  if (length > 0) lines[axis] = 1;
  ScalarBody less(*node.regions[0]);
  std::vector<int64_t> order(static_cast<size_t>(length));
  std::vector<Element> pair(2 * operands.size());
  for_each_index(lines, [&](const Ints& index) {
    int64_t base = linear(index, strides);
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      for (size_t k = 0; k < operands.size(); ++k) {
        pair[2 * k] = element_at(operands[k], base + a * stride);
        pair[2 * k + 1] = element_at(operands[k], base + b * stride);
      }
      return less.one(pair).i != 0;
    });
    for (size_t k = 0; k < operands.size(); ++k)
      for (int64_t i = 0; i < length; ++i)
        copy_element(results[k], base + i * stride, operands[k], base + order[static_cast<size_t>(i)] * stride);
  });
  return results;
}

Types infer_top_k(const Call& call) {
  const Type& x = call.operand(0);
  int64_t k = call.attrs.integer(Attr::k);
  call.require(x.rank() > 0, "rank", "needs at least one dimension, got ", x);
  call.require(is_ordered(x.dtype), "dtype", "does not take elements of type ", name(x.dtype));
  call.require(k >= 0 && known_less(x.dims.back(), Dim(k)) != true, "k", "k must be from 0 to ", x.dims.back(),
               ", got ", k);
  Type values = x;
  values.dims.back() = k;
  return {values, {DType::i32, values.dims}};
}

// Sorted descending with positions, equal values in the order in which they stand; the first k of both.
std::vector<Value> expand_top_k(Builder& build, const Node& node) {
  Value x = node.operand(0);
  const Dims& dims = x.type().dims;
  auto last = static_cast<int64_t>(dims.size()) - 1;
  Value places = build(Op::iota, {}, {{Attr::type, DType::i32}, {Attr::dims, dims}, {Attr::dimension, last}});
  Builder body(Level::flat, "body");
  Value a = body.parameter({x.type().dtype, {}}, ""), b = body.parameter({x.type().dtype, {}}, "");
  body.parameter({DType::i32, {}}, "");
  body.parameter({DType::i32, {}}, "");
  Attrs greater{{Attr::comparison_direction, std::string("GT")}};
  if (is_float(x.type().dtype)) greater.set(Attr::compare_type, std::string("TOTALORDER"));
  GraphPtr comparator = body.finish({{body(Op::compare, {a, b}, greater), ""}});
  NodeId sorted =
      build.call(Op::sort, {x, places}, {{Attr::dimension, last}, {Attr::is_stable, true}}, {comparator}).id();
  Dims start(dims.size(), Dim(0)), limit = dims;
  limit.back() = node.attrs.integer(Attr::k);
  std::vector<Value> results;
  for (uint32_t i = 0; i < 2; ++i)
    results.push_back(
        build(Op::slice, {Value(&build.graph(), sorted, i)},
              {{Attr::start_indices, start}, {Attr::limit_indices, limit}, {Attr::strides, Ints(dims.size(), 1)}}));
  return results;
}

}  // namespace

OpDef define_sort() {
  return {.doc =
              "Reorders all operands along a dimension so that the comparator holds from each element to the next; "
              "elements between which it holds neither way keep their order.",
          .operands = -1,
          .attrs = {{Attr::dimension, AttrKind::integer}, {Attr::is_stable, AttrKind::flag, true}},
          .regions = 1,
          .infer = infer_sort,
          .eval = eval_sort,
          .names = {.stablehlo = "sort", .hlo = "sort"}};
}

OpDef define_top_k() {
  return {.doc = "The k greatest elements of the last dimension, descending, and where they stand (i32).",
          .attrs = {{Attr::k, AttrKind::integer}},
          .infer = infer_top_k,
          .expand = expand_top_k,
          .names = {.stablehlo = "chlo.top_k", .aten = "topk"}};
}

}  // namespace weft
