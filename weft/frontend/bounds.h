// Between which extents integers of a program lie, as the calls that make them tell.
#pragma once

#include <optional>

#include "weft/frontend/record.h"

namespace weft {

// Both included. Of no elements, anything.
struct Bounds {
  Dim least, greatest;
};

// What holds whatever is computed when the program runs, as of counters, constants, remainders, places that a sort or
// argmax gives, and arithmetic of these; of others what their dtype holds. Nothing for what are no integers, and for
// what 64 bits with a sign may not hold.
std::optional<Bounds> bounds_of(const Tensor& integers);

}  // namespace weft
