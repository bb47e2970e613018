// Memory of a thread for machine code, whose frames fit the smallest stacks.
#pragma once

#include <cstdint>

namespace weft {

// At least so many bytes, from the beginning of a page on: this thread's until it asks again or ends. For machine code,
// which is left (library/custom.h) with Error(runtime, "out_of_memory") where there are none.
void* thread_scratch(int64_t bytes);

// The same for pieces of one loop, which find what the last one of this thread left there: `scratch_stamp` bytes say
// what that is, zeros that it is nothing.
inline constexpr int64_t scratch_stamp = 64;
void* kept_scratch(int64_t bytes);
// At the beginning of a loop, on each thread.
void forget_scratch();

}  // namespace weft
