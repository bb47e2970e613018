// Reading constants: dense<…> and dense_resource<…>.
#include <algorithm>
#include <bit>
#include <cstring>

#include "weft/core/element.h"
#include "weft/ir/attribute_text.h"
#include "weft/ir/number_text.h"

namespace weft {
namespace {

constexpr int64_t largest_splat = 65536;  // elements that a constant of one listed element may have written out

static_assert(std::endian::native == std::endian::little, "bits of floats are stored by their first bytes");

// One element's text as a value of a real type, by MLIR's rules.
bool store_element(std::byte* at, const std::string& text, DType dtype) {
  if (!is_bool(dtype) && !is_integer(dtype)) {
    // The bits as they are: a NaN keeps what it carries.
    auto bits = float_bits_of(text, dtype);
    if (bits) std::memcpy(at, &*bits, static_cast<size_t>(size_of(dtype)));
    return bits.has_value();
  }
  if (is_bool(dtype) && (text == "true" || text == "false")) {
    store(at, Element::of_int(dtype, text == "true"));
    return true;
  }
  auto value = integer_of(text, *integer_type(name(dtype)));
  if (value) store(at, Element::of_int(dtype, is_bool(dtype) ? *value != 0 : *value));
  return value.has_value();
}

int hex_value(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

}  // namespace

void AttributeReader::element(Elements& into) {
  if (lexer_.peek().kind != TokenKind::number && !lexer_.is("true") && !lexer_.is("false")) lexer_.reject("an element");
  into.tokens.push_back(lexer_.take());
}

void AttributeReader::elements(Elements& into, size_t level, int depth) {
  if (depth > deepest_nesting) lexer_.reject("less nesting");
  if (lexer_.take_if("[")) {
    int64_t count = 0;
    while (!lexer_.is("]")) {
      elements(into, level + 1, depth + 1);
      ++count;
      if (!lexer_.take_if(",")) break;
      if (lexer_.is("]")) lexer_.reject("an element");
    }
    lexer_.expect("]");
    if (into.shape.size() <= level) into.shape.resize(level + 1, -1);
    if (into.shape[level] >= 0 && into.shape[level] != count) lexer_.reject("rows of equal length");
    into.shape[level] = count;
    return;
  }
  if (into.rank.value_or(level) != level) lexer_.reject("elements of equal depth");
  into.rank = level;
  bool is_pair = lexer_.take_if("(");
  (is_pair ? into.has_pairs : into.has_singles) = true;
  element(into);
  if (!is_pair) return;
  lexer_.expect(",");
  element(into);
  lexer_.expect(")");
}

// A constant that whoever gave the text has: dense_resource<c2> : type.
MlirAttr AttributeReader::resource() {
  size_t begin = lexer_.take().begin;
  lexer_.expect("<");
  std::string key = lexer_.take().text;
  lexer_.expect(">");
  lexer_.expect(":");
  Type type = this->type({});
  auto index = key.starts_with('c') ? integer_of(std::string_view(key).substr(1)) : std::nullopt;
  if (!index || *index < 0 || static_cast<size_t>(*index) >= resources_.size())
    lexer_.fail_at(begin, "dense_resource", cat("the text came without its resource '", key, "'"));
  const Literal& literal = resources_[static_cast<size_t>(*index)];
  if (!(literal.type() == type))
    lexer_.fail_at(
        begin, "dense_resource",
        cat("the resource '", key, "' must be ", type.short_text(), ", it is ", literal.type().short_text()));
  MlirAttr attr;
  attr.literal = literal;
  return attr;
}

// "0x…": the bytes of all elements, or of one for all.
Literal AttributeReader::hex_literal(const Token& text, const Type& type) const {
  const std::string& hex = text.text;
  auto reject = [&] {
    lexer_.fail_at(text.begin, "dense_hex", "a string of hexadecimal digits after 0x was wanted, two for each byte");
  };
  if (!hex.starts_with("0x") || hex.size() % 2) reject();
  int64_t size = size_of(type.dtype), count = type.count().value(), given = static_cast<int64_t>(hex.size() / 2 - 1);
  if (given != size * count && given != size)
    lexer_.fail_at(text.begin, "dense_hex",
                   cat("the string must hold ", count, " elements of ", size, " bytes, got ", given, " bytes"));
  Literal literal(type);
  for (int64_t i = 0; i < size * count; ++i) {
    auto at = static_cast<size_t>(2 + 2 * (i % given));
    literal.mutable_bytes()[i] =
        static_cast<std::byte>(std::max(hex_value(hex[at]), 0) * 16 + std::max(hex_value(hex[at + 1]), 0));
  }
  if (std::any_of(hex.begin() + 2, hex.end(), [](char c) { return hex_value(c) < 0; })) reject();
  // A byte holds more than these have: what is above is dropped.
  if (is_bool(type.dtype) || bit_width(type.dtype) < 8)
    for (int64_t i = 0; i < count; ++i) {
      std::byte& byte = literal.mutable_bytes()[i];
      if (is_bool(type.dtype))
        byte = std::byte{byte != std::byte{0}};
      else if (is_integer(type.dtype))
        store(&byte, Element::of_int(type.dtype, static_cast<int64_t>(byte)));
    }
  return literal;
}

void AttributeReader::require_shape(const Elements& given, const Type& type, size_t begin) const {
  Dims shape(given.shape.begin(), given.shape.end());
  bool even = given.rank ? *given.rank == given.shape.size() : !given.shape.empty();
  if (!even || shape != type.dims)
    lexer_.fail_at(begin, "dense_count", cat("the constant must have the shape of ", type, ", got ", given.shape));
}

// The elements one by one, or one for all.
Literal AttributeReader::listed(const Elements& given, const Type& type, bool is_splat) const {
  bool pairs = is_complex(type.dtype);
  if (pairs ? given.has_singles : given.has_pairs)
    lexer_.fail_at(given.tokens[0].begin, "dense_element",
                   cat("elements of ", name(type.dtype), " are ", pairs ? "pairs (re, im)" : "no pairs"));
  int64_t parts = pairs ? 2 : 1, size = size_of(type.dtype) / parts;
  DType real = real_type(type.dtype);
  Literal literal(type);
  std::byte* at = literal.mutable_bytes();
  for (const Token& token : given.tokens) {
    // Where there are no elements the one for all is still one of the type.
    std::byte one[8];
    if (!store_element(one, token.text, real))
      lexer_.fail_at(token.begin, "dense_element",
                     cat("an element of ", name(real), " was wanted, got '", token.text.substr(0, 40), "'"));
    if (literal.count() > 0) {
      std::memcpy(at, one, static_cast<size_t>(size));
      at += size;
    }
  }
  for (int64_t i = parts; is_splat && i < literal.count() * parts; ++i)
    std::memcpy(literal.mutable_bytes() + i * size, literal.mutable_bytes() + i % parts * size,
                static_cast<size_t>(size));
  return literal;
}

MlirAttr AttributeReader::dense(int depth) {
  size_t begin = lexer_.take().begin;
  lexer_.expect("<");
  Elements given;
  std::optional<Token> hex;
  if (lexer_.peek().kind == TokenKind::text)
    hex = lexer_.take();
  else if (!lexer_.is(">"))
    elements(given, 0, depth);
  lexer_.expect(">");
  lexer_.expect(":");
  Type type = this->type({});
  if (!type.is_static() || type.quantized)
    lexer_.fail_at(begin, "dense_type", "a constant needs a static type of its elements");
  int64_t size = size_of(type.dtype);
  bool splat = hex ? static_cast<int64_t>(hex->text.size()) == 2 + 2 * size : given.rank == 0;
  MlirAttr attr;
  bool is_empty = !given.rank && given.shape.empty() && type.count().value() == 0;
  if (!hex && !splat && !is_empty) require_shape(given, type, begin);
  if (splat && type.count().value() > largest_splat) {
    attr.splat = type;
    type.dims.clear();
  }
  attr.literal = hex ? hex_literal(*hex, type) : listed(given, type, splat);
  if ((is_integer(type.dtype) || is_bool(type.dtype)) && !attr.splat) {
    attr.ints = Ints{};
    attr.has_flags = is_bool(type.dtype);
    for (int64_t i = 0; i < attr.literal->count(); ++i) attr.ints->push_back(attr.literal->as_int(i));
  }
  return attr;
}

}  // namespace weft
