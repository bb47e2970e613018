// Graphs: equality, hashing, specialisation, symbols.
#include "weft/ir/graph.h"

#include <algorithm>

#include "weft/core/hash.h"
#include "weft/ir/builder.h"

namespace weft {
namespace {

using Bindings = std::map<std::string, Dim, std::less<>>;

// Of many bytes, those of places all over them: weights are compared soon enough.
size_t hash_bytes(std::span<const std::byte> bytes) {
  constexpr size_t piece = 64, most_pieces = 64;
  size_t h = bytes.size(), step = std::max(piece, bytes.size() / most_pieces);
  for (size_t at = 0; at < bytes.size(); at += step) {
    std::span<const std::byte> part = bytes.subspan(at, std::min(piece, bytes.size() - at));
    h = hash_combine(h, std::hash<std::string_view>{}({reinterpret_cast<const char*>(part.data()), part.size()}));
  }
  return h;
}

size_t hash_of(const Type& type) {
  size_t h = static_cast<size_t>(type.dtype);
  for (const Dim& dim : type.dims) h = hash_combine(h, dim.hash());
  return h;
}

struct AttrHash {
  size_t operator()(std::monostate) const { return 0; }
  size_t operator()(bool v) const { return v; }
  size_t operator()(int64_t v) const { return std::hash<int64_t>{}(v); }
  size_t operator()(double v) const { return std::hash<double>{}(v); }
  size_t operator()(const std::string& v) const { return std::hash<std::string>{}(v); }
  size_t operator()(DType v) const { return static_cast<size_t>(v); }
  size_t operator()(const Literal& v) const {
    size_t h = hash_of(v.type());
    return v.is_live() ? hash_combine(h, reinterpret_cast<size_t>(v.bytes().data()))
                       : hash_combine(h, hash_bytes(v.bytes()));
  }
  size_t operator()(const std::vector<Type>& v) const {
    size_t h = v.size();
    for (const Type& type : v) h = hash_combine(h, hash_of(type));
    return h;
  }
  size_t operator()(const Ints& v) const {
    size_t h = v.size();
    for (int64_t i : v) h = hash_combine(h, static_cast<size_t>(i));
    return h;
  }
  size_t operator()(const Dims& v) const {
    size_t h = v.size();
    for (const Dim& dim : v) h = hash_combine(h, dim.hash());
    return h;
  }
};

Dims substituted(const Dims& dims, const Bindings& symbols) {
  Dims result;
  for (const Dim& dim : dims) result.push_back(dim.substitute(symbols));
  return result;
}

bool equal_nodes(const Node& a, const Node& b) {
  if (a.op != b.op || a.types != b.types || a.attrs != b.attrs || a.operand_count() != b.operand_count() ||
      a.regions.size() != b.regions.size())
    return false;
  for (size_t i = 0; i < a.operand_count(); ++i)
    if (a.operand(i).id() != b.operand(i).id() || a.operand(i).index() != b.operand(i).index()) return false;
  for (size_t i = 0; i < a.regions.size(); ++i)
    if (a.regions[i] != b.regions[i] && !equal(*a.regions[i], *b.regions[i])) return false;
  return true;
}

}  // namespace

const Node& Value::node() const { return graph_->node(id_); }
const Type& Value::type() const { return graph_->node(id_).types[index_]; }

std::vector<uint32_t> Graph::uses() const {
  std::vector<uint32_t> counts(nodes_.size());
  for (const Node& node : nodes_)
    for (const Value& operand : node.operands()) ++counts[operand.id()];
  for (const Output& output : outputs_) ++counts[output.value.id()];
  return counts;
}

bool equal(const Graph& lhs, const Graph& rhs) {
  if (lhs.level() != rhs.level() || lhs.name() != rhs.name() || lhs.size() != rhs.size() ||
      lhs.outputs().size() != rhs.outputs().size() || lhs.functions().size() != rhs.functions().size())
    return false;
  for (NodeId id = 0; id < lhs.size(); ++id)
    if (!equal_nodes(lhs.node(id), rhs.node(id))) return false;
  for (size_t i = 0; i < lhs.outputs().size(); ++i) {
    const Output &a = lhs.outputs()[i], &b = rhs.outputs()[i];
    if (a.value.id() != b.value.id() || a.value.index() != b.value.index() || a.name != b.name || a.alias != b.alias)
      return false;
  }
  for (size_t i = 0; i < lhs.functions().size(); ++i)
    if (!equal(*lhs.functions()[i], *rhs.functions()[i])) return false;
  return true;
}

size_t hash(const Node& node, std::span<const Value> operands) {
  size_t h = static_cast<size_t>(node.op);
  for (const Type& type : node.types) h = hash_combine(h, hash_of(type));
  for (const Value& operand : operands) h = hash_combine(h, operand.id() * 8u + operand.index());
  for (const auto& [attr, value] : node.attrs)
    h = hash_combine(h, std::visit(AttrHash{}, value) + static_cast<size_t>(attr));
  for (const GraphPtr& region : node.regions) h = hash_combine(h, hash(*region));
  return h;
}

size_t hash(const Graph& graph) {
  size_t h = graph.size();
  for (const Node& node : graph.nodes()) h = hash_combine(h, hash(node, node.operands()));
  for (const Output& output : graph.outputs())
    h = hash_combine(h, output.value.id() + static_cast<size_t>(output.alias));
  return h;
}

GraphPtr substitute(const Graph& graph, const Bindings& symbols) {
  Builder build(graph.level(), graph.name());
  std::vector<Output> outputs;
  for (const Node& node : graph.nodes()) {
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.emplace_back(&build.graph(), operand.id(), operand.index());
    build.copy_substituted(node, std::move(operands), [&](const Dims& dims) { return substituted(dims, symbols); });
  }
  for (const Output& output : graph.outputs())
    outputs.push_back({Value(&build.graph(), output.value.id(), output.value.index()), output.name, output.alias});
  for (const GraphPtr& function : graph.functions()) build.add_function(function);
  return build.finish(std::move(outputs));
}

std::map<std::string, int64_t, std::less<>> bind_symbols(const Graph& graph, std::span<const Type> arguments) {
  if (arguments.size() != graph.parameters().size())
    fail(ErrorKind::type, "argument_count", "'", graph.name(), "' takes ", graph.parameters().size(),
         " arguments, got ", arguments.size());
  std::map<std::string, int64_t, std::less<>> symbols;
  auto mismatch = [&](const Node& parameter, const Type& given) {
    fail(ErrorKind::value, "argument_type", "argument '", parameter.attrs.text(Attr::name), "' must be ",
         parameter.type().short_text(), ", got ", given.short_text());
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Node& parameter = graph.node(graph.parameters()[i]);
    const Type &wanted = parameter.type(), &given = arguments[i];
    if (wanted.dtype != given.dtype || wanted.rank() != given.rank()) mismatch(parameter, given);
    for (size_t d = 0; d < wanted.dims.size(); ++d) {
      const auto& terms = wanted.dims[d].terms();
      bool plain = terms.size() == 1 && wanted.dims[d].constant() == 0 && terms[0].coefficient == 1 &&
                   terms[0].atoms.size() == 1 && terms[0].atoms[0]->op == DimOp::symbol;
      if (!plain) continue;
      const Symbol& symbol = terms[0].atoms[0]->symbol;
      int64_t value = given.dims[d].value();
      if (value < symbol.min || value > symbol.max)
        fail(ErrorKind::value, "extent_range", "extent '", symbol.name, "' (axis ", d, " of '",
             parameter.attrs.text(Attr::name), "') must be from ", symbol.min, " to ", symbol.max, ", got ", value);
      symbols.emplace(symbol.name, value);
    }
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Node& parameter = graph.node(graph.parameters()[i]);
    for (size_t d = 0; d < arguments[i].dims.size(); ++d)
      if (parameter.type().dims[d].evaluate(symbols) != arguments[i].dims[d].value()) mismatch(parameter, arguments[i]);
  }
  return symbols;
}

std::optional<Op> single_op(const Graph& body) {
  if (body.parameters().size() != 2 || body.outputs().size() != 1) return std::nullopt;
  const Node& node = body.outputs()[0].value.node();
  Family kind = family(node.op);
  if (kind != Family::binary || node.operand_count() != 2) return std::nullopt;
  NodeId a = node.operand(0).id(), b = node.operand(1).id(), first = body.parameters()[0],
         second = body.parameters()[1];
  bool direct = a == first && b == second;
  bool swapped = a == second && b == first && def(node.op).traits.commutative;
  if (!direct && !swapped) return std::nullopt;
  return node.op;
}

bool has_effect(const Node& node) {
  if (!def(node.op).traits.pure || node.attrs.flag(Attr::has_side_effect)) return true;
  if (family(node.op) != Family::control) return false;
  return std::ranges::any_of(node.regions,
                             [](const GraphPtr& region) { return std::ranges::any_of(region->nodes(), has_effect); });
}

}  // namespace weft
