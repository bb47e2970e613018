// Symbolic extents as text.
#include "weft/core/dim.h"
#include "weft/core/text.h"

namespace weft {
namespace {

void append_product(std::string& out, const Dim::Term& term) {
  for (size_t i = 0; i < term.atoms.size(); ++i) append(out, i ? "*" : "", term.atoms[i]->text());
}

}  // namespace

std::string DimAtom::text() const {
  switch (op) {
    case DimOp::symbol:
      return symbol.name;
    case DimOp::floordiv:
      return cat("floordiv(", operands[0], ", ", operands[1], ")");
    case DimOp::mod:
      return cat("mod(", operands[0], ", ", operands[1], ")");
    case DimOp::min:
      return cat("min(", operands[0], ", ", operands[1], ")");
    case DimOp::max:
      return cat("max(", operands[0], ", ", operands[1], ")");
  }
  return {};
}

std::string Dim::text() const {
  std::string out;
  for (const Term& term : terms()) {
    int64_t c = term.coefficient;
    if (out.empty()) {
      if (c < 0) out += '-';
    } else {
      out += c < 0 ? " - " : " + ";
    }
    if (c != 1 && c != -1) append(out, c < 0 ? 0 - static_cast<uint64_t>(c) : static_cast<uint64_t>(c), "*");
    append_product(out, term);
  }
  if (out.empty()) return cat(constant_);
  if (constant_ > 0) append(out, " + ", constant_);
  if (constant_ < 0) append(out, " - ", 0 - static_cast<uint64_t>(constant_));
  return out;
}

}  // namespace weft
