// Making graphs: inference, implicit broadcasting, dead nodes.
#include "weft/ir/builder.h"

#include <algorithm>
#include <numeric>

namespace weft {
namespace {

// At trace level element-wise operands stretch to their common dims before inference.
std::vector<Type> operand_types(Level level, Op op, const std::vector<Value>& operands) {
  std::vector<Type> types;
  for (const Value& operand : operands) types.push_back(operand.type());
  if (level != Level::trace || !def(op).traits.elementwise || types.size() < 2) return types;
  Dims dims = types[0].dims;
  for (const Type& type : types) dims = broadcast(dims, type.dims);
  for (Type& type : types) type.dims = dims;
  return types;
}

// Flags that may be left out are left out where they say nothing: graphs that say the same are the same, and read back
// as they were.
void drop_defaults(Op op, Attrs& attrs) {
  for (const AttrSpec& spec : def(op).attrs)
    if (spec.optional && spec.kind == AttrKind::flag && !attrs.flag(spec.attr)) attrs.erase(spec.attr);
}

bool is_identity(const Ints& permutation) {
  for (size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  return true;
}

void note_symbols(std::vector<Symbol>& symbols, const Type& type) {
  for (const Dim& dim : type.dims)
    for (const Symbol& symbol : dim.symbols()) {
      auto known = std::find_if(symbols.begin(), symbols.end(), [&](const Symbol& s) { return s.name == symbol.name; });
      if (known == symbols.end()) {
        symbols.push_back(symbol);
      } else if (*known != symbol) {
        fail(ErrorKind::value, "symbol_range", "extent '", symbol.name, "' has two ranges: ", known->min, " to ",
             known->max, " and ", symbol.min, " to ", symbol.max);
      }
    }
}

}  // namespace

Builder::Builder(Level level, std::string name) : graph_(new Graph) {
  graph_->level_ = level;
  graph_->name_ = std::move(name);
}

Node& Builder::add(Op op, std::vector<Value> operands, Attrs attrs, std::vector<GraphPtr> regions) {
  for (const Value& operand : operands)
    check(operand && &operand.graph() == graph_.get(), name(op), ": operand of another graph");
  Node& node = graph_->nodes_.emplace_back();
  node.op = op;
  node.attrs = std::move(attrs);
  node.regions = std::move(regions);
  node.loc = loc_;
  node.graph_ = graph_.get();
  node.id_ = static_cast<NodeId>(graph_->nodes_.size() - 1);
  node.operands_ = std::move(operands);
  return node;
}

Value Builder::parameter(Type type, std::string name, Location loc) {
  Node& node = add(Op::parameter, {}, {{Attr::name, std::move(name)}}, {});
  node.loc = std::move(loc);
  node.types = {std::move(type)};
  graph_->parameters_.push_back(node.id());
  return node.result();
}

const Node& Builder::call(Op op, std::vector<Value> operands, Attrs attrs, std::vector<GraphPtr> regions) {
  std::vector<Type> types;
  try {
    std::vector<Type> inputs = operand_types(level(), op, operands);
    types = infer({op, inputs, attrs, regions});
  } catch (const Error& error) {
    raise(error.at(loc_));
  }
  drop_defaults(op, attrs);
  Node& node = add(op, std::move(operands), std::move(attrs), std::move(regions));
  node.types = std::move(types);
  return node;
}

Value Builder::operator()(Op op, std::vector<Value> operands, Attrs attrs, std::vector<GraphPtr> regions) {
  return call(op, std::move(operands), std::move(attrs), std::move(regions)).result();
}

const Node& Builder::copy(const Node& node, std::vector<Value> operands) {
  bool same = operands.size() == node.operand_count();
  for (size_t i = 0; same && i < operands.size(); ++i) same = operands[i].type() == node.operand(i).type();
  Location outer = std::exchange(loc_, node.loc);
  Node* added = nullptr;
  if (same) {
    std::vector<Type> types = node.types;
    added = &add(node.op, std::move(operands), node.attrs, node.regions);
    added->types = std::move(types);
    if (node.op == Op::parameter) graph_->parameters_.push_back(added->id());
  } else {
    added = const_cast<Node*>(&call(node.op, std::move(operands), node.attrs, node.regions));
  }
  loc_ = std::move(outer);
  return *added;
}

namespace {

GraphPtr mapped_region(const Graph& region, const std::function<Dims(const Dims&)>& mapped) {
  Builder build(region.level(), region.name());
  for (const Node& node : region.nodes()) {
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.emplace_back(&build.graph(), operand.id(), operand.index());
    build.copy_substituted(node, std::move(operands), mapped);
  }
  std::vector<Output> outputs;
  for (const Output& output : region.outputs())
    outputs.push_back({Value(&build.graph(), output.value.id(), output.value.index()), output.name, output.alias});
  return build.finish(std::move(outputs));
}

}  // namespace

const Node& Builder::copy_substituted(const Node& node, std::vector<Value> operands,
                                      const std::function<Dims(const Dims&)>& mapped) {
  Attrs attrs;
  for (const auto& [attr, value] : node.attrs)
    attrs.set(attr, std::holds_alternative<Dims>(value) ? AttrValue(mapped(std::get<Dims>(value))) : value);
  std::vector<GraphPtr> regions;
  for (const GraphPtr& region : node.regions) regions.push_back(mapped_region(*region, mapped));
  Node& added = add(node.op, std::move(operands), std::move(attrs), std::move(regions));
  added.loc = node.loc;
  for (const Type& type : node.types) added.types.push_back({type.dtype, mapped(type.dims), type.quantized});
  if (node.op == Op::parameter) graph_->parameters_.push_back(added.id());
  return added;
}

Value Builder::constant(Literal literal) { return (*this)(Op::constant, {}, {{Attr::value, std::move(literal)}}); }

Value Builder::scalar(DType dtype, double value) { return constant(Literal::scalar(dtype, value)); }

Value Builder::splat(const Type& type, double value) { return broadcast_to(scalar(type.dtype, value), type.dims); }

Value Builder::extent(const Dim& dim) {
  if (dim.is_static()) return constant(Literal::scalar_int(DType::i64, dim.value()));
  return (*this)(Op::extent, {}, {{Attr::dims, Dims{dim}}});
}

Value Builder::convert(Value value, DType dtype) {
  if (value.type().dtype == dtype) return value;
  return (*this)(Op::convert, {value}, {{Attr::type, dtype}});
}

Value Builder::broadcast_to(Value value, const Dims& dims) {
  if (value.type().dims == dims) return value;
  Ints dimensions(value.type().dims.size());
  std::iota(dimensions.begin(), dimensions.end(), static_cast<int64_t>(dims.size() - dimensions.size()));
  return (*this)(Op::broadcast_in_dim, {value}, {{Attr::dims, dims}, {Attr::dimensions, std::move(dimensions)}});
}

Value Builder::reshape(Value value, Dims dims) {
  if (value.type().dims == dims) return value;
  return (*this)(Op::reshape, {value}, {{Attr::dims, std::move(dims)}});
}

Value Builder::transpose(Value value, Ints permutation) {
  if (is_identity(permutation)) return value;
  return (*this)(Op::transpose, {value}, {{Attr::permutation, std::move(permutation)}});
}

std::vector<Value> Builder::inlined(const Graph& function, const std::vector<Value>& operands) {
  std::vector<std::vector<Value>> values(function.size());
  size_t next = 0;
  for (const Node& node : function.nodes()) {
    if (node.op == Op::parameter) {
      values[node.id()] = {operands[next++]};
      continue;
    }
    std::vector<Value> arguments;
    for (const Value& operand : node.operands()) arguments.push_back(values[operand.id()][operand.index()]);
    const Node& added = copy(node, std::move(arguments));
    for (uint32_t i = 0; i < added.types.size(); ++i) values[node.id()].push_back(added.result(i));
  }
  std::vector<Value> results;
  for (const Output& output : function.outputs()) results.push_back(values[output.value.id()][output.value.index()]);
  return results;
}

void Builder::add_function(GraphPtr function) { graph_->functions_.push_back(std::move(function)); }

GraphPtr Builder::finish(std::vector<Output> outputs) {
  std::vector<Node>& nodes = graph_->nodes_;
  std::vector<bool> live(nodes.size());
  for (const Output& output : outputs) live[output.value.id()] = true;
  for (size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].op == Op::parameter || has_effect(nodes[i])) live[i] = true;
    if (live[i])
      for (const Value& operand : nodes[i].operands_) live[operand.id()] = true;
  }
  std::vector<NodeId> moved(nodes.size());
  NodeId next = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!live[i]) continue;
    moved[i] = next;
    if (next != i) nodes[next] = std::move(nodes[i]);
    Node& node = nodes[next];
    node.id_ = next++;
    for (Value& operand : node.operands_) operand = Value(graph_.get(), moved[operand.id()], operand.index());
  }
  nodes.resize(next);
  for (NodeId& id : graph_->parameters_) id = moved[id];
  for (Output& output : outputs) output.value = Value(graph_.get(), moved[output.value.id()], output.value.index());
  graph_->outputs_ = std::move(outputs);
  for (NodeId id : graph_->parameters_) note_symbols(graph_->symbols_, nodes[id].type());
  return std::exchange(graph_, nullptr);
}

