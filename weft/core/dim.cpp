// Symbolic extents in canonical form.
#include "weft/core/dim.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "weft/core/error.h"
#include "weft/core/hash.h"

namespace weft {
namespace {

using Term = Dim::Term;
using AtomPtr = std::shared_ptr<const DimAtom>;

constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
constexpr int64_t highest = std::numeric_limits<int64_t>::max();

// An extent of more is no extent that anyone wrote, and takes for ever.
constexpr size_t most_terms = 1024, most_atoms = 64;

void require_small(size_t terms, size_t atoms) {
  if (terms > most_terms || atoms > most_atoms)
    fail(ErrorKind::value, "dim_size", "an extent may have ", most_terms, " terms of ", most_atoms, " factors, got ",
         terms, " of up to ", atoms);
}

// The least number has no opposite, and the CPU stops at the attempt.
int64_t divide(int64_t a, int64_t b) { return b == -1 ? checked_multiply(a, -1) : a / b; }
bool divides(int64_t a, int64_t b) { return b == -1 || a % b == 0; }

int64_t floor_divide(int64_t a, int64_t b) {
  int64_t q = divide(a, b);
  return (!divides(a, b) && (a < 0) != (b < 0)) ? q - 1 : q;
}

// Bounds saturate: a bound past 64 bits is no bound.
int64_t saturating_add(int64_t a, int64_t b) {
  int64_t result;
  if (!__builtin_add_overflow(a, b, &result)) return result;
  return a < 0 ? lowest : highest;
}

int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t result;
  if (!__builtin_mul_overflow(a, b, &result)) return result;
  return (a < 0) != (b < 0) ? lowest : highest;
}

struct Range {
  int64_t low, high;
};

Range multiply(Range a, Range b) {
  int64_t products[] = {saturating_multiply(a.low, b.low), saturating_multiply(a.low, b.high),
                        saturating_multiply(a.high, b.low), saturating_multiply(a.high, b.high)};
  return {*std::min_element(products, products + 4), *std::max_element(products, products + 4)};
}

Range range_of(const Dim& dim) {
  if (dim.is_static()) return {dim.constant(), dim.constant()};
  return {dim.min(), dim.max()};
}

// Computed once, when the atom is made: nested extents would otherwise be walked again at every level.
Range bounds_of(const DimAtom& atom) {
  if (atom.op == DimOp::symbol) return {atom.symbol.min, atom.symbol.max};
  Range a = range_of(atom.operands[0]), b = range_of(atom.operands[1]);
  switch (atom.op) {
    case DimOp::min:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case DimOp::max:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case DimOp::floordiv:
      if (b.low < 1) return {lowest, highest};
      return {std::min(floor_divide(a.low, b.low), floor_divide(a.low, b.high)),
              std::max(floor_divide(a.high, b.low), floor_divide(a.high, b.high))};
    case DimOp::mod:
      if (b.low < 1) return {lowest, highest};
      if (a.low >= 0 && a.high < b.low) return a;
      return {0, b.high - 1};
    case DimOp::symbol:
      break;
  }
  return {lowest, highest};
}

int order(const DimAtom& a, const DimAtom& b);
int order(const Dim& a, const Dim& b);

int order(const AtomPtr& a, const AtomPtr& b) { return a == b ? 0 : order(*a, *b); }

int order(const std::vector<AtomPtr>& a, const std::vector<AtomPtr>& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? 1 : -1;  // higher degree first
  for (size_t i = 0; i < a.size(); ++i)
    if (int o = order(a[i], b[i])) return o;
  return 0;
}

int order(const Dim& a, const Dim& b) {
  const auto& x = a.terms();
  const auto& y = b.terms();
  if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
  for (size_t i = 0; i < x.size(); ++i) {
    if (int o = order(x[i].atoms, y[i].atoms)) return o;
    if (x[i].coefficient != y[i].coefficient) return x[i].coefficient < y[i].coefficient ? -1 : 1;
  }
  return a.constant() == b.constant() ? 0 : a.constant() < b.constant() ? -1 : 1;
}

int order(const DimAtom& a, const DimAtom& b) {
  if (a.op != b.op) return a.op < b.op ? -1 : 1;
  if (a.op == DimOp::symbol) return a.symbol.name.compare(b.symbol.name);
  for (size_t i = 0; i < 2; ++i)
    if (int o = order(a.operands[i], b.operands[i])) return o;
  return 0;
}

size_t hash_of(const DimAtom& atom) {
  size_t h = static_cast<size_t>(atom.op);
  if (atom.op == DimOp::symbol) return hash_combine(h, std::hash<std::string>{}(atom.symbol.name));
  for (const Dim& operand : atom.operands) h = hash_combine(h, operand.hash());
  return h;
}

}  // namespace

