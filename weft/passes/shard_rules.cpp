// How each op runs on parts: what of its operands must be divided alike, and how its results are divided then.
#include <algorithm>

#include "weft/passes/shard.h"

namespace weft {
namespace {

using Axes = std::vector<int>;
using Shardings = std::span<const Sharding>;

bool has(const Ints& values, size_t i) { return std::ranges::find(values, static_cast<int64_t>(i)) != values.end(); }

// A rule at work: axes of the mesh, each of which divides one thing in it.
class Planner {
 public:
  Planner(const Node& node, Shardings given, const Mesh& mesh) : node_(node), given_(given), mesh_(mesh) {
    for (const Value& operand : node.operands()) plan.operands.emplace_back(operand.type().rank());
    for (const Type& type : node.types) plan.results.emplace_back(type.rank());
  }

  // The axes that divide dimension `dim` of an operand as it is given.
  const Axes& given(size_t operand, size_t dim) const { return given_[operand].dims[dim]; }
  // Those that are still free to divide `extent`; none where one of them is taken.
  Axes claim(const Axes& axes, const Dim& extent) {
    bool fits = extent.is_static() && extent.value() % mesh_.extent_of(axes) == 0;
    for (int axis : axes) fits &= std::ranges::find(taken_, axis) == taken_.end();
    if (!fits) return {};
    taken_.insert(taken_.end(), axes.begin(), axes.end());
    return axes;
  }
  // Both operands' dimension is divided as either of them is.
  Axes claim_either(size_t left, size_t left_dim, size_t right, size_t right_dim) {
    const Dim& extent = node_.operand(left).type().dims[left_dim];
    Axes axes = claim(given(left, left_dim), extent);
    if (axes.empty()) axes = claim(given(right, right_dim), extent);
    plan.operands[left].dims[left_dim] = plan.operands[right].dims[right_dim] = axes;
    return axes;
  }
  // A dimension that comes through: of operand and result alike.
  void keep(size_t operand, size_t dim, size_t result_dim) {
    plan.operands[operand].dims[dim] = plan.results[0].dims[result_dim] =
        claim(given(operand, dim), node_.operand(operand).type().dims[dim]);
  }
  // What is combined along a dimension that these axes divide is yet to be combined along them.
  void combine(const Axes& axes, Op op) {
    plan.partial.insert(plan.partial.end(), axes.begin(), axes.end());
    plan.combine = op;
  }
  // Operands and results of the same dims, where `passes(dim)`; the first operand that is divided decides.
  template <class Passes>
  void alike(size_t operands, const Passes& passes) {
    for (size_t dim = 0; dim < node_.type().dims.size(); ++dim) {
      if (!passes(dim)) continue;
      Axes axes;
      for (size_t i = 0; i < operands && axes.empty(); ++i)
        if (dim < given_[i].dims.size()) axes = claim(given(i, dim), node_.operand(i).type().dims[dim]);
      for (size_t i = 0; i < operands; ++i)
        if (dim < plan.operands[i].dims.size()) plan.operands[i].dims[dim] = axes;
      for (Sharding& result : plan.results) result.dims[dim] = axes;
    }
  }

  ShardPlan plan;

 private:
  const Node& node_;
  Shardings given_;
  const Mesh& mesh_;
  Axes taken_;
};

const Dims& dims_of(const Node& node, size_t operand) { return node.operand(operand).type().dims; }

void plan_broadcast(const Node& node, Planner& planner) {
  const Ints& dimensions = node.ints(Attr::dimensions);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    auto target = static_cast<size_t>(dimensions[i]);
    if (dims_of(node, 0)[i] == node.type().dims[target]) planner.keep(0, i, target);
  }
}

void plan_transpose(const Node& node, Planner& planner) {
  const Ints& permutation = node.ints(Attr::permutation);
  for (size_t i = 0; i < permutation.size(); ++i) planner.keep(0, static_cast<size_t>(permutation[i]), i);
}

// Dimensions before and after are walked in groups of equal counts. Equal parts of the first of a group are equal parts
// of all that it holds, in order, and so of the first of the other's.
void plan_reshape(const Node& node, const Mesh& mesh, Planner& planner) {
  if (!node.type().is_static() || node.type().count().is(0)) return;
  Ints from = node.operand(0).type().static_dims(), to = node.type().static_dims();
  for (size_t i = 0, j = 0; i < from.size() && j < to.size();) {
    size_t first = i, target = j;
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right)
        left *= from[i++];
      else
        right *= to[j++];
    }
    // An extent of 1 before says nothing of what is divided.
    while (first + 1 < i && from[first] == 1) ++first;
    while (target + 1 < j && to[target] == 1) ++target;
    if (to[target] % mesh.extent_of(planner.given(0, first)) == 0) planner.keep(0, first, target);
  }
}

