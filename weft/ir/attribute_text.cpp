// Reading attributes and types.
#include "weft/ir/attribute_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "weft/core/element.h"
#include "weft/core/half.h"
#include "weft/ir/parse_quantized.h"

namespace weft {
namespace {

constexpr int max_depth = 100;
constexpr size_t longest_source = 65536;
constexpr int64_t largest_splat = 65536;  // elements that a constant of one listed element may have written out

std::optional<int64_t> integer_of(const std::string& text) {
  int64_t value = 0;
  bool hex = text.starts_with("0x");
  const char *begin = text.data() + (hex ? 2 : 0), *end = text.data() + text.size();
  if (hex) {
    uint64_t bits = 0;
    auto [at, error] = std::from_chars(begin, end, bits, 16);
    if (error != std::errc() || at != end) return std::nullopt;
    return static_cast<int64_t>(bits);
  }
  auto [at, error] = std::from_chars(begin, end, value);
  if (error == std::errc() && at == end) return value;
  uint64_t large = 0;
  auto [at_large, large_error] = std::from_chars(begin, end, large);
  if (large_error != std::errc() || at_large != end) return std::nullopt;
  return static_cast<int64_t>(large);
}

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (at != text.data() + text.size() || (error != std::errc() && error != std::errc::result_out_of_range)) return std::nullopt;
  return value;
}

// One element's text as a value of a real type.
std::optional<Element> element_of(const std::string& text, DType dtype) {
  if (is_bool(dtype)) {
    if (text != "true" && text != "false" && text != "0" && text != "1" && text != "-1") return std::nullopt;
    return Element::of_int(dtype, text != "false" && text != "0");
  }
  if (is_integer(dtype)) {
    auto value = integer_of(text);
    if (!value) return std::nullopt;
    return Element::of_int(dtype, *value);
  }
  if (text.starts_with("0x")) {
    auto bits = integer_of(text);
    if (!bits) return std::nullopt;
    auto pattern = static_cast<uint64_t>(*bits);
    if (dtype == DType::f64) return Element::of_double(dtype, std::bit_cast<double>(pattern));
    if (dtype == DType::f32) return Element::of_double(dtype, std::bit_cast<float>(static_cast<uint32_t>(pattern)));
    return Element::of_double(dtype, small_to_float(static_cast<uint32_t>(pattern), dtype));
  }
  auto value = number_of(text);
  if (!value) return std::nullopt;
  return Element::of_double(dtype, *value);
}

int hex_value(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

}  // namespace

Type AttributeReader::type(const SymbolTable& symbols) {
  size_t begin = lexer_.peek().begin;
  if (!lexer_.is("tensor")) lexer_.reject("a tensor type");
  lexer_.take();
  lexer_.expect("<");
  std::string shape = lexer_.take_shape();
  Type type;
  std::vector<size_t> dynamic;
  size_t at = 0;
  while (at < shape.size()) {
    size_t cross = shape.find('x', at);
    bool is_dim = cross != std::string::npos && (shape[at] == '?' || (shape[at] >= '0' && shape[at] <= '9'));
    if (!is_dim) break;
    std::string word = shape.substr(at, cross - at);
    if (word == "?") {
      dynamic.push_back(type.dims.size());
      type.dims.emplace_back(0);
    } else {
      auto extent = integer_of(word);
      if (!extent || *extent < 0) lexer_.fail_at(begin, "type_dims", cat("a dimension was wanted, got '", word, "'"));
      type.dims.emplace_back(*extent);
    }
    at = cross + 1;
  }
  std::string element = shape.substr(at);
  while (!element.empty() && element.back() == ' ') element.pop_back();
  // MLIR's index type occurs in attributes only.
  bool is_quantized = element.starts_with("!quant.uniform");
  auto dtype = element == "index" || is_quantized ? DType::i64 : dtype_from_name(element);
  if (!dtype) lexer_.fail_at(begin, "type_element", cat("an element type was wanted, got '", element.substr(0, 40), "'"));
  type.dtype = *dtype;
  std::vector<std::string> names;
  if (lexer_.take_if(",") && lexer_.peek().kind == TokenKind::text) {
    // The extents of the dynamic dims, separated by ", " outside of parentheses.
    std::string text = lexer_.take().text, part;
    int depth = 0;
    for (char c : text + ",") {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == ',' && depth == 0) names.push_back(part), part.clear();
      else part += c;
    }
  }
  if (lexer_.peek().text == "#stablehlo.bounds") bounds(type, std::exchange(dynamic, {}));
  lexer_.expect(">");
  if (names.size() < dynamic.size())
    lexer_.fail_at(begin, "type_dynamic", cat("a dynamic dimension needs its extent by name, as in tensor<?xf32, \"n\">"));
  for (size_t i = 0; i < dynamic.size(); ++i) type.dims[dynamic[i]] = parse_dim(names[i], symbols);
  try {
    if (is_quantized) parse_quantized(std::string_view(element).substr(14), type);
    type.count();
  } catch (const Error& error) {
    raise(error.at(lexer_.location(begin)));
  }
  return type;
}

