// Stable sorting of lines of several operands at once.
#pragma once

#include <cstdint>

#include "weft/library/routine.h"
#include "weft/library/share.h"

namespace weft {

// How keys compare where no body does: the first operand alone decides.
enum class SortKey : uint8_t {
  body,        // bodies[0] on pointers to (a0, b0, a1, b1, …) and to a byte for its answer
  signed_int,  // integers of the first operand's size
  unsigned_int,
  numpy_float,  // f32, f64 (or f16, bf16 by their patterns): ascending, -0 equal to 0, every NaN last
  total_float,  // the order of all patterns: -NaN < -inf < -0 < 0 < inf < NaN
  bf16,         // numpy_float for bf16
};

// See routine.h. Threads take lines, or parts of long ones. Where there are slices only what lies in them is read.
void sort_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies, Share share);

}  // namespace weft
