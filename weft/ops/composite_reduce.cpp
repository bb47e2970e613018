// Reductions and products as people call them, made of reduce and dot_general.
#include <limits>

#include "weft/core/extreme.h"
#include "weft/ir/graph.h"
#include "weft/ops/composite.h"

namespace weft {
namespace {

using Values = std::vector<Value>;

Dims reduced_dims(const Dims& dims, const Ints& axes, bool keepdims) {
  Dims result;
  for (size_t i = 0; i < dims.size(); ++i) {
    bool reduced = contains(axes, static_cast<int64_t>(i));
    if (!reduced) result.push_back(dims[i]);
    if (reduced && keepdims) result.push_back(1);
  }
  return result;
}

template <bool (*Accepts)(DType)>
Types infer_over_axes(const Call& call) {
  const Type& x = call.operand(0);
  const Ints& axes = call.attrs.ints(Attr::axes);
  call.require(Accepts(x.dtype), "dtype", "does not take elements of type ", name(x.dtype));
  call.require(are_axes(axes, x.rank()), "axes", "axes ", axes, " must be different ones of ", x);
  return {{x.dtype, reduced_dims(x.dims, axes, call.attrs.flag(Attr::keepdims))}};
}

OpDef over_axes(std::string_view doc, InferFn infer, ExpandFn expand, Names names = {}) {
  return {.doc = doc,
          .attrs = {{Attr::axes, AttrKind::ints}, {Attr::keepdims, AttrKind::flag, true}},
          .infer = infer,
          .expand = expand,
          .names = names};
}

Value reduce(Builder& build, Op op, Value x, const Ints& axes, Value init) {
  return build(Op::reduce, {x, init}, {{Attr::dimensions, axes}}, {binary_body(op, x.type().dtype)});
}

Values finish(Builder& build, const Node& node, Value reduced) {
  return {build.reshape(build.convert(reduced, node.type().dtype), node.type().dims)};
}

Values expand_sum(Builder& build, const Node& node) {
  Value x = widened(build, node.operand(0));
  Op op = is_bool(x.type().dtype) ? Op::or_ : Op::add;
  return finish(build, node, reduce(build, op, x, node.ints(Attr::axes), build.scalar(x.type().dtype, 0)));
}

Values expand_prod(Builder& build, const Node& node) {
  Value x = widened(build, node.operand(0));
  Op op = is_bool(x.type().dtype) ? Op::and_ : Op::multiply;
  return finish(build, node, reduce(build, op, x, node.ints(Attr::axes), build.scalar(x.type().dtype, 1)));
}

Values expand_max(Builder& build, const Node& node) {
  Value x = node.operand(0);
  return finish(build, node,
                reduce(build, Op::maximum, x, node.ints(Attr::axes), extreme_value(build, x.type().dtype, true)));
}

Values expand_min(Builder& build, const Node& node) {
  Value x = node.operand(0);
  return finish(build, node,
                reduce(build, Op::minimum, x, node.ints(Attr::axes), extreme_value(build, x.type().dtype, false)));
}

// How many elements the axes hold, as a 0-d value of a float type.
Value element_count(Builder& build, const Dims& dims, const Ints& axes, DType dtype) {
  Dim product = 1;
  for (int64_t axis : axes) product = product * dims[static_cast<size_t>(axis)];
  if (product.is_static()) return build.scalar(dtype, static_cast<double>(product.value()));
  return build.convert(build.extent(product), dtype);
}

Value mean_keepdims(Builder& build, Value x, const Ints& axes) {
  DType dtype = x.type().dtype;
  Value sum = reduce(build, Op::add, x, axes, build.scalar(dtype, 0));
  sum = build.reshape(sum, reduced_dims(x.type().dims, axes, true));
  Value count = build.convert(element_count(build, x.type().dims, axes, real_type(dtype)), dtype);
  return build(Op::divide, {sum, build.broadcast_to(count, sum.type().dims)});
}

Values expand_mean(Builder& build, const Node& node) {
  return finish(build, node, mean_keepdims(build, widened(build, node.operand(0)), node.ints(Attr::axes)));
}

Values expand_var(Builder& build, const Node& node) {
  Value x = widened(build, node.operand(0));
  const Ints& axes = node.ints(Attr::axes);
  Value deviation = build(Op::subtract, {x, build.broadcast_to(mean_keepdims(build, x, axes), x.type().dims)});
  DType dtype = x.type().dtype;
  Value sum = reduce(build, Op::add, build(Op::multiply, {deviation, deviation}), axes, build.scalar(dtype, 0));
  Value count = build(Op::subtract, {element_count(build, x.type().dims, axes, dtype),
                                     build.scalar(dtype, node.attrs.number(Attr::ddof))});
  count = build(Op::maximum, {count, build.scalar(dtype, 0)});
  return finish(build, node, build(Op::divide, {sum, build.broadcast_to(count, sum.type().dims)}));
}

// The first index whose element is the extreme one, or NaN where one is.
Values expand_arg(Builder& build, const Node& node, Op op) {
  Value x = node.operand(0);
  DType dtype = x.type().dtype;
  int64_t axis = node.attrs.integer(Attr::axis);
  const Dims& dims = x.type().dims;
  Value best = reduce(build, op, x, {axis}, extreme_value(build, dtype, op == Op::maximum));
  Value wide = build.broadcast_to(build.reshape(best, reduced_dims(dims, {axis}, true)), dims);
  Value found = build(Op::compare, {x, wide}, {{Attr::comparison_direction, std::string("EQ")}});
  if (is_float(dtype))
    found = build(Op::or_, {found, build(Op::compare, {x, x}, {{Attr::comparison_direction, std::string("NE")}})});
  // Twice as many of 32 bits fit a vector, and as many as of f32.
  int64_t most = std::numeric_limits<int32_t>::max();
  DType place = dims[static_cast<size_t>(axis)].max() < most ? DType::i32 : DType::i64;
  if (place == DType::i64) most = std::numeric_limits<int64_t>::max();
  Value index = build(Op::iota, {}, {{Attr::type, place}, {Attr::dims, dims}, {Attr::dimension, axis}});
  Value none = build.constant(Literal::scalar_int(place, most));
  Value candidates = build(Op::select, {found, index, build.broadcast_to(none, dims)});
  return {build.convert(reduce(build, Op::minimum, candidates, {axis}, none), DType::i64)};
}

Types infer_arg(const Call& call) {
  const Type& x = call.operand(0);
  int64_t axis = call.attrs.integer(Attr::axis);
  call.require(is_real_number(x.dtype), "dtype", "does not take elements of type ", name(x.dtype));
  call.require(axis >= 0 && axis < x.rank(), "axis", "axis ", axis, " must be one of ", x);
  return {{DType::i64, reduced_dims(x.dims, {axis}, false)}};
}

OpDef arg_op(std::string_view doc, ExpandFn expand, Names names) {
  return {.doc = doc, .attrs = {{Attr::axis, AttrKind::integer}}, .infer = infer_arg, .expand = expand, .names = names};
}

Types infer_matmul(const Call& call) {
  const Type &lhs = call.operand(0), &rhs = call.operand(1);
  call.require(lhs.dtype == rhs.dtype, "dtype", "operands must be of one element type, got ", lhs, " and ", rhs);
  call.require(lhs.rank() > 0 && rhs.rank() > 0, "rank", "operands must have at least one dimension, got ", lhs,
               " and ", rhs);
  const Dim& inner = rhs.dims[rhs.rank() == 1 ? 0 : rhs.dims.size() - 2];
  call.require(lhs.dims.back() == inner, "inner", "the last dimension of ", lhs, " must be the ",
               rhs.rank() == 1 ? "only" : "last but one", " of ", rhs, ": ", lhs.dims.back(), " and ", inner);
  Dims left(lhs.dims.begin(), lhs.dims.end() - (lhs.rank() > 1 ? 2 : 1));
  Dims right(rhs.dims.begin(), rhs.dims.end() - (rhs.rank() > 1 ? 2 : 1));
  Type result{lhs.dtype, broadcast(left, right)};
  if (lhs.rank() > 1) result.dims.push_back(lhs.dims[lhs.dims.size() - 2]);
  if (rhs.rank() > 1) result.dims.push_back(rhs.dims.back());
  return {result};
}

Values expand_matmul(Builder& build, const Node& node) {
  Value lhs = node.operand(0), rhs = node.operand(1);
  auto dot = [&](int64_t batch, int64_t lhs_contracting, int64_t rhs_contracting) {
    return build(Op::dot_general, {lhs, rhs},
                 {{Attr::lhs_batching_dimensions, iota_ints(batch)},
                  {Attr::rhs_batching_dimensions, iota_ints(batch)},
                  {Attr::lhs_contracting_dimensions, Ints{lhs_contracting}},
                  {Attr::rhs_contracting_dimensions, Ints{rhs_contracting}}});
  };
  int64_t l = lhs.type().rank(), r = rhs.type().rank();
  // A matrix or vector on the right needs no batch: all dims of lhs but the last are rows.
  if (r <= 2) return {dot(0, l - 1, r == 1 ? 0 : r - 2)};
  if (l == 1) {
    // The rows of every batch of rhs contract with the one vector: (batch…, k, n) with k.
    Value product = build(Op::dot_general, {rhs, lhs},
                          {{Attr::lhs_batching_dimensions, Ints{}},
                           {Attr::rhs_batching_dimensions, Ints{}},
                           {Attr::lhs_contracting_dimensions, Ints{r - 2}},
                           {Attr::rhs_contracting_dimensions, Ints{0}}});
    return {product};
  }
  Dims batch(node.type().dims.begin(), node.type().dims.end() - 2);
  Dims left = batch, right = batch;
  left.insert(left.end(), lhs.type().dims.end() - 2, lhs.type().dims.end());
  right.insert(right.end(), rhs.type().dims.end() - 2, rhs.type().dims.end());
  lhs = build.broadcast_to(lhs, left);
  rhs = build.broadcast_to(rhs, right);
  auto n = static_cast<int64_t>(batch.size());
  return {dot(n, n + 1, n)};
}

Values expand_softmax(Builder& build, const Node& node) {
  Value x = widened(build, node.operand(0));
  int64_t axis = node.attrs.integer(Attr::axis);
  const Dims& dims = x.type().dims;
  auto spread = [&](Value reduced) {
    return build.broadcast_to(build.reshape(reduced, reduced_dims(dims, {axis}, true)), dims);
  };
  Value max = reduce(build, Op::maximum, x, {axis}, extreme_value(build, x.type().dtype, true));
  Value power = build(Op::exponential, {build(Op::subtract, {x, spread(max)})});
  Value sum = reduce(build, Op::add, power, {axis}, build.scalar(x.type().dtype, 0));
  return {build.convert(build(Op::divide, {power, spread(sum)}), node.type().dtype)};
}

Values expand_layer_norm(Builder& build, const Node& node) {
  Value x = widened(build, node.operand(0));
  DType dtype = x.type().dtype;
  const Dims& dims = x.type().dims;
  Ints axes{x.type().rank() - 1};
  Value deviation = build(Op::subtract, {x, build.broadcast_to(mean_keepdims(build, x, axes), dims)});
  Value variance = mean_keepdims(build, build(Op::multiply, {deviation, deviation}), axes);
  Value shifted = build(Op::add, {variance, build.splat(variance.type(), node.attrs.number(Attr::epsilon))});
  Value normal = build(Op::divide, {deviation, build.broadcast_to(build(Op::sqrt, {shifted}), dims)});
  Value scaled = build(Op::multiply, {normal, build.broadcast_to(build.convert(node.operand(1), dtype), dims)});
  return {build.convert(build(Op::add, {scaled, build.broadcast_to(build.convert(node.operand(2), dtype), dims)}),
                        node.type().dtype)};
}

}  // namespace

Value extreme_value(Builder& build, DType dtype, bool least) {
  if (is_bool(dtype)) return build.scalar(dtype, least ? 0 : 1);
  if (is_float(dtype)) return build.scalar(dtype, extreme_number(dtype, least));
  int bits = bit_width(dtype);
  int64_t top = static_cast<int64_t>((~uint64_t{0}) >> (64 - bits));
  if (is_unsigned(dtype)) return build.constant(Literal::scalar_int(dtype, least ? 0 : top));
  int64_t highest = static_cast<int64_t>((~uint64_t{0}) >> (65 - bits));
  return build.constant(Literal::scalar_int(dtype, least ? -highest - 1 : highest));
}

OpDef define_sum() {
  return over_axes("Sum over axes; f16 and smaller add up in f32.", infer_over_axes<any_type>, expand_sum,
                   {.aten = "sum"});
}
OpDef define_prod() {
  return over_axes("Product over axes.", infer_over_axes<any_type>, expand_prod, {.aten = "prod"});
}
OpDef define_reduce_max() {
  return over_axes("Greatest element over axes; NaN where one is.", infer_over_axes<is_ordered>, expand_max,
                   {.aten = "amax"});
}
OpDef define_reduce_min() {
  return over_axes("Least element over axes; NaN where one is.", infer_over_axes<is_ordered>, expand_min,
                   {.aten = "amin"});
}
OpDef define_any() {
  return over_axes("Whether one of the elements over axes is true.", infer_over_axes<is_bool>, expand_sum,
                   {.aten = "any"});
}
OpDef define_all() {
  return over_axes("Whether all elements over axes are true.", infer_over_axes<is_bool>, expand_prod, {.aten = "all"});
}
OpDef define_mean() {
  return over_axes("Mean over axes.", infer_over_axes<is_float_or_complex>, expand_mean, {.aten = "mean"});
}
OpDef define_var() {
  OpDef op = over_axes("Variance over axes, divided by the count less ddof.", infer_over_axes<is_float>, expand_var,
                       {.aten = "var"});
  op.attrs.push_back({Attr::ddof, AttrKind::number});
  return op;
}
OpDef define_argmax() {
  return arg_op("Index of the greatest element along an axis, the first of equals; of the first NaN where one is.",
                [](Builder& build, const Node& node) { return expand_arg(build, node, Op::maximum); },
                {.aten = "argmax"});
}
OpDef define_argmin() {
  return arg_op("Index of the least element along an axis, the first of equals; of the first NaN where one is.",
                [](Builder& build, const Node& node) { return expand_arg(build, node, Op::minimum); },
                {.aten = "argmin"});
}
OpDef define_matmul() {
  return {.doc = "Matrix product as NumPy has it: vectors on either side, batch dims broadcast.",
          .operands = 2,
          .infer = infer_matmul,
          .expand = expand_matmul,
          .names = {.aten = "matmul"}};
}
OpDef define_softmax() {
  return {.doc = "exp(x - max) over its sum along an axis.",
          .attrs = {{Attr::axis, AttrKind::integer}},
          .infer = [](const Call& call) -> Types {
            Type x = same_type<is_float>(call)[0];
            int64_t axis = call.attrs.integer(Attr::axis);
            call.require(axis >= 0 && axis < x.rank(), "axis", "axis ", axis, " must be one of ", x);
            return {x};
          },
          .expand = expand_softmax,
          .names = {.aten = "softmax"}};
}
OpDef define_layer_norm() {
  return {.doc = "(x - mean) / sqrt(var + epsilon) * scale + bias along the last axis; operands x, scale, bias.",
          .operands = 3,
          .attrs = {{Attr::epsilon, AttrKind::number}},
          .infer = [](const Call& call) -> Types {
            const Type& x = call.operand(0);
            call.require(is_float(x.dtype) && x.rank() > 0, "dtype", "takes floats of at least one dimension, got ", x);
            for (size_t i = 1; i < 3; ++i)
              call.require(call.operand(i) == Type{x.dtype, {x.dims.back()}}, "parameters",
                           "scale and bias must have the type of the last axis of ", x, ", got ", call.operand(i));
            return {x};
          },
          .expand = expand_layer_norm,
          .names = {.aten = "layer_norm"}};
}

}  // namespace weft
