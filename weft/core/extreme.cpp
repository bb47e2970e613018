#include "weft/core/extreme.h"

#include <limits>

#include "weft/core/half.h"

namespace weft {

double extreme_number(DType dtype, bool least) {
  double infinity = std::numeric_limits<double>::infinity(), best = least ? infinity : -infinity;
  if (bit_width(dtype) > 8) return -best;
  // Of so few patterns, the extreme one; some of these types have no infinities.
  for (uint32_t bits = 0; bits < uint32_t{1} << bit_width(dtype); ++bits) {
    double value = small_to_float(bits, dtype);
    if (least ? value < best : value > best) best = value;
  }
  return best;
}

}  // namespace weft
