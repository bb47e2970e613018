// Counted loops of few turns over element-wise calls: these are no loop at all, and fuse with what is around them.
#include <algorithm>

#include "weft/kernel/cost.h"
#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// What all turns cost together at most, in vector additions.
constexpr int64_t few = 64;

// What a turn costs; nothing where it does more than element-wise calls.
std::optional<int64_t> cost_of_turn(const Graph& body) {
  int64_t total = 0;
  for (const Node& node : body.nodes()) {
    bool is_given =
        node.op == Op::parameter || node.op == Op::constant || node.op == Op::extent || node.op == Op::broadcast_in_dim;
    if (!is_given && (!def(node.op).traits.elementwise || def(node.op).scalar == Scalar::none)) return std::nullopt;
    if (!is_given) total += std::max(cost_of(def(node.op).scalar), 1);
  }
  return std::max<int64_t>(total, 1);
}

// What the loop gives, turn after turn; nothing for loops of more than that.
std::vector<Value> turns_in_line(Builder& build, const Node& loop, std::vector<Value> values) {
  const Dim trips = loop.attrs.dims(Attr::trips)[0], first = loop.attrs.dims(Attr::first)[0];
  std::optional<int64_t> cost = cost_of_turn(*loop.regions[0]);
  if (!cost || !trips.is_static() || trips.value() * *cost > few || loop.attrs.find(Attr::independent)) return {};
  for (int64_t i = 0; i < trips.value(); ++i) {
    GraphPtr turn = substitute(*loop.regions[0],
                               {{loop.attrs.text(Attr::counter), first + Dim(i * loop.attrs.integer(Attr::step))}});
    std::vector<Value> next = build.inlined(*turn, values);
    std::copy(next.begin(), next.end(), values.begin());
  }
  values.resize(static_cast<size_t>(loop.attrs.integer(Attr::carried)));
  return values;
}

}  // namespace

GraphPtr with_turns_in_line(const Graph& flat) {
  if (std::ranges::none_of(flat.nodes(), [](const Node& node) { return node.op == Op::for_; })) return nullptr;
  Builder build(Level::flat, flat.name());
  std::vector<std::vector<Value>> results(flat.size());
  for (const Node& node : flat.nodes()) {
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.push_back(results[operand.id()][operand.index()]);
    build.set_loc(node.loc);
    if (node.op == Op::for_) results[node.id()] = turns_in_line(build, node, operands);
    if (!results[node.id()].empty()) continue;
    const Node& copy = build.copy(node, std::move(operands));
    for (uint32_t i = 0; i < copy.types.size(); ++i) results[node.id()].push_back(copy.result(i));
  }
  std::vector<Output> outputs;
  for (const GraphPtr& function : flat.functions()) build.add_function(function);
  for (const Output& output : flat.outputs())
    outputs.push_back({results[output.value.id()][output.value.index()], output.name, output.alias});
  return build.finish(std::move(outputs));
}

}  // namespace weft
