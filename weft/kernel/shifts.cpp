// A stencil over computed values needs them at several places, and those their own operands at several: equal places
// are computed once.
#include "weft/kernel/shifts.h"

#include <algorithm>
#include <set>

#include "weft/kernel/cost.h"
#include "weft/kernel/fuse.h"

namespace weft {
namespace {

// Where an element of operand `k` is, counted from the element of the node's that needs it. Symbolic starts count as
// their usual values.
Ints shift_of(const Node& node, size_t k, const Ints& shift) {
  if (node.op == Op::slice) {
    Ints moved = shift;
    for (size_t i = 0; i < moved.size(); ++i)
      moved[i] = moved[i] * node.ints(Attr::strides)[i] + node.attrs.dims(Attr::start_indices)[i].opt();
    return moved;
  }
  Ints moved(node.operand(k).type().dims.size());
  std::vector<int> at(shift.size());
  for (size_t i = 0; i < at.size(); ++i) at[i] = static_cast<int>(i);
  if (std::optional<std::vector<int>> from = operand_coordinates(node, k, at))
    for (size_t i = 0; i < moved.size(); ++i)
      if (int axis = (*from)[i]; axis >= 0 && static_cast<size_t>(axis) < shift.size())
        moved[i] = shift[static_cast<size_t>(axis)];
  return moved;
}

}  // namespace

int own_price(const Node& node) {
  int price = cost_of(def(node.op).scalar) + (node.op == Op::gather ? 4 : 0);
  return node.op == Op::concatenate ? price + 2 * static_cast<int>(node.operand_count())
                                    : price;  // to tell parts apart
}

int64_t work_at_shifts(const Graph& graph, const Node& root, const std::vector<bool>& is_stored, int64_t most) {
  // Views have no price, but take time to go through.
  const auto most_visits = static_cast<size_t>(4 * most);
  std::vector<std::pair<NodeId, Ints>> stack{{root.id(), Ints(root.type().dims.size())}};
  std::set<std::pair<NodeId, Ints>> seen{stack.back()};
  int64_t work = 0;
  while (!stack.empty()) {
    auto [id, shift] = std::move(stack.back());
    stack.pop_back();
    const Node& node = graph.node(id);
    work += own_price(node);
    if (work >= most || seen.size() >= most_visits) return most;
    for (size_t k = 0; k < node.operand_count(); ++k) {
      NodeId operand = node.operand(k).id();
      if (is_stored[operand]) continue;
      if (auto [place, is_new] = seen.emplace(operand, shift_of(node, k, shift)); is_new) stack.push_back(*place);
    }
  }
  return work;
}

}  // namespace weft
