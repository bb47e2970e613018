// Batcher's network over vectors, for the widest vectors that the CPU has.
#include "weft/library/sort_columns.h"

#include <algorithm>

#include "weft/library/vector_width.h"

namespace weft {
namespace {

template <class Word>
struct Lanes {
  typedef Word Type __attribute__((vector_size(64), may_alias));
};

// Inlined into functions for each kind of CPU, whose instructions it then takes.
template <class Vector>
[[gnu::always_inline]] inline void network(Vector* rows, size_t count) {
  for (size_t merged = 1, shift = 1; merged < count; merged *= 2, ++shift)
    for (size_t apart = merged; apart >= 1; apart /= 2)
      for (size_t start = apart % merged; start + apart < count; start += 2 * apart)
        for (size_t i = start; i < std::min(start + apart, count - apart); ++i) {
          if (i >> shift != (i + apart) >> shift) continue;
          Vector low = rows[i], high = rows[i + apart];
          rows[i] = low < high ? low : high;
          rows[i + apart] = low < high ? high : low;
        }
}

template <class Vector>
[[gnu::target("avx512f")]] void network_avx512(Vector* rows, size_t count) {
  network(rows, count);
}
template <class Vector>
[[gnu::target("avx2")]] void network_avx2(Vector* rows, size_t count) {
  network(rows, count);
}

template <class Word>
void sort_with_best(Word* block, size_t count) {
  auto* rows = reinterpret_cast<typename Lanes<Word>::Type*>(block);
  if (widest_vectors() == 64) return network_avx512(rows, count);
  if (widest_vectors() == 32) return network_avx2(rows, count);
  network(rows, count);
}

}  // namespace

void sort_columns(uint32_t* block, size_t rows) { sort_with_best(block, rows); }
void sort_columns(uint64_t* block, size_t rows) { sort_with_best(block, rows); }

}  // namespace weft
