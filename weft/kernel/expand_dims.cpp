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
    Ints places(dims.size());
    std::iota(places.begin(), places.end(), 0);
    for (NodeId id : computed) visit(lowering.graph.node(id), places);
    for (size_t i = 0; i < dims.size(); ++i)
      if (parts_[i].empty()) parts_[i] = {dims[i]};
  }

  const std::vector<Dims>& parts() const { return parts_; }

 private:
  // What the dimensions of the operand of a call that only moves elements are there, or -1; nothing for other calls.
  static std::optional<Ints> below(const Node& node, const Ints& places) {
    if (node.operands().empty()) return std::nullopt;
    const Dims& dims = node.operand(0).type().dims;
    auto moved = [&](const Ints& to) {
      Ints result(dims.size(), -1);
      for (size_t i = 0; i < dims.size(); ++i)
        if (to[i] >= 0 && dims[i] == node.type().dims[static_cast<size_t>(to[i])])
          result[i] = places[static_cast<size_t>(to[i])];
      return result;
    };
    if (node.op == Op::broadcast_in_dim) return moved(node.ints(Attr::dimensions));
    if (node.op == Op::transpose) return moved(inverse(node.ints(Attr::permutation)));
    std::optional<Ints> unit = node.op == Op::reshape ? unit_reshape(node) : std::nullopt;
    return unit ? std::optional(moved(*unit)) : std::nullopt;
  }

  bool is_read(const Value& value) const { return lowering_.fusion.is_stored[value.id()]; }

  // `places`: the kernel's dimension that each dimension of the node is, or -1.
  void visit(const Node& node, const Ints& places) {
    if (!seen_.insert(node.id()).second) return;
    if (def(node.op).traits.elementwise) {
      for (const Value& operand : node.operands())
        if (!is_read(operand) && operand.type().dims == node.type().dims) visit(operand.node(), places);
    } else if (node.op == Op::concatenate) {
      Ints apart = places;
      apart[static_cast<size_t>(node.attrs.integer(Attr::dimension))] = -1;
      for (const Value& operand : node.operands())
        if (!is_read(operand)) visit(operand.node(), apart);
    } else if (std::optional<Ints> moved = below(node, places)) {
      if (!is_read(node.operand(0))) visit(node.operand(0).node(), *moved);
    } else if (node.op == Op::reshape && !is_read(node.operand(0))) {
      if (std::optional<std::vector<size_t>> merged = merged_into(node)) visit_merged(node.operand(0), *merged, places);
    }
  }

  void visit_merged(const Value& value, const std::vector<size_t>& merged, const Ints& places) {
    const Dims& dims = value.type().dims;
    Ints under(dims.size(), -1);
    for (size_t j = 0; j < places.size(); ++j) {
      Ints group(dims.size(), -1);
      Dims extents;
      for (size_t i = 0; i < dims.size(); ++i)
        if (merged[i] == j && !dims[i].is(1)) {
          group[i] = static_cast<int64_t>(extents.size());
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
  bool parts(const Value& value, const Ints& group, size_t count) {
    Ints order;  // -1 for what stands between them
    for (size_t i = 0; i < group.size(); ++i)
      if (group[i] >= 0 || (!order.empty() && !value.type().dims[i].is(1))) order.push_back(group[i]);
    while (!order.empty() && order.back() < 0) order.pop_back();
    if (order.empty()) return false;
    if (order.size() != count || !std::ranges::is_sorted(order)) return true;
    const Node& node = value.node();
    if (is_read(value) || !parted_.insert(node.id()).second) return false;
    if (node.op == Op::iota) return group[static_cast<size_t>(node.attrs.integer(Attr::dimension))] >= 0;
    if (def(node.op).traits.elementwise)
      return std::ranges::any_of(node.operands(), [&](const Value& operand) {
        return operand.type().dims == value.type().dims && parts(operand, group, count);
      });
    if (std::optional<Ints> moved = below(node, group)) return parts(node.operand(0), *moved, count);
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
  static bool only_first_is_cut(const Node& slice, const Ints& group) {
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
  Dims all;
  for (const Dims& dims : parts) all.insert(all.end(), dims.begin(), dims.end());
  Space space = space_of(all, prefix);
  Dims coordinates;
  auto next = space.coordinates.begin();
  for (const Dims& dims : parts) {
    const auto end = next + static_cast<std::ptrdiff_t>(dims.size());
    coordinates.push_back(linear_index(dims, Dims(next, end)));
    next = end;
  }
  space.coordinates = std::move(coordinates);
  return space;
}

}  // namespace weft
