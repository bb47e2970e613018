// Turns of a loop over stencils, in tiles: they follow each other through a few rows at a time, which stay in cache.
#pragma once

#include <cstdint>

namespace weft {

// A kernel of the loop's body: body(args, begin, end) computes items, `unit` of them a row of memory; the first item is at row
// `first`. One item takes `cost` units of 10 ps.
struct TiledKernel {
  void (*body)(void** args, int64_t begin, int64_t end);
  void** args;
  int64_t items, unit, first, cost;
};

// `trips` times all kernels one after the other, each as if all of its rows were computed before those of the next. Items of two
// kernels, or of one in two turns, touch the same memory and one of them writes it only where their rows are at most `reach` apart.
// A row of all memory takes `row_bytes`.
void tiled_turns(void* pool, int64_t trips, int64_t count, const TiledKernel* kernels, int64_t reach, int64_t row_bytes);

}  // namespace weft
