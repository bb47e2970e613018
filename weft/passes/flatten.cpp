// flatten: from trace to flat level, the only step between them.
//
// Two rules: a composite is replaced by its body, and operands of element-wise ops are broadcast in the open. It stands
// first because everything below knows flat ops only.
#include "weft/ir/quantized.h"
#include "weft/passes/pass.h"

namespace weft {
namespace {

// `names`: what has a name and a function that says what it does stays a call of it.
GraphPtr flattened(const Graph& graph, bool names = false);

Value factored_in_f32(Builder& build, const Node& node, std::vector<Value> operands) {
  for (Value& operand : operands) operand = build.convert(operand, DType::f32);
  return build.convert(build(node.op, operands, node.attrs), node.type().dtype);
}

// At fixed places and without strides the update has a spelling that every StableHLO tool knows.
Value static_update(Builder& build, const Node& node, const std::vector<Value>& operands) {
  std::vector<Value> arguments = operands;
  if (!has_unit_strides(node)) return {};
  for (const Dim& start : node.attrs.dims(Attr::start_indices)) {
    if (!start.is_static()) return {};
    arguments.push_back(build.constant(Literal::scalar_int(DType::i64, start.value())));
  }
  return build(Op::dynamic_update_slice, std::move(arguments));
}

std::vector<Value> with_flat_regions(Builder& build, const Node& node, const std::vector<Value>& operands,
                                     bool names = false) {
  return with_regions(build, node, operands, [&](const Graph& region) { return flattened(region, names); });
}

std::vector<Value> flatten_node(Builder& build, const Node& node, const std::vector<Value>& operands) {
  const OpDef& op = def(node.op);
  if (node.op == Op::extent && node.attrs.dims(Attr::dims)[0].is_static())
    return {build.constant(Literal::scalar_int(DType::i64, node.attrs.dims(Attr::dims)[0].value()))};
  if (node.op == Op::update_slice)
    if (Value update = static_update(build, node, operands)) return {update};
  bool factors = node.op == Op::cholesky || node.op == Op::triangular_solve;
  if (factors && bit_width(node.type().dtype) < 32) return {factored_in_f32(build, node, operands)};
  bool composite = op.expand && op.scalar == Scalar::none;
  if (!composite && !node.regions.empty()) return with_flat_regions(build, node, operands);
  if (!composite && (!op.traits.elementwise || operands.size() < 2)) return {};
  if (composite) {
    (void)may_rewrite("a composite is its body", node);
    // Bodies may use composites in turn: what the body adds is flattened by expanding it in a graph of its own.
    Builder inner(Level::trace, std::string(name(node.op)));
    std::vector<Value> parameters;
    for (const Value& operand : operands) parameters.push_back(inner.parameter(operand.type(), ""));
    inner.set_loc(node.loc);
    std::vector<Output> outputs;
    for (const Value& value : expand(inner, node, parameters)) outputs.push_back({value, ""});
    GraphPtr body = inner.finish(std::move(outputs));
    std::vector<std::vector<Value>> values(body->size());
    size_t next = 0;
    for (const Node& each : body->nodes()) {
      if (each.op == Op::parameter) {
        values[each.id()] = {operands[next++]};
        continue;
      }
      std::vector<Value> arguments;
      for (const Value& operand : each.operands()) arguments.push_back(values[operand.id()][operand.index()]);
      std::vector<Value> results = flatten_node(build, each, arguments);
      if (results.empty()) results = results_of(build.copy(each, std::move(arguments)));
      values[each.id()] = std::move(results);
    }
    std::vector<Value> results;
    for (const Output& output : body->outputs()) results.push_back(values[output.value.id()][output.value.index()]);
    return results;
  }
  std::vector<Value> broadcast_operands;
  for (const Value& operand : operands) broadcast_operands.push_back(build.broadcast_to(operand, node.type().dims));
  return {build.copy(node, std::move(broadcast_operands)).result()};
}

GraphPtr flattened(const Graph& graph, bool names) {
  if (is_quantized(graph)) return flattened(*with_stored_types(graph), names);
  if (!names) return rebuild(graph, Level::flat, flatten_node);
  return rebuild(graph, Level::flat, [](Builder& build, const Node& node, const std::vector<Value>& operands) {
    bool is_kept = !node.regions.empty() && (node.op == Op::composite || !def(node.op).expand);
    return is_kept ? with_flat_regions(build, node, operands, true) : flatten_node(build, node, operands);
  });
}

}  // namespace

const Pass flatten{
    .name = "flatten",
    .doc = "Replaces composites by their bodies and writes broadcasting out.",
    .from = Level::trace,
    .to = Level::flat,
    .run = [](const Graph& graph) { return flattened(graph); },
};

const Pass flatten_names{
    .name = "flatten_names",
    .doc = "As flatten, but added operations with a body stay calls by their name.",
    .from = Level::trace,
    .to = Level::flat,
    .run = [](const Graph& graph) { return flattened(graph, true); },
};

}  // namespace weft
