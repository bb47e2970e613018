// Interval arithmetic over recorded calls.
#include "weft/frontend/bounds.h"

#include <algorithm>

#include "weft/frontend/promote.h"
#include "weft/ir/literal.h"

namespace weft {
namespace {

using Found = std::optional<Bounds>;

bool is_negative(const Dim& dim) { return !known_at_most(0, dim); }

Bounds either(const Bounds& a, const Bounds& b) { return {min(a.least, b.least), max(a.greatest, b.greatest)}; }

// Of numbers times one that is known.
Bounds times(const Bounds& a, const Dim& factor) {
  const Bounds product{a.least * factor, a.greatest * factor};
  return known_at_most(0, factor) ? product : Bounds{product.greatest, product.least};
}

Found product(const Bounds& a, const Bounds& b) {
  if (b.least == b.greatest && b.least.is_static()) return times(a, b.least);
  if (a.least == a.greatest && a.least.is_static()) return times(b, a.least);
  if (is_negative(a.least) || is_negative(b.least)) return {};
  return Bounds{a.least * b.least, a.greatest * b.greatest};
}

// Of NumPy's remainder, or of C's, which has the sign of the dividend.
Found remainder(const Bounds& a, const Bounds& divisor, bool of_c) {
  if (!known_at_most(1, divisor.least) || (of_c && is_negative(a.least))) return {};
  return Bounds{0, divisor.greatest - 1};
}

Found quotient(const Bounds& a, const Bounds& divisor, bool of_c) {
  const Dim& by = divisor.least;
  if (by != divisor.greatest || !by.is_static() || by.value() < 1 || (of_c && is_negative(a.least))) return {};
  return Bounds{floordiv(a.least, by), floordiv(a.greatest, by)};
}

Found bits_of_both(const Bounds& a, const Bounds& b) {
  if (!is_negative(a.least) && !is_negative(b.least)) return Bounds{0, min(a.greatest, b.greatest)};
  if (!is_negative(a.least)) return Bounds{0, a.greatest};
  return is_negative(b.least) ? Found() : Bounds{0, b.greatest};
}

// What integers of a dtype are at all; nothing of others, and of those that 64 bits with a sign do not hold.
Found all_of(DType dtype) {
  if (is_bool(dtype)) return Bounds{0, 1};
  if (!is_integer(dtype) || dtype == DType::u64) return {};
  const int64_t bits = size_of(dtype) * 8 - (is_signed(dtype) ? 1 : 0), greatest = (uint64_t{1} << bits) - 1;
  return Bounds{is_signed(dtype) ? -greatest - 1 : 0, greatest};
}

// Whether the dtype has all of them, so that nothing wrapped around; extents are checked to fit 64 bits with a sign.
bool fits(const Bounds& bounds, DType dtype) {
  if (dtype == DType::i64) return true;
  const Found all = all_of(dtype);
  return known_at_most(all ? all->least : 0, bounds.least) && (!all || known_at_most(bounds.greatest, all->greatest));
}

// Walks up the calls, the mutex of records being held.
class Search {
 public:
  // Nothing for what are no integers, or of 64 bits without a sign and not known.
  Found of(const Tensor& x) {
    const DType dtype = x.dtype();
    const Record& record = x.record();
    if (!is_whole(dtype) || record.is_computed || budget_-- <= 0) return all_of(dtype);
    try {
      const Found found = of_result(record, x.index());
      return found && fits(*found, dtype) ? found : all_of(dtype);
    } catch (const Error&) {
      return all_of(dtype);  // numbers beyond 64 bits
    }
  }

 private:
  Found of_result(const Record& record, uint32_t index) {
    switch (record.op) {
      case Op::constant:
        return of_constant(record.attrs.literal(Attr::value));
      case Op::iota:
        return below(record.types[0].dims[static_cast<size_t>(record.attrs.integer(Attr::dimension))]);
      case Op::extent:
        return Bounds{record.attrs.dims(Attr::dims)[0], record.attrs.dims(Attr::dims)[0]};
      case Op::argmax:
      case Op::argmin:
      case Op::argsort:
        return below(record.operands[0].dims()[static_cast<size_t>(record.attrs.integer(Attr::axis))]);
      case Op::top_k:
        return index == 1 ? below(record.operands[0].dims().back()) : of(record.operands[0]);
      case Op::check_range:
        return below(record.attrs.dims(Attr::limit_indices)[0]);
      case Op::compare:
        return Bounds{0, 1};
      case Op::gather:
      case Op::dynamic_slice:
      case Op::sort_values:
      case Op::cumulative_max:
      case Op::cumulative_min:
        return of(record.operands[0]);
      case Op::sort:
      case Op::optimization_barrier:
        return of(record.operands[index]);
      case Op::pad:
      case Op::concatenate:
        return of_any(record.operands);
      case Op::select:
        return of_any(std::span(record.operands).subspan(1));
      default:
        return only_moves(record.op) ? of(record.operands[0]) : of_arithmetic(record);
    }
  }

  Found of_arithmetic(const Record& record) {
    if (record.operands.empty() || !record.regions.empty()) return {};
    std::vector<Bounds> x;
    for (const Tensor& operand : record.operands) {
      Found found = of(operand);
      if (!found) return {};
      x.push_back(*found);
    }
    switch (record.op) {
      case Op::add:
        return Bounds{x[0].least + x[1].least, x[0].greatest + x[1].greatest};
      case Op::subtract:
        return Bounds{x[0].least - x[1].greatest, x[0].greatest - x[1].least};
      case Op::negate:
        return times(x[0], -1);
      case Op::abs:
        return Bounds{0, max(x[0].greatest, 0 - x[0].least)};
      case Op::multiply:
        return product(x[0], x[1]);
      case Op::maximum:
        return greater(x[0], x[1]);
      case Op::minimum:
        return smaller(x[0], x[1]);
      case Op::clamp:
        return smaller(greater(x[0], x[1]), x[2]);
      case Op::mod:
      case Op::remainder:
        return remainder(x[0], x[1], record.op == Op::remainder);
      case Op::floor_divide:
      case Op::divide:
        return quotient(x[0], x[1], record.op == Op::divide);
      case Op::and_:
        return bits_of_both(x[0], x[1]);
      default:
        return {};
    }
  }

  static Bounds greater(const Bounds& a, const Bounds& b) {
    return {max(a.least, b.least), max(a.greatest, b.greatest)};
  }
  static Bounds smaller(const Bounds& a, const Bounds& b) {
    return {min(a.least, b.least), min(a.greatest, b.greatest)};
  }

  static Bounds below(const Dim& extent) { return {0, extent - 1}; }

  Found of_any(std::span<const Tensor> tensors) {
    Found all;
    for (const Tensor& tensor : tensors) {
      Found found = of(tensor);
      if (!found) return {};
      all = all ? either(*all, *found) : *found;
    }
    return all;
  }

  // Of long ones nothing is said: to look at them takes time.
  static Found of_constant(const Literal& literal) {
    if (literal.is_live() || literal.count() < 1 || literal.count() > 1 << 16) return {};
    int64_t least = literal.as_int(0), greatest = least;
    for (int64_t i = 1; i < literal.count(); ++i) {
      least = std::min(least, literal.as_int(i));
      greatest = std::max(greatest, literal.as_int(i));
    }
    return Bounds{least, greatest};
  }

  int budget_ = 256;  // calls that are looked at, so that chains of indices are recorded in linear time
};

}  // namespace

std::optional<Bounds> bounds_of(const Tensor& integers) {
  std::lock_guard lock(record_mutex());
  return Search().of(integers);
}

}  // namespace weft
