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
  std::optional<Ints> ints;          // array<i64: …>, [1, 2], dense of integers
  std::optional<int64_t> integer;
  std::optional<double> number;
  std::optional<bool> flag;
  std::optional<std::string> text;   // strings, @symbols, bare words, the last word of #stablehlo<kind WORD>
  std::optional<Literal> literal;    // dense<…> : type
  std::optional<Type> splat;         // of a large constant of equal elements, which `literal` then holds but once
  std::string source;                // as it was written, where that is short
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
  explicit AttributeReader(Lexer& lexer, std::span<const Literal> resources = {}) : lexer_(lexer), resources_(resources) {}

  Type type(const SymbolTable& symbols);
  // "(t, t) -> t", "(t) -> (t, t)".
  struct Signature {
    std::vector<Type> operands, results;  // all tensors in them
    std::vector<TypeTree> trees = {};     // the results; empty where all are tensors
  };
  Signature signature(const SymbolTable& symbols);
  TypeTree type_tree(const SymbolTable& symbols, int depth = 0);
  MlirAttr attribute(int depth = 0);
  // After '{' (or '<{'): names and attributes up to the closing mark, which is taken.
  MlirAttrs dictionary(std::string_view close, int depth = 0);
  // [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]: the fields of a convolution's dimension numbers.
  MlirAttr convolution_dimensions();
  // Takes a type of any kind and forgets it.
  void skip_type();
  // [1, 2, 3]
  Ints list();

 private:
  MlirAttr dense(int depth);
  MlirAttr resource();
  MlirAttr hash(int depth);
  MlirAttr number();
  void bounds(Type& type, const std::vector<size_t>& dynamic);
  void elements(std::vector<std::string>& into, Ints& shape, size_t level, int depth);
  Lexer& lexer_;
  std::span<const Literal> resources_;
};

}  // namespace weft
