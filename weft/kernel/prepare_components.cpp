// Sums over pairs of short vectors (n bodies, distances, kernels of points in 2 or 3 dimensions): what is computed for
// all pairs is reduced in the loop that computes it, component by component, and never stored.
#include <algorithm>
#include <set>

#include "weft/kernel/cost.h"
#include "weft/kernel/prepare.h"
#include "weft/kernel/schedule.h"
#include "weft/kernel/shifts.h"

namespace weft {
namespace {

// Components that are computed beside each other: of a sum, and for each of so many sums in registers.
constexpr int64_t most_terms = 8, most_components = 4;
// How far a search for what is joined goes.
constexpr size_t most_searched = 64;
// How often everything that a value is computed from is used at least.
constexpr int64_t least_uses = 8;

bool is_computed(const Node& node) {
  return def(node.op).traits.elementwise || node.op == Op::broadcast_in_dim || node.op == Op::reshape ||
         node.op == Op::concatenate || node.op == Op::slice;
}

// The dimension of a reshape's operand that is dimension `axis` of its result, where dimensions of extent 1 come and go
// alone; -1 for others.
int64_t before_reshape(const Node& node, int64_t axis) {
  const Dims &from = node.operand(0).type().dims, &to = node.type().dims;
  int64_t found = -1;
  size_t i = 0, k = 0;
  for (;; ++i, ++k) {
    while (i < from.size() && from[i].is(1)) ++i;
    while (k < to.size() && to[k].is(1)) ++k;
    if (i == from.size() || k == to.size()) break;
    if (!(from[i] == to[k])) return -1;
    if (static_cast<int64_t>(k) == axis) found = static_cast<int64_t>(i);
  }
  return i == from.size() && k == to.size() ? found : -1;
}

// The dimension of a broadcast's operand that is dimension `axis` of its result; -1 where it repeats the operand.
int64_t before_broadcast(const Node& node, int64_t axis) {
  const Ints& dimensions = node.ints(Attr::dimensions);
  auto place = std::ranges::find(dimensions, axis) - dimensions.begin();
  if (place == static_cast<std::ptrdiff_t>(dimensions.size())) return -1;
  return node.operand(0).type().dims[static_cast<size_t>(place)].is(1) ? -1 : place;
}

// Whether all that a value is computed from is stored and much smaller.
bool is_of_small_values(const Value& value, std::map<NodeId, bool>& known, int64_t count) {
  auto [place, is_new] = known.try_emplace(value.id(), true);
  if (!is_new) return place->second;
  const Node& node = value.node();
  bool small = true;
  if (is_computed(node))
    for (const Value& operand : node.operands()) small = small && is_of_small_values(operand, known, count);
  else
    small = is_inline_constant(node) || value.type().count().opt() * least_uses <= count;
  return known[value.id()] = small;
}
bool is_of_small_values(const Value& value) {
  std::map<NodeId, bool> known;
  return is_of_small_values(value, known, value.type().count().opt());
}

// Who reads each value; nobody where it is a result as well.
std::vector<std::vector<NodeId>> users_inside(const Graph& graph) {
  std::vector<std::vector<NodeId>> users(graph.size());
  for (const Node& user : graph.nodes())
    for (const Value& operand : user.operands()) users[operand.id()].push_back(user.id());
  for (const Output& output : graph.outputs()) users[output.value.id()].clear();
  return users;
}

// Whether what a value is used for is computed from it and reduced again.
bool is_reduced(const Graph& graph, const std::vector<std::vector<NodeId>>& users, NodeId id) {
  std::vector<NodeId> pending{id};
  std::set<NodeId> seen{id};
  while (!pending.empty()) {
    NodeId next = pending.back();
    pending.pop_back();
    if (users[next].empty()) return false;
    for (NodeId user : users[next]) {
      const Node& node = graph.node(user);
      if (node.op == Op::reduce && !is_fold(node) && node.operand(0).id() == next) continue;
      if (!is_computed(node)) return false;
      if (seen.insert(user).second) pending.push_back(user);
    }
  }
  return true;
}

// Whether the places of a dimension are computed from values that are joined along it.
bool is_joined(const Value& value, int64_t axis, std::set<NodeId>& seen) {
  const Node& node = value.node();
  if (seen.size() == most_searched || !seen.insert(value.id()).second) return false;
  if (node.op == Op::concatenate && node.attrs.integer(Attr::dimension) == axis) return true;
  if (node.op == Op::reshape) {
    int64_t before = before_reshape(node, axis);
    return before >= 0 && is_joined(node.operand(0), before, seen);
  }
  return def(node.op).traits.elementwise &&
         std::ranges::any_of(node.operands(), [&](const Value& operand) { return is_joined(operand, axis, seen); });
}

}  // namespace

std::vector<bool> sums_of_components(const Graph& graph) {
  std::vector<bool> found(graph.size());
  std::vector<std::vector<NodeId>> users;
  for (const Node& node : graph.nodes()) {
    if (node.op != Op::reduce || is_fold(node) || node.ints(Attr::dimensions).size() != 1) continue;
    const Dim& terms = node.operand(0).type().dims[static_cast<size_t>(node.ints(Attr::dimensions)[0])];
    bool is_short = terms.is_static() && terms.value() >= 1 && terms.value() <= most_terms;
    if (!is_short || node.type().count().opt() < small_work) continue;
    std::set<NodeId> seen;
    if (is_joined(node.operand(0), node.ints(Attr::dimensions)[0], seen)) {
      found[node.id()] = true;
    } else if (is_of_small_values(node.operand(0))) {
      if (users.empty()) users = users_inside(graph);
      found[node.id()] = is_reduced(graph, users, node.id());
    }
  }
  return found;
}

namespace {

// What a value is before its reshapes, where that is joined of a few parts, all of them smaller; nothing for others.
const Node* joined_parts(Value value) {
  while (value.node().op == Op::reshape) value = value.node().operand(0);
  const Node& node = value.node();
  if (node.op != Op::concatenate || node.operand_count() < 2 || node.operand_count() > most_components) return nullptr;
  const bool is_empty =
      std::ranges::any_of(node.operands(), [](const Value& part) { return part.type().count().is(0); });
  return is_empty ? nullptr : &node;
}

}  // namespace

std::vector<bool> results_of_components(const Graph& graph) {
  std::vector<bool> ends(graph.size(), true), found(graph.size()), joined(graph.size());
  const std::span<const Node> nodes = graph.nodes();
  for (size_t i = nodes.size(); i-- > 0;) {
    const bool stays = ends[i] && (def(nodes[i].op).traits.elementwise || nodes[i].op == Op::reshape);
    for (const Value& operand : nodes[i].operands()) ends[operand.id()] = ends[operand.id()] && stays;
  }
  for (const Node& node : nodes) {
    const auto is_joined = [&](const Value& operand) { return joined[operand.id()]; };
    found[node.id()] = ends[node.id()] && node.op != Op::check_range && def(node.op).traits.elementwise &&
                       std::ranges::any_of(node.operands(), is_joined);
    joined[node.id()] = found[node.id()] || (ends[node.id()] && node.op == Op::reshape && is_joined(node.operand(0))) ||
                        (ends[node.id()] && joined_parts(node.result()));
  }
  return found;
}

Value Components::joined(const Node& call, const std::vector<Value>& operands, const Dims& dims) {
  const Node* parts = nullptr;
  for (const Value& operand : operands)
    if (!dims.empty() && !parts && operand.type().dims == dims) parts = joined_parts(operand);
  if (!parts) return {};
  const Node joined = *parts;
  const auto axis = static_cast<size_t>(joined.attrs.integer(Attr::dimension));
  std::vector<Value> given, results;
  for (const Value& operand : operands)
    given.push_back(operand.type().rank() == 0 ? operand : reshaped(operand, joined.type().dims));
  Dim low = 0;
  for (const Value& part : joined.operands()) {
    const Dim high = low + part.type().dims[axis];
    std::vector<Value> chosen;
    for (const Value& value : given)
      chosen.push_back(value.id() == joined.id() ? part : part_of(value, axis, low, high));
    Value result = this->joined(call, chosen, part.type().dims);
    results.push_back(result ? result : build_.call(call.op, std::move(chosen), call.attrs, call.regions).result(0));
    low = high;
  }
  return build_.reshape(build_(Op::concatenate, std::move(results), {{Attr::dimension, static_cast<int64_t>(axis)}}),
                        dims);
}

Value Components::part_of(const Value& value, size_t axis, const Dim& low, const Dim& high) {
  if (value.type().rank() == 0) return value;
  Dims dims = value.type().dims;
  dims[axis] = high - low;
  if (dims[axis].is(1) && low.is_static())
    return build_.reshape(component(value, static_cast<int64_t>(axis), low.value()), dims);
  if (is_inline_constant(value.node())) return build_.constant(value.node().attrs.literal(Attr::value).spread(dims));
  return slice(build_, value, axis, low, high);
}

bool Components::is_even(const Value& value, int64_t axis) {
  std::pair key{value.id(), axis};
  if (auto known = even_.find(key); known != even_.end()) return known->second;
  const Node& node = value.node();
  bool even = is_inline_constant(node) || (node.op == Op::broadcast_in_dim && before_broadcast(node, axis) < 0);
  if (def(node.op).traits.elementwise)
    even = std::ranges::all_of(node.operands(), [&](const Value& operand) { return is_even(operand, axis); });
  return even_[key] = even;
}

Value Components::component(const Value& value, int64_t axis, int64_t place) {
  if (is_even(value, axis)) place = 0;
  std::tuple key{value.id(), axis, place};
  if (auto known = done_.find(key); known != done_.end()) return known->second;
  return done_[key] = computed(value, axis, place);
}

Value Components::computed(const Value& value, int64_t axis, int64_t place) {
  const Node node = value.node();
  Dims dims = value.type().dims;
  bool is_alone = dims[static_cast<size_t>(axis)].is(1);
  dims.erase(dims.begin() + axis);
  if (is_alone) return reshaped(value, dims);
  if (is_inline_constant(node)) return build_.constant(node.attrs.literal(Attr::value).spread(dims));
  if (def(node.op).traits.elementwise) {
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.push_back(component(operand, axis, place));
    return build_.call(node.op, std::move(operands), node.attrs, node.regions).result(0);
  }
  if (node.op == Op::reshape) {
    int64_t before = before_reshape(node, axis);
    if (before >= 0) return build_.reshape(component(node.operand(0), before, place), dims);
  }
  if (node.op == Op::broadcast_in_dim) return repeated(node, axis, place, dims);
  if (node.op == Op::concatenate && node.attrs.integer(Attr::dimension) == axis)
    for (const Value& part : node.operands()) {
      const Dim& extent = part.type().dims[static_cast<size_t>(axis)];
      if (!extent.is_static()) break;
      if (place < extent.value()) return component(part, axis, place);
      place -= extent.value();
    }
  return build_.reshape(slice(build_, value, static_cast<size_t>(axis), place, place + 1), dims);
}

// A value that got dimensions of extent 1 is itself again.
Value Components::reshaped(Value value, const Dims& dims) {
  while (value.node().op == Op::reshape && value.type().dims != dims) value = value.node().operand(0);
  return build_.reshape(value, dims);
}

Value Components::repeated(const Node& node, int64_t axis, int64_t place, const Dims& dims) {
  Value from = node.operand(0);
  if (int64_t before = before_broadcast(node, axis); before >= 0) from = component(from, before, place);
  Dims kept;
  Ints dimensions;
  const Ints& all = node.ints(Attr::dimensions);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == axis) continue;
    kept.push_back(node.operand(0).type().dims[i]);
    dimensions.push_back(all[i] > axis ? all[i] - 1 : all[i]);
  }
  from = reshaped(from, kept);
  if (from.type().dims == dims) return from;
  return build_(Op::broadcast_in_dim, {from}, {{Attr::dims, dims}, {Attr::dimensions, dimensions}});
}

