// value_ranges: takes out of loops what is known without running them, as the counters and conditions around tell:
// comparisons that always hold, indices that are counted from the end or looked at and are always inside.
//
// A `while` that walks along an array spends most of a turn on questions that its own condition has answered
// (Harrison, Compile-time analysis of value ranges, IEEE TSE 1977; Bodik, Gupta, Sarkar, ABCD: eliminating array bounds
// checks on demand, PLDI 2000).
#include <algorithm>

#include "weft/passes/extent_indices.h"
#include "weft/passes/intervals.h"
#include "weft/passes/pass.h"

namespace weft {
namespace {

bool has_loop(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.op == Op::for_; });
}

int64_t calls_of(const Graph& graph) {
  auto count = static_cast<int64_t>(graph.size());
  for (const Node& node : graph.nodes())
    for (const GraphPtr& region : node.regions) count += calls_of(*region);
  return count;
}

Value number(Builder& build, const Type& type, int64_t value) {
  return build.broadcast_to(build.constant(Literal::scalar_int(type.dtype, value)), type.dims);
}

bool lies_inside(const Intervals::Found& start, const Dim& size, const Dim& extent) {
  return start && known_at_most(0, start->least) && known_at_most(start->greatest, extent - size);
}

// Of a gather or scatter: `window`: by axis of the operand.
bool reads_inside(const Intervals& known, const Node& node, const Ints& axes, const Dims& window) {
  const Dims& dims = node.operand(0).type().dims;
  const auto vector_dim = static_cast<size_t>(node.attrs.integer(Attr::index_vector_dim));
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto axis = static_cast<size_t>(axes[k]);
    if (!lies_inside(known.of(component_of(node.operand(1), k, vector_dim)), window[axis], dims[axis])) return false;
  }
  return true;
}

// Whether what a call reads or writes at values lies inside of its operand, whatever happens.
bool stays_inside(const Intervals& known, const Node& node) {
  if (node.op == Op::gather)
    return reads_inside(known, node, node.ints(Attr::start_index_map), node.attrs.dims(Attr::slice_sizes));
  if (node.op == Op::scatter)
    return reads_inside(known, node, node.ints(Attr::scatter_dims_to_operand_dims), update_window_of(node));
  const bool writes = node.op == Op::dynamic_update_slice;
  if (!writes && node.op != Op::dynamic_slice) return false;
  const Dims &dims = node.operand(0).type().dims, &window = node.operand(writes ? 1 : 0).type().dims;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (!lies_inside(known.of(node.operand(axis + (writes ? 2 : 1))), writes ? window[axis] : node.type().dims[axis],
                     dims[axis]))
      return false;
  return true;
}

// `counter`: of the loop whose body it is.
GraphPtr rewritten(const Intervals& known, const std::string& counter);

// What stands for a node of which everything is known, or nothing.
Value known_result(Builder& build, const Intervals& known, const Node& node, const std::vector<Value>& operands) {
  if (node.types.size() != 1 || !def(node.op).traits.elementwise) return {};
  if (node.op == Op::check_range)
    return lies_inside(known.of(node.operand(0)), 1, node.attrs.dims(Attr::limit_indices)[0]) ? operands[0] : Value{};
  if (const std::optional<int64_t> only = known.only(node.result())) return number(build, node.type(), *only);
  if (node.op == Op::select)
    if (const std::optional<int64_t> chosen = known.only(node.operand(0))) return operands[*chosen != 0 ? 1 : 2];
  return {};
}

std::vector<Value> with_known_regions(Builder& build, const Intervals& known, const Node& node,
                                      const std::vector<Value>& operands, const std::string& counter) {
  size_t next = 0;
  const std::string& inner = node.op == Op::for_ ? node.attrs.text(Attr::counter) : counter;
  std::vector<Value> results =
      with_regions(build, node, operands, [&](const Graph&) { return rewritten(known.region(node, next++), inner); });
  for (uint32_t i = 0; i < results.size(); ++i)
    if (const std::optional<int64_t> only = known.only(node.result(i))) results[i] = number(build, node.type(i), *only);
  return results;
}

GraphPtr rewritten(const Intervals& known, const std::string& counter) {
  return rebuild(known.graph(), Level::flat, [&](Builder& build, const Node& node, std::vector<Value> operands) {
    if (const Value value = known_result(build, known, node, operands)) return std::vector<Value>{value};
    for (size_t i = 0; i < operands.size(); ++i) {
      const Value& operand = node.operand(i);
      const std::optional<int64_t> only = operand.node().op == Op::parameter ? known.only(operand) : std::nullopt;
      if (only) operands[i] = number(build, operand.type(), *only);
    }
    if (node.op == Op::for_ || node.op == Op::if_ || node.op == Op::case_)
      return with_known_regions(build, known, node, operands, counter);
    if (!stays_inside(known, node)) return results_of(build.copy(node, std::move(operands)));
    if (const Value slice = slice_at_extents(build, node, operands, counter)) return std::vector<Value>{slice};
    Attrs attrs = node.attrs;
    attrs.set(Attr::in_bounds, true);
    return results_of(build.call(node.op, std::move(operands), std::move(attrs), node.regions));
  });
}

GraphPtr with_known_values(const Graph& graph) {
  if (!has_loop(graph)) return rebuild(graph, Level::flat, [](auto&&...) { return std::vector<Value>(); });
  std::vector<Intervals::Found> parameters;
  for (const NodeId id : graph.parameters()) parameters.push_back(bounds_of_dtype(graph.node(id).type().dtype));
  int64_t budget = 32 * calls_of(graph) + 4096;
  return rewritten(Intervals(graph, parameters, budget), "");
}

}  // namespace

const Pass value_ranges{
    .name = "value_ranges",
    .doc = "Takes comparisons and checks out of loops whose results follow from counters and conditions.",
    .from = Level::flat,
    .to = Level::flat,
    .run = with_known_values,
};

}  // namespace weft