int64_t checked_add(int64_t lhs, int64_t rhs) {
  int64_t result;
  if (__builtin_add_overflow(lhs, rhs, &result))
    fail(ErrorKind::value, "size_overflow", "sizes must fit 64 bits, got ", lhs, " + ", rhs);
  return result;
}

int64_t checked_multiply(int64_t lhs, int64_t rhs) {
  int64_t result;
  if (__builtin_mul_overflow(lhs, rhs, &result))
    fail(ErrorKind::value, "size_overflow", "sizes must fit 64 bits, got ", lhs, " * ", rhs);
  return result;
}

Dim dim_of_atom(DimAtom atom) {
  Dim dim;
  Range bounds = bounds_of(atom);
  atom.low = bounds.low;
  atom.high = bounds.high;
  std::vector<Term> terms(1);
  terms[0].coefficient = 1;
  terms[0].atoms.push_back(std::make_shared<const DimAtom>(std::move(atom)));
  dim.terms_ = std::make_shared<const std::vector<Term>>(std::move(terms));
  return dim;
}

Dim::Dim(Symbol symbol) { *this = dim_of_atom({DimOp::symbol, std::move(symbol), {}}); }

int64_t Dim::value() const {
  if (!is_static()) fail(ErrorKind::value, "symbolic_extent", "a number was wanted, got the symbolic extent ", text());
  return constant_;
}

std::optional<int64_t> Dim::static_value() const {
  if (!is_static()) return std::nullopt;
  return constant_;
}

const std::vector<Dim::Term>& Dim::terms() const {
  static const std::vector<Term> none;
  return terms_ ? *terms_ : none;
}

int64_t Dim::min() const {
  int64_t sum = constant_;
  for (const Term& term : terms()) {
    Range range{term.coefficient, term.coefficient};
    for (const AtomPtr& atom : term.atoms) range = multiply(range, {atom->low, atom->high});
    sum = saturating_add(sum, range.low);
  }
  return sum;
}

int64_t Dim::max() const {
  int64_t sum = constant_;
  for (const Term& term : terms()) {
    Range range{term.coefficient, term.coefficient};
    for (const AtomPtr& atom : term.atoms) range = multiply(range, {atom->low, atom->high});
    sum = saturating_add(sum, range.high);
  }
  return sum;
}

namespace {

// Evaluates with a value for each symbol.
template <class ValueOf>
int64_t evaluate_with(const Dim& dim, const ValueOf& value_of) {
  int64_t sum = dim.constant();
  for (const Term& term : dim.terms()) {
    int64_t product = term.coefficient;
    for (const AtomPtr& atom : term.atoms) {
      int64_t value = 0;
      if (atom->op == DimOp::symbol) {
        value = value_of(atom->symbol);
      } else {
        int64_t a = evaluate_with(atom->operands[0], value_of), b = evaluate_with(atom->operands[1], value_of);
        bool by_b = atom->op == DimOp::floordiv || atom->op == DimOp::mod;
        if (by_b && b == 0) fail(ErrorKind::value, "dim_zero_division", "the extent ", dim, " divides by zero");
        switch (atom->op) {
          case DimOp::min:
            value = std::min(a, b);
            break;
          case DimOp::max:
            value = std::max(a, b);
            break;
          case DimOp::floordiv:
            value = floor_divide(a, b);
            break;
          case DimOp::mod:
            value = b == -1 ? 0 : a - floor_divide(a, b) * b;
            break;
          case DimOp::symbol:
            break;
        }
      }
      product = checked_multiply(product, value);
    }
    sum = checked_add(sum, product);
  }
  return sum;
}

}  // namespace

