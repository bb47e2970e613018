// The order in which a graph is computed: parts of what is written over are read before, so that it is written in
// place.
#include <numeric>

#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// So many calls are looked at for each read; a read that may depend on more stays where it is.
constexpr int most_looked_at = 256;

class ReadsFirst {
 public:
  explicit ReadsFirst(const Graph& graph) : graph_(graph), is_done_(graph.size()), users_(graph.size()) {
    for (const Node& node : graph.nodes())
      for (const Value& operand : node.operands()) users_[operand.id()].push_back(node.id());
  }

  std::vector<NodeId> order() {
    for (const Node& node : graph_.nodes()) {
      if (is_update(node.op))
        for (NodeId user : users_[node.operand(0).id()])
          if (user > node.id() && reads_part(graph_.node(user).op) && !depends(user, node.id())) take(user, node.id());
      take(node.id(), node.id());
    }
    return std::move(order_);
  }

 private:
  // Whether a call may need the result of an earlier one, or of an update that is still to come.
  bool depends(NodeId id, NodeId on) const {
    std::vector<NodeId> pending{id};
    for (int looked = 0; !pending.empty(); ++looked) {
      const NodeId next = pending.back();
      pending.pop_back();
      const Op op = graph_.node(next).op;
      if (next == on || looked == most_looked_at || (next > on && (is_update(op) || op == Op::parameter))) return true;
      for (const Value& operand : graph_.node(next).operands())
        if (operand.id() >= on && !is_done_[operand.id()]) pending.push_back(operand.id());
    }
    return false;
  }

  // With what it needs of what comes behind `from`; what comes before is there.
  void take(NodeId id, NodeId from) {
    if (is_done_[id]) return;
    is_done_[id] = true;
    for (const Value& operand : graph_.node(id).operands())
      if (operand.id() > from) take(operand.id(), from);
    order_.push_back(id);
  }

  const Graph& graph_;
  std::vector<bool> is_done_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<NodeId> order_;
};

}  // namespace

std::vector<NodeId> reads_before_updates(const Graph& graph) {
  if (has_updates(graph)) return ReadsFirst(graph).order();
  std::vector<NodeId> order(graph.size());
  std::iota(order.begin(), order.end(), NodeId{0});
  return order;
}

}  // namespace weft
