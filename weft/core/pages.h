// Memory in large pages, where the system has them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>

#include "weft/core/type.h"

namespace weft {

inline constexpr size_t cache_line = 64;

// So many bytes, up to the end of the cache line that the last is in.
inline constexpr int64_t whole_lines(int64_t bytes) {
  constexpr auto line = static_cast<int64_t>(cache_line);
  return (bytes + line - 1) / line * line;
}

// From so many bytes on, results are in memory of ours.
inline constexpr int64_t large_result = 1 << 20;

// Whether kernels find such a result at the beginning of a cache line, whatever its symbols are.
inline bool is_lined_up(const Type& type) { return (type.count() * Dim(size_of(type.dtype))).min() >= large_result; }

// Bytes that a launch reads and writes; smaller ones may stay in the last-level cache for whoever reads them next.
inline constexpr int64_t beyond_caches = int64_t{24} << 20;

// Bytes that a core's own cache may hold from one loop to the next.
inline constexpr int64_t own_cache = int64_t{1} << 20;

inline constexpr size_t small_page = 4096, large_page = size_t{2} << 20;

// What a block of that size begins at and is a multiple of: a cache line, from a MiB on a page, and then a large one.
// Those are mapped with a five-hundredth of the faults, and kernels that walk over them miss fewer translations.
inline size_t page_for(size_t bytes) {
  return bytes >= 2 * large_page ? large_page : bytes >= 1 << 20 ? small_page : cache_line;
}

// A block of `size` bytes, a multiple of page_for(size); null where there is no memory. std::free takes it back.
inline void* allocate_pages(size_t size) {
  size_t page = page_for(size);
  void* block = std::aligned_alloc(page, size);
  // Only advice: where it is not taken, pages are small.
  if (block && page == large_page) madvise(block, size, MADV_HUGEPAGE);
  return block;
}

}  // namespace weft
