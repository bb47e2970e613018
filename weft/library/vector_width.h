// How wide the vectors of routines are.
#pragma once

namespace weft {

// In bytes: 64 (AVX-512), 32 (AVX2) or 16. What the CPU has, and no more than the target of this process's environment.
int widest_vectors();

}  // namespace weft