// Parts along a dimension of which only some elements are taken, or among which others stand, do not stay in their
// places.
bool is_whole_slice(const Node& node, size_t dim) {
  return node.attrs.dims(Attr::start_indices)[dim].is(0) &&
         node.attrs.dims(Attr::limit_indices)[dim] == dims_of(node, 0)[dim] && node.ints(Attr::strides)[dim] == 1;
}

bool is_not_padded(const Node& node, size_t dim) {
  return node.attrs.dims(Attr::edge_padding_low)[dim].is(0) && node.attrs.dims(Attr::edge_padding_high)[dim].is(0) &&
         node.ints(Attr::interior_padding)[dim] == 0;
}

Ints free_of(const Node& node, size_t operand, Attr batching, Attr contracting) {
  Ints free;
  for (size_t i = 0; i < dims_of(node, operand).size(); ++i)
    if (!has(node.ints(batching), i) && !has(node.ints(contracting), i)) free.push_back(static_cast<int64_t>(i));
  return free;
}

void plan_dot(const Node& node, Planner& planner) {
  const Ints &lb = node.ints(Attr::lhs_batching_dimensions), &rb = node.ints(Attr::rhs_batching_dimensions);
  const Ints &lc = node.ints(Attr::lhs_contracting_dimensions), &rc = node.ints(Attr::rhs_contracting_dimensions);
  auto at = [](const Ints& values, size_t i) { return static_cast<size_t>(values[i]); };
  for (size_t i = 0; i < lb.size(); ++i)
    planner.plan.results[0].dims[i] = planner.claim_either(0, at(lb, i), 1, at(rb, i));
  auto contract = [&](bool both) {
    for (size_t i = 0; i < lc.size(); ++i) {
      if (both != (planner.given(0, at(lc, i)) == planner.given(1, at(rc, i)))) continue;
      planner.combine(planner.claim_either(0, at(lc, i), 1, at(rc, i)), Op::add);
    }
  };
  // What both are divided by already costs no more than to add up the results. Where one only is, dimensions of the
  // result come first: less is computed by each rank.
  contract(true);
  size_t next = lb.size();
  for (int64_t dim : free_of(node, 0, Attr::lhs_batching_dimensions, Attr::lhs_contracting_dimensions))
    planner.keep(0, static_cast<size_t>(dim), next++);
  for (int64_t dim : free_of(node, 1, Attr::rhs_batching_dimensions, Attr::rhs_contracting_dimensions))
    planner.keep(1, static_cast<size_t>(dim), next++);
  contract(false);
}

// Whether every rank may begin with it: once more changes nothing.
bool may_repeat(const Value& value, Op op) {
  if (op != Op::add && op != Op::multiply) return true;
  if (value.node().op == Op::broadcast_in_dim) return may_repeat(value.node().operand(0), op);
  if (value.node().op != Op::constant) return false;
  const Literal& literal = value.node().attrs.literal(Attr::value);
  return literal.is_splat() && literal.as_complex(0) == std::complex<double>(op == Op::add ? 0 : 1);
}
// How a body combines, where parts of what it combines can be combined first.
std::optional<Op> combining_op(const Node& node) {
  std::optional<Op> op = single_op(*node.regions[0]);
  constexpr Op combining[] = {Op::add, Op::multiply, Op::maximum, Op::minimum, Op::and_, Op::or_};
  return op && std::ranges::find(combining, *op) != std::end(combining) ? op : std::nullopt;
}

void plan_reduce(const Node& node, Planner& planner) {
  std::optional<Op> op = combining_op(node);
  bool combines = op && node.operand_count() == 2 && may_repeat(node.operand(1), *op);
  size_t next = 0;
  for (size_t dim = 0; dim < dims_of(node, 0).size(); ++dim) {
    if (!has(node.ints(Attr::dimensions), dim)) {
      if (node.operand_count() == 2) planner.keep(0, dim, next++);
    } else if (combines) {
      planner.plan.operands[0].dims[dim] = planner.claim(planner.given(0, dim), dims_of(node, 0)[dim]);
      planner.combine(planner.plan.operands[0].dims[dim], *op);
    }
  }
}