Value Components::sum(const Node& node, const Value& x, const Value& initial) {
  int64_t axis = node.ints(Attr::dimensions)[0];
  Op op = *single_op(*node.regions[0]);
  Value total = build_.broadcast_to(initial, node.type().dims);
  for (int64_t i = 0; i < x.type().dims[static_cast<size_t>(axis)].value(); ++i)
    total = build_(op, {total, component(x, axis, i)});
  return total;
}

namespace {

// What the elements of a value cost from stored ones.
int64_t price_of(const Value& value, std::set<NodeId>& seen) {
  const Node& node = value.node();
  if (!is_computed(node) || !seen.insert(value.id()).second) return 0;
  int64_t total = own_price(node);
  for (const Value& operand : node.operands()) total += price_of(operand, seen);
  return total;
}

// Whether a value repeats along `axis` what costs more than a store.
bool repeats_work(const Value& value, int64_t axis, std::set<std::pair<NodeId, int64_t>>& seen) {
  if (!seen.emplace(value.id(), axis).second) return false;
  const Node& node = value.node();
  if (def(node.op).traits.elementwise || node.op == Op::concatenate)
    return std::ranges::any_of(node.operands(),
                               [&](const Value& operand) { return repeats_work(operand, axis, seen); });
  if (node.op == Op::reshape) {
    int64_t before = before_reshape(node, axis);
    return before >= 0 && repeats_work(node.operand(0), before, seen);
  }
  if (node.op != Op::broadcast_in_dim) return false;
  if (int64_t before = before_broadcast(node, axis); before >= 0) return repeats_work(node.operand(0), before, seen);
  std::set<NodeId> counted;
  const Value& from = node.operand(0);
  return from.type().count().opt() >= small_work && price_of(from, counted) > cheap;
}

}  // namespace

