// fold: calls whose operands are constants become constants, and calls that give no elements.
//
// Only small results, so that no table replaces an iota or a broadcast, and never live literals, whose bytes may
// change.
#include <algorithm>

#include "weft/ir/interpret.h"
#include "weft/passes/pass.h"

namespace weft {
namespace {

constexpr int64_t largest = 64;

// Without elements: no kernel is wanted, and none has to stand extents of zero.
bool is_empty(const Node& node) {
  if (node.operand_count() == 0 || node.types.size() != 1 || node.op == Op::custom_call) return false;
  if (family(node.op) == Family::control || family(node.op) == Family::collective) return false;
  return node.type().is_static() && node.type().count() == Dim(0);
}

// Places that count turns, and other symbols: they have values when the program runs.
bool has_symbols(const Node& node) {
  return std::ranges::any_of(node.attrs, [](const auto& item) {
    const Dims* dims = std::get_if<Dims>(&item.second);
    return dims && !std::ranges::all_of(*dims, &Dim::is_static);
  });
}

std::vector<Value> fold_node(Builder& build, const Node& node, const std::vector<Value>& operands) {
  if (is_empty(node) && may_rewrite("a call that gives no elements is a constant", node))
    return {build.constant(Literal(node.type()))};
  if (operands.empty() || node.types.size() != 1 || has_symbols(node) || !node.type().is_static() ||
      node.type().count().value() > largest)
    return {};
  std::vector<Literal> literals;
  for (const Value& operand : operands) {
    if (operand.node().op != Op::constant) return {};
    const Literal& literal = operand.node().attrs.literal(Attr::value);
    if (literal.is_live() || literal.count() > largest) return {};
    literals.push_back(literal);
  }
  if (family(node.op) == Family::control || family(node.op) == Family::collective) return {};
  // An error that every run has is left to the run.
  if (node.op == Op::check_range && found_outside(node, literals[0])) return {};
  if (!may_rewrite("a call on small constants is a constant", node)) return {};
  return {build.constant(evaluate(node, literals)[0])};
}

}  // namespace

const Pass fold{
    .name = "fold",
    .doc = "Evaluates calls on small constants, and calls that give no elements.",
    .from = Level::flat,
    .to = Level::flat,
    .run = [](const Graph& graph) -> GraphPtr { return rebuild(graph, Level::flat, fold_node); },
};

}  // namespace weft