// #stablehlo.bounds<4, ?>: the most that each dynamic dimension can be.
void AttributeReader::bounds(Type& type, const std::vector<size_t>& dynamic) {
  size_t begin = lexer_.take().begin, count = 0;
  lexer_.expect("<");
  do {
    Token token = lexer_.take();
    bool is_dynamic = std::find(dynamic.begin(), dynamic.end(), count) != dynamic.end();
    auto bound = token.kind == TokenKind::number ? integer_of(token.text) : std::nullopt;
    if (is_dynamic != bound.has_value() || (bound && *bound < 0))
      lexer_.fail_at(token.begin, "type_bounds", "each dynamic dimension needs a bound, and no other has one");
    if (bound) type.dims[count] = Dim(Symbol{cat("?", *bound), 0, *bound, *bound});
    ++count;
  } while (lexer_.take_if(","));
  lexer_.expect(">");
  if (count != type.dims.size()) lexer_.fail_at(begin, "type_bounds", cat("bounds of ", type.dims.size(), " dimensions were wanted, got ", count));
}

bool is_bounded(const Dim& dim) {
  std::vector<Symbol> symbols = dim.symbols();
  return symbols.size() == 1 && symbols[0].name.starts_with('?');
}

bool fits(const Type& type, const Type& text) {
  if (type == text) return true;
  Type filled = text;
  for (size_t i = 0; i < std::min(text.dims.size(), type.dims.size()); ++i)
    if (is_bounded(text.dims[i]) && type.dims[i].max() <= text.dims[i].max()) filled.dims[i] = type.dims[i];
  return type == filled;
}

TypeTree AttributeReader::type_tree(const SymbolTable& symbols, int depth) {
  if (depth > max_depth) lexer_.reject("less nesting");
  if (lexer_.is("tensor")) return {type(symbols)};
  TypeTree tree;
  Token name = lexer_.peek();
  if (name.text != "!stablehlo.token" && name.text != "!stablehlo.future" && !lexer_.is("tuple")) lexer_.reject("a type");
  lexer_.take();
  if (name.text == "!stablehlo.token") return tree;
  lexer_.expect("<");
  while (!lexer_.is(">")) {
    tree.parts.push_back(type_tree(symbols, depth + 1));
    if (!lexer_.take_if(",")) break;
  }
  lexer_.expect(">");
  return tree;
}

void append_tensors(const TypeTree& tree, std::vector<Type>& tensors) {
  if (tree.tensor) tensors.push_back(*tree.tensor);
  for (const TypeTree& part : tree.parts) append_tensors(part, tensors);
}

AttributeReader::Signature AttributeReader::signature(const SymbolTable& symbols) {
  Signature signature;
  auto types = [&](std::vector<TypeTree>& into) {
    lexer_.expect("(");
    while (!lexer_.is(")")) {
      into.push_back(type_tree(symbols));
      if (!lexer_.take_if(",")) break;
    }
    lexer_.expect(")");
  };
  std::vector<TypeTree> operands;
  types(operands);
  lexer_.expect("->");
  if (lexer_.is("(")) types(signature.trees);
  else signature.trees.push_back(type_tree(symbols));
  for (const TypeTree& tree : operands) append_tensors(tree, signature.operands);
  for (const TypeTree& tree : signature.trees) append_tensors(tree, signature.results);
  if (std::all_of(signature.trees.begin(), signature.trees.end(), [](const TypeTree& tree) { return tree.tensor.has_value(); })) signature.trees.clear();
  return signature;
}

