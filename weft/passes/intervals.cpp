// Interval analysis of a graph (Cousot and Cousot, Static determination of dynamic properties of programs, ISOP 1976).
#include "weft/passes/intervals.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

namespace weft {
namespace {

using Found = Intervals::Found;

const Bounds no{0, 0}, yes{1, 1};

bool contradict(const Bounds& bounds) {
  return bounds.least.is_static() && bounds.greatest.is_static() && bounds.greatest.value() < bounds.least.value();
}

// Of what lies between both. Facts that contradict each other are of what never happens.
Found both(const Found& a, const Found& b) try {
  if (!a || !b) return a ? a : b;
  const Bounds met{max(a->least, b->least), min(a->greatest, b->greatest)};
  return contradict(met) ? a : Found(met);
} catch (const Error&) {
  return a;  // past 64 bits
}

// The direction of a comparison that holds where another does not.
std::string_view opposite(std::string_view direction) {
  if (direction == "LT") return "GE";
  if (direction == "GE") return "LT";
  if (direction == "GT") return "LE";
  if (direction == "LE") return "GT";
  return direction == "EQ" ? "NE" : "EQ";
}

// What a number is that is less than others, or not greater.
Bounds below(const Bounds& all, const Bounds& others, bool may_equal) {
  if (!may_equal && others.greatest.is(std::numeric_limits<int64_t>::min())) return all;
  return {all.least, min(all.greatest, others.greatest - (may_equal ? 0 : 1))};
}

Bounds above(const Bounds& all, const Bounds& others, bool may_equal) {
  if (!may_equal && others.least.is(std::numeric_limits<int64_t>::max())) return all;
  return {max(all.least, others.least + (may_equal ? 0 : 1)), all.greatest};
}

// Without one number at an end.
Bounds without(const Bounds& all, const Bounds& other) {
  if (other.least != other.greatest || all.least == all.greatest) return all;
  if (all.least == other.least) return {all.least + 1, all.greatest};
  return all.greatest == other.least ? Bounds{all.least, all.greatest - 1} : all;
}

}  // namespace

// The operands of a node where facts hold.
class Intervals::Operands final : public BoundedOperands {
 public:
  Operands(const Intervals& known, const Node& node, const Facts& facts, int depth)
      : known_(known), node_(node), facts_(facts), depth_(depth) {}
  size_t count() const override { return node_.operand_count(); }
  const Type& type(size_t i) const override { return node_.operand(i).type(); }
  Found bounds(size_t i) override { return known_.under(node_.operand(i), facts_, depth_); }

 private:
  const Intervals& known_;
  const Node& node_;
  const Facts& facts_;
  int depth_;
};

Intervals::Intervals(const Graph& graph, const std::vector<Found>& parameters, int64_t& budget) : graph_(graph) {
  first_.reserve(graph.size());
  size_t next = 0;
  for (const Node& node : graph.nodes()) {
    --budget;
    first_.push_back(known_.size());
    if (node.op == Op::parameter)
      known_.push_back(parameters[next++]);
    else
      look_at(node, budget);
  }
}

void Intervals::look_at(const Node& node, int64_t& budget) {
  if (node.op == Op::for_) {
    std::ranges::move(of_loop(node, budget), std::back_inserter(known_));
  } else if (node.op == Op::if_ || node.op == Op::case_) {
    std::ranges::move(of_branches(node, budget), std::back_inserter(known_));
  } else {
    for (uint32_t i = 0; i < node.types.size(); ++i) known_.push_back(evaluated(node, i, {}, most_depth));
  }
}

Found Intervals::under(const Value& value, const Facts& facts, int depth) const {
  const Found& known = of(value);
  if (!known || facts.empty()) return known;
  Found found = known;
  bool is_told = false;
  for (const auto& [of_fact, bounds] : facts)
    if (of_fact == value) {
      found = both(found, bounds);
      is_told = true;
    }
  const Node& node = value.node();
  // Facts hold for elements at the same place.
  if (is_told || depth <= 0 || !def(node.op).traits.elementwise) return found;
  return both(found, evaluated(node, value.index(), facts, depth - 1));
}

Found Intervals::evaluated(const Node& node, uint32_t index, const Facts& facts, int depth) const {
  const Type& type = node.type(index);
  Operands operands(*this, node, facts, depth);
  switch (node.op) {
    case Op::select:
      return selected(node, facts, depth);
    case Op::or_:
      return is_bool(type.dtype) ? any_holds(node, facts, depth) : bounds_of_dtype(type.dtype);
    case Op::check_range:
      return operands.bounds(0);  // what it finds is told when all has run
    case Op::update_slice:
    case Op::dynamic_update_slice: {
      const Found whole = operands.bounds(0), part = operands.bounds(1);
      return whole && part ? Found(either(*whole, *part)) : bounds_of_dtype(type.dtype);
    }
    case Op::scatter: {
      const Graph& body = *node.regions[0];
      const Found whole = operands.bounds(0), part = operands.bounds(2);
      const bool replaces = body.outputs()[0].value.id() == body.parameters()[1];
      return whole && part && replaces ? Found(either(*whole, *part)) : bounds_of_dtype(type.dtype);
    }
    default:
      return bounds_of_result(node.op, node.attrs, type, index, operands);
  }
}

// Each side where the predicate is what chooses it.
Found Intervals::selected(const Node& node, const Facts& facts, int depth) const {
  const Found chosen = under(node.operand(0), facts, depth);
  std::array<Found, 2> sides;
  for (const bool holds : {true, false}) {
    if (chosen == (holds ? no : yes)) continue;
    Facts more = facts;
    assume(node.operand(0), holds, more);
    sides[holds ? 0 : 1] = under(node.operand(holds ? 1 : 2), more, depth);
  }
  if (chosen == yes || chosen == no) return sides[chosen == yes ? 0 : 1];
  return sides[0] && sides[1] ? Found(either(*sides[0], *sides[1])) : Found();
}

// One of both holds, which the other may follow from: an index is inside, or nobody asks.
Found Intervals::any_holds(const Node& node, const Facts& facts, int depth) const {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    Facts more = facts;
    assume(node.operand(1 - i), false, more);
    if (under(node.operand(i), more, depth) == yes) return yes;
  }
  Operands operands(*this, node, facts, depth);
  return bounds_of_result(node.op, node.attrs, node.type(), 0, operands);
}

