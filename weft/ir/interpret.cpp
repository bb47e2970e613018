// The reference interpreter: node by node, element by element.
#include "weft/ir/interpret.h"

#include "weft/core/element.h"
#include "weft/ir/builder.h"

namespace weft {
namespace {

Scalar comparison(const std::string& direction) {
  if (direction == "EQ") return Scalar::eq;
  if (direction == "NE") return Scalar::ne;
  if (direction == "LT") return Scalar::lt;
  if (direction == "LE") return Scalar::le;
  if (direction == "GT") return Scalar::gt;
  return Scalar::ge;
}

// Where element i of a result of dims `to` comes from in an operand of dims `from`, NumPy's broadcasting.
struct Broadcast {
  Ints to, strides;
  bool same;
  Broadcast(const Ints& from, const Ints& to) : to(to), strides(to.size()), same(from == to) {
    Ints own = row_major_strides(from);
    size_t offset = to.size() - from.size();
    for (size_t i = 0; i < from.size(); ++i) strides[offset + i] = from[i] == 1 ? 0 : own[i];
  }
  int64_t operator()(int64_t i) const {
    if (same) return i;
    int64_t sum = 0;
    for (size_t d = to.size(); d-- > 0; i /= to[d]) sum += i % to[d] * strides[d];
    return sum;
  }
};

Literal evaluate_scalar(const Node& node, std::span<const Literal> operands) {
  Literal result(node.type());
  Scalar op = scalar_of(node);
  Ints dims = node.type().static_dims();
  std::vector<Broadcast> maps;
  for (const Literal& operand : operands) maps.emplace_back(operand.type().static_dims(), dims);
  int64_t size = size_of(node.type().dtype);
  Element arguments[3];
  for (int64_t i = 0; i < result.count(); ++i) {
    for (size_t k = 0; k < operands.size(); ++k) {
      DType dtype = operands[k].dtype();
      arguments[k] = load(operands[k].bytes().data() + maps[k](i) * size_of(dtype), dtype);
    }
    store(result.mutable_bytes() + i * size, apply(op, node.type().dtype, arguments));
  }
  return result;
}

// Builds the composite's body over parameters of the operands' types.
std::vector<Literal> evaluate_composite(const Node& node, std::span<const Literal> operands) {
  Builder build(Level::flat, std::string(name(node.op)));
  Builder holder(Level::trace);
  std::vector<Value> outer, inner;
  for (const Literal& operand : operands) outer.push_back(holder.parameter(operand.type(), ""));
  const Node& call = holder.copy(node, outer);
  // The body is written against a node whose operands are in the graph being built.
  for (const Literal& operand : operands) inner.push_back(build.parameter(operand.type(), ""));
  std::vector<Value> results = expand(build, call, inner);
  std::vector<Output> outputs;
  for (const Value& value : results) outputs.push_back({value, ""});
  return interpret(*build.finish(std::move(outputs)), operands);
}

}  // namespace

Scalar scalar_of(const Node& node) {
  if (node.op == Op::compare) return comparison(node.attrs.text(Attr::comparison_direction));
  return def(node.op).scalar;
}

std::vector<Literal> evaluate(const Node& node, std::span<const Literal> operands) {
  const OpDef& op = def(node.op);
  if (op.scalar != Scalar::none) return {evaluate_scalar(node, operands)};
  if (op.eval) return op.eval(node, operands);
  check(op.expand != nullptr, name(node.op), " has no meaning");
  return evaluate_composite(node, operands);
}

std::vector<Literal> interpret(const Graph& graph, std::span<const Literal> arguments) {
  std::vector<Type> types;
  for (const Literal& argument : arguments) types.push_back(argument.type());
  std::map<std::string, Dim, std::less<>> bindings;
  for (const auto& [symbol, value] : bind_symbols(graph, types)) bindings.emplace(symbol, value);
  GraphPtr specialised = bindings.empty() ? nullptr : substitute(graph, bindings);
  const Graph& program = specialised ? *specialised : graph;
  std::vector<std::vector<Literal>> values(program.size());
  std::vector<uint32_t> uses = program.uses();
  size_t next = 0;
  for (const Node& node : program.nodes()) {
    if (node.op == Op::parameter) {
      values[node.id()] = {arguments[next++]};
      continue;
    }
    std::vector<Literal> operands;
    for (const Value& operand : node.operands()) operands.push_back(values[operand.id()][operand.index()]);
    values[node.id()] = evaluate(node, operands);
    for (const Value& operand : node.operands())
      if (--uses[operand.id()] == 0) values[operand.id()].clear();
  }
  std::vector<Literal> results;
  for (const Output& output : program.outputs()) results.push_back(values[output.value.id()][output.value.index()]);
  return results;
}

}  // namespace weft
