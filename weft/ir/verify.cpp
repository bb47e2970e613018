// Verifying is inferring again and comparing.
#include <algorithm>
#include <map>
#include <set>

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
  check(types == node.types, name(node.op), ": has types ", node.types, ", inference gives ", types);
  for (const GraphPtr& region : node.regions) verify(*region);
}

// All extents that a node mentions.
template <class See>
void see_extents(const Node& node, const See& see) {
  for (const Type& type : node.types) std::ranges::for_each(type.dims, see);
  for (const auto& [attr, value] : node.attrs)
    if (const auto* dims = std::get_if<Dims>(&value)) std::ranges::for_each(*dims, see);
}

void require_known(const Graph& graph, std::set<std::string, std::less<>>& known) {
  for (const Node& node : graph.nodes()) {
    see_extents(node, [&](const Dim& dim) {
      if (dim.is_static()) return;
      for (const Symbol& symbol : dim.symbols())
        if (!known.contains(symbol.name))
          raise(
              {ErrorKind::value,
               cat(name(node.op), ": the extent '", symbol.name, "' is that of no input: no run would know its value"),
               "unknown_extent", node.loc});
    });
    if (node.regions.empty()) continue;
    const AttrValue* counter = node.attrs.find(Attr::counter);
    bool is_new = counter && known.insert(std::get<std::string>(*counter)).second;
    for (const GraphPtr& region : node.regions) require_known(*region, known);
    if (is_new) known.erase(std::get<std::string>(*counter));
  }
}

// Symbols are equal by name: two ranges of one name would make equal types of different programs.
void verify_symbols(const Node& node, std::map<std::string, Symbol, std::less<>>& known) {
  see_extents(node, [&](const Dim& dim) {
    for (const Symbol& symbol : dim.symbols())
      if (auto [at, is_new] = known.try_emplace(symbol.name, symbol); !is_new && at->second != symbol)
        fail(ErrorKind::value, "symbol_range", "the extent '", symbol.name, "' must have one range, got ",
             at->second.min, " to ", at->second.max, " and ", symbol.min, " to ", symbol.max);
  });
}

}  // namespace

void require_known_extents(const Graph& graph) {
  std::set<std::string, std::less<>> known;
  for (const Symbol& symbol : graph.symbols()) known.insert(symbol.name);
  require_known(graph, known);
}

void verify(const Graph& graph) {
  std::map<std::string, Symbol, std::less<>> symbols;
  for (const Node& node : graph.nodes()) {
    try {
      verify_node(graph, node);
      verify_symbols(node, symbols);
    } catch (const Error& error) {
      raise(error.at(node.loc));
    }
  }
  for (const Output& output : graph.outputs()) {
    check(&output.value.graph() == &graph, "output of another graph");
    if (output.alias < 0) continue;
    size_t alias = static_cast<size_t>(output.alias);
    if (alias >= graph.parameters().size())
      fail(ErrorKind::value, "alias", "output '", output.name, "' aliases parameter ", alias, " of ",
           graph.parameters().size());
    const Type& parameter = graph.node(graph.parameters()[alias]).type();
    if (parameter != output.value.type())
      fail(ErrorKind::value, "alias", "output '", output.name, "' of type ", output.value.type(),
           " cannot alias a parameter of type ", parameter);
  }
}

}  // namespace weft
