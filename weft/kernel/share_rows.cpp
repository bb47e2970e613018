// Sums over everything as sums of the sums of rows, where other sums of rows need what they add up: one loop computes
// that for both.
#include <algorithm>
#include <map>
#include <set>

#include "weft/kernel/cost.h"
#include "weft/kernel/prepare.h"
#include "weft/kernel/shifts.h"

namespace weft {
namespace {

// Elements of a row whose sum costs more than to store it.
constexpr int64_t long_enough = 64;

class SharedRows {
 public:
  explicit SharedRows(const Graph& graph) : graph_(graph), price_(graph.size()) {
    for (const Node& node : graph.nodes()) {
      if (!def(node.op).traits.elementwise) continue;
      int price = own_price(node);
      for (const Value& operand : node.operands()) price += price_[operand.id()];
      price_[node.id()] = std::min(price, cheap + 1);
    }
  }

  // The dimensions to reduce first, by reduce.
  std::map<NodeId, Ints> find() {
    for (const Node& node : graph_.nodes())
      if (is_sum(node))
        for (NodeId id : shared(node)) reduced_[id].insert(node.ints(Attr::dimensions));
    std::map<NodeId, Ints> found;
    for (const Node& node : graph_.nodes()) {
      if (!is_sum(node) || !is_neutral(node.operand(1).node(), def(*single_op(*node.regions[0])).scalar)) continue;
      for (NodeId id : shared(node))
        for (const Ints& fewer : reduced_[id])
          if (is_part(fewer, node.ints(Attr::dimensions))) found.try_emplace(node.id(), fewer);
    }
    return found;
  }

 private:
  static bool is_sum(const Node& node) { return node.op == Op::reduce && !is_fold(node); }

  static bool is_part(const Ints& fewer, const Ints& all) {
    return fewer.size() < all.size() &&
           std::ranges::all_of(fewer, [&](int64_t dimension) { return std::ranges::count(all, dimension); });
  }

  // What a reduce computes for each element, of what is worth computing once.
  std::vector<NodeId> shared(const Node& reduce) const {
    const Value& x = reduce.operand(0);
    Dim length = 1;
    for (int64_t dimension : reduce.ints(Attr::dimensions))
      length = length * x.type().dims[static_cast<size_t>(dimension)];
    if (length.opt() < long_enough) return {};
    std::vector<NodeId> pending{x.id()}, found;
    std::set<NodeId> seen{x.id()};
    while (!pending.empty()) {
      const Node& node = graph_.node(pending.back());
      pending.pop_back();
      if (!def(node.op).traits.elementwise || node.type().dims != x.type().dims) continue;
      if (price_[node.id()] > cheap) found.push_back(node.id());
      for (const Value& operand : node.operands())
        if (seen.insert(operand.id()).second) pending.push_back(operand.id());
    }
    return found;
  }

  const Graph& graph_;
  std::vector<int> price_;                    // of an element, from what is not element by element
  std::map<NodeId, std::set<Ints>> reduced_;  // the dimensions over which a value is reduced
};

}  // namespace

GraphPtr with_shared_rows(GraphPtr graph) {
  const std::map<NodeId, Ints> found = SharedRows(*graph).find();
  if (found.empty()) return graph;
  return rebuild(*graph, Level::flat, [&](Builder& build, const Node& node, const std::vector<Value>& operands) {
    auto rows = found.find(node.id());
    if (rows == found.end()) return std::vector<Value>{};
    Attrs first = node.attrs, second = node.attrs;
    first.set(Attr::dimensions, rows->second);
    Value sums = build.call(Op::reduce, operands, std::move(first), node.regions).result(0);
    Ints rest;
    for (int64_t dimension : node.ints(Attr::dimensions))
      if (!std::ranges::count(rows->second, dimension))
        rest.push_back(dimension - std::ranges::count_if(rows->second, [&](int64_t d) { return d < dimension; }));
    second.set(Attr::dimensions, rest);
    return std::vector{build.call(Op::reduce, {sums, operands[1]}, std::move(second), node.regions).result(0)};
  });
}

}  // namespace weft