std::vector<Value> expand(Builder& build, const Node& node, const std::vector<Value>& operands) {
  Node call = node;
  call.graph_ = &build.graph();
  call.operands_ = operands;
  if (def(node.op).traits.elementwise && operands.size() > 1) {
    Dims dims = operands[0].type().dims;
    for (const Value& operand : operands) dims = broadcast(dims, operand.type().dims);
    for (Value& operand : call.operands_) operand = build.broadcast_to(operand, dims);
  }
  return def(node.op).expand(build, call);
}

GraphPtr binary_body(Op op, DType dtype) {
  Builder build(Level::flat, "body");
  Value lhs = build.parameter({dtype, {}}, ""), rhs = build.parameter({dtype, {}}, "");
  Value result = build(op, {lhs, rhs});
  return build.finish({{result, ""}});
}

GraphPtr rebuild(const Graph& graph, Level level,
                 const std::function<std::vector<Value>(Builder&, const Node&, const std::vector<Value>&)>& replace) {
  Builder build(level, graph.name());
  std::vector<std::vector<Value>> values(graph.size());
  for (const Node& node : graph.nodes()) {
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.push_back(values[operand.id()][operand.index()]);
    build.set_loc(node.loc);
    std::vector<Value> results;
    if (node.op != Op::parameter) results = replace(build, node, operands);
    if (results.empty()) results = results_of(build.copy(node, std::move(operands)));
    values[node.id()] = std::move(results);
  }
  std::vector<Output> outputs;
  for (const Output& output : graph.outputs())
    outputs.push_back({values[output.value.id()][output.value.index()], output.name, output.alias});
  for (const GraphPtr& function : graph.functions()) build.add_function(function);
  return build.finish(std::move(outputs));
}

std::vector<Value> results_of(const Node& node) {
  std::vector<Value> results;
  for (uint32_t i = 0; i < node.types.size(); ++i) results.push_back(node.result(i));
  return results;
}

}  // namespace weft