Ints AttributeReader::list() {
  Ints values;
  lexer_.expect("[");
  while (!lexer_.is("]")) {
    auto value = lexer_.peek().kind == TokenKind::number ? integer_of(lexer_.peek().text) : std::nullopt;
    if (!value) lexer_.reject("an integer");
    values.push_back(*value);
    lexer_.take();
    if (!lexer_.take_if(",")) break;
  }
  lexer_.expect("]");
  return values;
}

MlirAttrs AttributeReader::dictionary(std::string_view close, int depth) {
  MlirAttrs attrs;
  while (!lexer_.is(close)) {
    if (lexer_.peek().kind != TokenKind::word && lexer_.peek().kind != TokenKind::text) lexer_.reject("the name of an attribute");
    std::string name = lexer_.take().text;
    if (lexer_.take_if("=")) {
      size_t begin = lexer_.peek().begin;
      MlirAttr attr = attribute(depth + 1);
      size_t end = lexer_.peek().begin;
      if (end - begin < longest_source) attr.source = lexer_.source(begin, end);
      while (!attr.source.empty() && std::isspace(static_cast<unsigned char>(attr.source.back()))) attr.source.pop_back();
      attrs[name] = std::move(attr);
    } else {
      attrs[name] = {};
    }
    if (!lexer_.take_if(",")) break;
  }
  lexer_.expect(close);
  return attrs;
}

MlirAttr AttributeReader::hash(int depth) {
  MlirAttr attr;
  std::string name = lexer_.take().text;
  attr.text = name;
  if (!lexer_.take_if("<")) return attr;
  bool known = name.starts_with("#stablehlo") || name.starts_with("#chlo");
  if (name == "#stablehlo.conv" && lexer_.is("[")) {
    attr = convolution_dimensions();
    lexer_.expect(">");
    return attr;
  }
  if (!known) return lexer_.skip_to_close("<", ">"), attr;
  // Either one kind and one word, or named fields.
  while (!lexer_.is(">")) {
    if (lexer_.peek().kind != TokenKind::word) lexer_.reject("a field");
    std::string field = lexer_.take().text;
    if (lexer_.take_if("=")) attr.fields[field] = attribute(depth + 1);
    else if (lexer_.peek().kind == TokenKind::word) attr.text = lexer_.take().text;
    else attr.text = field;
    if (!lexer_.take_if(",")) break;
  }
  lexer_.expect(">");
  return attr;
}

MlirAttr AttributeReader::number() {
  MlirAttr attr;
  std::string text = lexer_.take().text;
  attr.integer = integer_of(text);
  attr.number = number_of(text);
  if (attr.integer && text.starts_with("0x")) attr.number = std::bit_cast<double>(*attr.integer);
  else if (!attr.number && attr.integer) attr.number = static_cast<double>(*attr.integer);
  // "2 : i64", but not the ":" before the types of a call, as in "dim = 0 : tensor<3xi64>".
  if (lexer_.is(":")) {
    Lexer probe = lexer_;
    probe.take();
    if (probe.peek().kind == TokenKind::word && !probe.is("tensor")) lexer_ = probe, lexer_.take();
  }
  return attr;
}