int64_t Dim::opt() const {
  if (is_static()) return constant_;
  return evaluate_with(*this, [](const Symbol& symbol) { return symbol.opt; });
}

int64_t Dim::evaluate(const std::map<std::string, int64_t, std::less<>>& symbols) const {
  if (is_static()) return constant_;
  return evaluate_with(*this, [&](const Symbol& symbol) {
    auto found = symbols.find(symbol.name);
    if (found == symbols.end()) fail(ErrorKind::value, "unbound_symbol", "the extent '", symbol.name, "' has no value");
    return found->second;
  });
}

Dim Dim::substitute(const std::map<std::string, Dim, std::less<>>& symbols) const {
  if (is_static()) return *this;
  Dim sum = constant_;
  for (const Term& term : terms()) {
    Dim product = term.coefficient;
    for (const AtomPtr& atom : term.atoms) {
      if (atom->op == DimOp::symbol) {
        auto found = symbols.find(atom->symbol.name);
        product = product * (found == symbols.end() ? dim_of_atom(*atom) : found->second);
        continue;
      }
      Dim a = atom->operands[0].substitute(symbols), b = atom->operands[1].substitute(symbols);
      switch (atom->op) {
        case DimOp::min:
          product = product * weft::min(a, b);
          break;
        case DimOp::max:
          product = product * weft::max(a, b);
          break;
        case DimOp::floordiv:
          product = product * floordiv(a, b);
          break;
        case DimOp::mod:
          product = product * mod(a, b);
          break;
        case DimOp::symbol:
          break;
      }
    }
    sum = sum + product;
  }
  return sum;
}

namespace {

void collect(const Dim& dim, std::vector<Symbol>& symbols) {
  for (const Term& term : dim.terms())
    for (const AtomPtr& atom : term.atoms) {
      if (atom->op == DimOp::symbol) {
        bool known =
            std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& s) { return s.name == atom->symbol.name; });
        if (!known) symbols.push_back(atom->symbol);
      }
      for (const Dim& operand : atom->operands) collect(operand, symbols);
    }
}

}  // namespace

std::vector<Symbol> Dim::symbols() const {
  std::vector<Symbol> symbols;
  collect(*this, symbols);
  return symbols;
}

bool Dim::operator==(const Dim& other) const {
  if (constant_ != other.constant_) return false;
  if (terms_ == other.terms_) return true;
  return terms_ && other.terms_ && order(*this, other) == 0;
}

size_t Dim::hash() const {
  size_t h = std::hash<int64_t>{}(constant_);
  for (const Term& term : terms()) {
    h = hash_combine(h, static_cast<size_t>(term.coefficient));
    for (const AtomPtr& atom : term.atoms) h = hash_combine(h, hash_of(*atom));
  }
  return h;
}

namespace {

// The operation that an extent is, alone; null for others.
const DimAtom* lone_atom(const Dim& dim) {
  if (dim.constant() != 0 || dim.terms().size() != 1 || dim.terms()[0].coefficient != 1 ||
      dim.terms()[0].atoms.size() != 1)
    return nullptr;
  return dim.terms()[0].atoms[0].get();
}

// What is left of a by d: floordiv(mod(a, d), e), where e divides d, or mod(a, d), where e is 1. With d / e times
// floordiv(a, d) it is floordiv(a, e).
struct Division {
  Dim a;
  int64_t d, e;
};

std::optional<Division> division_of(const DimAtom& rest) {
  const bool is_mod = rest.op == DimOp::mod;
  if (!is_mod && rest.op != DimOp::floordiv) return std::nullopt;
  const Dim &first = rest.operands[0], &second = rest.operands[1];
  if (!second.is_static()) return std::nullopt;
  if (is_mod) return Division{first, second.constant(), 1};
  const DimAtom* inner = lone_atom(first);
  if (!inner || inner->op != DimOp::mod || !inner->operands[1].is_static()) return std::nullopt;
  const int64_t d = inner->operands[1].constant(), e = second.constant();
  if (d <= 0 || e <= 0 || d % e != 0) return std::nullopt;
  return Division{inner->operands[0], d, e};
}

// Of a sum that has c * (d / e) * floordiv(a, d) and c times what is left: takes both out, and gives c * floordiv(a,
// e).
std::optional<Dim> take_division(std::vector<Term>& terms) {
  if (terms.size() < 2) return std::nullopt;
  for (const Term& term : terms) {
    if (term.atoms.size() != 1) continue;
    const std::optional<Division> division = division_of(*term.atoms[0]);
    int64_t wanted;
    if (!division || __builtin_mul_overflow(term.coefficient, division->d / division->e, &wanted)) continue;
    auto is_quotient = [&](const Term& other) {
      return other.coefficient == wanted && other.atoms.size() == 1 && other.atoms[0]->op == DimOp::floordiv &&
             other.atoms[0]->operands[0] == division->a && other.atoms[0]->operands[1].is(division->d);
    };
    auto quotient = std::find_if(terms.begin(), terms.end(), is_quotient);
    if (quotient == terms.end()) continue;
    const AtomPtr rest = term.atoms[0];
    const Dim whole = floordiv(division->a, division->e) * Dim(term.coefficient);
    terms.erase(quotient);
    std::erase_if(terms, [&](const Term& other) { return other.atoms.size() == 1 && other.atoms[0] == rest; });
    return whole;
  }
  return std::nullopt;
}

}  // namespace

