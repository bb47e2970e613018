// A dimension: a constant, or a symbolic extent over named symbols.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/core/api.h"

namespace weft WEFT_API {

class Dim;

// A named extent with the range it may take: an input dimension, or a loop counter. Symbols are equal by name; one
// program never holds two symbols of one name and different ranges.
struct Symbol {
  std::string name;
  int64_t min = 1, opt = 64, max = int64_t{1} << 31;
  bool operator==(const Symbol&) const = default;
};

enum class DimOp : uint8_t { symbol, floordiv, mod, min, max };

// What a product is made of, besides constants: a symbol, or an operation that polynomials cannot hold.
struct DimAtom;

// An integer expression in canonical form, a sum of constant * product of atoms, so that equal polynomials compare
// equal. A constant is one int64 and no allocation. Arithmetic that overflows 64 bits throws Error.
class Dim {
 public:
  Dim() = default;
  Dim(int64_t constant) : constant_(constant) {}  // NOLINT: a number is a dimension
  Dim(int constant) : constant_(constant) {}      // NOLINT
  explicit Dim(Symbol symbol);

  bool is_static() const { return terms_ == nullptr; }
  // The constant. Error(value, "symbolic_extent") for a symbolic extent.
  int64_t value() const;
  std::optional<int64_t> static_value() const;
  bool is(int64_t constant) const { return !terms_ && constant_ == constant; }

  // Bounds over all values of the symbols (interval arithmetic: never too narrow).
  int64_t min() const;
  int64_t max() const;
  // The value at every symbol's `opt`.
  int64_t opt() const;
  // The value with the symbols bound by name; Error if one is missing.
  int64_t evaluate(const std::map<std::string, int64_t, std::less<>>& symbols) const;
  // Replaces symbols by extents.
  Dim substitute(const std::map<std::string, Dim, std::less<>>& symbols) const;
  // The symbols used, by name, each once.
  std::vector<Symbol> symbols() const;

  bool operator==(const Dim& other) const;
  size_t hash() const;
  // "n", "2*n + 1", "floordiv(n, 2)", "max(n, 4)".
  std::string text() const;

  // A flat view for emitters: the sum of coefficient * product of atoms (plus constant()).
  struct Term;
  int64_t constant() const { return constant_; }
  const std::vector<Term>& terms() const;

 private:
  friend Dim operator+(const Dim& lhs, const Dim& rhs);
  friend Dim operator*(const Dim& lhs, const Dim& rhs);
  friend Dim dim_of_atom(DimAtom atom);
  int64_t constant_ = 0;
  std::shared_ptr<const std::vector<Term>> terms_;  // null for a constant; sorted, no zero coefficients
};

struct DimAtom {
  DimOp op = DimOp::symbol;
  Symbol symbol;              // when op is symbol
  std::vector<Dim> operands;  // two, when it is not
  int64_t low = 0, high = 0;  // its bounds; set by dim_of_atom
  bool operator==(const DimAtom&) const = default;
  std::string text() const;
};

struct Dim::Term {
  int64_t coefficient = 0;
  std::vector<std::shared_ptr<const DimAtom>> atoms;  // sorted by text, at least one
};

// The extent that an atom is by itself.
Dim dim_of_atom(DimAtom atom);
Dim operator+(const Dim& lhs, const Dim& rhs);
Dim operator-(const Dim& lhs, const Dim& rhs);
Dim operator*(const Dim& lhs, const Dim& rhs);
Dim floordiv(const Dim& lhs, const Dim& rhs);
Dim ceildiv(const Dim& lhs, const Dim& rhs);
Dim mod(const Dim& lhs, const Dim& rhs);
Dim min(const Dim& lhs, const Dim& rhs);
Dim max(const Dim& lhs, const Dim& rhs);

// Whether the relation holds for all values (true), for none (false), or depends (nothing).
std::optional<bool> known_equal(const Dim& lhs, const Dim& rhs);
std::optional<bool> known_less(const Dim& lhs, const Dim& rhs);
// Whether lhs <= rhs can be shown to hold for all values; false says nothing. Looks through min, max and floordiv.
bool known_at_most(const Dim& lhs, const Dim& rhs);

// Reads what text() wrote; `symbols` gives the ranges of the names. Error on anything else.
Dim parse_dim(std::string_view text, const std::map<std::string, Symbol, std::less<>>& symbols);

// Checked int64 arithmetic: Error(value, "size_overflow") past 64 bits.
int64_t checked_add(int64_t lhs, int64_t rhs);
int64_t checked_multiply(int64_t lhs, int64_t rhs);

}  // namespace weft
