// Which of two extents is the greater, for all values of their symbols: by cases, where intervals do not tell.
#include "weft/core/dim.h"
#include "weft/core/error.h"

namespace weft {
namespace {

// The first term that is one such operation alone: a minimum or maximum, or else a quotient or remainder.
const Dim::Term* find_operation(const Dim& value, bool divides) {
  auto is_wanted = [&](const DimAtom& atom) {
    if (!divides) return atom.op == DimOp::min || atom.op == DimOp::max;
    if (atom.op == DimOp::mod) return atom.operands[1].min() > 0;
    return atom.op == DimOp::floordiv && atom.operands[1].min() > 0 && atom.operands[1].is_static();
  };
  for (const Dim::Term& term : value.terms())
    if (term.atoms.size() == 1 && is_wanted(*term.atoms[0])) return &term;
  return nullptr;
}

// Whether it is at least zero for all values. Each split takes one operation out of it; what is left is up to
// intervals.
bool is_never_negative(const Dim& value, int splits) {
  if (value.min() >= 0) return true;
  // Quotients last: what is known of them is a range, while the cases of the others are exact.
  const Dim::Term* term = find_operation(value, false);
  if (!term) term = find_operation(value, true);
  if (splits == 0 || !term) return false;
  const DimAtom& atom = *term->atoms[0];
  const Dim &a = atom.operands[0], &b = atom.operands[1], coefficient = term->coefficient;
  Dim rest = value - coefficient * dim_of_atom(atom);
  auto holds = [&](const Dim& other) { return is_never_negative(other, splits - 1); };
  // b times the value: (a - b + 1) / b <= floordiv(a, b) <= a / b.
  if (atom.op == DimOp::floordiv) return holds(rest * b + coefficient * (term->coefficient > 0 ? a - b + Dim(1) : a));
  if (atom.op == DimOp::mod) return holds(term->coefficient > 0 ? rest : rest + coefficient * (b - Dim(1)));
  // A minimum that is taken away takes no more than either operand; one that is added may be any of them.
  bool any = (atom.op == DimOp::min) == (term->coefficient < 0);
  return any ? holds(rest + coefficient * a) || holds(rest + coefficient * b)
             : holds(rest + coefficient * a) && holds(rest + coefficient * b);
}

}  // namespace

bool known_at_most(const Dim& lhs, const Dim& rhs) {
  constexpr int most_splits = 10;
  if (lhs == rhs || lhs.max() <= rhs.min()) return true;
  if (lhs.min() > rhs.max()) return false;
  try {
    return is_never_negative(rhs - lhs, most_splits);
  } catch (const Error&) {
    return false;  // past 64 bits
  }
}

}  // namespace weft
