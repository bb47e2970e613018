// while_loops: counted loops as while loops, for other tools to read.
//
// A counted loop whose body has types of fixed extents becomes StableHLO's while with the counter among the carried
// values; slices and updates at places that depend on counters become dynamic ones. Bodies with extents that depend on
// a counter have no such form and stay as they are. It stands outside of the pipeline: kernels are made of counted
// loops.
#include <algorithm>

#include "weft/passes/pass.h"

namespace weft {
namespace {

using Counters = std::map<std::string, Value, std::less<>>;

Value integer(Builder& build, int64_t value) { return build.constant(Literal::scalar_int(DType::i64, value)); }

// An extent as arithmetic on the values of counters.
Value value_of(Builder& build, const Dim& dim, const Counters& counters) {
  Value sum = integer(build, dim.constant());
  for (const Dim::Term& term : dim.terms()) {
    Value product = integer(build, term.coefficient);
    for (const auto& atom : term.atoms) {
      Value factor;
      if (atom->op == DimOp::symbol) {
        auto counter = counters.find(atom->symbol.name);
        factor = counter != counters.end() ? counter->second : build.extent(Dim(atom->symbol));
      } else {
        Value lhs = value_of(build, atom->operands[0], counters), rhs = value_of(build, atom->operands[1], counters);
        switch (atom->op) {
          case DimOp::min:
            factor = build(Op::minimum, {lhs, rhs});
            break;
          case DimOp::max:
            factor = build(Op::maximum, {lhs, rhs});
            break;
          // Rounded down, as extents divide.
          default:
            factor = build(atom->op == DimOp::mod ? Op::mod : Op::floor_divide, {lhs, rhs});
        }
      }
      product = build(Op::multiply, {product, factor});
    }
    sum = build(Op::add, {sum, product});
  }
  return sum;
}

bool knows(const Dims& dims, const Counters& counters) {
  for (const Dim& dim : dims)
    for (const Symbol& symbol : dim.symbols())
      if (!counters.count(symbol.name)) return false;
  return true;
}

bool is_fixed(const Dims& dims) {
  for (const Dim& dim : dims)
    if (!dim.is_static()) return false;
  return true;
}

// Whether a body can be written with while: types without symbols, and symbols in places that have a dynamic form only.
bool has_form(const Graph& body) {
  for (const Node& node : body.nodes()) {
    for (const Type& type : node.types)
      if (!type.is_static()) return false;
    bool places = node.op == Op::slice || node.op == Op::update_slice;
    if (node.op == Op::extent || node.op == Op::for_) continue;
    for (const auto& [attr, value] : node.attrs)
      if (const Dims* dims = std::get_if<Dims>(&value); dims && !is_fixed(*dims) && !places) return false;
    if (places && !is_fixed(node.attrs.dims(Attr::start_indices)) && !has_unit_strides(node)) return false;
    if (node.op != Op::for_)
      for (const GraphPtr& region : node.regions)
        if (!has_form(*region)) return false;
  }
  for (const Node& node : body.nodes())
    if (node.op == Op::for_ && !has_form(*node.regions[0])) return false;
  return true;
}

std::vector<Value> in_body(Builder& build, const Node& node, const std::vector<Value>& operands,
                           const Counters& counters);

// The body's nodes with values in the place of its parameters; its outputs.
std::vector<Value> inlined(Builder& build, const Graph& body, const std::vector<Value>& arguments,
                           const Counters& counters) {
  std::vector<std::vector<Value>> values(body.size());
  size_t next = 0;
  for (const Node& node : body.nodes()) {
    if (node.op == Op::parameter) {
      values[node.id()] = {arguments[next++]};
      continue;
    }
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.push_back(values[operand.id()][operand.index()]);
    build.set_loc(node.loc);
    values[node.id()] = in_body(build, node, operands, counters);
  }
  std::vector<Value> results;
  for (const Output& output : body.outputs()) results.push_back(values[output.value.id()][output.value.index()]);
  return results;
}

// Carried: how many turns are done, what changes, what stays, and the counters of the loops around.
std::vector<Value> as_while(Builder& build, const Node& node, const std::vector<Value>& operands,
                            const Counters& outer) {
  auto carried = static_cast<size_t>(node.attrs.integer(Attr::carried));
  Value trips = value_of(build, node.attrs.dims(Attr::trips)[0], outer),
        first = value_of(build, node.attrs.dims(Attr::first)[0], outer);
  std::vector<Value> inits{integer(build, 0), trips, first};
  inits.insert(inits.end(), operands.begin(), operands.end());
  for (const auto& [name, value] : outer) inits.push_back(value);
  Builder condition(Level::trace, "cond"), body(Level::trace, "body");
  std::vector<Value> asked, given;
  for (const Value& init : inits) {
    asked.push_back(condition.parameter(init.type(), ""));
    given.push_back(body.parameter(init.type(), ""));
  }
  Value more = condition(Op::compare, {asked[0], asked[1]}, {{Attr::comparison_direction, std::string("LT")}});
  if (node.attrs.flag(Attr::until)) more = condition(Op::and_, {more, condition(Op::not_, {asked[3]})});
  Counters counters;
  size_t at = 3 + operands.size();
  for (const auto& [name, value] : outer) counters[name] = given[at++];
  Value distance = body(Op::multiply, {given[0], integer(body, node.attrs.integer(Attr::step))});
  counters[node.attrs.text(Attr::counter)] = body(Op::add, {given[2], distance});
  std::vector<Value> arguments(given.begin() + 3, given.begin() + 3 + static_cast<std::ptrdiff_t>(operands.size()));
  std::vector<Value> results = inlined(body, *node.regions[0], arguments, counters);
  std::vector<Value> next = given;
  next[0] = body(Op::add, {given[0], integer(body, 1)});
  for (size_t i = 0; i < carried; ++i) next[3 + i] = results[i];
  std::vector<Output> outputs;
  for (const Value& value : next) outputs.push_back({value, ""});
  GraphPtr test = condition.finish({{more, ""}}), turn = body.finish(std::move(outputs));
  NodeId id = build.call(Op::while_, inits, {}, {test, turn}).id();
  std::vector<Value> last;
  for (uint32_t i = 0; i < carried; ++i) last.emplace_back(&build.graph(), id, 3 + i);
  return last;
}

std::vector<Value> in_body(Builder& build, const Node& node, const std::vector<Value>& operands,
                           const Counters& counters) {
  if (node.op == Op::for_) return as_while(build, node, operands, counters);
  if (node.op == Op::extent) return {value_of(build, node.attrs.dims(Attr::dims)[0], counters)};
  bool places = node.op == Op::slice || node.op == Op::update_slice;
  if (places && !is_fixed(node.attrs.dims(Attr::start_indices))) {
    std::vector<Value> arguments = operands;
    for (const Dim& start : node.attrs.dims(Attr::start_indices)) arguments.push_back(value_of(build, start, counters));
    if (node.op == Op::slice) return {build(Op::dynamic_slice, arguments, {{Attr::slice_sizes, node.type().dims}})};
    return {build(Op::dynamic_update_slice, arguments)};
  }
  return results_of(build.copy(node, operands));
}

// Of a program, or of the functions of its named operations.
bool has_loops(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
    return node.op == Op::for_ || (node.op == Op::composite && has_loops(*node.regions[0]));
  });
}

GraphPtr write_loops(const Graph& graph) {
  if (!has_loops(graph))
    return rebuild(graph, graph.level(),
                   [](Builder&, const Node&, const std::vector<Value>&) { return std::vector<Value>{}; });
  GraphPtr rewritten =
      rebuild(graph, Level::trace, [](Builder& build, const Node& node, const std::vector<Value>& operands) {
        if (node.op == Op::composite) {
          NodeId id = build.call(Op::composite, operands, node.attrs, {write_loops(*node.regions[0])}).id();
          std::vector<Value> results;
          for (uint32_t i = 0; i < node.types.size(); ++i) results.emplace_back(&build.graph(), id, i);
          return results;
        }
        bool writable = node.op == Op::for_ && knows(node.attrs.dims(Attr::trips), {}) &&
                        knows(node.attrs.dims(Attr::first), {}) && has_form(*node.regions[0]);
        return writable ? as_while(build, node, operands, {}) : std::vector<Value>{};
      });
  return flatten_names.run(*rewritten);
}

}  // namespace

const Pass while_loops{
    .name = "while_loops",
    .doc = "Writes counted loops as while loops where their types are fixed.",
    .from = Level::flat,
    .to = Level::flat,
    .run = write_loops,
};

}  // namespace weft
