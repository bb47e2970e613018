// Instructions and computations of an HLO module while it is written; field numbers are those of hlo.proto.
#include "weft/interop/hlo_writer.h"

#include <cstring>

#include "weft/interop/hlo_rules.h"

namespace weft {
namespace {

// Fields of xla.HloInstructionProto that every instruction may have.
constexpr uint32_t name_field = 1, opcode_field = 2, shape_field = 3, metadata_field = 7, literal_field = 8,
                   parameter_field = 9, tuple_index_field = 13, id_field = 35, operands_field = 36,
                   direction_field = 63, comparison_type_field = 72;

// "model/layer/tanh": the user's functions from the outermost, then the op.
std::string scoped_name(const Location& loc, std::string_view op) {
  std::string scope;
  for (Location at = loc; at; at = at.caller())
    if (!at.function().empty() && at.function()[0] != '<') scope = cat(at.function(), "/", scope);
  return cat(scope, op);
}

std::vector<int64_t> ids_of(const HloValues& values) {
  std::vector<int64_t> ids;
  for (const HloValue& value : values) ids.push_back(value.id);
  return ids;
}

}  // namespace

std::string HloModule::unique(std::unordered_set<std::string>& taken, std::string_view wanted, int64_t id) {
  std::string name;
  for (char c : wanted) {
    bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    name += plain ? c : '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || name[0] == '-' || name[0] == '.') name = cat("_", name);
  if (!taken.insert(name).second) {
    name = cat(name, ".", id);
    while (!taken.insert(name).second) name += "_";
  }
  return name;
}

HloCallee HloModule::add(const Graph& graph, std::string_view name, Signature signature) {
  Message message;
  HloCallee callee = HloComputation(*this).write(graph, signature, message);
  callee.id = next_id();
  callee.name = computation_name(name, callee.id);
  message.text(1, callee.name);
  message.number(5, callee.id);
  computations_.push_back(std::move(message));
  return callee;
}

int64_t HloComputation::write_instruction(std::string_view opcode, const Message& shape,
                                          const std::vector<int64_t>& operands, const Message& fields,
                                          std::string_view name) {
  Message instruction;
  int64_t id = module_.next_id();
  instruction.text(name_field, name.empty() ? module_.instruction_name(cat(opcode, ".", id), id)
                                            : module_.instruction_name(name, id));
  instruction.text(opcode_field, opcode);
  instruction.message(shape_field, shape);
  if (node_) instruction.message(metadata_field, metadata());
  instruction.number(id_field, id);
  instruction.numbers(operands_field, operands);
  instruction.append(fields);
  message_->message(2, instruction);
  return id;
}

Message HloComputation::metadata() const {
  Message metadata;
  bool is_parameter = node_->op == Op::parameter;
  metadata.text(1, name(node_->op));
  metadata.text(2, is_parameter ? node_->attrs.text(Attr::name) : scoped_name(node_->loc, name(node_->op)));
  if (!node_->loc) return metadata;
  metadata.text(3, node_->loc.file());
  metadata.number(4, node_->loc.line());
  metadata.number(15, module_.frames().add(node_->loc));
  metadata.number(18, node_->loc.column());
  return metadata;
}

HloValue HloComputation::add(std::string_view opcode, const Type& type, const HloValues& operands,
                             const Message& fields) {
  return {write_instruction(opcode, shape_message(type), ids_of(operands), fields), type};
}

HloValues HloComputation::add_tuple(std::string_view opcode, const std::vector<Type>& types, const HloValues& operands,
                                    const Message& fields) {
  int64_t id = write_instruction(opcode, tuple_shape_message(types), ids_of(operands), fields);
  HloValues elements;
  for (size_t i = 0; i < types.size(); ++i)
    elements.push_back(element(id, static_cast<int64_t>(i), types[i], shape_message(types[i])));
  return elements;
}

HloValues HloComputation::add_shaped(std::string_view opcode, const std::vector<Type>& types,
                                     const std::vector<Message>& shapes, const HloValues& operands,
                                     const Message& fields) {
  bool single = types.size() == 1;
  int64_t id = write_instruction(opcode, single ? shapes[0] : tuple_shape_message(shapes), ids_of(operands), fields);
  if (single) return {{id, types[0]}};
  HloValues elements;
  for (size_t i = 0; i < types.size(); ++i)
    elements.push_back(element(id, static_cast<int64_t>(i), types[i], shapes[i]));
  return elements;
}

HloValue HloComputation::element(int64_t tuple, int64_t index, const Type& type, const Message& shape) {
  Message fields;
  fields.number(tuple_index_field, index);
  return {write_instruction("get-tuple-element", shape, {tuple}, fields), type};
}

HloValue HloComputation::tuple(const HloValues& values) {
  std::vector<Type> types;
  for (const HloValue& value : values) types.push_back(value.type);
  return {write_instruction("tuple", tuple_shape_message(types), ids_of(values), {}), {}};
}

HloCallee HloComputation::region(size_t index, Signature signature) {
  return module_.add(*node_->regions[index], cat(name(node_->op), "_body"), signature);
}

HloValue HloComputation::constant(const Literal& literal) {
  if (literal.count() > 1 && literal.is_splat()) {
    Literal element(Type{literal.dtype(), {}});
    std::memcpy(element.mutable_bytes(), literal.bytes().data(), element.bytes().size());
    return broadcast(constant(element), literal.type(), {});
  }
  Message fields;
  fields.message(literal_field, literal_message(literal));
  return add("constant", literal.type(), {}, fields);
}

HloValue HloComputation::splat(const Type& type, double value) {
  HloValue scalar = constant(Literal::scalar(type.dtype, value));
  return type.dims.empty() ? scalar : broadcast(scalar, type, {});
}

HloValue HloComputation::broadcast(const HloValue& x, const Type& type, const Ints& dimensions) {
  Message fields;
  fields.numbers(hlo_dimensions, dimensions);
  return add("broadcast", type, {x}, fields);
}

HloValue HloComputation::reshape(const HloValue& x, const Dims& dims) {
  return x.type.dims == dims ? x : add("reshape", {x.type.dtype, dims}, {x});
}

HloValue HloComputation::convert(const HloValue& x, DType dtype) {
  return x.type.dtype == dtype ? x : add("convert", {dtype, x.type.dims}, {x});
}

HloValue HloComputation::compare(std::string_view direction, const HloValue& lhs, const HloValue& rhs,
                                 std::string_view order) {
  DType dtype = lhs.type.dtype;
  if (order.empty()) order = is_float(dtype) || is_complex(dtype) ? "FLOAT" : is_signed(dtype) ? "SIGNED" : "UNSIGNED";
  Message fields;
  fields.text(direction_field, direction);
  fields.text(comparison_type_field, order);
  return add("compare", {DType::boolean, lhs.type.dims}, {lhs, rhs}, fields);
}

void HloComputation::write_parameters(const Graph& graph, Signature signature, Message& program_shape) {
  std::span<const NodeId> parameters = graph.parameters();
  int64_t tuple = 0;
  if (signature.tuple_parameters) {
    std::vector<Type> types;
    for (NodeId id : parameters) types.push_back(graph.node(id).type());
    Message shape = tuple_shape_message(types);
    tuple = write_instruction("parameter", shape, {}, {}, "arguments");
    program_shape.message(1, shape);
    program_shape.text(3, "arguments");
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Node& node = graph.node(parameters[i]);
    auto number = static_cast<int64_t>(i);
    node_ = &node;
    if (signature.tuple_parameters) {
      values_[node.id()] = {element(tuple, number, node.type(), shape_message(node.type()))};
    } else {
      const std::string& wanted = node.attrs.text(Attr::name);
      Message shape = shape_message(node.type()), fields;
      fields.number(parameter_field, number);
      std::string given = wanted.empty() ? cat("arg", i) : wanted;
      values_[node.id()] = {{write_instruction("parameter", shape, {}, fields, given), node.type()}};
      program_shape.message(1, shape);
      program_shape.text(3, given);
    }
  }
  node_ = nullptr;
}

int64_t HloComputation::write_root(const Graph& graph, Signature signature, Message& program_shape) {
  HloValues outputs;
  for (const Output& output : graph.outputs()) outputs.push_back(values_[output.value.id()][output.value.index()]);
  bool single = outputs.size() == 1 && !signature.tuple_result;
  std::vector<Type> types;
  for (const HloValue& output : outputs) types.push_back(output.type);
  program_shape.message(2, single ? shape_message(types[0]) : tuple_shape_message(types));
  return single ? outputs[0].id : tuple(outputs).id;
}

HloCallee HloComputation::write(const Graph& graph, Signature signature, Message& message) {
  HloCallee callee;
  Message parameters;
  message_ = &message;
  values_.assign(graph.size(), {});
  write_parameters(graph, signature, callee.program_shape);
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::parameter) continue;
    HloValues operands;
    for (const Value& operand : node.operands()) operands.push_back(values_[operand.id()][operand.index()]);
    node_ = &node;
    try {
      values_[node.id()] = write_node(*this, node, operands);
    } catch (const Error& error) {
      raise(error.at(node.loc));
    }
  }
  node_ = nullptr;
  message.number(6, write_root(graph, signature, callee.program_shape));
  message.message(4, callee.program_shape);
  return callee;
}

}  // namespace weft
