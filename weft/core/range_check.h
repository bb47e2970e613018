// What programs look at while they run: whether integers, indices say, lie where NumPy wants them.
#pragma once

#include <string>

#include "weft/core/dim.h"
#include "weft/core/error.h"
#include "weft/core/location.h"

namespace weft WEFT_API {

// Integers of a program lie in [0, limit); a run where one does not ends in an Error of this label at this line.
struct RangeCheck {
  std::string label;
  std::string message;  // empty: the integers are indices of `axis`
  int64_t axis = 0;
  Dim limit;
  Location loc;

  // Where they are served is no part of what they say.
  bool operator==(const RangeCheck& other) const {
    return label == other.label && message == other.message && axis == other.axis && limit == other.limit;
  }
};

// In NumPy's words. `limit`: less than zero where it is not known any more. `found`: the integer; an index is that from
// the beginning of the axis.
Error range_error(const RangeCheck& check, int64_t limit, int64_t found);

}  // namespace weft