Dim operator+(const Dim& lhs, const Dim& rhs) {
  Dim result;
  result.constant_ = checked_add(lhs.constant_, rhs.constant_);
  if (!lhs.terms_ || !rhs.terms_) {
    result.terms_ = lhs.terms_ ? lhs.terms_ : rhs.terms_;
    return result;
  }
  require_small(std::max(lhs.terms_->size(), rhs.terms_->size()), 1);
  std::vector<Term> merged;
  const auto &a = *lhs.terms_, &b = *rhs.terms_;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    int o = i == a.size() ? 1 : j == b.size() ? -1 : order(a[i].atoms, b[j].atoms);
    if (o < 0) {
      merged.push_back(a[i++]);
    } else if (o > 0) {
      merged.push_back(b[j++]);
    } else {
      Term term = a[i++];
      term.coefficient = checked_add(term.coefficient, b[j++].coefficient);
      if (term.coefficient) merged.push_back(std::move(term));
    }
  }
  std::optional<Dim> whole = take_division(merged);
  if (!merged.empty()) result.terms_ = std::make_shared<const std::vector<Term>>(std::move(merged));
  return whole ? result + *whole : result;
}

Dim operator*(const Dim& lhs, const Dim& rhs) {
  if (!lhs.terms_ && !rhs.terms_) return checked_multiply(lhs.constant_, rhs.constant_);
  if (lhs.is(0) || rhs.is(0)) return 0;
  if (lhs.is(1)) return rhs;
  if (rhs.is(1)) return lhs;
  if (!lhs.terms_ || !rhs.terms_) {
    const Dim& symbolic = lhs.terms_ ? lhs : rhs;
    int64_t factor = lhs.terms_ ? rhs.constant_ : lhs.constant_;
    Dim result;
    result.constant_ = checked_multiply(symbolic.constant_, factor);
    std::vector<Term> scaled = *symbolic.terms_;
    for (Term& term : scaled) term.coefficient = checked_multiply(term.coefficient, factor);
    result.terms_ = std::make_shared<const std::vector<Term>>(std::move(scaled));
    return result;
  }
  Dim result = lhs * Dim(rhs.constant_) + rhs * Dim(lhs.constant_) +
               Dim(checked_multiply(checked_multiply(lhs.constant_, rhs.constant_), -1));
  require_small(lhs.terms_->size() * rhs.terms_->size(), 1);
  for (const Term& a : *lhs.terms_)
    for (const Term& b : *rhs.terms_) {
      require_small(1, a.atoms.size() + b.atoms.size());
      Term term;
      term.coefficient = checked_multiply(a.coefficient, b.coefficient);
      term.atoms = a.atoms;
      term.atoms.insert(term.atoms.end(), b.atoms.begin(), b.atoms.end());
      std::sort(term.atoms.begin(), term.atoms.end(),
                [](const AtomPtr& x, const AtomPtr& y) { return order(x, y) < 0; });
      Dim product;
      product.terms_ = std::make_shared<const std::vector<Term>>(std::vector<Term>{std::move(term)});
      result = result + product;
    }
  return result;
}

