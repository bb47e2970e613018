// Sorting numbers without anything beside them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <span>

#include "weft/library/share.h"

namespace weft {

// From this length on threads take parts of one line.
inline constexpr size_t long_line = 1 << 16;

// Whether the CPU has what sort_words needs.
bool sorts_words();

// Sorts `count` numbers, ascending; `spare` has room for as many. Threads take parts of a long line.
void sort_words(uint32_t* words, uint32_t* spare, size_t count, Share share);
void sort_words(uint64_t* words, uint64_t* spare, size_t count, Share share);

// The same, but only the numbers at some places are right (quickselect; Hoare, 1961).
struct Places {
  size_t begin, end;
};
void select_words(uint32_t* words, uint32_t* spare, size_t count, std::span<const Places> wanted);
void select_words(uint64_t* words, uint64_t* spare, size_t count, std::span<const Places> wanted);

}  // namespace weft
