// Counted loops over element-wise calls. A turn is a pass over memory, however little it computes: so many turns as take a while
// are made one, and few ones no loop at all.
#include <algorithm>

#include "weft/kernel/cost.h"
#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// What the turns of one pass cost together at most, in vector additions: several times what the memory takes.
constexpr int64_t pass = 64;

// What a turn costs; nothing where it does more than element-wise calls.
std::optional<int64_t> cost_of_turn(const Graph& body) {
  int64_t total = 0;
  for (const Node& node : body.nodes()) {
    bool is_given = node.op == Op::parameter || node.op == Op::constant || node.op == Op::extent || node.op == Op::broadcast_in_dim;
    if (!is_given && (!def(node.op).traits.elementwise || def(node.op).scalar == Scalar::none)) return std::nullopt;
    if (!is_given) total += std::max(cost_of(def(node.op).scalar), 1);
  }
  return std::max<int64_t>(total, 1);
}

// The counter of a loop, as the extents that its body reads say it; zero where none does.
Dim counter_of(const Node& loop) {
  for (const Node& node : loop.regions[0]->nodes()) {
    if (node.op != Op::extent) continue;
    for (const Symbol& symbol : node.attrs.dims(Attr::dims)[0].symbols())
      if (symbol.name == loop.attrs.text(Attr::counter)) return Dim(symbol);
  }
  return 0;
}

// The turn of a loop whose counter is `at`: what is carried becomes the first of `values`.
void add_turn(Builder& build, const Node& loop, const Dim& at, std::vector<Value>& values) {
  GraphPtr turn = substitute(*loop.regions[0], {{loop.attrs.text(Attr::counter), at}});
  std::vector<Value> next = build.inlined(*turn, values);
  std::copy(next.begin(), next.end(), values.begin());
}

std::vector<Value> turns_at_once(Builder& build, const Node& loop, std::vector<Value> values) {
  const Dim trips = loop.attrs.dims(Attr::trips)[0], first = loop.attrs.dims(Attr::first)[0];
  std::optional<int64_t> cost = cost_of_turn(*loop.regions[0]);
  auto carried = static_cast<size_t>(loop.attrs.integer(Attr::carried));
  if (!cost || !trips.is_static() || trips.value() < 2 || carried == 0 || loop.attrs.find(Attr::independent)) return {};
  int64_t count = trips.value(), most = pass / *cost, step = loop.attrs.integer(Attr::step);
  if (most < 2) return {};
  int64_t passes = (count + most - 1) / most, each = (count + passes - 1) / passes, whole = count / each;
  if (whole > 1) {
    Builder body(Level::flat, loop.regions[0]->name());
    std::vector<Value> parameters;
    for (const Value& value : values) parameters.push_back(body.parameter(value.type(), ""));
    const Dim counter = counter_of(loop);
    for (int64_t i = 0; i < each; ++i) add_turn(body, loop, counter + Dim(i * step), parameters);
    std::vector<Output> outputs;
    for (size_t i = 0; i < carried; ++i) outputs.push_back({parameters[i], cat("output.", i), -1});
    Attrs attrs = loop.attrs;
    attrs.set(Attr::trips, Dims{whole}), attrs.set(Attr::step, step * each);
    const Node& call = build.call(Op::for_, values, std::move(attrs), {body.finish(std::move(outputs))});
    for (uint32_t i = 0; i < carried; ++i) values[i] = Node(call).result(i);
  } else {
    whole = 0;
  }
  // Those that are left: their counter is known.
  for (int64_t i = whole * each; i < count; ++i) add_turn(build, loop, first + Dim(i * step), values);
  values.resize(carried);
  return values;
}

}  // namespace

GraphPtr with_turns_at_once(const Graph& flat) {
  if (std::ranges::none_of(flat.nodes(), [](const Node& node) { return node.op == Op::for_; })) return nullptr;
  Builder build(Level::flat, flat.name());
  std::vector<std::vector<Value>> results(flat.size());
  for (const Node& node : flat.nodes()) {
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.push_back(results[operand.id()][operand.index()]);
    build.set_loc(node.loc);
    if (node.op == Op::for_) results[node.id()] = turns_at_once(build, node, operands);
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
