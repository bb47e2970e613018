// What stages of one kernel have in common: rows, or all the elements that they reduce.
#include <algorithm>
#include <map>
#include <set>

#include "weft/kernel/fuse.h"

namespace weft {
namespace {

// Sums of one kernel: as many as registers hold beside what is computed for them.
constexpr int most_sums = 8;

std::optional<Rows> rows_of_reduce(const Graph& graph, const Stage& stage) {
  const Node& node = graph.node(stage.root);
  if (stage.kind != StageKind::reduce || !single_op(*node.regions[0])) return std::nullopt;
  const Dims& dims = node.operand(0).type().dims;
  std::optional<size_t> kept = kept_rows(node);
  if (!kept || is_long_row(node, *kept)) return Rows{{}, dims, false, node.ints(Attr::dimensions)};
  auto split = dims.begin() + static_cast<std::ptrdiff_t>(*kept);
  return Rows{Dims(dims.begin(), split), Dims(split, dims.end()), false, {}};
}

// Finds which reduces need some of the same values, each as large as what they reduce: one loop computes or loads those
// once, and what several kernels would need would be stored.
class Beside {
 public:
  Beside(const Graph& graph, Fusion& fusion) : graph_(graph), fusion_(fusion) {}

  void run() {
    for (size_t s = 0; s < fusion_.stages.size(); ++s)
      if (rows_of_reduce(graph_, fusion_.stages[s])) place(static_cast<int>(s));
  }

 private:
  // What one kernel is to compute.
  struct Shared {
    int sums = 0;
    std::set<NodeId> nodes;
  };

  void place(int s) {
    Stage& stage = fusion_.stages[static_cast<size_t>(s)];
    const Node& node = graph_.node(stage.root);
    const Ints& dimensions = node.ints(Attr::dimensions);
    std::set<NodeId> nodes = nodes_of(node);
    for (NodeId id : nodes) {
      auto found = first_.find({id, dimensions});
      if (found == first_.end() || !has_room(kernels_.at(found->second), nodes)) continue;
      stage.beside = found->second;
      break;
    }
    int first = stage.beside < 0 ? s : stage.beside;
    ++kernels_[first].sums;
    kernels_[first].nodes.insert(nodes.begin(), nodes.end());
    for (NodeId id : nodes)
      if (is_worth_sharing(id, node.operand(0).type().dims)) first_[{id, dimensions}] = first;
  }

  static bool has_room(const Shared& kernel, const std::set<NodeId>& nodes) {
    auto added = std::ranges::count_if(nodes, [&](NodeId id) { return !kernel.nodes.count(id); });
    return kernel.sums < most_sums && static_cast<int64_t>(kernel.nodes.size()) + added <= largest_expression;
  }

  // As large as what is reduced. Broadcasts alone are no work.
  bool is_worth_sharing(NodeId id, const Dims& dims) const {
    const Node& node = graph_.node(id);
    return node.type().dims == dims && node.op != Op::broadcast_in_dim && node.op != Op::iota &&
           !is_inline_constant(node);
  }

  // What a reduce computes, from stored values on.
  std::set<NodeId> nodes_of(const Node& reduce) const {
    std::vector<NodeId> stack{reduce.operand(0).id()};
    std::set<NodeId> nodes;
    while (!stack.empty()) {
      NodeId id = stack.back();
      stack.pop_back();
      if (!nodes.insert(id).second || fusion_.is_stored[id]) continue;
      for (const Value& operand : graph_.node(id).operands()) stack.push_back(operand.id());
    }
    return nodes;
  }

  const Graph& graph_;
  Fusion& fusion_;
  std::map<int, Shared> kernels_;  // by their first reduce
  std::map<std::pair<NodeId, Ints>, int>
      first_;  // reduce of the kernel that needs a value, by that and the dims reduced
};

}  // namespace

std::optional<Rows> rows_of(const Graph& graph, const Stage& stage) {
  if (stage.kind == StageKind::map) return Rows{graph.node(stage.root).type().dims, {}, true, {}};
  return rows_of_reduce(graph, stage);
}

bool fits_rows(const Graph& graph, const Stage& stage, const Rows& rows) {
  if (stage.kind == StageKind::reduce) return rows_of_reduce(graph, stage) == rows;
  if (stage.kind != StageKind::map || !rows.apart.empty()) return false;
  const Dims& dims = graph.node(stage.root).type().dims;
  Dims full = rows.rows;
  if (dims == full) return true;
  full.insert(full.end(), rows.inner.begin(), rows.inner.end());
  return dims == full;
}

void find_beside(const Graph& graph, Fusion& fusion) { Beside(graph, fusion).run(); }

}  // namespace weft
