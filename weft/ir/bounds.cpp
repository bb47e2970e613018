// The rules of interval arithmetic, by op.
#include "weft/ir/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/ir/literal.h"

namespace weft {
namespace {

using MaybeBounds = std::optional<Bounds>;

bool is_negative(const Dim& dim) { return !known_at_most(0, dim); }

// A sum, or nothing past 64 bits: that is no rare case where nothing is known of an operand.
std::optional<Dim> sum(const Dim& a, const Dim& b) {
  int64_t result = 0;
  if (!a.is_static() || !b.is_static()) return a + b;
  if (__builtin_add_overflow(a.constant(), b.constant(), &result)) return {};
  return Dim(result);
}

std::optional<Dim> product(const Dim& a, const Dim& b) {
  int64_t result = 0;
  if (!a.is_static() || !b.is_static()) return a * b;
  if (__builtin_mul_overflow(a.constant(), b.constant(), &result)) return {};
  return Dim(result);
}

MaybeBounds between(const std::optional<Dim>& least, const std::optional<Dim>& greatest) {
  return least && greatest ? MaybeBounds(Bounds{*least, *greatest}) : MaybeBounds();
}

MaybeBounds negated(const Bounds& a) { return between(product(a.greatest, -1), product(a.least, -1)); }

MaybeBounds sum(const Bounds& a, const Bounds& b) {
  return between(sum(a.least, b.least), sum(a.greatest, b.greatest));
}

MaybeBounds difference(const Bounds& a, const Bounds& b) {
  const MaybeBounds rest = negated(b);
  return rest ? sum(a, *rest) : MaybeBounds();
}

// Of numbers times one that is known.
MaybeBounds times(const Bounds& a, const Dim& factor) {
  const std::optional<Dim> low = product(a.least, factor), high = product(a.greatest, factor);
  return known_at_most(0, factor) ? between(low, high) : between(high, low);
}

MaybeBounds product(const Bounds& a, const Bounds& b) {
  if (b.least == b.greatest && b.least.is_static()) return times(a, b.least);
  if (a.least == a.greatest && a.least.is_static()) return times(b, a.least);
  if (is_negative(a.least) || is_negative(b.least)) return {};
  return between(product(a.least, b.least), product(a.greatest, b.greatest));
}

// Of NumPy's remainder, or of C's, which has the sign of the dividend.
MaybeBounds remainder(const Bounds& a, const Bounds& divisor, bool of_c) {
  if (!known_at_most(1, divisor.least) || (of_c && is_negative(a.least))) return {};
  return Bounds{0, divisor.greatest - 1};
}

MaybeBounds quotient(const Bounds& a, const Bounds& divisor, bool of_c) {
  const Dim& by = divisor.least;
  if (by != divisor.greatest || !by.is_static() || by.value() < 1 || (of_c && is_negative(a.least))) return {};
  return Bounds{floordiv(a.least, by), floordiv(a.greatest, by)};
}

// Of numbers without a negative one, shifted by a number of bits that is known.
MaybeBounds shifted_right(const Bounds& a, const Bounds& by) {
  if (by.least != by.greatest || !by.least.is_static() || is_negative(a.least)) return {};
  const int64_t bits = by.least.value();
  return bits < 0 || bits > 62 ? MaybeBounds() : quotient(a, {int64_t{1} << bits, int64_t{1} << bits}, false);
}

MaybeBounds bits_of_both(const Bounds& a, const Bounds& b) {
  if (!is_negative(a.least) && !is_negative(b.least)) return Bounds{0, min(a.greatest, b.greatest)};
  if (!is_negative(a.least)) return Bounds{0, a.greatest};
  return is_negative(b.least) ? MaybeBounds() : Bounds{0, b.greatest};
}

Bounds greater(const Bounds& a, const Bounds& b) { return {max(a.least, b.least), max(a.greatest, b.greatest)}; }
Bounds smaller(const Bounds& a, const Bounds& b) { return {min(a.least, b.least), min(a.greatest, b.greatest)}; }

Bounds below(const Dim& extent) { return {0, extent - 1}; }

// Whether f64 has the number. What is rounded lies between what its bounds are rounded to.
bool is_exact(const Dim& bound) {
  constexpr int64_t most = int64_t{1} << 62, all_exact = int64_t{1} << 53;
  if (bound.min() < -most || bound.max() > most) return false;
  if (!bound.is_static()) return bound.min() >= -all_exact && bound.max() <= all_exact;
  return static_cast<int64_t>(static_cast<double>(bound.value())) == bound.value();
}

// Whether the dtype has all of them, so that nothing wrapped around; extents are checked to fit 64 bits with a sign.
bool fits(const Bounds& bounds, DType dtype) {
  if (dtype == DType::i64) return true;
  if (dtype == DType::f64) return is_exact(bounds.least) && is_exact(bounds.greatest);
  const MaybeBounds all = bounds_of_dtype(dtype);
  return known_at_most(all ? all->least : 0, bounds.least) && (!all || known_at_most(bounds.greatest, all->greatest));
}

Bounds of_only(int64_t value) { return {value, value}; }

Bounds of_decision(std::optional<bool> holds) { return holds ? of_only(*holds) : Bounds{0, 1}; }

std::optional<bool> is_below(const Bounds& a, const Bounds& b) {
  if (known_at_most(b.greatest, a.least)) return false;
  const std::optional<Dim> next = sum(a.greatest, 1);
  return next && known_at_most(*next, b.least) ? std::optional(true) : std::nullopt;
}

std::optional<bool> are_equal(const Bounds& a, const Bounds& b) {
  if (is_below(a, b) == true || is_below(b, a) == true) return false;
  return a.least == a.greatest && a == b ? std::optional(true) : std::nullopt;
}

std::optional<bool> opposite(std::optional<bool> holds) { return holds ? std::optional(!*holds) : holds; }

std::optional<bool> comparison(std::string_view direction, const Bounds& a, const Bounds& b) {
  if (direction == "LT") return is_below(a, b);
  if (direction == "GT") return is_below(b, a);
  if (direction == "LE") return opposite(is_below(b, a));
  if (direction == "GE") return opposite(is_below(a, b));
  return direction == "EQ" ? are_equal(a, b) : opposite(are_equal(a, b));
}

// A whole number of f64 that 64 bits hold.
MaybeBounds of_float(double value) {
  constexpr double most = 4611686018427387904;  // 2^62
  return std::abs(value) <= most && std::trunc(value) == value ? of_only(static_cast<int64_t>(value)) : MaybeBounds();
}

// Of long ones nothing is said: to look at them takes time.
MaybeBounds of_constant(const Literal& literal) {
  if (literal.is_live() || literal.count() < 1 || literal.count() > 1 << 16) return {};
  if (literal.type().dtype == DType::f64) return literal.is_splat() ? of_float(literal.as_double(0)) : MaybeBounds();
  int64_t least = literal.as_int(0), greatest = least;
  for (int64_t i = 1; i < literal.count() && !literal.is_splat(); ++i) {
    least = std::min(least, literal.as_int(i));
    greatest = std::max(greatest, literal.as_int(i));
  }
  return Bounds{least, greatest};
}

MaybeBounds of_any(BoundedOperands& operands, size_t first = 0) {
  MaybeBounds all;
  for (size_t i = first; i < operands.count(); ++i) {
    const MaybeBounds found = operands.bounds(i);
    if (!found) return {};
    all = all ? either(*all, *found) : *found;
  }
  return all;
}

MaybeBounds of_logic(Op op, const Bounds& a, const Bounds& b) {
  if (op == Op::xor_) return of_decision(opposite(are_equal(a, b)));
  return op == Op::and_ ? smaller(a, b) : op == Op::or_ ? greater(a, b) : Bounds{0, 1};
}

MaybeBounds of_two_integers(Op op, const Bounds& a, const Bounds& b) {
  switch (op) {
    case Op::mod:
    case Op::remainder:
      return remainder(a, b, op == Op::remainder);
    case Op::floor_divide:
    case Op::divide:
      return quotient(a, b, op == Op::divide);
    case Op::shift_right_arithmetic:
    case Op::shift_right_logical:
      return shifted_right(a, b);
    case Op::and_:
      return bits_of_both(a, b);
    default:
      return {};
  }
}

MaybeBounds of_two(Op op, DType dtype, const Bounds& a, const Bounds& b) {
  if (is_bool(dtype)) return of_logic(op, a, b);
  switch (op) {
    case Op::add:
      return sum(a, b);
    case Op::subtract:
      return difference(a, b);
    case Op::multiply:
      return product(a, b);
    case Op::maximum:
      return greater(a, b);
    case Op::minimum:
      return smaller(a, b);
    default:
      return is_integer(dtype) ? of_two_integers(op, a, b) : MaybeBounds();
  }
}

MaybeBounds of_arithmetic(Op op, const Attrs& attrs, DType dtype, BoundedOperands& operands) {
  if (operands.count() < 1 || operands.count() > 3) return {};
  std::vector<Bounds> x;
  for (size_t i = 0; i < operands.count(); ++i) {
    const MaybeBounds found = operands.bounds(i);
    if (!found) return {};
    x.push_back(*found);
  }
  if (x.size() == 3) return op == Op::clamp ? smaller(greater(x[0], x[1]), x[2]) : MaybeBounds();
  if (op == Op::compare) return of_decision(comparison(attrs.text(Attr::comparison_direction), x[0], x[1]));
  if (x.size() == 2) return of_two(op, dtype, x[0], x[1]);
  if (op == Op::not_ && is_bool(dtype)) return difference({1, 1}, x[0]);
  const MaybeBounds other = op == Op::negate || op == Op::abs ? negated(x[0]) : MaybeBounds();
  if (!other || op == Op::negate) return other;
  return Bounds{0, max(x[0].greatest, other->greatest)};
}

MaybeBounds of_result(Op op, const Attrs& attrs, const Type& result, uint32_t index, BoundedOperands& operands) {
  switch (op) {
    case Op::constant:
      return of_constant(attrs.literal(Attr::value));
    case Op::iota:
      return below(result.dims[static_cast<size_t>(attrs.integer(Attr::dimension))]);
    case Op::extent:
      return Bounds{attrs.dims(Attr::dims)[0], attrs.dims(Attr::dims)[0]};
    case Op::argmax:
    case Op::argmin:
    case Op::argsort:
      return below(operands.type(0).dims[static_cast<size_t>(attrs.integer(Attr::axis))]);
    case Op::top_k:
      return index == 1 ? below(operands.type(0).dims.back()) : operands.bounds(0);
    case Op::check_range:
      return below(attrs.dims(Attr::limit_indices)[0]);
    case Op::gather:
    case Op::dynamic_slice:
    case Op::sort_values:
    case Op::cumulative_max:
    case Op::cumulative_min:
      return operands.bounds(0);
    case Op::sort:
    case Op::optimization_barrier:
      return operands.bounds(index);
    case Op::pad:
    case Op::concatenate:
      return of_any(operands);
    case Op::select:
      return of_any(operands, 1);
    default:
      return only_moves(op) ? operands.bounds(0) : of_arithmetic(op, attrs, result.dtype, operands);
  }
}

}  // namespace

Bounds either(const Bounds& a, const Bounds& b) try {
  return {min(a.least, b.least), max(a.greatest, b.greatest)};
} catch (const Error&) {  // extents beside numbers that 64 bits just hold
  return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
}

std::optional<Bounds> bounds_of_dtype(DType dtype) {
  if (is_bool(dtype)) return Bounds{0, 1};
  if (!is_integer(dtype) || dtype == DType::u64) return {};
  const int64_t bits = size_of(dtype) * 8 - (is_signed(dtype) ? 1 : 0), greatest = (uint64_t{1} << bits) - 1;
  return Bounds{is_signed(dtype) ? -greatest - 1 : 0, greatest};
}

std::optional<Bounds> bounds_of_result(Op op, const Attrs& attrs, const Type& result, uint32_t index,
                                       BoundedOperands& operands) {
  if (!is_bool(result.dtype) && !is_integer(result.dtype) && result.dtype != DType::f64) return {};
  const MaybeBounds all = bounds_of_dtype(result.dtype);
  try {
    const MaybeBounds found = of_result(op, attrs, result, index, operands);
    return found && fits(*found, result.dtype) ? found : all;
  } catch (const Error&) {
    return all;  // numbers beyond 64 bits
  }
}

}  // namespace weft