void Intervals::assume(const Value& condition, bool holds, Facts& facts, int depth) const {
  const Node& node = condition.node();
  if (depth <= 0 || !is_bool(condition.type().dtype)) return;
  facts.emplace_back(condition, holds ? yes : no);
  if (node.op == Op::not_) return assume(node.operand(0), !holds, facts, depth - 1);
  if (node.op == Op::compare) return assume_comparison(node, holds, facts);
  if (node.op != (holds ? Op::and_ : Op::or_)) return;
  for (const Value& part : node.operands()) assume(part, holds, facts, depth - 1);
}

void Intervals::assume_comparison(const Node& node, bool holds, Facts& facts) const try {
  const Value x = node.operand(0), y = node.operand(1);
  const Found a = under(x, facts, 0), b = under(y, facts, 0);
  if (!a || !b) return;
  std::string_view direction = node.attrs.text(Attr::comparison_direction);
  if (!holds) direction = opposite(direction);
  const bool may_equal = direction == "LE" || direction == "GE";
  if (direction == "LT" || direction == "LE") {
    facts.emplace_back(x, below(*a, *b, may_equal));
    facts.emplace_back(y, above(*b, *a, may_equal));
  } else if (direction == "GT" || direction == "GE") {
    facts.emplace_back(x, above(*a, *b, may_equal));
    facts.emplace_back(y, below(*b, *a, may_equal));
  } else if (direction == "EQ") {
    facts.emplace_back(x, *b);
    facts.emplace_back(y, *a);
  } else {
    facts.emplace_back(x, without(*a, *b));
    facts.emplace_back(y, without(*b, *a));
  }
} catch (const Error&) {  // past 64 bits: nothing follows
}

std::optional<int64_t> Intervals::only(const Value& value) const {
  const Found& known = of(value);
  return known && bounds_of_dtype(value.type().dtype) && known->least == known->greatest ? known->least.static_value()
                                                                                         : std::nullopt;
}

std::vector<Found> Intervals::of_loop(const Node& loop, int64_t& budget) {
  const bool until = loop.attrs.flag(Attr::until);
  Facts facts;
  if (until) assume(loop.operand(0), false, facts);
  std::vector<Found> given;
  for (const Value& operand : loop.operands()) given.push_back(under(operand, facts));
  for (size_t i = 0; i < loop.types.size(); ++i)
    if (!bounds_of_dtype(loop.type(i).dtype)) given[i] = {};  // floats are exact in no turn but the first
  if (until) given[0] = no;
  std::unique_ptr<Intervals> turn = in_turns(loop, given, budget);
  std::vector<Found> results;
  for (uint32_t i = 0; i < loop.types.size(); ++i) {
    const Found before = of(loop.operand(i)), after = turn->of(turn->graph_.outputs()[i].value);
    const bool is_whole = bounds_of_dtype(loop.type(i).dtype).has_value();
    results.push_back(is_whole && before && after ? Found(either(*before, over_turns(loop, *after, loop.type(i).dtype)))
                                                  : Found());
  }
  regions_[loop.id()].push_back(std::move(turn));
  return results;
}

std::vector<Found> Intervals::of_branches(const Node& node, int64_t& budget) {
  std::vector<std::unique_ptr<Intervals>>& branches = regions_[node.id()];
  for (size_t k = 0; k < node.regions.size(); ++k) {
    Facts facts;
    if (node.op == Op::if_) assume(node.operand(0), k == 0, facts);
    std::vector<Found> given;
    for (const Value& operand : node.operands().subspan(1)) given.push_back(under(operand, facts));
    branches.push_back(std::make_unique<Intervals>(*node.regions[k], given, budget));
  }
  std::vector<Found> results;
  for (size_t i = 0; i < node.types.size(); ++i) {
    Found all = branches[0]->of(node.regions[0]->outputs()[i].value);
    for (size_t k = 1; k < branches.size() && all; ++k) {
      const Found& other = branches[k]->of(node.regions[k]->outputs()[i].value);
      all = other ? Found(either(*all, *other)) : Found();
    }
    results.push_back(all);
  }
  return results;
}

}  // namespace weft
