// Turns of a loop over stencils, in tiles: they follow each other through a few rows at a time, which stay in cache.
#pragma once

#include <cstdint>

#include "weft/support/services.h"

namespace weft {

using TiledKernel = weft_tiled_kernel;

// See weft_services. Throws where its thread is told to end (core/interrupt.h).
void tiled_turns(void* pool, int64_t trips, int64_t count, const TiledKernel* kernels, int64_t reach,
                 int64_t row_bytes);

}  // namespace weft
