// MLIR attributes and types, as far as StableHLO text needs them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "weft/ir/lexer.h"
#include "weft/ir/literal.h"

namespace weft {

// An attribute as it was read: numbers and names are kept as text where their type comes later.
struct MlirAttr {
  std::optional<Ints> ints;  // array<i64: …>, [1, 2], dense of integers
  bool has_flags = false;    // of which some are written as true and false
  std::optional<int64_t> integer;
  int bits = 64;  // of its type, 0 where the type is index or has its own sign
  std::optional<double> number;
  std::optional<bool> flag;
  std::optional<std::string> text;         // strings, @symbols, bare words, the last word of #stablehlo<kind WORD>
  std::optional<Literal> literal;          // dense<…> : type
  std::optional<Type> splat;               // of a large constant of equal elements, which `literal` then holds but once
  std::string source;                      // as it was written, where that is short
  std::map<std::string, MlirAttr> fields;  // #stablehlo.dot<a = …, b = …> and {…}
};

using MlirAttrs = std::map<std::string, MlirAttr>;
using SymbolTable = std::map<std::string, Symbol, std::less<>>;

// Whether the text tells no more of an extent than its bound: tensor<?xf32, #stablehlo.bounds<4>>.
bool is_bounded(const Dim& dim);
// Whether the text may say so of a value of that type.
bool fits(const Type& type, const Type& text);

// A type as it stands in text: of a tensor, or of several in a tuple or future; a token is a tuple of nothing.
struct TypeTree {
  std::optional<Type> tensor = {};
  std::vector<TypeTree> parts = {};
};

void append_tensors(const TypeTree& tree, std::vector<Type>& tensors);

class AttributeReader {
 public:
  explicit AttributeReader(Lexer& lexer, std::span<const Literal> resources = {})
      : lexer_(lexer), resources_(resources) {}

  Type type(const SymbolTable& symbols);
  // "(t, t) -> t", "(t) -> (t, t)".
  struct Signature {
    std::vector<Type> operands, results;  // all tensors in them
    std::vector<TypeTree> trees = {};     // the results; empty where all are tensors
  };
  Signature signature(const SymbolTable& symbols);
  TypeTree type_tree(const SymbolTable& symbols, int depth = 0);
  MlirAttr attribute(int depth = 0);
  // The same in an operation's own form and in #stablehlo.NAME<…>: integers of 64 bits and a sign, without a type.
  MlirAttr field(int depth = 0);
  // 2 : i64, 1.5 : f32; the type may be there where it is `typed`.
  MlirAttr number(bool typed = true);
  // After '{' (or '<{'): names and attributes up to the closing mark, which is taken.
  MlirAttrs dictionary(std::string_view close, int depth = 0);
  // [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]: the fields of a convolution's dimension numbers.
  MlirAttr convolution_dimensions();
  // Takes a type of any kind and forgets it.
  void skip_type();
  int64_t integer();
  // [1, 2, 3]
  Ints list();

 private:
  // The elements of dense<…> as they stand in the text.
  struct Elements {
    std::vector<Token> tokens;  // two of each complex number
    Ints shape;                 // extents of the lists
    std::optional<size_t> rank;
    bool has_pairs = false, has_singles = false;
  };
  MlirAttr dense(int depth);
  Literal hex_literal(const Token& text, const Type& type) const;
  Literal listed(const Elements& given, const Type& type, bool is_splat) const;
  void require_shape(const Elements& given, const Type& type, size_t begin) const;
  MlirAttr resource();
  MlirAttr hash(int depth);
  MlirAttr array();
  static void add_item(MlirAttr& list, int i, MlirAttr item);
  size_t extents(std::string_view shape, size_t shape_begin, Type& type, std::vector<size_t>& dynamic);
  void bounds(Type& type, const std::vector<size_t>& dynamic);
  void elements(Elements& into, size_t level, int depth);
  void element(Elements& into);
  Lexer& lexer_;
  std::span<const Literal> resources_;
};

}  // namespace weft
