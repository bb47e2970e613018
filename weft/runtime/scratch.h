// Memory of a thread for machine code, whose frames fit the smallest stacks.
#pragma once

#include <cstdint>

namespace weft {

// At least so many bytes, from the beginning of a page on: this thread's until it asks again or ends. For machine code,
// which is left (library/custom.h) with Error(runtime, "out_of_memory") where there are none.
void* thread_scratch(int64_t bytes);

}  // namespace weft
