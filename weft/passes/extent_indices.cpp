#include "weft/passes/extent_indices.h"

#include <algorithm>

#include "weft/passes/pass.h"

namespace weft {
namespace {

// Where a part of an array begins, and how far it reaches, by axis.
struct Window {
  Dims start, size;
};

std::optional<Dim> index_of(const Value& value) {
  const Node& node = value.node();
  return node.op == Op::reshape ? index_of(node.operand(0)) : extent_of(value);
}

// The numbers of the only index vector.
std::optional<Dims> vector_of(const Value& indices, size_t count) {
  Dims found;
  for (size_t i = 0; i < count; ++i) {
    const Value component = component_of(indices, i, 0);
    const std::optional<Dim> index = component.type().count().is(1) ? index_of(component) : std::nullopt;
    if (!index) return {};
    found.push_back(*index);
  }
  return found;
}

// `axes`: those that the numbers of an index vector are of.
std::optional<Window> window_at(const Value& indices, const Node& node, const Ints& axes, Dims size) {
  if (indices.type().rank() != 1 || node.attrs.integer(Attr::index_vector_dim) != 0) return {};
  const std::optional<Dims> vector = vector_of(indices, axes.size());
  if (!vector) return {};
  Window window{Dims(size.size(), 0), std::move(size)};
  for (size_t i = 0; i < axes.size(); ++i) window.start[static_cast<size_t>(axes[i])] = (*vector)[i];
  return window;
}

std::optional<Window> window_of(const Node& node, const std::vector<Value>& operands) {
  if (node.op == Op::gather)
    return window_at(operands[1], node, node.ints(Attr::start_index_map), node.attrs.dims(Attr::slice_sizes));
  if (node.op == Op::scatter) {
    const Graph& body = *node.regions[0];
    if (body.outputs()[0].value.id() != body.parameters()[1]) return {};
    return window_at(operands[1], node, node.ints(Attr::scatter_dims_to_operand_dims), update_window_of(node));
  }
  const bool writes = node.op == Op::dynamic_update_slice;
  if (!writes && node.op != Op::dynamic_slice) return {};
  Window window{{}, writes ? operands[1].type().dims : node.type().dims};
  for (size_t i = writes ? 2 : 1; i < operands.size(); ++i) {
    const std::optional<Dim> index = index_of(operands[i]);
    if (!index) return {};
    window.start.push_back(*index);
  }
  return window;
}

// Whether it lies inside wherever it stands, or stays in the loop with this counter.
bool may_be_slice(const Window& window, const Dims& dims, const std::string& counter) {
  bool is_inside = true, is_counted = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    is_inside &= known_at_most(0, window.start[i]) && known_at_most(window.start[i] + window.size[i], dims[i]);
    is_counted |= names(window.start[i], counter);
  }
  return is_inside || is_counted;
}

}  // namespace

std::optional<Dim> extent_of(const Value& value) {
  const Node& node = value.node();
  if (node.op == Op::extent) return node.attrs.dims(Attr::dims)[0];
  if (node.op != Op::constant || !value.type().count().is(1) || !is_integer(value.type().dtype)) return {};
  const Literal& literal = node.attrs.literal(Attr::value);
  return literal.is_live() ? std::nullopt : std::optional<Dim>(literal.as_int(0));
}

Value component_of(const Value& indices, size_t place, size_t vector_dim) {
  const Node& node = indices.node();
  const bool is_joined =
      node.op == Op::concatenate && node.attrs.integer(Attr::dimension) == int64_t(vector_dim) &&
      std::ranges::all_of(node.operands(), [&](const Value& part) { return part.type().dims[vector_dim].is(1); });
  return is_joined ? node.operand(place) : indices;
}

Dims update_window_of(const Node& scatter) {
  const Ints &inserted = scatter.ints(Attr::inserted_window_dims), &batching = scatter.ints(Attr::input_batching_dims);
  Dims window(scatter.type().dims.size(), 1);
  size_t next = 0;
  for (size_t axis = 0; axis < window.size(); ++axis) {
    const auto is_axis = [&](int64_t other) { return other == static_cast<int64_t>(axis); };
    if (std::ranges::any_of(inserted, is_axis) || std::ranges::any_of(batching, is_axis)) continue;
    const auto from = static_cast<size_t>(scatter.ints(Attr::update_window_dims)[next++]);
    window[axis] = scatter.operand(2).type().dims[from];
  }
  return window;
}

Value slice_at_extents(Builder& build, const Node& node, const std::vector<Value>& operands,
                       const std::string& counter) try {
  const std::optional<Window> window = window_of(node, operands);
  if (!window) return {};
  const Dims& dims = operands[0].type().dims;
  if (!may_be_slice(*window, dims, counter)) return {};
  const Ints strides(dims.size(), 1);
  if (node.op == Op::scatter || node.op == Op::dynamic_update_slice) {
    const Value part = build.reshape(operands[node.op == Op::scatter ? 2 : 1], window->size);
    return build(Op::update_slice, {operands[0], part},
                 {{Attr::start_indices, window->start}, {Attr::strides, strides}});
  }
  Dims limit;
  for (size_t i = 0; i < dims.size(); ++i) limit.push_back(window->start[i] + window->size[i]);
  const Value part =
      build(Op::slice, {operands[0]},
            {{Attr::start_indices, window->start}, {Attr::limit_indices, limit}, {Attr::strides, strides}});
  return build.reshape(part, node.type().dims);
} catch (const Error&) {
  return {};  // numbers past 64 bits, or what no turn reads
}

}  // namespace weft
