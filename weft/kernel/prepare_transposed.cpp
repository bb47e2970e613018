// Reductions of transposed arrays, in the order in which their elements lie in memory: what is computed element by element
// from a transposed array that is reduced somewhere is computed before the transposition, and so is the reduction.
#include <algorithm>

#include "weft/kernel/prepare.h"

namespace weft {
namespace {

Ints inverse(const Ints& permutation) {
  Ints places(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) places[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return places;
}

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
  for (int64_t dimension : node.ints(Attr::dimensions)) dimensions.push_back(permutation[static_cast<size_t>(dimension)]);
  if (!std::is_sorted(dimensions.begin(), dimensions.end())) return {};
  return build(Op::broadcast_in_dim, {node.operand(0)}, {{Attr::dims, dims}, {Attr::dimensions, dimensions}});
}

Value reduced(Builder& build, const Node& node, const std::vector<Value>& operands, const Ints& permutation) {
  Ints dimensions, left, rest;
  for (int64_t dimension : node.ints(Attr::dimensions)) dimensions.push_back(permutation[static_cast<size_t>(dimension)]);
  std::sort(dimensions.begin(), dimensions.end());
  for (size_t i = 0; i < permutation.size(); ++i)
    if (!std::binary_search(dimensions.begin(), dimensions.end(), permutation[i])) left.push_back(permutation[i]);
  rest = left;
  std::sort(rest.begin(), rest.end());
  for (int64_t& dimension : left) dimension = std::find(rest.begin(), rest.end(), dimension) - rest.begin();
  Attrs attrs = node.attrs;
  attrs.set(Attr::dimensions, dimensions);
  const Node& call = build.call(Op::reduce, {operands[0].node().operand(0), operands[1]}, std::move(attrs), node.regions);
  return build.transpose(with_results(build, call)[0], left);
}

}  // namespace

std::vector<bool> of_reduced_transposed(const Graph& graph) {
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
  for (const Node& node : graph.nodes())
    if (def(node.op).traits.elementwise)
      for (const Value& operand : node.operands())
        if (found[operand.id()]) found[node.id()] = true;
  for (const Node& node : graph.nodes())
    if (node.op == Op::reduce && found[node.operand(0).id()]) found[node.id()] = true;
  return found;
}

Value before_transposition(Builder& build, const Node& node, const std::vector<Value>& operands) {
  if (node.op == Op::reduce) {
    const Ints* permutation = is_fold(node) ? nullptr : permutation_of(operands[0]);
    return permutation ? reduced(build, node, operands, Ints(*permutation)) : Value{};
  }
  auto first = std::find_if(operands.begin(), operands.end(), [](const Value& operand) { return permutation_of(operand); });
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
