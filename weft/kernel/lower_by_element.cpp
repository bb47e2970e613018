// Counted loops that take every element from what it was, whatever the others are: all turns of a few elements at a
// time, which stay in registers meanwhile. A turn of all of them at a time would be a pass over memory.
#include <algorithm>
#include <map>

#include "weft/ir/interpret.h"
#include "weft/kernel/sums.h"

namespace weft {
namespace {

// The kernel of what a loop carries in these dimensions, and of the numbers that this depends on.
class Elements {
 public:
  Elements(Lowering& lowering, const Node& loop, const Graph& body, const std::vector<std::optional<NodeId>>& results,
           const Dims& dims)
      : lowering_(lowering),
        loop_(loop),
        body_(body),
        space_(space_of(dims, ".i")),
        access_(lowering.graph, lowering.fusion, draft_.kernel) {
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i] && loop.type(i).dims == dims) stored_.emplace_back(i, *results[i]);
  }

  // False, and nothing done, where elements depend on others.
  bool lower() {
    for (const auto& [i, id] : stored_) state(i, space_.coordinates);
    // What is found on the way is taken further as well.
    for (size_t i = 0; i < order_.size() && fits_; ++i) {
      size_t number = order_[i];
      ExprId next = value(body_.outputs()[number].value, Dims(states_.at(number).at));
      states_.at(number).next = next;
    }
    if (!fits_ || reads_anew()) return false;
    const Dim trips = loop_.attrs.dims(Attr::trips)[0];
    const Dim place =
        loop_.attrs.dims(Attr::first)[0] + counter_dim(".t", trips) * Dim(loop_.attrs.integer(Attr::step));
    if (std::optional<std::vector<Sum>> sums = turn_sums()) {
      finish_sums(*sums, trips, place);
      return true;
    }
    std::vector<Stmt> body;
    for (size_t i : order_)
      body.push_back(
          statement(StmtKind::define, states_.at(i).slot, access_.value(loop_.operand(i), states_.at(i).at)));
    body.push_back(std::move(serial({{".t", trips}}, turn())[0]));
    for (const auto& [i, id] : stored_)
      body.push_back(
          store_statement(access_.memory(id, true), linear_index(loop_.type(i).dims, space_.coordinates), variable(i)));
    draft_.kernel.body = schedule_map(draft_.kernel, space_.axes, std::move(body), draft_.parallel, trips);
    substitute_counter(draft_.kernel, loop_.attrs.text(Attr::counter), place);
    tell_body(draft_, body_);
    finish_draft(lowering_, std::move(draft_), access_, {loop_.id()});
    return true;
  }

 private:
  // One of what is carried, at these places in all turns.
  struct State {
    Dims at;
    int32_t slot;
    ExprId next = no_expr;
  };

  // Numbers that are sums over all turns, where nothing else is carried: turns are no order then.
  std::optional<std::vector<Sum>> turn_sums() {
    if (!space_.axes.empty() || stored_.size() != order_.size()) return std::nullopt;
    std::vector<Sum> sums;
    for (const auto& [i, id] : stored_) {
      const State& state = states_.at(i);
      const std::optional<TurnPart> part = turn_part(access_, draft_.kernel, state.slot, state.next);
      if (!part || part->op == Scalar::none) return std::nullopt;
      sums.push_back({id, loop_.type(i), loop_.operand(static_cast<uint32_t>(i)), part->op, part->element, state.slot});
    }
    return sums;
  }

  void finish_sums(const std::vector<Sum>& sums, const Dim& trips, const Dim& place) {
    substitute_counter(draft_.kernel, loop_.attrs.text(Attr::counter), place);
    tell_body(draft_, body_);
    SumSpace space{{}, {{".t", trips}}, {}};
    if (takes_two_steps(space, sums)) return lower_in_two_steps(lowering_, draft_, access_, std::move(space), sums);
    std::vector<Stmt> body = defined(access_, sums), add = accumulated(sums);
    const int in_flight = vectors_in_flight(add);
    append_all(body, nested(space.reduced, std::move(add), in_flight));
    for (const Sum& sum : sums)
      body.push_back(
          store_statement(access_.memory(sum.result, true), Dim(0), access_.variable(sum.variable, sum.type.dtype)));
    draft_.kernel.body = std::move(body);
    finish_draft(lowering_, std::move(draft_), access_, {loop_.id()});
  }

