// What shardings of results say of the operands that make them.
#include <algorithm>

#include "weft/passes/shard.h"

namespace weft {
namespace {

// Every use that says something says the same of a dimension, or nothing is said of it: no value is divided that has to
// be brought together for another use.
void meet(std::optional<Sharding>& said, const Sharding& use) {
  if (!said) {
    said = use;
    return;
  }
  for (size_t dim = 0; dim < use.dims.size(); ++dim)
    if (said->dims[dim] != use.dims[dim]) said->dims[dim].clear();
}

}  // namespace

std::vector<Sharding> operands_for(const Node& node, const Sharding& result, const Mesh& mesh) {
  std::vector<Sharding> found, probe;
  for (const Value& operand : node.operands()) found.emplace_back(operand.type().rank());
  probe = found;
  // The rules go forward: which operand's dimension becomes this one of the results they tell if they are asked.
  auto gives = [&](const ShardPlan& plan, size_t dim) {
    return plan.partial.empty() && std::ranges::all_of(plan.results, [&](const Sharding& each) {
             return dim < each.dims.size() && each.dims[dim] == result.dims[dim];
           });
  };
  for (size_t dim = 0; dim < result.dims.size(); ++dim) {
    if (result.dims[dim].empty()) continue;
    for (size_t i = 0; i < probe.size(); ++i)
      for (size_t from = 0; from < probe[i].dims.size(); ++from) {
        probe[i].dims[from] = result.dims[dim];
        ShardPlan plan = shard_plan(node, probe, mesh);
        probe[i].dims[from].clear();
        if (!gives(plan, dim)) continue;
        for (size_t operand = 0; operand < found.size(); ++operand)
          for (size_t at = 0; at < found[operand].dims.size(); ++at)
            if (found[operand].dims[at].empty()) found[operand].dims[at] = plan.operands[operand].dims[at];
      }
  }
  return found;
}

std::vector<Sharding> wished_results(const Graph& graph, const Mesh& mesh,
                                     std::span<const std::optional<Sharding>> outputs) {
  std::vector<std::vector<std::optional<Sharding>>> said(graph.size());
  for (const Node& node : graph.nodes()) said[node.id()].resize(node.types.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value& value = graph.outputs()[i].value;
    if (outputs[i] && outputs[i]->dims.size() == value.type().dims.size())
      meet(said[value.id()][value.index()], *outputs[i]);
  }
  std::vector<Sharding> results(graph.size());
  for (NodeId id = static_cast<NodeId>(graph.size()); id-- > 0;) {
    const Node node = graph.node(id);
    if (node.types.empty()) continue;
    std::optional<Sharding> all;
    for (const std::optional<Sharding>& one : said[id])
      if (one && (!all || all->dims.size() == one->dims.size())) meet(all, *one);
    results[id] = all.value_or(Sharding(node.types[0].rank()));
    std::optional<Sharding> wish = wish_of(node, mesh);
    std::vector<Sharding> operands;
    if (wish)
      operands = {*wish};
    else
      operands = operands_for(node, results[id], mesh);
    for (size_t i = 0; i < operands.size(); ++i) {
      const Value operand = node.operand(i);
      meet(said[operand.id()][operand.index()], operands[i]);
    }
  }
  return results;
}

}  // namespace weft
