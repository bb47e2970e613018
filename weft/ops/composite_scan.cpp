// Sorting and running totals as people call them, made of sort and reduce_window.
#include <limits>

#include "weft/ir/graph.h"
#include "weft/ir/scalar_body.h"
#include "weft/ops/composite.h"

namespace weft {
namespace {

using Values = std::vector<Value>;

void require_axis(const Call& call, const Type& x) {
  int64_t axis = call.attrs.integer(Attr::axis);
  call.require(axis >= 0 && axis < x.rank(), "axis", "axis ", axis, " must be one of ", x);
}

Types infer_sort_values(const Call& call) {
  require_axis(call, call.operand(0));
  return {call.operand(0)};
}

Types infer_argsort(const Call& call) {
  require_axis(call, call.operand(0));
  return {{DType::i64, call.operand(0).dims}};
}

// The one spelling of -0 and 0, and of every NaN: the form of comparator that kernels know (lower_step.cpp).
Value canonical_key(Builder& build, Value x) {
  DType dtype = x.type().dtype;
  Value zero = build.scalar(dtype, 0), nan = build.scalar(dtype, std::numeric_limits<double>::quiet_NaN());
  Value inner = build(Op::select, {compared(build, x, zero, "EQ"), zero, x});
  return build(Op::select, {compared(build, x, x, "NE"), nan, inner});
}

// Whether a stands before b by the real part, then the imaginary; NumPy's places for NaN:
// real and imaginary parts known, only the real part, only the imaginary, neither.
Value complex_before(Builder& build, Value a, Value b) {
  auto op = [&](Op which, Value lhs, Value rhs) { return build(which, {lhs, rhs}); };
  Value ar = build(Op::real, {a}), ai = build(Op::imag, {a}), br = build(Op::real, {b}), bi = build(Op::imag, {b});
  Value a_known = compared(build, ai, ai, "EQ"), b_nan = compared(build, bi, bi, "NE");
  Value ar_nan = compared(build, ar, ar, "NE"), br_nan = compared(build, br, br, "NE");
  Value known_first = op(Op::and_, a_known, b_nan);
  Value same = op(Op::or_, compared(build, ar, br, "EQ"), op(Op::and_, ar_nan, br_nan));
  Value otherwise = build(Op::select, {same, op(Op::or_, compared(build, ai, bi, "LT"), known_first), br_nan});
  otherwise = build(Op::select, {compared(build, ar, br, "GT"), known_first, otherwise});
  return build(Op::select, {compared(build, ar, br, "LT"), op(Op::or_, a_known, b_nan), otherwise});
}

// The comparator of the first operand; the others only come along.
GraphPtr comparator(const Values& operands, bool descending) {
  Builder build(Level::flat, "body");
  Values parameters;
  for (const Value& operand : operands)
    for (int i = 0; i < 2; ++i) parameters.push_back(build.parameter({operand.type().dtype, {}}, ""));
  Value a = parameters[0], b = parameters[1];
  if (is_complex(a.type().dtype))
    return build.finish({{descending ? complex_before(build, b, a) : complex_before(build, a, b), ""}});
  Attrs attrs{{Attr::comparison_direction, std::string(descending ? "GT" : "LT")}};
  if (is_float(a.type().dtype)) {
    a = canonical_key(build, a);
    b = canonical_key(build, b);
    attrs.set(Attr::compare_type, std::string("TOTALORDER"));
  }
  return build.finish({{build(Op::compare, {a, b}, attrs), ""}});
}

Value sorted(Builder& build, const Node& node, const Values& operands, uint32_t result) {
  bool descending = node.attrs.find(Attr::descending) && node.attrs.flag(Attr::descending);
  NodeId id =
      build
          .call(Op::sort, operands, {{Attr::dimension, node.attrs.integer(Attr::axis)}, {Attr::is_stable, true}},
                {comparator(operands, descending)})
          .id();
  return Value(&build.graph(), id, result);
}

Values expand_sort_values(Builder& build, const Node& node) { return {sorted(build, node, {node.operand(0)}, 0)}; }

Values expand_argsort(Builder& build, const Node& node) {
  Value x = node.operand(0);
  Value places =
      build(Op::iota, {},
            {{Attr::type, DType::i64}, {Attr::dims, x.type().dims}, {Attr::dimension, node.attrs.integer(Attr::axis)}});
  return {sorted(build, node, {x, places}, 1)};
}

template <bool (*Accepts)(DType)>
Types infer_cumulative(const Call& call) {
  const Type& x = call.operand(0);
  call.require(Accepts(x.dtype), "dtype", "does not take elements of type ", name(x.dtype));
  require_axis(call, x);
  return {x};
}

// A window that ends (reversed: begins) at each element and reaches over all before (after) it, as many as there may
// be.
Values running(Builder& build, const Node& node, Op op, Value init) {
  Value x = node.operand(0);
  auto axis = static_cast<size_t>(node.attrs.integer(Attr::axis)), rank = x.type().dims.size();
  int64_t extent = x.type().dims[axis].max();
  if (extent == 0) return {x};
  bool reversed = node.attrs.find(Attr::reversed) && node.attrs.flag(Attr::reversed);
  Ints window(rank, 1), padding(2 * rank, 0);
  window[axis] = extent;
  padding[2 * axis + (reversed ? 1 : 0)] = extent - 1;
  return {build(Op::reduce_window, {x, init}, {{Attr::window_dimensions, window}, {Attr::padding, padding}},
                {binary_body(op, x.type().dtype)})};
}

// -0 is what adds nothing to a -0.
Value no_term(Builder& build, DType dtype) {
  if (is_complex(dtype)) {
    Literal zero(Type{dtype, {}});
    set_element(zero, 0, Element::of_complex(dtype, {-0.0, -0.0}));
    return build.constant(std::move(zero));
  }
  return build.scalar(dtype, is_float(dtype) ? -0.0 : 0);
}

Values expand_cumulative_sum(Builder& build, const Node& node) {
  return running(build, node, Op::add, no_term(build, node.type().dtype));
}

Values expand_cumulative_prod(Builder& build, const Node& node) {
  return running(build, node, Op::multiply, build.scalar(node.type().dtype, 1));
}

Values expand_cumulative_max(Builder& build, const Node& node) {
  return running(build, node, Op::maximum, extreme_value(build, node.type().dtype, true));
}

Values expand_cumulative_min(Builder& build, const Node& node) {
  return running(build, node, Op::minimum, extreme_value(build, node.type().dtype, false));
}

OpDef sort_op(std::string_view doc, InferFn infer, ExpandFn expand) {
  return {.doc = doc,
          .attrs = {{Attr::axis, AttrKind::integer}, {Attr::descending, AttrKind::flag, true}},
          .infer = infer,
          .expand = expand};
}

OpDef cumulative_op(std::string_view doc, InferFn infer, ExpandFn expand) {
  return {.doc = doc,
          .attrs = {{Attr::axis, AttrKind::integer}, {Attr::reversed, AttrKind::flag, true}},
          .infer = infer,
          .expand = expand};
}

}  // namespace

OpDef define_sort_values() {
  return sort_op(
      "The elements of each line along an axis in ascending (or descending) order, as NumPy orders them: NaN is the "
      "greatest, -0 equals 0, complex numbers go by the real part, then the imaginary.",
      infer_sort_values, expand_sort_values);
}

OpDef define_argsort() {
  return sort_op("Where each element of the sorted line stands (i64); equal elements keep their order.", infer_argsort,
                 expand_argsort);
}

OpDef define_cumulative_sum() {
  return cumulative_op(
      "Each element plus all before it (reversed: after it) along an axis, added up one after the other.",
      infer_cumulative<is_number>, expand_cumulative_sum);
}

OpDef define_cumulative_prod() {
  return cumulative_op("Each element times all before it (reversed: after it) along an axis.",
                       infer_cumulative<is_number>, expand_cumulative_prod);
}

OpDef define_cumulative_max() {
  return cumulative_op(
      "The greatest of each element and all before it (reversed: after it) along an axis; NaN from the first NaN on.",
      infer_cumulative<is_ordered>, expand_cumulative_max);
}

OpDef define_cumulative_min() {
  return cumulative_op(
      "The least of each element and all before it (reversed: after it) along an axis; NaN from the first NaN on.",
      infer_cumulative<is_ordered>, expand_cumulative_min);
}

}  // namespace weft