  ExprId variable(size_t i) { return access_.variable(states_.at(i).slot, loop_.type(i).dtype); }

  ExprId state(size_t i, const Dims& at) {
    auto found = states_.find(i);
    if (found == states_.end()) {
      found = states_.emplace(i, State{at, add_variable(draft_.kernel, loop_.type(i).dtype)}).first;
      order_.push_back(i);
    }
    // One element in all turns: at a place that moves with the counter it is another one in each.
    fits_ &= found->second.at == at && std::ranges::none_of(at, [&](const Dim& place) {
               return uses_counter(place, loop_.attrs.text(Attr::counter));
             });
    return variable(i);
  }

  // Whether each turn reads other memory for each element: rows are better read from end to end.
  bool reads_anew() const {
    return std::ranges::any_of(draft_.kernel.exprs, [&](const Expr& e) {
      return e.kind == ExprKind::load && uses_counter(e.index, loop_.attrs.text(Attr::counter)) &&
             std::ranges::any_of(space_.axes, [&](const Axis& axis) { return uses_counter(e.index, axis.counter); });
    });
  }

  // All are computed from what was before any of them changes.
  std::vector<Stmt> turn() {
    std::vector<Stmt> computed, changed;
    for (size_t i : order_) {
      const State& state = states_.at(i);
      const Expr& next = draft_.kernel.exprs[static_cast<size_t>(state.next)];
      if (next.kind == ExprKind::variable && next.slot == state.slot) continue;
      int32_t slot = add_variable(draft_.kernel, loop_.type(i).dtype);
      computed.push_back(statement(StmtKind::define, slot, state.next));
      changed.push_back(statement(StmtKind::assign, state.slot, access_.variable(slot, loop_.type(i).dtype)));
    }
    computed.insert(computed.end(), std::make_move_iterator(changed.begin()), std::make_move_iterator(changed.end()));
    return computed;
  }

  // An element of a value of the body.
  ExprId value(const Value& v, const Dims& at) {
    for (const auto& [place, id] : known_[v.id()])
      if (place == at) return id;
    ExprId id = compute(v.node(), at);
    known_[v.id()].emplace_back(at, id);
    return id;
  }

  ExprId compute(const Node& node, const Dims& at) {
    if (!fits_ || node.types.size() != 1) return fits_ = false, no_expr;
    if (node.op == Op::parameter) {
      auto i = static_cast<size_t>(std::ranges::find(body_.parameters(), node.id()) - body_.parameters().begin());
      return i < loop_.types.size() ? state(i, at) : access_.value(loop_.operand(i), at);
    }
    const ExprId id = element_of_body(access_, node, at, [&](const Value& v, const Dims& c) { return value(v, c); });
    fits_ &= id != no_expr;
    return id;
  }

  Lowering& lowering_;
  const Node& loop_;
  const Graph& body_;
  Space space_;
  Draft draft_;
  Access access_;
  std::vector<std::pair<size_t, NodeId>> stored_;  // results that are read: their numbers and values
  std::map<size_t, State> states_;
  std::vector<size_t> order_;  // numbers of states
  std::map<NodeId, std::vector<std::pair<Dims, ExprId>>> known_;
  bool fits_ = true;
};

}  // namespace

bool lower_by_element(Lowering& lowering, const Node& loop, const Graph& body) {
  size_t before = lowering.drafts.size();
  std::vector<Dims> done;
  std::vector<std::optional<NodeId>> results = results_of(lowering.graph, loop);
  for (size_t i = 0; i < results.size(); ++i) {
    const Dims& dims = loop.type(i).dims;
    if (!results[i] || std::ranges::count(done, dims)) continue;
    if (!Elements(lowering, loop, body, results, dims).lower()) {
      lowering.drafts.resize(before);
      return false;
    }
    done.push_back(dims);
  }
  return true;
}

}  // namespace weft
