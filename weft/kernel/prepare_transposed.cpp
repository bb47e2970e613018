// Work on transposed arrays, in the order in which their elements lie in memory: what is computed element by element
// from a transposed array that is reduced somewhere, or from convolutions whose channels lie together, is computed
// before the transposition, and so is the reduction, the padding and the pooling.
#include <algorithm>

#include "weft/ir/window.h"
#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// The permutation of a transposition that parts the elements that lie side by side; nothing for others.
const Ints* permutation_of(const Value& value) {
  const Node& node = value.node();
  if (node.op != Op::transpose) return nullptr;
  const Ints& permutation = node.ints(Attr::permutation);
  return permutation.back() + 1 == static_cast<int64_t>(permutation.size()) ? nullptr : &permutation;
}

// A value before the transposition; an empty one where that takes more than to name its dimensions otherwise.
Value untransposed(Builder& build, const Value& value, const Ints& permutation) {
  const Node node = value.node();
  const Ints* own = permutation_of(value);
  if (own) return *own == permutation ? node.operand(0) : Value{};
  if (value.type().rank() == 0) return value;
  Dims dims;
  for (int64_t place : inverse(permutation)) dims.push_back(value.type().dims[static_cast<size_t>(place)]);
  if (is_inline_constant(node)) return build.constant(node.attrs.literal(Attr::value).reshaped(dims));
  if (node.op != Op::broadcast_in_dim) return {};
  Ints dimensions;
  // Dimensions of extent 1 may be anywhere.
  Value from = node.operand(0);
  Dims extents;
  for (size_t i = 0; i < from.type().dims.size(); ++i) {
    if (from.type().dims[i].is(1)) continue;
    extents.push_back(from.type().dims[i]);
    dimensions.push_back(permutation[static_cast<size_t>(node.ints(Attr::dimensions)[i])]);
  }
  if (!std::is_sorted(dimensions.begin(), dimensions.end())) return {};
  return build(Op::broadcast_in_dim, {build.reshape(from, extents)},
               {{Attr::dims, dims}, {Attr::dimensions, dimensions}});
}

// The attributes that have an element for each dimension, in the order before the transposition; nothing for others.
template <class List>
List unpermuted(const List& list, const Ints& permutation) {
  List result(list.size());
  for (size_t i = 0; i < permutation.size(); ++i) result[static_cast<size_t>(permutation[i])] = list[i];
  return result;
}

Value padded(Builder& build, const Node& node, const std::vector<Value>& operands, const Ints& permutation) {
  Attrs attrs = node.attrs;
  for (Attr attr : {Attr::edge_padding_low, Attr::edge_padding_high})
    attrs.set(attr, unpermuted(node.attrs.dims(attr), permutation));
  attrs.set(Attr::interior_padding, unpermuted(node.ints(Attr::interior_padding), permutation));
  return build.transpose(build(Op::pad, {operands[0].node().operand(0), operands[1]}, std::move(attrs)), permutation);
}

// Whether the elements of a window have the same order before the transposition.
bool keeps_order(const Node& node, const Ints& permutation) {
  Ints along;
  for (size_t i = 0; i < permutation.size(); ++i)
    if (node.ints(Attr::window_dimensions)[i] > 1) along.push_back(permutation[i]);
  return std::is_sorted(along.begin(), along.end());
}

Value pooled(Builder& build, const Node& node, const std::vector<Value>& operands, const Ints& permutation) {
  Attrs attrs = node.attrs;
  for (Attr attr : {Attr::window_dimensions, Attr::window_strides, Attr::base_dilations, Attr::window_dilations})
    if (attrs.find(attr)) attrs.set(attr, unpermuted(node.ints(attr), permutation));
  if (attrs.find(Attr::padding)) {
    const Ints& padding = node.ints(Attr::padding);
    Ints moved(padding.size());
    for (size_t i = 0; i < padding.size(); ++i) moved[2 * static_cast<size_t>(permutation[i / 2]) + i % 2] = padding[i];
    attrs.set(Attr::padding, moved);
  }
  const Node call =
      build.call(Op::reduce_window, {operands[0].node().operand(0), operands[1]}, std::move(attrs), node.regions);
  return build.transpose(window_as_reduce(build, call, {call.operand(0), call.operand(1)})[0], permutation);
}

