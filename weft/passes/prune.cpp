// prune: loops carry only what somebody reads.
//
// Variables that a loop's body binds are carried so that their last values can be read; most never are. It stands right
// after flatten: what it takes out need not be folded or simplified.
#include <set>

#include "weft/passes/pass.h"

namespace weft {
namespace {

std::set<uint32_t> used_results(const Graph& graph, NodeId id) {
  std::set<uint32_t> used;
  for (const Node& node : graph.nodes())
    for (const Value& operand : node.operands())
      if (operand.id() == id) used.insert(operand.index());
  for (const Output& output : graph.outputs())
    if (output.value.id() == id) used.insert(output.value.index());
  return used;
}

// The numbers of the parameters that these outputs of a body depend on.
std::set<size_t> parameters_of(const Graph& body, const std::set<size_t>& outputs) {
  std::vector<bool> needed(body.size());
  for (size_t k : outputs) needed[body.outputs()[k].value.id()] = true;
  std::set<size_t> numbers;
  for (size_t id = body.size(); id-- > 0;) {
    if (!needed[id] && !has_effect(body.node(static_cast<NodeId>(id)))) continue;
    for (const Value& operand : body.node(static_cast<NodeId>(id)).operands()) needed[operand.id()] = true;
  }
  for (size_t i = 0; i < body.parameters().size(); ++i)
    if (needed[body.parameters()[i]]) numbers.insert(i);
  return numbers;
}

// The body with these parameters and outputs alone.
GraphPtr reduced(const Graph& body, const std::set<size_t>& parameters, const std::set<size_t>& outputs) {
  Builder build(body.level(), body.name());
  std::vector<std::vector<Value>> values(body.size());
  size_t next = 0;
  for (const Node& node : body.nodes()) {
    if (node.op == Op::parameter) {
      if (parameters.count(next++)) values[node.id()] = {build.parameter(node.type(), "", node.loc)};
      continue;
    }
    std::vector<Value> operands;
    for (const Value& operand : node.operands())
      if (!values[operand.id()].empty()) operands.push_back(values[operand.id()][operand.index()]);
    // What depends on a parameter that is gone is not needed.
    if (operands.size() != node.operand_count()) continue;
    const Node& copy = build.copy(node, std::move(operands));
    for (uint32_t i = 0; i < copy.types.size(); ++i) values[node.id()].push_back(copy.result(i));
  }
  std::vector<Output> kept;
  for (size_t k : outputs) {
    const Value& value = body.outputs()[k].value;
    kept.push_back({values[value.id()][value.index()], ""});
  }
  return build.finish(std::move(kept));
}

std::vector<Value> pruned(Builder& build, const Graph& graph, const Node& node, const std::vector<Value>& operands) {
  bool counted = node.op == Op::for_;
  size_t carried = counted ? static_cast<size_t>(node.attrs.integer(Attr::carried)) : operands.size();
  const Graph& body = *node.regions[counted ? 0 : 1];
  std::set<size_t> kept, needed;
  for (uint32_t k : used_results(graph, node.id())) kept.insert(k);
  if (node.attrs.flag(Attr::until) && !kept.empty()) kept.insert(0);
  if (!counted)
    for (size_t p : parameters_of(*node.regions[0], {0})) kept.insert(p);
  for (size_t before = carried + 1; before != kept.size();) {
    before = kept.size();
    needed = parameters_of(body, kept);
    for (size_t p : needed)
      if (p < carried) kept.insert(p);
  }
  if (kept.empty() && has_effect(node)) kept.insert(0);
  if (kept.size() == carried) return {};
  needed.insert(kept.begin(), kept.end());
  std::vector<Value> arguments, results(node.types.size());
  for (size_t p : needed) arguments.push_back(operands[p]);
  Attrs attrs = node.attrs;
  std::vector<GraphPtr> regions;
  if (counted)
    attrs.set(Attr::carried, static_cast<int64_t>(kept.size()));
  else
    regions.push_back(reduced(*node.regions[0], needed, {0}));
  regions.push_back(reduced(body, needed, kept));
  if (kept.empty() && counted) {
    // Nobody reads what it does; its results have no value but need one.
    for (size_t i = 0; i < results.size(); ++i) results[i] = operands[i];
    return results;
  }
  NodeId id = build.call(node.op, arguments, std::move(attrs), std::move(regions)).id();
  uint32_t next = 0;
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = kept.count(i) ? Value(&build.graph(), id, next++) : operands[i];
  return results;
}

}  // namespace

const Pass prune{
    .name = "prune",
    .doc = "Takes what nobody reads out of loops.",
    .from = Level::flat,
    .to = Level::flat,
    .run = [](const Graph& graph) -> GraphPtr {
      return rebuild(graph, Level::flat, [&](Builder& build, const Node& node, const std::vector<Value>& operands) {
        bool loop = node.op == Op::for_ || node.op == Op::while_;
        return loop ? pruned(build, graph, node, operands) : std::vector<Value>{};
      });
    },
};

}  // namespace weft
