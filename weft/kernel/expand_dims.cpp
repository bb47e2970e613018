// The dimensions over which a kernel runs: where a reshape joins dimensions along which what lies below is repeated,
// turned or counted, it runs over those themselves, so that no index takes a division.
#include <algorithm>
#include <numeric>
#include <set>

#include "weft/kernel/draft.h"
#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// Elements of a row from which on loops over rows pay.
constexpr int64_t least_row = 16;

class Expansion {
 public:
  Expansion(const Lowering& lowering, const Dims& dims, const std::vector<NodeId>& computed)
      : lowering_(lowering), parts_(dims.size()) {
    std::vector<int> places(dims.size());
    std::iota(places.begin(), places.end(), 0);
    for (NodeId id : computed) visit(lowering.graph.node(id), places);
    for (size_t i = 0; i < dims.size(); ++i)
      if (parts_[i].empty()) parts_[i] = {dims[i]};
  }

  const std::vector<Dims>& parts() const { return parts_; }

 private:
  bool is_read(const Value& value) const { return lowering_.fusion.is_stored[value.id()]; }

  // `places`: the kernel's dimension that each dimension of the node is, or -1.
  void visit(const Node& node, std::vector<int> places) {
    if (!seen_.insert(node.id()).second) return;
    const bool is_beside = node.op == Op::concatenate;
    if (is_beside) places[static_cast<size_t>(node.attrs.integer(Attr::dimension))] = -1;
    for (size_t k = 0; k < node.operand_count(); ++k) {
      const Value operand = node.operand(static_cast<uint32_t>(k));
      if (is_read(operand)) continue;
      const std::optional<std::vector<int>> moved = is_beside ? places : operand_coordinates(node, k, places);
      if (moved && moved->size() == operand.type().dims.size())
        visit(operand.node(), *moved);
      else if (std::optional<std::vector<size_t>> merged = node.op == Op::reshape ? merged_into(node) : std::nullopt)
        visit_merged(operand, *merged, places);
    }
  }

  void visit_merged(const Value& value, const std::vector<size_t>& merged, const std::vector<int>& places) {
    const Dims& dims = value.type().dims;
    std::vector<int> under(dims.size(), -1);
    for (size_t j = 0; j < places.size(); ++j) {
      std::vector<int> group(dims.size(), -1);
      Dims extents;
      for (size_t i = 0; i < dims.size(); ++i)
        if (merged[i] == j && !dims[i].is(1)) {
          group[i] = static_cast<int>(extents.size());
          extents.push_back(dims[i]);
        }
      if (extents.size() == 1)
        for (size_t i = 0; i < dims.size(); ++i) under[i] = group[i] < 0 ? under[i] : places[j];
      if (places[j] < 0 || extents.size() < 2 || !parts_[static_cast<size_t>(places[j])].empty()) continue;
      parted_.clear();
      if (parts(value, group, extents.size())) parts_[static_cast<size_t>(places[j])] = extents;
    }
    visit(value.node(), under);
  }

  // Whether dimensions 0, 1, ... of a group come apart below: some are missing, or they no longer stand so, side by
  // side.
  bool parts(const Value& value, const std::vector<int>& group, size_t count) {
    std::vector<int> order;  // -1 for what stands between them
    for (size_t i = 0; i < group.size(); ++i)
      if (group[i] >= 0 || (!order.empty() && !value.type().dims[i].is(1))) order.push_back(group[i]);
    while (!order.empty() && order.back() < 0) order.pop_back();
    if (order.empty()) return false;
    if (order.size() != count || !std::ranges::is_sorted(order)) return true;
    const Node& node = value.node();
    if (is_read(value) || !parted_.insert(node.id()).second) return false;
    if (node.op == Op::iota) return group[static_cast<size_t>(node.attrs.integer(Attr::dimension))] >= 0;
    for (size_t k = 0; k < node.operand_count(); ++k) {
      const Value operand = node.operand(static_cast<uint32_t>(k));
      const std::optional<std::vector<int>> moved = operand_coordinates(node, k, group);
      if (moved && moved->size() == operand.type().dims.size() && parts(operand, *moved, count)) return true;
    }
    if (node.op == Op::slice && only_first_is_cut(node, group)) return parts(node.operand(0), group, count);
    // Where elements are looked for by their places; not for a short last dimension, which has no vectors.
    const auto last = std::ranges::max_element(group) - group.begin();
    return is_placed(node.op) && value.type().dims[static_cast<size_t>(last)].opt() >= least_row;
  }

  static bool is_placed(Op op) {
    return op == Op::gather || op == Op::pad || op == Op::concatenate || op == Op::slice || op == Op::reverse ||
           op == Op::strided_view || op == Op::dynamic_slice;
  }

  // Whether a slice leaves out nothing of a group but some of the first dimension, side by side.
  static bool only_first_is_cut(const Node& slice, const std::vector<int>& group) {
    const Dims &start = slice.attrs.dims(Attr::start_indices), &limit = slice.attrs.dims(Attr::limit_indices);
    for (size_t i = 0; i < group.size(); ++i) {
      const bool is_whole = start[i].is(0) && limit[i] == slice.operand(0).type().dims[i];
      if (group[i] >= 0 && (slice.ints(Attr::strides)[i] != 1 || (group[i] > 0 && !is_whole))) return false;
    }
    return true;
  }

  const Lowering& lowering_;
  std::vector<Dims> parts_;
  std::set<NodeId> seen_, parted_;
};

}  // namespace

std::vector<Dims> expanded_dims(const Lowering& lowering, const Dims& dims, const std::vector<NodeId>& computed) {
  return Expansion(lowering, dims, computed).parts();
}

Space expanded_space(const Lowering& lowering, const std::vector<NodeId>& computed, const std::string& prefix) {
  const std::vector<Dims> parts = expanded_dims(lowering, lowering.graph.node(computed[0]).type().dims, computed);
  Space space;
  for (size_t i = 0; i < parts.size(); ++i) {
    Space part = space_of(parts[i], cat(prefix, i, "_"));
    space.axes.insert(space.axes.end(), part.axes.begin(), part.axes.end());
    space.coordinates.push_back(linear_index(parts[i], part.coordinates));
  }
  return space;
}

}  // namespace weft