Value reduced(Builder& build, const Node& node, Value x, Value initial, const Ints& permutation) {
  Ints dimensions, left, rest;
  for (int64_t dimension : node.ints(Attr::dimensions))
    dimensions.push_back(permutation[static_cast<size_t>(dimension)]);
  std::sort(dimensions.begin(), dimensions.end());
  for (size_t i = 0; i < permutation.size(); ++i)
    if (!std::binary_search(dimensions.begin(), dimensions.end(), permutation[i])) left.push_back(permutation[i]);
  rest = left;
  std::sort(rest.begin(), rest.end());
  for (int64_t& dimension : left) dimension = std::find(rest.begin(), rest.end(), dimension) - rest.begin();
  Attrs attrs = node.attrs;
  attrs.set(Attr::dimensions, dimensions);
  const Node& call = build.call(Op::reduce, {x, initial}, std::move(attrs), node.regions);
  return build.transpose(with_results(build, call)[0], left);
}

}  // namespace

std::vector<bool> before_transpositions(const Graph& graph) {
  // Elements side by side from which on whole vectors of sums pay.
  constexpr int64_t worthwhile = 16;
  std::vector<bool> found(graph.size());
  for (const Node& node : graph.nodes())
    if (node.op == Op::reduce && !is_fold(node) && permutation_of(node.operand(0))) {
      const Ints& dimensions = node.ints(Attr::dimensions);
      int64_t last = node.operand(0).type().rank() - 1;
      bool is_wide = node.operand(0).node().operand(0).type().dims.back().opt() >= worthwhile;
      if (is_wide && std::count(dimensions.begin(), dimensions.end(), last)) found[node.operand(0).id()] = true;
    }
  std::vector<bool> of_windows(graph.size());
  for (const Node& node : graph.nodes()) {
    of_windows[node.id()] = may_read_windows(node);
    bool computed = def(node.op).traits.elementwise;
    bool pools = node.op == Op::pad || node.op == Op::reduce ||
                 (node.op == Op::reduce_window && node.operand_count() == 2 && !scan_of(node));
    bool moves = node.op == Op::gather || node.op == Op::slice || node.op == Op::transpose || node.op == Op::reshape;
    for (const Value& operand : node.operands()) {
      if (computed && found[operand.id()]) found[node.id()] = true;
      if ((computed || pools || moves) && of_windows[operand.id()]) of_windows[node.id()] = true;
    }
  }
  for (const Node& node : graph.nodes()) found[node.id()] = found[node.id()] || of_windows[node.id()];
  for (const Node& node : graph.nodes())
    if (node.op == Op::reduce && found[node.operand(0).id()]) found[node.id()] = true;
  return found;
}

Value before_transposition(Builder& build, const Node& node, const std::vector<Value>& operands) {
  if (node.op == Op::reduce) {
    if (is_fold(node)) return {};
    if (auto view = view_before_transposition(build, operands[0], node.ints(Attr::dimensions)))
      return reduced(build, node, view->first, operands[1], view->second);
    const Ints* permutation = permutation_of(operands[0]);
    return permutation ? reduced(build, node, operands[0].node().operand(0), operands[1], Ints(*permutation)) : Value{};
  }
  const Ints* only = node.op == Op::pad || node.op == Op::reduce_window ? permutation_of(operands[0]) : nullptr;
  if (only && node.op == Op::reduce_window && !keeps_order(node, *only)) return {};
  if (only)
    return node.op == Op::pad ? padded(build, node, operands, Ints(*only)) : pooled(build, node, operands, Ints(*only));
  auto first =
      std::find_if(operands.begin(), operands.end(), [](const Value& operand) { return permutation_of(operand); });
  if (!def(node.op).traits.elementwise || first == operands.end()) return {};
  Ints permutation = *permutation_of(*first);
  std::vector<Value> moved;
  for (const Value& operand : operands) {
    moved.push_back(untransposed(build, operand, permutation));
    if (!moved.back()) return {};
  }
  return build.transpose(build.call(node.op, std::move(moved), node.attrs, node.regions).result(0), permutation);
}

}  // namespace weft
