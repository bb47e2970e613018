// Numbers for range checks, or none of them: what a program looks at while it runs is chosen before it is compiled.
#include "weft/passes/range_checks.h"

#include <algorithm>

#include "weft/ir/interpret.h"

namespace weft {
namespace {

bool has_checks(const Graph& graph);
bool has_checks(const Node& node) {
  return node.op == Op::check_range ||
         std::ranges::any_of(node.regions, [](const GraphPtr& region) { return has_checks(*region); });
}
bool has_checks(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return has_checks(node); });
}

using Replace = std::function<Value(Builder& build, const Node& node, Value operand)>;

// The graph with something else in the place of each check, in the bodies of loops and branches too.
GraphPtr with_checks(const Graph& graph, const Replace& replace) {
  return rebuild(graph, graph.level(), [&](Builder& build, const Node& node, const std::vector<Value>& operands) {
    if (node.op == Op::check_range) return std::vector<Value>{replace(build, node, operands[0])};
    if (!has_checks(node)) return std::vector<Value>();
    return with_regions(build, node, operands, [&](const Graph& region) { return with_checks(region, replace); });
  });
}

// No graph where there are none.
CheckedGraph numbered_checks(const Graph& graph) {
  CheckedGraph numbered;
  if (!has_checks(graph)) return numbered;
  numbered.graph = with_checks(graph, [&](Builder& build, const Node& node, Value operand) {
    Attrs attrs = node.attrs;
    attrs.set(Attr::number, static_cast<int64_t>(numbered.checks.size()));
    numbered.checks.push_back(range_check_of(node));
    return build.call(Op::check_range, {operand}, std::move(attrs)).result();
  });
  return numbered;
}

}  // namespace

CheckedGraph run_checked_pipeline(const Graph& graph, const Seen& seen) {
  CheckedGraph checked = numbered_checks(graph);
  checked.graph = run_pipeline(checked.graph ? *checked.graph : graph, seen);
  return checked;
}

GraphPtr without_checks(const Graph& graph) {
  return has_checks(graph) ? with_checks(graph, [](Builder&, const Node&, Value operand) { return operand; }) : nullptr;
}

}  // namespace weft
