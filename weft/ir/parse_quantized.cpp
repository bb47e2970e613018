// StableHLO text in: quantised types, and the calls that compute with them.
#include "weft/ir/parse_quantized.h"

#include <algorithm>
#include <cmath>

#include "weft/ir/number_text.h"
#include "weft/ir/quantized.h"

namespace weft {
namespace {

class QuantizedReader {
 public:
  explicit QuantizedReader(std::string_view text) : rest_(text) {}

  void expect(char mark) {
    if (!take(mark)) reject(cat("'", mark, "'"));
  }
  bool take(char mark) {
    skip();
    bool found = !rest_.empty() && rest_[0] == mark;
    if (found) rest_.remove_prefix(1);
    return found;
  }
  std::string_view word() {
    skip();
    size_t end = 0;
    while (end < rest_.size() && std::isalnum(static_cast<unsigned char>(rest_[end]))) ++end;
    std::string_view result = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return result;
  }
  int64_t integer(const char* what) {
    return number<int64_t>(what, [](std::string_view text) { return integer_of(text); });
  }
  double decimal(const char* what) { return number<double>(what, decimal_of); }
  void end() {
    skip();
    if (!rest_.empty()) reject("'>'");
  }
  [[noreturn]] void reject(std::string_view wanted) const {
    fail(ErrorKind::value, "quantized_type", "in a quantised type ", wanted, " was wanted, got '", rest_.substr(0, 20),
         "'");
  }

