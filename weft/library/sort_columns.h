// Short lines side by side: a sorting network whose comparisons are of vectors, one line a lane.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

// Lines up to this length are sorted so.
inline constexpr size_t longest_column = 4096;

// Sorts each of 64 / sizeof(Word) columns of `rows` rows, ascending. `block`: row after row, at a multiple of 64 bytes.
// Batcher's odd-even merging network (Knuth, The Art of Computer Programming, volume 3, 5.2.2, algorithm M).
void sort_columns(uint32_t* block, size_t rows);
void sort_columns(uint64_t* block, size_t rows);

}  // namespace weft