MlirAttr AttributeReader::attribute(int depth) {
  if (depth > max_depth) lexer_.reject("less nesting");
  MlirAttr attr;
  const Token& token = lexer_.peek();
  switch (token.kind) {
    case TokenKind::text: attr.text = lexer_.take().text; return attr;
    case TokenKind::symbol: attr.text = lexer_.take().text.substr(1); return attr;
    case TokenKind::hash: return hash(depth);
    case TokenKind::number: return number();
    default: break;
  }
  if (lexer_.is("dense")) return dense(depth);
  if (lexer_.is("dense_resource")) return resource();
  if (lexer_.take_if("true")) return attr.flag = true, attr;
  if (lexer_.take_if("false")) return attr.flag = false, attr;
  if (lexer_.take_if("array")) {
    lexer_.expect("<");
    lexer_.take();
    attr.ints = Ints{};
    if (lexer_.take_if(":"))
      do {
        auto value = lexer_.is("true") ? std::optional<int64_t>(1) : lexer_.is("false") ? std::optional<int64_t>(0) : integer_of(lexer_.peek().text);
        if (!value) lexer_.reject("an integer");
        attr.ints->push_back(*value);
        lexer_.take();
      } while (lexer_.take_if(","));
    lexer_.expect(">");
    return attr;
  }
  if (lexer_.take_if("[")) {
    attr.ints = Ints{};
    for (int i = 0; !lexer_.is("]"); ++i) {
      MlirAttr item = attribute(depth + 1);
      if (item.integer) attr.ints->push_back(*item.integer);
      else if (item.flag) attr.ints->push_back(*item.flag);
      else if (item.ints) attr.ints->insert(attr.ints->end(), item.ints->begin(), item.ints->end());
      attr.fields[cat(i)] = std::move(item);
      if (!lexer_.take_if(",")) break;
    }
    lexer_.expect("]");
    return attr;
  }
  if (lexer_.take_if("{")) {
    attr.fields = dictionary("}", depth);
    return attr;
  }
  if (lexer_.take_if("<")) return lexer_.skip_to_close("<", ">"), attr;
  if (lexer_.is("(") || lexer_.peek().kind == TokenKind::bang) return skip_type(), attr;
  if (token.kind != TokenKind::word) lexer_.reject("an attribute");
  attr.text = lexer_.take().text;
  if (*attr.text == "tensor") {
    // A type as an attribute.
    lexer_.expect("<");
    lexer_.skip_to_close("<", ">");
  }
  return attr;
}

// A type of any kind as an attribute: functions', tensors', tokens'.
void AttributeReader::skip_type() {
  for (bool is_function = true; is_function;) {
    is_function = lexer_.is("(");
    lexer_.take();
    if (is_function) lexer_.skip_to_close("(", ")");
    else if (lexer_.take_if("<")) lexer_.skip_to_close("<", ">");
    is_function = is_function && lexer_.take_if("->");
  }
}

MlirAttr AttributeReader::convolution_dimensions() {
  MlirAttr attr;
  auto side = [&](const std::string& prefix, std::map<std::string, std::string> names) {
    lexer_.expect("[");
    std::map<int64_t, int64_t> spatial;
    int64_t position = 0;
    for (; !lexer_.is("]"); ++position) {
      Token token = lexer_.take();
      auto named = names.find(token.text);
      if (token.kind == TokenKind::number) {
        auto number = integer_of(token.text);
        if (!number || !spatial.emplace(*number, position).second) lexer_.reject("spatial dimensions, each once");
      } else if (named != names.end()) {
        attr.fields[prefix + named->second + "_dimension"].integer = position;
        names.erase(named);
      } else {
        lexer_.reject("a dimension");
      }
      if (!lexer_.take_if(",")) break;
    }
    lexer_.expect("]");
    if (!names.empty()) lexer_.reject(cat("the dimension ", names.begin()->first));
    Ints axes;
    for (const auto& [number, axis] : spatial) axes.push_back(axis);
    attr.fields[prefix + "spatial_dimensions"].ints = std::move(axes);
  };
  side("input_", {{"b", "batch"}, {"f", "feature"}});
  lexer_.expect("x");
  side("kernel_", {{"i", "input_feature"}, {"o", "output_feature"}});
  lexer_.expect("->");
  side("output_", {{"b", "batch"}, {"f", "feature"}});
  return attr;
}

void AttributeReader::elements(std::vector<std::string>& into, Ints& shape, size_t level, int depth) {
  if (depth > max_depth) lexer_.reject("less nesting");
  if (lexer_.take_if("[")) {
    int64_t count = 0;
    while (!lexer_.is("]")) {
      elements(into, shape, level + 1, depth + 1);
      ++count;
      if (!lexer_.take_if(",")) break;
    }
    lexer_.expect("]");
    if (shape.size() <= level) shape.resize(level + 1, -1);
    if (shape[level] >= 0 && shape[level] != count) lexer_.reject("rows of equal length");
    shape[level] = count;
    return;
  }
  if (lexer_.take_if("(")) {
    into.push_back(lexer_.take().text);
    lexer_.expect(",");
    into.push_back(lexer_.take().text);
    lexer_.expect(")");
    return;
  }
  if (lexer_.peek().kind != TokenKind::number && !lexer_.is("true") && !lexer_.is("false")) lexer_.reject("an element");
  into.push_back(lexer_.take().text);
}

