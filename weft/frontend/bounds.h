// Between which extents integers of a program lie, as the calls that make them tell.
#pragma once

#include "weft/frontend/record.h"
#include "weft/ir/bounds.h"

namespace weft {

// What holds whatever is computed when the program runs. Nothing for what are no integers, and for what 64 bits with a
// sign may not hold.
std::optional<Bounds> bounds_of(const Tensor& integers);

}  // namespace weft
