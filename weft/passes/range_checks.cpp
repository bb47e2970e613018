// Numbers for range checks, or none of them: what a program looks at while it runs is chosen before it is compiled.
#include "weft/passes/range_checks.h"

#include <algorithm>

#include "weft/ir/interpret.h"
#include "weft/passes/pass.h"

namespace weft {
namespace {

bool has_checks(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.op == Op::check_range || std::ranges::any_of(node.regions, [](const GraphPtr& region) { return has_checks(*region); }); });
}

using Replace = std::function<Value(Builder& build, const Node& node, Value operand)>;

// The graph with something else in the place of each check, in the bodies of loops and branches too.
GraphPtr with_checks(const Graph& graph, const Replace& replace) {
  return rebuild(graph, graph.level(), [&](Builder& build, const Node& node, const std::vector<Value>& operands) {
    std::vector<Value> results;
    if (node.op == Op::check_range) return std::vector<Value>{replace(build, node, operands[0])};
    if (!std::ranges::any_of(node.regions, [](const GraphPtr& region) { return has_checks(*region); })) return results;
    std::vector<GraphPtr> regions;
    for (const GraphPtr& region : node.regions) regions.push_back(with_checks(*region, replace));
    const Node& call = build.call(node.op, operands, node.attrs, std::move(regions));
    for (uint32_t i = 0; i < call.types.size(); ++i) results.push_back(call.result(i));
    return results;
  });
}

}  // namespace

NumberedChecks number_checks(const Graph& graph) {
  NumberedChecks numbered;
  if (!has_checks(graph)) return numbered;
  numbered.graph = with_checks(graph, [&](Builder& build, const Node& node, Value operand) {
    Attrs attrs = node.attrs;
    attrs.set(Attr::number, static_cast<int64_t>(numbered.checks.size()));
    numbered.checks.push_back(range_check_of(node));
    return build.call(Op::check_range, {operand}, std::move(attrs)).result();
  });
  return numbered;
}

GraphPtr without_checks(const Graph& graph) {
  return has_checks(graph) ? with_checks(graph, [](Builder&, const Node&, Value operand) { return operand; }) : nullptr;
}

}  // namespace weft
