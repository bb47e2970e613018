// The short human form of a graph.
#include "weft/ir/text.h"

namespace weft {
namespace {

std::string value_name(const Graph& graph, const Value& value) {
  const Node& node = graph.node(value.id());
  if (node.op == Op::parameter && !node.attrs.text(Attr::name).empty()) return node.attrs.text(Attr::name);
  std::string name = cat("t", value.id());
  if (node.types.size() > 1) append(name, ".", value.index());
  return name;
}

struct ShortAttr {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(bool v) const { return cat(v); }
  std::string operator()(int64_t v) const { return cat(v); }
  std::string operator()(double v) const { return cat(v); }
  std::string operator()(const std::string& v) const { return v; }
  std::string operator()(const Ints& v) const { return cat(v); }
  std::string operator()(const Dims& v) const { return cat(v); }
  std::string operator()(DType v) const { return std::string(numpy_name(v)); }
  std::string operator()(const std::vector<Type>& v) const { return cat(v); }
  std::string operator()(const Literal& v) const {
    if (v.count() != 1) return cat("<", v.count(), " elements>");
    if (is_complex(v.dtype())) return cat(v.as_complex(0).real(), "+", v.as_complex(0).imag(), "j");
    return is_float(v.dtype()) ? cat(v.as_double(0)) : cat(v.as_int(0));
  }
};

// The one operation of a body, or what the lines below the call give as its name.
std::string region_name(const Node& node, size_t i) {
  if (std::optional<Op> op = single_op(*node.regions[i])) return std::string(name(*op));
  switch (node.op) {
    case Op::while_:
      return i ? "body" : "condition";
    case Op::if_:
      return i ? "otherwise" : "then";
    case Op::case_:
      return cat("branch", i);
    case Op::select_and_scatter:
      return i ? "scatter" : "select";
    default:
      return "body";
  }
}

std::string call_text(const Graph& graph, const Node& node) {
  std::string out = cat(name(node.op), "(");
  bool first = true;
  for (const Value& operand : node.operands()) {
    append(out, first ? "" : ", ", value_name(graph, operand));
    first = false;
  }
  for (const auto& [attr, value] : node.attrs) {
    // The result's own dims and type stand behind the colon.
    if (attr == Attr::dims || attr == Attr::type) continue;
    append(out, first ? "" : ", ", name(attr), "=", std::visit(ShortAttr{}, value));
    first = false;
  }
  for (size_t i = 0; i < node.regions.size(); ++i) {
    append(out, first ? "" : ", ", region_name(node, i));
    first = false;
  }
  return out + ")";
}

void append_function(std::string& out, const Graph& graph, const std::string& title, const std::string& indent) {
  append(out, indent, title, "(");
  for (size_t i = 0; i < graph.parameters().size(); ++i) {
    const Node& node = graph.node(graph.parameters()[i]);
    append(out, i ? ", " : "", value_name(graph, node.result()), ": ", node.type().short_text());
  }
  out += "):\n";
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::parameter) continue;
    std::string line = cat(indent, "  t", node.id(), " = ", call_text(graph, node), "  : ");
    for (size_t i = 0; i < node.types.size(); ++i) append(line, i ? ", " : "", node.types[i].short_text());
    if (node.loc) append(line, "  # ", node.loc.text());
    append(out, line, "\n");
    // Functions that are called have a name, and a text of their own.
    if (node.op == Op::call || node.op == Op::composite) continue;
    for (size_t i = 0; i < node.regions.size(); ++i)
      if (!single_op(*node.regions[i])) append_function(out, *node.regions[i], region_name(node, i), indent + "    ");
  }
  append(out, indent, "  return ");
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Output& output = graph.outputs()[i];
    out += i ? ", " : "";
    std::string target = output.alias < 0
                             ? ""
                             : graph.node(graph.parameters()[static_cast<size_t>(output.alias)]).attrs.text(Attr::name);
    // The name of a lone output, and of one that is written to a parameter, says nothing more.
    bool told = output.name.empty() || output.name == "output" || output.name == target;
    append(out, told ? "" : output.name, told ? "" : " = ", value_name(graph, output.value));
    if (output.alias >= 0) append(out, " -> ", target);
  }
  out += "\n";
}

}  // namespace

std::string short_text(const Graph& graph) {
  std::string out;
  append_function(out, graph, graph.name(), "");
  return out;
}

}  // namespace weft
