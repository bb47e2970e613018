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
  if (!cost || !trips.is_static() || trips.value() * *cost > few || loop.attrs.find(Attr::independent) ||
      loop.attrs.flag(Attr::until))
    return {};
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
  return rebuild(flat, Level::flat, [](Builder& build, const Node& node, const std::vector<Value>& operands) {
    return node.op == Op::for_ ? turns_in_line(build, node, operands) : std::vector<Value>{};
  });
}

}  // namespace weft