Dim operator-(const Dim& lhs, const Dim& rhs) {
  // What is left of a whole beyond a minimum that the whole is part of: one form with what max writes.
  if (const DimAtom* least = lone_atom(rhs); least && least->op == DimOp::min)
    for (size_t i = 0; i < 2; ++i)
      if (least->operands[i] == lhs) return max(lhs - least->operands[1 - i], 0);
  return lhs + rhs * Dim(-1);
}

namespace {

// dim = divisor * quotient + rest with everything that divides evenly in the quotient.
void split_multiples(const Dim& dim, int64_t divisor, Dim& quotient, Dim& rest) {
  auto part = [](const Term& term, int64_t coefficient) {
    Dim product = coefficient;
    for (const AtomPtr& atom : term.atoms) product = product * dim_of_atom(*atom);
    return product;
  };
  quotient = floor_divide(dim.constant(), divisor);
  rest = dim.constant() - floor_divide(dim.constant(), divisor) * divisor;
  for (const Term& term : dim.terms())
    (term.coefficient % divisor == 0 ? quotient : rest) = term.coefficient % divisor == 0
                                                              ? quotient + part(term, term.coefficient / divisor)
                                                              : rest + part(term, term.coefficient);
}

Dim atom_of(DimOp op, const Dim& lhs, const Dim& rhs) { return dim_of_atom({op, {}, {lhs, rhs}}); }

// With lhs = step * high + low, 0 <= low < step and step a divisor of `divisor`, lhs is divided by dividing high by
// divisor / step.
struct Steps {
  int64_t step;
  Dim high, low;
};
std::optional<Steps> in_steps(const Dim& lhs, int64_t divisor) {
  std::vector<int64_t> steps;
  for (const Term& term : lhs.terms()) steps.push_back(std::gcd(term.coefficient, divisor));
  std::sort(steps.begin(), steps.end(), std::greater<>());
  for (int64_t step : steps) {
    if (step < 2 || step == divisor) continue;
    Dim high, low;
    split_multiples(lhs, step, high, low);
    if (low.min() >= 0 && low.max() < step) return Steps{step, high, low};
  }
  return std::nullopt;
}

// lhs / rhs where rhs is a single product that divides every term; nothing otherwise.
std::optional<Dim> exact_quotient(const Dim& lhs, const Dim& rhs) {
  if (lhs == rhs) return Dim(1);
  if (rhs.constant() != 0 || rhs.terms().size() != 1 || lhs.constant() != 0) return std::nullopt;
  const Term& divisor = rhs.terms()[0];
  Dim quotient = 0;
  for (const Term& term : lhs.terms()) {
    if (!divides(term.coefficient, divisor.coefficient)) return std::nullopt;
    std::vector<AtomPtr> left = term.atoms;
    for (const AtomPtr& atom : divisor.atoms) {
      auto found = std::find_if(left.begin(), left.end(), [&](const AtomPtr& a) { return order(a, atom) == 0; });
      if (found == left.end()) return std::nullopt;
      left.erase(found);
    }
    Dim part = divide(term.coefficient, divisor.coefficient);
    for (const AtomPtr& atom : left) part = part * dim_of_atom(*atom);
    quotient = quotient + part;
  }
  return quotient;
}

}  // namespace

Dim floordiv(const Dim& lhs, const Dim& rhs) {
  if (rhs.is(1)) return lhs;
  if (rhs.is(0)) fail(ErrorKind::value, "dim_zero_division", "the extent ", lhs, " is divided by zero");
  if (lhs.is_static() && rhs.is_static()) return floor_divide(lhs.constant(), rhs.constant());
  if (rhs.is_static() && rhs.constant() > 1) {
    Dim quotient, rest;
    split_multiples(lhs, rhs.constant(), quotient, rest);
    if (rest.min() >= 0 && rest.max() < rhs.constant()) return quotient;
    if (auto in = in_steps(rest, rhs.constant())) return quotient + floordiv(in->high, rhs.constant() / in->step);
    return quotient + atom_of(DimOp::floordiv, rest, rhs);
  }
  if (rhs.min() > 0) {
    if (auto exact = exact_quotient(lhs, rhs)) return *exact;
    if (lhs.min() >= 0 && known_less(lhs, rhs) == true) return 0;
  }
  return atom_of(DimOp::floordiv, lhs, rhs);
}

