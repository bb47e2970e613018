// A call as it was read, and its attributes as the registry wants them.
#pragma once

#include "weft/ir/attribute_text.h"
#include "weft/ir/graph.h"

namespace weft {

// A region as it was read: its own parameters first, then one for each value of the surroundings that it uses.
struct ParsedRegion {
  GraphPtr graph;
  size_t declared = 0;
  std::vector<Value> captured;  // in the surrounding graph
};

struct ParsedCall {
  size_t begin = 0;
  std::string name;
  std::optional<Op> op;
  std::vector<Value> operands;
  MlirAttrs attrs;
  std::vector<ParsedRegion> regions;
  std::vector<Type> results;         // as the text gives them; empty when it does not
  std::vector<TypeTree> trees = {};  // the same where some are tuples or tokens

  void set_results(AttributeReader::Signature signature) {
    results = std::move(signature.results);
    trees = std::move(signature.trees);
  }
};

// stablehlo.NAME, chlo.NAME and weft.NAME.
std::optional<Op> op_of(std::string_view name);
// Its one result type, or Error(value).
const Type& result_of(const ParsedCall& call);
// Error(value) where the text lacks an attribute or has another kind.
Attrs attrs_of(const ParsedCall& call, const SymbolTable& symbols);

}  // namespace weft
