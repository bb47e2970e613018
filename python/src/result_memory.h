// Memory of large results: a device's, which counts it, holds it to its limit, and keeps it for the next when a caller
// lets go of it, since fresh pages cost more than most kernels.
#pragma once

#include <cstddef>

#include "weft/runtime/allocator.h"

namespace weft::py {

// To be called with the GIL held. Like malloc, free and realloc (of memory that the first gave), but that what does not
// fit is Error(runtime, "out_of_memory").
void* take_memory(Allocator& allocator, size_t bytes);
void give_memory(void* memory);
void* resize_memory(void* memory, size_t bytes);

}  // namespace weft::py