Dim ceildiv(const Dim& lhs, const Dim& rhs) { return floordiv(lhs + rhs - Dim(1), rhs); }

Dim mod(const Dim& lhs, const Dim& rhs) {
  if (rhs.is(1)) return 0;
  if (rhs.is(0)) fail(ErrorKind::value, "dim_zero_division", "the extent ", lhs, " is divided by zero");
  if (lhs.is_static() && rhs.is_static())
    return lhs.constant() - floor_divide(lhs.constant(), rhs.constant()) * rhs.constant();
  if (rhs.is_static() && rhs.constant() > 1) {
    Dim quotient, rest;
    split_multiples(lhs, rhs.constant(), quotient, rest);
    if (rest.min() >= 0 && rest.max() < rhs.constant()) return rest;
    if (auto in = in_steps(rest, rhs.constant()))
      return mod(in->high, rhs.constant() / in->step) * Dim(in->step) + in->low;
    return atom_of(DimOp::mod, rest, rhs);
  }
  if (rhs.min() > 0) {
    if (exact_quotient(lhs, rhs)) return 0;
    if (lhs.min() >= 0 && known_less(lhs, rhs) == true) return lhs;
  }
  return atom_of(DimOp::mod, lhs, rhs);
}

namespace {

// Remainders are less than a divisor that intervals do not tell. Other minima stay, whose own intervals are narrower.
bool has_remainder(const Dim& lhs, const Dim& rhs) {
  auto has = [](const Dim& dim) {
    return std::ranges::any_of(dim.terms(), [](const Dim::Term& term) { return term.atoms[0]->op == DimOp::mod; });
  };
  return has(lhs) || has(rhs);
}

}  // namespace

Dim min(const Dim& lhs, const Dim& rhs) {
  if (lhs == rhs || known_less(lhs, rhs) == true || known_less(rhs, lhs) == false) return lhs;
  if (known_less(rhs, lhs) == true || known_less(lhs, rhs) == false) return rhs;
  if (has_remainder(lhs, rhs) && known_at_most(lhs, rhs)) return lhs;
  if (has_remainder(lhs, rhs) && known_at_most(rhs, lhs)) return rhs;
  return order(lhs, rhs) < 0 ? atom_of(DimOp::min, lhs, rhs) : atom_of(DimOp::min, rhs, lhs);
}

Dim max(const Dim& lhs, const Dim& rhs) {
  if (lhs == rhs || known_less(lhs, rhs) == true || known_less(rhs, lhs) == false) return rhs;
  if (known_less(rhs, lhs) == true || known_less(lhs, rhs) == false) return lhs;
  if (has_remainder(lhs, rhs) && known_at_most(lhs, rhs)) return rhs;
  if (has_remainder(lhs, rhs) && known_at_most(rhs, lhs)) return lhs;
  return order(lhs, rhs) < 0 ? atom_of(DimOp::max, lhs, rhs) : atom_of(DimOp::max, rhs, lhs);
}

std::optional<bool> known_equal(const Dim& lhs, const Dim& rhs) {
  if (lhs == rhs) return true;
  if (lhs.is_static() && rhs.is_static()) return false;
  Dim difference = lhs - rhs;
  if (difference.min() > 0 || difference.max() < 0) return false;
  return std::nullopt;
}

std::optional<bool> known_less(const Dim& lhs, const Dim& rhs) {
  if (lhs.is_static() && rhs.is_static()) return lhs.constant() < rhs.constant();
  if (lhs.max() < rhs.min()) return true;
  if (lhs.min() >= rhs.max()) return false;
  Dim difference = lhs - rhs;
  if (difference.max() < 0) return true;
  if (difference.min() >= 0) return false;
  return std::nullopt;
}

}  // namespace weft
