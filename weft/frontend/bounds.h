// Between which extents integers of a program lie, as the calls that make them tell.
#pragma once

#include "weft/frontend/record.h"

namespace weft {

// Whether all of them surely lie in [least, limit), whatever is computed when the program runs: as the bounds say of
// counters, constants, remainders, places that a sort or argmax gives, and of arithmetic of these. False says nothing.
bool lie_within(const Tensor& integers, const Dim& least, const Dim& limit);
// Whether all of them surely are indices of an axis of that extent, from its beginning or its end.
bool are_inside(const Tensor& indices, const Dim& extent);

}  // namespace weft
