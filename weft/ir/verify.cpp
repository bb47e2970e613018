// Verifying is inferring again and comparing.
#include <algorithm>

#include "weft/ir/builder.h"
#include "weft/ir/graph.h"

namespace weft {
namespace {

void verify_node(const Graph& graph, const Node& node) {
  const OpDef& op = def(node.op);
  for (const Value& operand : node.operands()) {
    check(&operand.graph() == &graph, name(node.op), ": operand of another graph");
    check(operand.id() < node.id(), name(node.op), ": operand defined after its use");
    check(operand.index() < operand.node().types.size(), name(node.op), ": operand has no such result");
  }
  if (node.op == Op::parameter) return;
  bool flat = graph.level() == Level::flat;
  check(!flat || !op.names.stablehlo.empty(), name(node.op), " is not an operation of level flat");
  std::vector<Type> operands;
  for (const Value& operand : node.operands()) operands.push_back(operand.type());
  if (!flat && op.traits.elementwise && operands.size() > 1) {
    Dims dims = operands[0].dims;
    for (const Type& type : operands) dims = broadcast(dims, type.dims);
    for (Type& type : operands) type.dims = dims;
  }
  std::vector<Type> types = infer({node.op, operands, node.attrs, node.regions});
  check(types == node.types, name(node.op), ": has type ", node.type(), ", inference gives ", types);
  for (const GraphPtr& region : node.regions) verify(*region);
}

}  // namespace

void verify(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    try {
      verify_node(graph, node);
    } catch (const Error& error) {
      throw error.at(node.loc);
    }
  }
  for (const Output& output : graph.outputs()) {
    check(&output.value.graph() == &graph, "output of another graph");
    if (output.alias < 0) continue;
    size_t alias = static_cast<size_t>(output.alias);
    if (alias >= graph.parameters().size())
      fail(ErrorKind::value, "alias", "output '", output.name, "' aliases parameter ", alias, " of ", graph.parameters().size());
    const Type& parameter = graph.node(graph.parameters()[alias]).type();
    if (parameter != output.value.type())
      fail(ErrorKind::value, "alias", "output '", output.name, "' of type ", output.value.type(), " cannot alias a parameter of type ",
           parameter);
  }
}

}  // namespace weft
