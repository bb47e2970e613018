// Reading attributes and types.
#include "weft/ir/attribute_text.h"

#include <algorithm>
#include <utility>

#include "weft/ir/number_text.h"
#include "weft/ir/parse_quantized.h"

namespace weft {
namespace {

constexpr size_t longest_source = 65536;
constexpr const char* blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(blanks);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

Type AttributeReader::type(const SymbolTable& symbols) {
  size_t begin = lexer_.peek().begin;
  if (!lexer_.is("tensor")) lexer_.reject("a tensor type");
  lexer_.take();
  lexer_.expect("<");
  size_t shape_begin = lexer_.peek().begin;
  std::string shape = lexer_.take_shape();
  Type type;
  std::vector<size_t> dynamic;
  size_t at = extents(shape, shape_begin, type, dynamic);
  std::string element(trimmed(std::string_view(shape).substr(at)));
  // MLIR's index type occurs in attributes only.
  bool is_quantized = element.starts_with("!quant.uniform");
  auto dtype = element == "index" || is_quantized ? DType::i64 : dtype_from_name(element);
  if (!dtype)
    lexer_.fail_at(begin, "type_element", cat("an element type was wanted, got '", element.substr(0, 40), "'"));
  type.dtype = *dtype;
  std::vector<std::string> names;
  if (lexer_.take_if(",") && lexer_.peek().kind == TokenKind::text) {
    // The extents of the dynamic dims, separated by ", " outside of parentheses.
    std::string text = lexer_.take().text, part;
    int depth = 0;
    for (char c : text + ",") {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == ',' && depth == 0) {
        names.push_back(part);
        part.clear();
      } else
        part += c;
    }
  }
  if (lexer_.peek().text == "#stablehlo.bounds") bounds(type, std::exchange(dynamic, {}));
  lexer_.expect(">");
  if (names.size() < dynamic.size())
    lexer_.fail_at(begin, "type_dynamic",
                   cat("a dynamic dimension needs its extent by name, as in tensor<?xf32, \"n\">"));
  for (size_t i = 0; i < dynamic.size(); ++i) type.dims[dynamic[i]] = parse_dim(names[i], symbols);
  try {
    if (is_quantized) parse_quantized(std::string_view(element).substr(14), type);
    type.count();
  } catch (const Error& error) {
    raise(error.at(lexer_.location(begin)));
  }
  return type;
}

// "2x?x" of a shape; where the element type begins.
size_t AttributeReader::extents(std::string_view shape, size_t shape_begin, Type& type, std::vector<size_t>& dynamic) {
  size_t at = 0;
  for (;;) {
    at = std::min(shape.find_first_not_of(blanks, at), shape.size());
    size_t cross = shape.find('x', at);
    bool is_dim = cross != std::string::npos && (shape[at] == '?' || (shape[at] >= '0' && shape[at] <= '9'));
    if (!is_dim) return at;
    std::string_view word = trimmed(shape.substr(at, cross - at));
    auto extent = word == "?" ? std::optional<int64_t>(0) : integer_of(word);
    if (!extent)
      lexer_.fail_at(shape_begin + at, "type_dims", cat("a dimension was wanted, got '", word.substr(0, 40), "'"));
    if (word == "?") dynamic.push_back(type.dims.size());
    type.dims.emplace_back(*extent);
    at = cross + 1;
  }
}

// #stablehlo.bounds<4, ?>: the most that each dynamic dimension can be.
void AttributeReader::bounds(Type& type, const std::vector<size_t>& dynamic) {
  size_t begin = lexer_.take().begin, count = 0;
  lexer_.expect("<");
  do {
    Token token = lexer_.take();
    bool is_dynamic = std::find(dynamic.begin(), dynamic.end(), count) != dynamic.end();
    auto bound = token.kind == TokenKind::number ? integer_of(token.text) : std::nullopt;
    if (is_dynamic != bound.has_value() || (bound && *bound < 0) || (!bound && token.text != "?"))
      lexer_.fail_at(token.begin, "type_bounds", "each dynamic dimension needs a bound, and no other has one");
    if (bound) type.dims[count] = Dim(Symbol{cat("?", *bound), 0, *bound, *bound});
    ++count;
  } while (lexer_.take_if(","));
  lexer_.expect(">");
  if (count != type.dims.size())
    lexer_.fail_at(begin, "type_bounds", cat("bounds of ", type.dims.size(), " dimensions were wanted, got ", count));
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
  if (depth > deepest_nesting) lexer_.reject("less nesting");
  if (lexer_.is("tensor")) return {type(symbols)};
  TypeTree tree;
  Token name = lexer_.peek();
  if (name.text != "!stablehlo.token" && name.text != "!stablehlo.future" && !lexer_.is("tuple"))
    lexer_.reject("a type");
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
  if (lexer_.is("("))
    types(signature.trees);
  else
    signature.trees.push_back(type_tree(symbols));
  for (const TypeTree& tree : operands) append_tensors(tree, signature.operands);
  for (const TypeTree& tree : signature.trees) append_tensors(tree, signature.results);
  if (std::all_of(signature.trees.begin(), signature.trees.end(),
                  [](const TypeTree& tree) { return tree.tensor.has_value(); }))
    signature.trees.clear();
  return signature;
}

int64_t AttributeReader::integer() {
  auto value = lexer_.peek().kind == TokenKind::number ? integer_of(lexer_.peek().text) : std::nullopt;
  if (!value) lexer_.reject("an integer of 64 bits");
  lexer_.take();
  return *value;
}

Ints AttributeReader::list() {
  Ints values;
  lexer_.expect("[");
  if (lexer_.take_if("]")) return values;
  do values.push_back(integer());
  while (lexer_.take_if(","));
  lexer_.expect("]");
  return values;
}

MlirAttrs AttributeReader::dictionary(std::string_view close, int depth) {
  MlirAttrs attrs;
  while (!lexer_.is(close)) {
    if (lexer_.peek().kind != TokenKind::word && lexer_.peek().kind != TokenKind::text)
      lexer_.reject("the name of an attribute");
    std::string name = lexer_.take().text;
    if (lexer_.take_if("=")) {
      size_t begin = lexer_.peek().begin;
      MlirAttr attr = attribute(depth + 1);
      size_t end = lexer_.peek().begin;
      if (end - begin < longest_source) attr.source = lexer_.source(begin, end);
      while (!attr.source.empty() && std::isspace(static_cast<unsigned char>(attr.source.back())))
        attr.source.pop_back();
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
  if (!known) {
    lexer_.skip_to_close("<", ">");
    return attr;
  }
  // Either one kind and one word, or named fields.
  while (!lexer_.is(">")) {
    if (lexer_.peek().kind != TokenKind::word) lexer_.reject("a field");
    std::string field = lexer_.take().text;
    if (lexer_.take_if("="))
      attr.fields[field] = this->field(depth + 1);
    else if (lexer_.peek().kind == TokenKind::word)
      attr.text = lexer_.take().text;
    else
      attr.text = field;
    if (!lexer_.take_if(",")) break;
  }
  lexer_.expect(">");
  return attr;
}

namespace {

// Floats that attributes may have and tensors of ours not.
bool is_other_float(std::string_view name) { return name == "tf32" || name == "f80" || name == "f128"; }

// Nothing where the number is none of that type; a number without a type is an i64 or an f64.
std::optional<MlirAttr> number_of(const std::string& text, std::string_view type) {
  MlirAttr attr;
  bool is_decimal = text.find('.') != std::string::npos;
  if (type.empty()) type = is_decimal ? "f64" : "i64";
  if (auto integer = integer_type(type)) {
    attr.integer = integer_of(text, *integer);
    attr.bits = integer->sign == Sign::either ? integer->bits : 0;
    if (attr.integer)
      attr.number = integer->sign == Sign::without ? static_cast<double>(static_cast<uint64_t>(*attr.integer))
                                                   : static_cast<double>(*attr.integer);
    return attr.integer ? std::optional(attr) : std::nullopt;
  }
  if (is_other_float(type) && (is_decimal || text.starts_with("0x"))) return attr;
  auto dtype = dtype_from_name(type);
  if (!dtype || !is_float(*dtype)) return std::nullopt;
  attr.bits = bit_width(*dtype);
  if (auto bits = float_bits_of(text, *dtype)) attr.number = float_from_bits(*bits, *dtype);
  return attr.number ? std::optional(attr) : std::nullopt;
}

}  // namespace

MlirAttr AttributeReader::number(bool typed) {
  Token token = lexer_.take();
  std::string type;
  // "2 : i64", but not the ":" before the types of a call, as in "dim = 0 : tensor<3xi64>".
  if (typed && lexer_.is(":")) {
    Lexer probe = lexer_;
    probe.take();
    if (probe.peek().kind == TokenKind::word && !probe.is("tensor")) {
      lexer_ = probe;
      type = lexer_.take().text;
    }
  }
  auto attr = number_of(token.text, type);
  if (!attr)
    lexer_.fail_at(token.begin, "number",
                   cat("a number of type ", type.empty() ? "i64 or f64" : type, " was wanted, got '",
                       token.text.substr(0, 40), "'"));
  return *attr;
}

MlirAttr AttributeReader::field(int depth) {
  if (depth > deepest_nesting) lexer_.reject("less nesting");
  MlirAttr attr;
  if (lexer_.peek().kind == TokenKind::number) {
    attr.integer = integer();
    return attr;
  }
  if (!lexer_.take_if("[")) return attribute(depth);
  attr.ints = Ints{};
  for (int i = 0; !lexer_.is("]"); ++i) {
    add_item(attr, i, field(depth + 1));
    if (!lexer_.take_if(",")) break;
    if (lexer_.is("]")) lexer_.reject("an attribute");
  }
  lexer_.expect("]");
  return attr;
}

void AttributeReader::add_item(MlirAttr& list, int i, MlirAttr item) {
  // Words and decimals make it a list of other things than integers.
  if (!item.integer && !item.flag && !item.ints) list.ints.reset();
  if (list.ints) {
    if (item.ints)
      list.ints->insert(list.ints->end(), item.ints->begin(), item.ints->end());
    else
      list.ints->push_back(item.integer ? *item.integer : int64_t{*item.flag});
    list.has_flags = list.has_flags || item.flag || item.has_flags;
  }
  list.fields[cat(i)] = std::move(item);
}

// array<i64: 1, 2>
MlirAttr AttributeReader::array() {
  MlirAttr attr;
  lexer_.expect("<");
  std::string name = lexer_.take().text;
  auto type = integer_type(name);
  auto real = dtype_from_name(name);
  if (!type && !(real && is_float(*real))) lexer_.reject("an array of integers or floats");
  attr.ints = Ints{};
  attr.has_flags = name == "i1";
  if (lexer_.take_if(":")) do {
      bool is_number = lexer_.peek().kind == TokenKind::number;
      if (attr.has_flags && !lexer_.is("true") && !lexer_.is("false")) lexer_.reject("true or false");
      auto value = attr.has_flags      ? std::optional<int64_t>(lexer_.is("true"))
                   : is_number && type ? integer_of(lexer_.peek().text, *type)
                                       : std::nullopt;
      bool is_real = is_number && !type && float_bits_of(lexer_.peek().text, *real);
      if (!value && !is_real) lexer_.reject(cat("a number of type ", name));
      if (value) attr.ints->push_back(*value);
      lexer_.take();
    } while (lexer_.take_if(","));
  lexer_.expect(">");
  if (!type) attr.ints.reset();
  return attr;
}

MlirAttr AttributeReader::attribute(int depth) {
  if (depth > deepest_nesting) lexer_.reject("less nesting");
  MlirAttr attr;
  const Token& token = lexer_.peek();
  switch (token.kind) {
    case TokenKind::text:
      attr.text = lexer_.take().text;
      return attr;
    case TokenKind::symbol:
      attr.text = lexer_.take().text.substr(1);
      return attr;
    case TokenKind::hash:
      return hash(depth);
    case TokenKind::number:
      return number();
    default:
      break;
  }
  if (lexer_.is("dense")) return dense(depth);
  if (lexer_.is("dense_resource")) return resource();
  if (lexer_.take_if("true")) {
    attr.flag = true;
    return attr;
  }
  if (lexer_.take_if("false")) {
    attr.flag = false;
    return attr;
  }
  if (lexer_.take_if("array")) return array();
  if (lexer_.take_if("[")) {
    attr.ints = Ints{};
    for (int i = 0; !lexer_.is("]"); ++i) {
      add_item(attr, i, attribute(depth + 1));
      if (!lexer_.take_if(",")) break;
    }
    lexer_.expect("]");
    return attr;
  }
  if (lexer_.take_if("{")) {
    attr.fields = dictionary("}", depth);
    return attr;
  }
  if (lexer_.take_if("<")) {
    lexer_.skip_to_close("<", ">");
    return attr;
  }
  if (lexer_.is("(") || lexer_.peek().kind == TokenKind::bang) {
    skip_type();
    return attr;
  }
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
    if (is_function)
      lexer_.skip_to_close("(", ")");
    else if (lexer_.take_if("<"))
      lexer_.skip_to_close("<", ">");
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
        if (!number || *number < 0 || !spatial.emplace(*number, position).second)
          lexer_.fail_at(token.begin, "syntax",
                         cat("spatial dimensions were wanted, each once, got '", token.text.substr(0, 40), "'"));
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
    for (const auto& [number, axis] : spatial) {
      if (number != static_cast<int64_t>(axes.size())) lexer_.reject(cat("the spatial dimension ", axes.size()));
      axes.push_back(axis);
    }
    attr.fields[prefix + "spatial_dimensions"].ints = std::move(axes);
  };
  side("input_", {{"b", "batch"}, {"f", "feature"}});
  lexer_.expect("x");
  side("kernel_", {{"i", "input_feature"}, {"o", "output_feature"}});
  lexer_.expect("->");
  side("output_", {{"b", "batch"}, {"f", "feature"}});
  return attr;
}

}  // namespace weft