 private:
  // The next token as a number.
  template <class T>
  T number(const char* what, std::optional<T> (*read)(std::string_view)) {
    Lexer lexer(rest_, "");
    std::optional<T> value = lexer.peek().kind == TokenKind::number ? read(lexer.take().text) : std::nullopt;
    if (!value) reject(what);
    rest_.remove_prefix(lexer.peek().begin);
    return *value;
  }
  void skip() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

void check_quantization(const Quantization& q, const Type& type) {
  auto need = [&](bool holds, const std::string& message) {
    if (!holds) fail(ErrorKind::value, "quantized_type", "a quantised type needs ", message);
  };
  need(is_integer(type.dtype) && bit_width(type.dtype) <= 32, "a storage type of integers of at most 32 bits");
  need(is_float(q.expressed), "an expressed type of floats");
  need(least_integer(type.dtype) <= q.storage_min && q.storage_min < q.storage_max &&
           q.storage_max <= greatest_integer(type.dtype),
       cat("a range within that of ", name(type.dtype), ", got ", q.storage_min, ":", q.storage_max));
  // Before the pattern of what is too large comes the largest number.
  double least = float_from_bits(1, q.expressed),
         greatest = float_from_bits(*float_bits_of("1.0e9999", q.expressed) - 1, q.expressed);
  for (double scale : q.scales)
    need(least <= scale && scale <= greatest, cat("positive scales of ", name(q.expressed), ", got ", scale));
  for (int64_t zero : q.zero_points)
    need(q.storage_min <= zero && zero <= q.storage_max, cat("zero points within its range, got ", zero));
  if (q.dimension < 0) return;
  need(q.dimension < type.rank(), cat("a dimension of its tensor, got ", q.dimension, " of ", type.rank()));
  need(type.dims[static_cast<size_t>(q.dimension)].is(static_cast<int64_t>(q.scales.size())),
       cat("a scale for each of ", type.dims[static_cast<size_t>(q.dimension)], ", got ", q.scales.size()));
}

// Elements go elsewhere and stay as they are.
bool moves(Op op) {
  switch (op) {
    case Op::reshape:
    case Op::transpose:
    case Op::slice:
    case Op::dynamic_slice:
    case Op::dynamic_update_slice:
    case Op::reverse:
    case Op::gather:
    case Op::pad:
    case Op::broadcast_in_dim:
    case Op::concatenate:
    case Op::select:
    case Op::constant:
      return true;
    default:
      return false;
  }
}

// One way of storing for all, whatever dimension it goes along.
bool agree(const std::vector<Type>& types) {
  const Type* first = nullptr;
  for (const Type& type : types) {
    if (!type.quantized) continue;
    if (!first) first = &type;
    Quantization a = *first->quantized, b = *type.quantized;
    bool same_axis = (a.dimension < 0) == (b.dimension < 0);
    a.dimension = b.dimension = 0;
    if (!same_axis || type.dtype != first->dtype || !(a == b)) return false;
  }
  return true;
}

std::vector<Type> types_of(const ParsedCall& call) {
  std::vector<Type> types = call.results;
  for (const Value& operand : call.operands) types.push_back(operand.type());
  for (const ParsedRegion& region : call.regions) {
    for (NodeId id : region.graph->parameters()) types.push_back(region.graph->node(id).type());
    for (const Output& output : region.graph->outputs()) types.push_back(output.value.type());
  }
  return types;
}

Value seen_as(Builder& build, Value value, const Type& type) {
  return build(Op::bitcast_convert, {value}, {{Attr::type, type.dtype}, {Attr::types, std::vector<Type>{type}}});
}

}  // namespace

void parse_quantized(std::string_view text, Type& type) {
  QuantizedReader reader(text);
  reader.expect('<');
  std::string storage(reader.word());
  if (storage.starts_with('u')) storage.insert(1, "i");
  auto stored = dtype_from_name(storage);
  if (!stored || !is_integer(*stored)) reader.reject("a storage type");
  type.dtype = *stored;
  Quantization q;
  q.storage_min = least_integer(*stored);
  q.storage_max = greatest_integer(*stored);
  if (reader.take('<')) {
    q.storage_min = reader.integer("the least stored integer");
    reader.expect(':');
    q.storage_max = reader.integer("the greatest stored integer");
    reader.expect('>');
  }
  reader.expect(':');
  auto expressed = dtype_from_name(reader.word());
  if (!expressed) reader.reject("an expressed type");
  q.expressed = *expressed;
  if (reader.take(':')) q.dimension = reader.integer("a dimension with scales of its own");
  reader.expect(',');
  bool several = q.dimension >= 0;
  if (several) reader.expect('{');
  do {
    q.scales.push_back(reader.decimal("a scale"));
    q.zero_points.push_back(reader.take(':') ? reader.integer("a zero point") : 0);
  } while (several && reader.take(','));
  if (several) reader.expect('}');
  reader.expect('>');
  reader.end();
  check_quantization(q, type);
  type.quantized = interned(std::move(q));
}

bool computes_quantized(const ParsedCall& call) {
  if (call.op && takes_quantized(*call.op)) return false;
  std::vector<Type> types = types_of(call);
  return std::any_of(types.begin(), types.end(), [](const Type& type) { return type.quantized != nullptr; });
}

void enter_quantized(Builder& build, ParsedCall& call) {
  bool has_body = !call.regions.empty(), same = agree(types_of(call));
  if (has_body && !same)
    fail(ErrorKind::unsupported, "quantized_body", call.name,
         ": its operands, results and body must have one quantised element type, others are not supported");
  bool as_stored = has_body || (same && call.op && moves(*call.op));
  for (Value& operand : call.operands) {
    Type type = operand.type();
    if (!type.quantized) continue;
    operand = as_stored ? seen_as(build, operand, {type.dtype, type.dims}) : build(Op::uniform_dequantize, {operand});
  }
  for (Type& type : call.results)
    if (type.quantized) type = {as_stored ? type.dtype : type.quantized->expressed, type.dims};
  for (ParsedRegion& region : call.regions) region.graph = with_stored_types(*region.graph);
}

void leave_quantized(Builder& build, const std::vector<Type>& wanted, std::vector<Value>& given) {
  for (size_t i = 0; i < std::min(wanted.size(), given.size()); ++i) {
    if (!wanted[i].quantized) continue;
    if (given[i].type().dtype == wanted[i].dtype)
      given[i] = seen_as(build, given[i], wanted[i]);
    else
      given[i] = build(Op::uniform_quantize, {given[i]}, {{Attr::types, std::vector<Type>{wanted[i]}}});
  }
}

GraphPtr applied_body(Op op, const Type& element) {
  Type type{element.dtype, {}, element.quantized};
  if (!type.quantized) return binary_body(op, type.dtype);
  Builder build(Level::flat, "body");
  Value lhs = build.parameter(type, ""), rhs = build.parameter(type, "");
  Value result = build(op, {build(Op::uniform_dequantize, {lhs}), build(Op::uniform_dequantize, {rhs})});
  result = build(Op::uniform_quantize, {result}, {{Attr::types, std::vector<Type>{type}}});
  return build.finish({{result, ""}});
}

}  // namespace weft