Value Components::sums(const Node& node, const Value& x, const Value& initial) {
  const Dims& dims = x.type().dims;
  const Ints& reduced = node.ints(Attr::dimensions);
  for (int64_t axis = x.type().rank() - 1; axis >= 0; --axis) {
    const Dim& extent = dims[static_cast<size_t>(axis)];
    std::set<std::pair<NodeId, int64_t>> seen;
    if (std::ranges::count(reduced, axis) || !extent.is_static() || extent.value() < 2 ||
        extent.value() > most_components || !repeats_work(x, axis, seen) || !is_of_small_values(x))
      continue;
    Attrs attrs = node.attrs;
    Ints rest;
    for (int64_t dimension : reduced) rest.push_back(dimension > axis ? dimension - 1 : dimension);
    attrs.set(Attr::dimensions, rest);
    int64_t place = axis - std::ranges::count_if(reduced, [&](int64_t dimension) { return dimension < axis; });
    Dims alone = node.type().dims;
    alone[static_cast<size_t>(place)] = 1;
    std::vector<Value> parts;
    for (int64_t i = 0; i < extent.value(); ++i)
      parts.push_back(build_.reshape(
          build_.call(Op::reduce, {component(x, axis, i), initial}, attrs, node.regions).result(0), alone));
    return build_(Op::concatenate, std::move(parts), {{Attr::dimension, place}});
  }
  return {};
}

}  // namespace weft
