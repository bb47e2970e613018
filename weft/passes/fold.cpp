// fold: calls whose operands are constants become constants.
//
// Only small results, so that no table replaces an iota or a broadcast, and never live literals, whose bytes may change.
#include "weft/ir/interpret.h"
#include "weft/passes/pass.h"

namespace weft {
namespace {

constexpr int64_t largest = 64;

std::vector<Value> fold_node(Builder& build, const Node& node, const std::vector<Value>& operands) {
  if (operands.empty() || node.types.size() != 1 || !node.type().is_static() || node.type().count().value() > largest) return {};
  std::vector<Literal> literals;
  for (const Value& operand : operands) {
    if (operand.node().op != Op::constant) return {};
    const Literal& literal = operand.node().attrs.literal(Attr::value);
    if (literal.is_live() || literal.count() > largest) return {};
    literals.push_back(literal);
  }
  if (family(node.op) == Family::control || family(node.op) == Family::collective) return {};
  return {build.constant(evaluate(node, literals)[0])};
}

}  // namespace

const Pass fold{
    .name = "fold",
    .doc = "Evaluates calls on small constants.",
    .from = Level::flat,
    .to = Level::flat,
    .run = [](const Graph& graph) -> GraphPtr { return rebuild(graph, Level::flat, fold_node); },
};

}  // namespace weft
