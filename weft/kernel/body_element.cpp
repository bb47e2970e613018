// Elements of what the body of a loop computes, in a kernel of the loop.
#include <algorithm>

#include "weft/ir/interpret.h"
#include "weft/kernel/draft.h"

namespace weft {
namespace {

// Where a view's element is in its operand; nothing for what is no view.
std::optional<Dims> viewed(const Node& node, const Dims& at) {
  if (node.operand_count() != 1) return std::nullopt;
  const Dims& dims = node.operand(0).type().dims;
  Dims below(dims.size(), Dim(0));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (node.op == Op::broadcast_in_dim && !dims[i].is(1))
      below[i] = at[static_cast<size_t>(node.ints(Attr::dimensions)[i])];
    if (node.op == Op::slice)
      below[i] = node.attrs.dims(Attr::start_indices)[i] + at[i] * Dim(node.ints(Attr::strides)[i]);
    if (node.op == Op::transpose) below[static_cast<size_t>(node.ints(Attr::permutation)[i])] = at[i];
  }
  if (node.op == Op::reshape) return reshaped_coordinates(node.type().dims, dims, at);
  bool is_view = node.op == Op::broadcast_in_dim || node.op == Op::slice || node.op == Op::transpose;
  return is_view ? std::optional<Dims>(std::move(below)) : std::nullopt;
}

}  // namespace

ExprId element_of_body(Access& access, const Node& node, const Dims& at,
                       const std::function<ExprId(const Value&, const Dims&)>& element) {
  if (node.op == Op::extent || node.op == Op::iota || is_inline_constant(node)) return access.compute(node, at);
  if (std::optional<Dims> below = viewed(node, at)) return element(node.operand(0), *below);
  bool is_known =
      (def(node.op).traits.elementwise && def(node.op).scalar != Scalar::none) || node.op == Op::bitcast_convert;
  std::vector<ExprId> args;
  for (const Value& operand : node.operands()) {
    const bool is_number = operand.type().rank() == 0;
    is_known &= is_number || operand.type().dims == node.type().dims;
    if (is_known) args.push_back(element(operand, is_number ? Dims{} : at));
  }
  if (!is_known || std::ranges::count(args, no_expr)) return no_expr;
  return access.scalar(node.op == Op::bitcast_convert ? Scalar::bitcast : scalar_of(node), node.type().dtype,
                       std::move(args));
}

void tell_body(Draft& draft, const Graph& body) {
  for (const Node& node : body.nodes()) {
    if (!def(node.op).traits.elementwise) continue;
    draft.ops.emplace_back(name(node.op));
    draft.lines.push_back(node.loc);
  }
}

}  // namespace weft
