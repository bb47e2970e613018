// Between which extents integers of a program lie: interval arithmetic over calls.
#pragma once

#include <optional>

#include "weft/ir/graph.h"

namespace weft {

// Both included. Of no elements, anything.
struct Bounds {
  Dim least, greatest;
  bool operator==(const Bounds&) const = default;
};

// What integers of a dtype are at all, and 0 to 1 for booleans; nothing of u64, which 64 bits with a sign do not hold,
// and of floats, which have bounds only where they come from integers and each result is exact.
std::optional<Bounds> bounds_of_dtype(DType dtype);
// Bounds that hold for what any of both holds for.
Bounds either(const Bounds& a, const Bounds& b);
inline bool is_inside(const Bounds& inner, const Bounds& outer) {
  return known_at_most(outer.least, inner.least) && known_at_most(inner.greatest, outer.greatest);
}

// The operands of a call, as who walks over calls knows them.
class BoundedOperands {
 public:
  virtual size_t count() const = 0;
  virtual const Type& type(size_t i) const = 0;
  virtual std::optional<Bounds> bounds(size_t i) = 0;

 protected:
  ~BoundedOperands() = default;
};

// What a result is whatever the program is given, as of counters, constants, remainders, places that a sort or argmax
// gives, and arithmetic of these; of others what its dtype holds. Results of loops and branches are among the others.
std::optional<Bounds> bounds_of_result(Op op, const Attrs& attrs, const Type& result, uint32_t index,
                                       BoundedOperands& operands);

}  // namespace weft
