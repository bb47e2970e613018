// cse: equal calls on equal operands are one call.
//
// It stands last: the other passes make equal calls out of different ones.
#include <unordered_map>

#include "weft/ir/graph.h"
#include "weft/passes/pass.h"

namespace weft {
namespace {

bool same(const Node& lhs, const Node& rhs, const std::vector<Value>& operands) {
  if (lhs.op != rhs.op || lhs.types != rhs.types || lhs.operand_count() != operands.size()) return false;
  for (size_t i = 0; i < operands.size(); ++i)
    if (lhs.operand(i) != operands[i]) return false;
  if (lhs.regions.size() != rhs.regions.size()) return false;
  for (size_t i = 0; i < lhs.regions.size(); ++i)
    if (!equal(*lhs.regions[i], *rhs.regions[i])) return false;
  return lhs.attrs == rhs.attrs;
}

GraphPtr share_calls(const Graph& graph) {
  std::unordered_multimap<size_t, NodeId> known;
  return rebuild(graph, Level::flat, [&](Builder& build, const Node& node, const std::vector<Value>& operands) {
    if (has_effect(node) || node.types.empty()) return std::vector<Value>();
    size_t key = hash(node, operands);
    auto [begin, end] = known.equal_range(key);
    for (auto at = begin; at != end; ++at) {
      const Node& candidate = build.graph().node(at->second);
      if (!same(candidate, node, operands) || !may_rewrite("two equal calls are one", node)) continue;
      return results_of(candidate);
    }
    const Node& copy = build.copy(node, operands);
    known.emplace(key, copy.id());
    return results_of(copy);
  });
}

}  // namespace

const Pass cse{
    .name = "cse", .doc = "Makes equal calls one.", .from = Level::flat, .to = Level::flat, .run = share_calls};

}  // namespace weft
