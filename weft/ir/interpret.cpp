// The reference interpreter: node by node, element by element.
#include "weft/ir/interpret.h"

#include <cmath>
#include <limits>

#include "weft/core/element.h"
#include "weft/core/interrupt.h"
#include "weft/ir/builder.h"
#include "weft/ir/direct.h"
#include "weft/ir/quantized.h"

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
  Broadcast(const Ints& from, const Ints& to) : to(to), strides(broadcast_strides(from, to)), same(from == to) {}
  int64_t operator()(int64_t i) const {
    if (same) return i;
    int64_t sum = 0;
    for (size_t d = to.size(); d-- > 0; i /= to[d]) sum += i % to[d] * strides[d];
    return sum;
  }
};

Literal evaluate_scalar(const Node& node, std::span<const Literal> operands) {
  Scalar op = scalar_of(node);
  if (std::optional<Literal> found = evaluate_directly(op, node.type(), operands)) return *std::move(found);
  Literal result(node.type());
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

std::vector<Literal> evaluate_by_bits(const Node& node, std::span<const Literal> operands) {
  Builder build(Level::flat);
  Value lhs = build.parameter(operands[0].type(), ""), rhs = build.parameter(operands[1].type(), "");
  lhs = build.broadcast_to(lhs, node.type().dims);
  rhs = build.broadcast_to(rhs, node.type().dims);
  Value result = by_bits(build, node, lhs, rhs);
  return interpret(*build.finish({{result, ""}}), operands);
}

}  // namespace

Scalar scalar_of(const Node& node) {
  if (node.op == Op::compare) return comparison(node.attrs.text(Attr::comparison_direction));
  return def(node.op).scalar;
}

bool is_total_order(const Node& node) { return node.op == Op::compare && node.attrs.find(Attr::compare_type); }

bool is_by_bits(const Node& node) {
  return is_total_order(node) || (node.op == Op::next_after && bit_width(node.type().dtype) < 32);
}

namespace {

// Integer arithmetic on the patterns of floats.
struct Patterns {
  Builder& build;
  Dims dims;
  DType bits;
  Value splat(int64_t value) { return build.broadcast_to(build.constant(Literal::scalar_int(bits, value)), dims); }
  Value of(Value x) { return build(Op::bitcast_convert, {x}, {{Attr::type, bits}}); }
  Value op(Op op, Value a, Value b) { return build(op, {a, b}); }
  Value compare(const std::string& direction, Value a, Value b) {
    return build(Op::compare, {a, b}, {{Attr::comparison_direction, direction}});
  }
  Value select(Value condition, Value a, Value b) { return build(Op::select, {condition, a, b}); }
};

// The pattern of a negative number with all bits below the sign turned over is in the order of signed integers.
Value total_order(Patterns& p, const Node& node, Value lhs, Value rhs, int width) {
  auto key = [&](Value x) {
    Value pattern = p.of(x), sign = p.op(Op::shift_right_arithmetic, pattern, p.splat(width - 1));
    return p.op(Op::xor_, pattern,
                p.op(Op::and_, sign, p.splat(static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1))));
  };
  return p.compare(node.attrs.text(Attr::comparison_direction), key(lhs), key(rhs));
}

// One step of the pattern away from or towards zero; from zero to the least number of y's sign.
Value next_after(Patterns& p, Value x, Value y, int width) {
  Type type = x.type();
  Value zero = p.build.splat(type, 0), pattern = p.of(x);
  Value sign = p.op(Op::and_, p.of(y), p.splat(-(int64_t{1} << (width - 1))));
  Value away = p.compare("EQ", p.compare("LT", x, y), p.compare("GT", x, zero));
  Value moved = p.select(away, p.op(Op::add, pattern, p.splat(1)), p.op(Op::subtract, pattern, p.splat(1)));
  moved = p.select(p.compare("EQ", x, zero), p.op(Op::or_, sign, p.splat(1)), moved);
  Value result = p.build(Op::bitcast_convert, {moved}, {{Attr::type, type.dtype}});
  result = p.select(p.compare("EQ", x, y), y, result);
  Value is_nan = p.op(Op::or_, p.compare("NE", x, x), p.compare("NE", y, y));
  return p.select(is_nan, p.op(Op::add, x, y), result);
}

}  // namespace

Value by_bits(Builder& build, const Node& node, Value lhs, Value rhs) {
  int width = bit_width(lhs.type().dtype);
  Patterns patterns{build, lhs.type().dims,
                    width == 64   ? DType::i64
                    : width == 32 ? DType::i32
                    : width == 16 ? DType::i16
                                  : DType::i8};
  return node.op == Op::compare ? total_order(patterns, node, lhs, rhs, width) : next_after(patterns, lhs, rhs, width);
}

std::vector<Literal> evaluate(const Node& node, std::span<const Literal> operands) {
  const OpDef& op = def(node.op);
  if (is_by_bits(node)) return evaluate_by_bits(node, operands);
  if (op.scalar != Scalar::none) return {evaluate_scalar(node, operands)};
  if (op.eval) return op.eval(node, operands);
  check(op.expand != nullptr, name(node.op), " has no meaning");
  return evaluate_composite(node, operands);
}

namespace {

// A call costs about as much as so many elements; so does a comparison of two by a body.
constexpr double call_work = 20, comparison_work = 100;

double count_of(const Type& type) { return std::max(static_cast<double>(type.count().min()), 1.0); }

double work_of(const Node& node) {
  double given = 1, most = 1, made = 0;
  for (const Value& operand : node.operands()) {
    given *= count_of(operand.type());
    most = std::max(most, count_of(operand.type()));
  }
  for (const Type& type : node.types) made += count_of(type);
  double work = call_work + std::max(most, made);
  switch (node.op) {
    case Op::for_:
    case Op::while_:
      return std::numeric_limits<double>::infinity();
    case Op::sort:
    case Op::sort_values:
    case Op::argsort:
    case Op::top_k:
      return work + comparison_work * most * std::log2(most + 1);
    case Op::matmul:
    case Op::dot_general:
    case Op::triangular_solve:
      return work + std::sqrt(made * given) / 4;  // as many products as m * n * k
    default:
      return work;
  }
}

}  // namespace

double interpreted_work(const Graph& graph) {
  double work = 0;
  for (const Node& node : graph.nodes()) work += work_of(node);
  return work;
}

std::vector<Literal> interpret(const Graph& graph, std::span<const Literal> arguments) {
  if (is_quantized(graph)) return interpret(*with_stored_types(graph), arguments);
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
    check_interrupt();
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
