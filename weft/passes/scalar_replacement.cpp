// scalar_replacement: an element that a turn of a counted loop writes and one of the next turns reads is carried as a
// number besides.
//
// In `y[i] = a * y[i - 1] + x[i]` each turn would wait until memory gives what the turn before has stored, which takes
// longer than to compute it. The element is stored as before, but not read again (Callahan, Carr, Kennedy: Improving
// register allocation for subscripted variables, PLDI 1990).
#include <algorithm>
#include <map>
#include <utility>

#include "weft/core/turns.h"
#include "weft/passes/pass.h"

namespace weft {
namespace {

// An element is carried for no more turns than these.
constexpr int64_t most_turns = 4;

bool is_element(const Value& value) {
  return std::ranges::all_of(value.type().dims, [](const Dim& dim) { return dim.is(1); });
}

bool differ(const Dims& a, const Dims& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (const Dim distance = a[i] - b[i]; distance.is_static() && !distance.is(0)) return true;
  return false;
}

bool lie_inside(const Dims& at, const Dims& dims) {
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i].min() < 0 || (dims[i] - at[i]).min() < 1) return false;
  return true;
}

// The elements of what a loop carries that its turns write and later ones read.
class Recurrences {
 public:
  // What an update writes to one of the arrays that are carried is read up to so many turns later. The numbers that are
  // carried for that are those from `first` on: of the turn before, of the one before that and so on.
  struct Kept {
    size_t array = 0;
    int64_t turns = 0;
    size_t first = 0;
  };
  std::map<NodeId, Kept> kept;
  std::map<NodeId, size_t> reads;  // by slice of the body: the number that it is
  size_t count = 0;                // of numbers

  Recurrences(const Node& loop, const Graph& body) : loop_(loop), body_(body) {
    const auto carried = loop.attrs.integer(Attr::carried);
    const std::span<const NodeId> parameters = body.parameters();
    std::map<NodeId, Read> found;
    for (const Node& node : body.nodes()) {
      if (node.op != Op::slice || !is_element(node.result())) continue;
      const auto i = std::ranges::find(parameters, node.operand(0).id()) - parameters.begin();
      const std::optional<Read> read = i < carried ? written(node, updates_of(static_cast<size_t>(i))) : std::nullopt;
      if (!read) continue;
      Kept& update = kept[read->update];
      update = {static_cast<size_t>(i), std::max(update.turns, read->turns)};
      found[node.id()] = *read;
    }
    for (auto& [id, update] : kept) update.first = std::exchange(count, count + static_cast<size_t>(update.turns));
    for (const auto& [id, read] : found) reads[id] = kept[read.update].first + static_cast<size_t>(read.turns) - 1;
  }

  // Where an update wrote so many turns before the first, if there had been any.
  Dims before_first(const Node& update, int64_t turns) const {
    return written_at(update, loop_.attrs.dims(Attr::first)[0], turns);
  }

 private:
  // The update that wrote what a slice of the body reads, so many turns before.
  struct Read {
    NodeId update;
    int64_t turns;
  };

  // What a turn does to an array, the last first; nothing where that is more than to write elements.
  std::vector<const Node*> updates_of(size_t i) const {
    std::vector<const Node*> updates;
    const Node* node = &body_.outputs()[i].value.node();
    for (; node->op == Op::update_slice && is_element(node->operand(1)); node = &node->operand(0).node())
      updates.push_back(node);
    return node->id() == body_.parameters()[i] ? updates : std::vector<const Node*>{};
  }

  std::optional<Read> written(const Node& slice, const std::vector<const Node*>& updates) const {
    const Dims& at = slice.attrs.dims(Attr::start_indices);
    for (int64_t turns = 1; turns <= most_turns; ++turns)
      for (const Node* update : updates) {
        if (!lie_inside(before_first(*update, turns), slice.operand(0).type().dims)) return std::nullopt;
        const Dims place = written_at(*update, counter_in(*update), turns);
        if (place == at) return Read{update->id(), turns};
        if (!differ(place, at)) return std::nullopt;
      }
    return std::nullopt;
  }

  // Where an update wrote so many turns before the one that begins with `counter`.
  Dims written_at(const Node& update, const Dim& counter, int64_t turns) const {
    Dims at = update.attrs.dims(Attr::start_indices);
    const Dim before = counter - Dim(turns * loop_.attrs.integer(Attr::step));
    for (Dim& dim : at) dim = dim.substitute({{loop_.attrs.text(Attr::counter), before}});
    return at;
  }

