// Region bodies over scalars.
#include "weft/ir/scalar_body.h"

#include <algorithm>

#include "weft/ir/interpret.h"

namespace weft {

Element element_at(const Literal& literal, int64_t index) {
  return load(literal.bytes().data() + index * size_of(literal.dtype()), literal.dtype());
}

void set_element(Literal& literal, int64_t index, const Element& element) {
  store(literal.mutable_bytes() + index * size_of(literal.dtype()), element);
}

namespace {

// The pattern of a float as an integer in the order of all patterns: of a negative one all bits below the sign are
// turned.
Element total_key(const Element& element) {
  int width = bit_width(element.dtype);
  DType bits = width == 64 ? DType::i64 : width == 32 ? DType::i32 : width == 16 ? DType::i16 : DType::i8;
  int64_t pattern = bitcast(element, bits).i, below = static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1);
  return Element::of_int(DType::i64, pattern < 0 ? pattern ^ below : pattern);
}

}  // namespace

ScalarBody::ScalarBody(const Graph& body) : body_(body), initial_(body.size()) {
  parameters_.assign(body.parameters().begin(), body.parameters().end());
  for (const Output& output : body.outputs()) outputs_.push_back(output.value.id());
  for (const Node& node : body.nodes()) {
    if (node.op == Op::parameter) continue;
    for (const Type& type : node.types) plain_ &= type.rank() == 0 && node.types.size() == 1;
    if (!plain_) return;
    if (node.op == Op::constant) {
      initial_[node.id()] = element_at(node.attrs.literal(Attr::value), 0);
      continue;
    }
    Scalar op = node.op == Op::reshape || node.op == Op::broadcast_in_dim ? Scalar::convert : scalar_of(node);
    bool is_total = is_total_order(node);
    plain_ = op != Scalar::none && node.operand_count() <= 3 && (is_total || !is_by_bits(node));
    if (!plain_) return;
    Step step{op, is_total, node.type().dtype, node.id(), {}};
    for (size_t i = 0; i < node.operand_count(); ++i) step.operands[i] = node.operand(i).id();
    steps_.push_back(step);
  }
  values_ = initial_;
}

std::vector<Element> ScalarBody::run_graph(std::span<const Element> arguments) const {
  std::vector<Literal> literals;
  for (const Element& argument : arguments) {
    Literal literal(Type{argument.dtype, {}});
    set_element(literal, 0, argument);
    literals.push_back(std::move(literal));
  }
  std::vector<Element> results;
  for (const Literal& literal : interpret(body_, literals)) results.push_back(element_at(literal, 0));
  return results;
}

std::vector<Element> ScalarBody::operator()(std::span<const Element> arguments) const {
  std::vector<Element> results(outputs_.size());
  into(results, arguments);
  return results;
}

void ScalarBody::into(std::span<Element> results, std::span<const Element> arguments) const {
  if (!plain_) {
    std::ranges::copy(run_graph(arguments), results.begin());
    return;
  }
  for (size_t i = 0; i < parameters_.size(); ++i) values_[parameters_[i]] = arguments[i];
  for (const Step& step : steps_) {
    Element operands[3];
    for (int i = 0; i < arity(step.op); ++i) {
      operands[i] = values_[step.operands[i]];
      if (step.is_total) operands[i] = total_key(operands[i]);
    }
    values_[step.result] = apply(step.op, step.dtype, operands);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) results[i] = values_[outputs_[i]];
}

}  // namespace weft
