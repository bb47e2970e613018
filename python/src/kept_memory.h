// Memory of large results, kept for the next when a caller lets go of it: fresh pages cost more than most kernels.
#pragma once

#include <cstddef>

namespace weft::py {

// Smaller results are left to NumPy.
inline constexpr size_t large_result = size_t{1} << 20;

// To be called with the GIL held. Like malloc, free and realloc (of memory that the first gave); at most a quarter of a
// GiB that nobody uses is kept.
void* take_memory(size_t bytes);
void give_memory(void* memory);
void* resize_memory(void* memory, size_t bytes);

}  // namespace weft::py
