// Between which numbers the integers of a program lie, in the turns of its loops too.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "weft/ir/bounds.h"

namespace weft {

// What is known of values where a condition holds.
using Facts = std::vector<std::pair<Value, Bounds>>;

// The intervals of a flat graph's values, and of the bodies of its loops and branches.
class Intervals {
 public:
  using Found = std::optional<Bounds>;

  // `parameters`: between which numbers those of the graph lie. `budget`: how many calls may be looked at; where none
  // is left loops are looked at once, and what they carry may be anything.
  Intervals(const Graph& graph, const std::vector<Found>& parameters, int64_t& budget);

  const Graph& graph() const { return graph_; }
  // Nothing where nothing is known.
  const Found& of(const Value& value) const { return known_[first_[value.id()] + value.index()]; }
  // The same where these facts hold; looks through so many calls.
  Found under(const Value& value, const Facts& facts, int depth = most_depth) const;
  // Adds what follows from a condition that holds, or that does not.
  void assume(const Value& condition, bool holds, Facts& facts, int depth = most_depth) const;
  // The only number that it can be.
  std::optional<int64_t> only(const Value& value) const;
  // Of a region of a loop or a branch, in a turn.
  const Intervals& region(const Node& node, size_t i) const { return *regions_.at(node.id())[i]; }

 private:
  static constexpr int most_depth = 4;
  class Operands;

  void look_at(const Node& node, int64_t& budget);
  std::vector<Found> of_loop(const Node& loop, int64_t& budget);
  std::vector<Found> of_branches(const Node& node, int64_t& budget);
  Found evaluated(const Node& node, uint32_t index, const Facts& facts, int depth) const;
  Found selected(const Node& node, const Facts& facts, int depth) const;
  Found any_holds(const Node& node, const Facts& facts, int depth) const;
  void assume_comparison(const Node& node, bool holds, Facts& facts) const;

  const Graph& graph_;
  std::vector<Found> known_;
  std::vector<size_t> first_;  // by node: its first result among all
  std::map<NodeId, std::vector<std::unique_ptr<Intervals>>> regions_;
};

// The body of a loop in any of its turns, by induction: what is given, and what conditions and the counter leave of it.
// `given`: operands before the first turn.
std::unique_ptr<Intervals> in_turns(const Node& loop, const std::vector<Intervals::Found>& given, int64_t& budget);
// What a number of a turn is in any of them, without the counter.
Bounds over_turns(const Node& loop, const Bounds& bounds, DType dtype);

}  // namespace weft