// Rows of a table: divided as the indices are, and along the dimensions of the table that are taken whole.
void plan_gather(const Node& node, Planner& planner) {
  const Ints &offset = node.ints(Attr::offset_dims), &collapsed = node.ints(Attr::collapsed_slice_dims),
             &map = node.ints(Attr::start_index_map);
  if (!node.ints(Attr::operand_batching_dims).empty()) return;
  size_t vector_dim = static_cast<size_t>(node.attrs.integer(Attr::index_vector_dim)), batch = 0, kept = 0;
  for (size_t result = 0; result < node.type().dims.size(); ++result) {
    if (!has(offset, result)) {
      batch += batch == vector_dim;
      planner.keep(1, batch++, result);
      continue;
    }
    while (has(collapsed, kept)) ++kept;
    if (!has(map, kept) && node.attrs.dims(Attr::slice_sizes)[kept] == dims_of(node, 0)[kept])
      planner.keep(0, kept, result);
    ++kept;
  }
}

// Written along the dimensions that updates have whole; and where each rank may write its updates to an array of its
// own, as the indices are divided.
void plan_scatter(const Node& node, Planner& planner) {
  const Ints &window = node.ints(Attr::update_window_dims), &inserted = node.ints(Attr::inserted_window_dims),
             &map = node.ints(Attr::scatter_dims_to_operand_dims);
  if (node.operand_count() != 3 || !node.ints(Attr::input_batching_dims).empty()) return;
  size_t kept = 0;
  for (size_t dim = 0; dim < dims_of(node, 0).size(); ++dim) {
    if (has(inserted, dim)) continue;
    auto update = static_cast<size_t>(window[kept++]);
    if (!has(map, dim) && dims_of(node, 2)[update] == dims_of(node, 0)[dim])
      planner.plan.results[0].dims[dim] = planner.claim_either(0, dim, 2, update);
  }
  std::optional<Op> op = combining_op(node);
  if (!op || !may_repeat(node.operand(0), *op)) return;
  size_t vector_dim = static_cast<size_t>(node.attrs.integer(Attr::index_vector_dim)), batch = 0;
  for (size_t update = 0; update < dims_of(node, 2).size(); ++update) {
    if (has(window, update)) continue;
    batch += batch == vector_dim;
    planner.combine(planner.claim_either(1, batch++, 2, update), *op);
  }
}

void plan_by_op(const Node& node, const Mesh& mesh, Planner& planner) {
  size_t operands = node.operand_count();
  switch (node.op) {
    case Op::convert:
      return planner.alike(1, [](size_t) { return true; });
    case Op::broadcast_in_dim:
      return plan_broadcast(node, planner);
    case Op::transpose:
      return plan_transpose(node, planner);
    case Op::reshape:
      return plan_reshape(node, mesh, planner);
    case Op::slice:
      return planner.alike(1, [&](size_t dim) { return is_whole_slice(node, dim); });
    case Op::pad:
      return planner.alike(1, [&](size_t dim) { return is_not_padded(node, dim); });
    case Op::concatenate:
      return planner.alike(operands,
                           [&](size_t dim) { return dim != static_cast<size_t>(node.attrs.integer(Attr::dimension)); });
    case Op::reverse:
      return planner.alike(1, [&](size_t dim) { return !has(node.ints(Attr::dimensions), dim); });
    case Op::sort:
      return planner.alike(operands,
                           [&](size_t dim) { return dim != static_cast<size_t>(node.attrs.integer(Attr::dimension)); });
    case Op::dynamic_slice:
      return planner.alike(1, [&](size_t dim) { return node.type().dims[dim] == dims_of(node, 0)[dim]; });
    case Op::dynamic_update_slice:
      return planner.alike(2, [&](size_t dim) { return dims_of(node, 1)[dim] == node.type().dims[dim]; });
    case Op::dot_general:
      return plan_dot(node, planner);
    case Op::reduce:
      return plan_reduce(node, planner);
    case Op::gather:
      return plan_gather(node, planner);
    case Op::scatter:
      return plan_scatter(node, planner);
    default:
      if (def(node.op).traits.elementwise) planner.alike(operands, [](size_t) { return true; });
  }
}

}  // namespace

ShardPlan shard_plan(const Node& node, Shardings operands, const Mesh& mesh) {
  Planner planner(node, operands, mesh);
  plan_by_op(node, mesh, planner);
  return std::move(planner.plan);
}

}  // namespace weft
