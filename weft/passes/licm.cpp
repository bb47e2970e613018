// licm: what is the same in all turns of a counted loop is computed once, before it.
//
// Bodies are programs of their own, with kernels of their own: an array that a body makes of what it captures would be
// made anew in each turn. It is taken out where a turn then does less: reductions, products and what they read, which
// is stored in any case, and element-wise work whose result is no larger than what need not be read any more. What a
// body computes as it goes along (masks of counters, sums of a row and a column) stays there: reading it would take
// longer.
#include <algorithm>

#include "weft/passes/pass.h"

namespace weft {
namespace {

bool is_view(Op op) {
  return op == Op::transpose || op == Op::reshape || op == Op::broadcast_in_dim || op == Op::slice;
}

bool is_made_of_nothing(Op op) { return op == Op::constant || op == Op::iota || op == Op::extent; }

// What takes more than a step for each element of its result.
bool is_heavy(Op op) {
  Family of = family(op);
  return of == Family::reduce || of == Family::linalg || of == Family::window || of == Family::random;
}

bool names(const Dims& dims, const std::string& symbol) {
  return std::ranges::any_of(dims, [&](const Dim& dim) { return names(dim, symbol); });
}

// What of a body does not change from turn to turn.
class Invariants {
 public:
  Invariants(const Graph& body, size_t carried, const std::string& counter)
      : body_(body), is_invariant_(body.size()), is_read_(body.size()), is_stored_(body.size()) {
    for (size_t i = carried; i < body.parameters().size(); ++i) is_invariant_[body.parameters()[i]] = true;
    for (const Node& node : body.nodes())
      if (node.op != Op::parameter) is_invariant_[node.id()] = stays(node, counter);
    for (const Node& node : body.nodes()) {
      if (is_invariant_[node.id()]) continue;
      for (const Value& operand : node.operands()) read(operand.node(), is_heavy(node.op));
    }
    for (const Output& output : body.outputs()) read(output.value.node(), false);
  }

  // The nodes to compute before the loop, in order, of one result each.
  std::vector<NodeId> roots() const {
    std::vector<NodeId> found;
    // Of what a value is made of: whether there is heavy work, and the largest captured array that nothing else of a
    // turn reads.
    std::vector<bool> is_costly(body_.size());
    std::vector<double> freed(body_.size());
    for (const Node& node : body_.nodes()) {
      const NodeId id = node.id();
      if (!is_invariant_[id]) continue;
      is_costly[id] = is_heavy(node.op);
      if (node.op == Op::parameter && !is_read_[id]) freed[id] = node.type().usual_count();
      for (const Value& operand : node.operands()) {
        if (is_costly[operand.id()]) is_costly[id] = true;
        freed[id] = std::max(freed[id], freed[operand.id()]);
      }
      bool pays = is_costly[id] || is_stored_[id] || freed[id] >= node.type().usual_count();
      if (is_read_[id] && pays && node.op != Op::parameter && !is_made_of_nothing(node.op)) found.push_back(id);
    }
    return found;
  }

  bool operator()(NodeId id) const { return is_invariant_[id]; }

 private:
  bool stays(const Node& node, const std::string& counter) const {
    Family of = family(node.op);
    if (has_effect(node) || of == Family::control || of == Family::collective || node.op == Op::check_range ||
        node.types.size() != 1)
      return false;
    if (names(node.type().dims, counter)) return false;
    for (const auto& [attr, value] : node.attrs)
      if (const Dims* dims = std::get_if<Dims>(&value); dims && names(*dims, counter)) return false;
    return std::ranges::all_of(node.operands(), [&](const Value& operand) { return is_invariant_[operand.id()]; });
  }

  // Notes what a turn reads, below views of it.
  void read(const Node& from, bool is_stored) {
    const Node* node = &from;
    while (is_invariant_[node->id()] && is_view(node->op)) node = &node->operand(0).node();
    is_read_[node->id()] = true;
    if (is_stored) is_stored_[node->id()] = true;
  }

  const Graph& body_;
  std::vector<bool> is_invariant_, is_read_, is_stored_;
};

GraphPtr run(const Graph& graph);

// That indices lie inside is known where a turn begins, and before the loop there may come none.
Value copied_before(Builder& outer, const Node& node, std::vector<Value> operands) {
  if (!node.attrs.flag(Attr::in_bounds)) return outer.copy(node, std::move(operands)).result();
  Attrs attrs = node.attrs;
  attrs.set(Attr::in_bounds, false);
  return outer.call(node.op, std::move(operands), std::move(attrs), node.regions).result();
}

// The loop without what can stand before it, which the builder gets.
std::vector<Value> without_invariants(Builder& outer, const Node& node, const std::vector<Value>& operands) {
  const GraphPtr inner = run(*node.regions[0]);
  // A way of a condition: what it computes is not wanted where it is not taken.
  if (is_way(node)) return results_of(outer.call(node.op, operands, node.attrs, {inner}));
  const Graph& body = *inner;
  const auto carried = static_cast<size_t>(node.attrs.integer(Attr::carried));
  const Invariants is_invariant(body, carried, node.attrs.text(Attr::counter));
  const std::vector<NodeId> roots = is_invariant.roots();
  if (roots.empty()) return results_of(outer.call(node.op, operands, node.attrs, {inner}));
  std::vector<Value> before(body.size());
  for (size_t i = carried; i < operands.size(); ++i) before[body.parameters()[i]] = operands[i];
  for (const Node& at : body.nodes()) {
    if (!is_invariant(at.id()) || at.op == Op::parameter || at.id() > roots.back()) continue;
    std::vector<Value> given;
    for (const Value& operand : at.operands()) given.push_back(before[operand.id()]);
    outer.set_loc(at.loc);
    before[at.id()] = copied_before(outer, at, std::move(given));
  }
  outer.set_loc(node.loc);
  // Not by rebuild(): a body's parameters stand anywhere among its nodes, and the new ones come behind them all.
  Builder build(body.level(), body.name());
  std::vector<std::vector<Value>> values(body.size());
  std::vector<Value> arguments = operands;
  for (NodeId id : body.parameters()) values[id] = {build.parameter(body.node(id).type(), "", body.node(id).loc)};
  for (NodeId id : roots) {
    values[id] = {build.parameter(body.node(id).type(), "", body.node(id).loc)};
    arguments.push_back(before[id]);
  }
  const GraphPtr rest = build.finish(copy_rest(build, body, values));
  return results_of(outer.call(node.op, std::move(arguments), node.attrs, {rest}));
}

GraphPtr run(const Graph& graph) {
  return rebuild(graph, graph.level(), [](Builder& build, const Node& node, const std::vector<Value>& operands) {
    if (node.op == Op::for_) return without_invariants(build, node, operands);
    if (family(node.op) != Family::control || node.regions.empty()) return std::vector<Value>();
    return with_regions(build, node, operands, run);
  });
}

}  // namespace

const Pass licm{
    .name = "licm",
    .doc = "Computes what is the same in all turns of a counted loop before it.",
    .from = Level::flat,
    .to = Level::flat,
    .run = run,
};

}  // namespace weft