// A constant that whoever gave the text has: dense_resource<c2> : type.
MlirAttr AttributeReader::resource() {
  size_t begin = lexer_.take().begin;
  lexer_.expect("<");
  std::string key = lexer_.take().text;
  lexer_.expect(">");
  lexer_.expect(":");
  Type type = this->type({});
  size_t index = 0;
  bool is_number = key.size() > 1 && key[0] == 'c' && std::from_chars(key.data() + 1, key.data() + key.size(), index).ptr == key.data() + key.size();
  if (!is_number || index >= resources_.size()) lexer_.fail_at(begin, "dense_resource", cat("the text came without its resource '", key, "'"));
  const Literal& literal = resources_[index];
  if (!(literal.type() == type))
    lexer_.fail_at(begin, "dense_resource", cat("the resource '", key, "' must be ", type.short_text(), ", it is ", literal.type().short_text()));
  MlirAttr attr;
  attr.literal = literal;
  return attr;
}

MlirAttr AttributeReader::dense(int depth) {
  size_t begin = lexer_.take().begin;
  lexer_.expect("<");
  std::vector<std::string> texts;
  Ints shape;
  std::string hex;
  bool is_hex = lexer_.peek().kind == TokenKind::text;
  if (is_hex) hex = lexer_.take().text;
  else if (!lexer_.is(">")) elements(texts, shape, 0, depth);
  lexer_.expect(">");
  lexer_.expect(":");
  Type type = this->type({});
  if (!type.is_static() || type.quantized) lexer_.fail_at(begin, "dense_type", "a constant needs a static type of its elements");
  int64_t size = size_of(type.dtype), count = type.count().value();
  MlirAttr attr;
  if (is_hex) {
    if (!hex.starts_with("0x") || hex.size() % 2) lexer_.fail_at(begin, "dense_hex", "a string of hexadecimal digits after 0x was wanted");
    auto given = static_cast<int64_t>(hex.size() / 2 - 1);
    if (given == size && count > largest_splat) {
      attr.splat = type;
      type.dims.clear();
      count = 1;
    }
    if (given % size || (given / size != count && given != size))
      lexer_.fail_at(begin, "dense_hex", cat("the string must hold ", count, " elements of ", size, " bytes, got ", given, " bytes"));
    Literal literal(type);
    for (int64_t i = 0; i < size * count; ++i) {
      auto at = static_cast<size_t>(2 + 2 * (i % given));
      int high = hex_value(hex[at]), low = hex_value(hex[at + 1]);
      if (high < 0 || low < 0) lexer_.fail_at(begin, "dense_hex", "a string of hexadecimal digits after 0x was wanted");
      literal.mutable_bytes()[i] = static_cast<std::byte>(high * 16 + low);
    }
    attr.literal = std::move(literal);
    return attr;
  }
  int64_t parts = is_complex(type.dtype) ? 2 : 1;
  auto given = static_cast<int64_t>(texts.size()) / parts;
  bool splat = given == 1 && shape.empty();
  if (!splat && given != count) lexer_.fail_at(begin, "dense_count", cat("the constant must have ", count, " elements, got ", given));
  if (splat && count > largest_splat) {
    attr.splat = type;
    type.dims.clear();
    count = 1;
  }
  Literal literal(type);
  DType real = real_type(type.dtype);
  for (int64_t i = 0; i < count * parts; ++i) {
    const std::string& text = texts[static_cast<size_t>(splat ? i % parts : i)];
    std::optional<Element> element = element_of(text, real);
    if (!element) lexer_.fail_at(begin, "dense_element", cat("an element of ", name(type.dtype), " was wanted, got '", text, "'"));
    store(literal.mutable_bytes() + i * size / parts, *element);
  }
  attr.literal = literal;
  if (is_integer(type.dtype) && !attr.splat) {
    attr.ints = Ints{};
    for (int64_t i = 0; i < count; ++i) attr.ints->push_back(literal.as_int(i));
  }
  return attr;
}

}  // namespace weft