  // The counter as an update has it; any number where that does not use it.
  Dim counter_in(const Node& update) const {
    for (const Dim& dim : update.attrs.dims(Attr::start_indices))
      for (const Symbol& symbol : dim.symbols())
        if (symbol.name == loop_.attrs.text(Attr::counter)) return Dim(symbol);
    return 0;
  }

  const Node& loop_;
  const Graph& body_;
};

Value element_of(Builder& build, const Value& array, const Dims& at) {
  Dims end = at;
  for (Dim& dim : end) dim = dim + Dim(1);
  const Ints strides(at.size(), 1);
  return build.reshape(
      build(Op::slice, {array},
            {{Attr::start_indices, at}, {Attr::limit_indices, std::move(end)}, {Attr::strides, strides}}),
      {});
}

// The body with parameters for numbers behind those that are carried, and what the next turn gets for them.
GraphPtr with_numbers(const Graph& body, const Recurrences& found, size_t carried, std::span<const Value> arguments) {
  Builder build(body.level(), body.name());
  std::vector<std::vector<Value>> values(body.size());
  std::vector<Value> numbers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool is_number = i >= carried && numbers.size() < found.count;
    const Value given = build.parameter(arguments[i].type(), "", arguments[i].node().loc);
    if (is_number)
      numbers.push_back(given);
    else
      values[body.parameters()[i - numbers.size()]] = {given};
  }
  for (const auto& [slice, number] : found.reads)
    values[slice] = {build.reshape(numbers[number], body.node(slice).type().dims)};
  std::vector<Output> outputs = copy_rest(build, body, values);
  for (const auto& [id, update] : found.kept) {
    const Value& part = body.node(id).operand(1);
    outputs.push_back({build.reshape(values[part.id()][part.index()], {}), ""});
    for (int64_t turns = 1; turns < update.turns; ++turns)
      outputs.push_back({numbers[update.first + static_cast<size_t>(turns) - 1], ""});
  }
  return build.finish(std::move(outputs));
}

GraphPtr replaced(const Graph& graph, double around);

// A loop that carries what its turns read of earlier ones; `around`: the turns of those around it.
std::vector<Value> replaced_in(Builder& outer, const Node& node, const std::vector<Value>& operands, double around) {
  const double all_turns = around * static_cast<double>(node.attrs.dims(Attr::trips)[0].opt());
  const GraphPtr body = replaced(*node.regions[0], all_turns);
  const Recurrences found(node, *body);
  if (all_turns < least_short_turns || found.count == 0)
    return results_of(outer.call(node.op, operands, node.attrs, {body}));
  const auto carried = static_cast<size_t>(node.attrs.integer(Attr::carried));
  std::vector<Value> arguments = operands;
  auto behind = arguments.begin() + static_cast<ptrdiff_t>(carried);
  for (const auto& [id, update] : found.kept)
    for (int64_t turns = 1; turns <= update.turns; ++turns)
      behind = 1 + arguments.insert(
                       behind, element_of(outer, operands[update.array], found.before_first(body->node(id), turns)));
  Attrs attrs = node.attrs;
  attrs.set(Attr::carried, static_cast<int64_t>(carried + found.count));
  const GraphPtr now = with_numbers(*body, found, carried, arguments);
  std::vector<Value> results = results_of(outer.call(node.op, std::move(arguments), attrs, {now}));
  results.resize(carried);
  return results;
}

GraphPtr replaced(const Graph& graph, double around) {
  return rebuild(graph, graph.level(), [&](Builder& build, const Node& node, const std::vector<Value>& operands) {
    if (node.op == Op::for_ && !node.attrs.find(Attr::independent)) return replaced_in(build, node, operands, around);
    if (family(node.op) != Family::control || node.regions.empty()) return std::vector<Value>();
    return with_regions(build, node, operands, [&](const Graph& region) { return replaced(region, around); });
  });
}

}  // namespace

const Pass scalar_replacement{
    .name = "scalar_replacement",
    .doc = "Elements that a turn of a counted loop writes and a later one reads are carried as numbers.",
    .from = Level::flat,
    .to = Level::flat,
    .run = [](const Graph& graph) { return replaced(graph, 1); },
};

}  // namespace weft
