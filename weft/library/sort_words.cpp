// Quicksort with AVX-512: a vector of numbers at a time is parted at the pivot by compressing it, and what fits into
// some registers is sorted by a bitonic network (Bramas 2017, "A Novel Hybrid Quicksort Algorithm Vectorized using
// AVX-512 on Intel Skylake"). Numbers are parted from one array into another, so that no store meets what is not read
// yet.
#include "weft/library/sort_words.h"

#include "weft/library/vector_width.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <limits>

#pragma GCC push_options
#pragma GCC target("avx512f")

namespace weft {
namespace {

template <class Word>
struct VectorOf {
  typedef Word Type __attribute__((vector_size(64), aligned(sizeof(Word)), may_alias));
};
template <class Word>
using Vector = typename VectorOf<Word>::Type;
template <class Word>
constexpr size_t lanes_of = 64 / sizeof(Word);
constexpr size_t most_rows = 16;  // vectors that the network sorts
template <class Word>
constexpr size_t network_size = lanes_of<Word> * most_rows;

uint32_t below(Vector<uint64_t> a, Vector<uint64_t> b) { return _mm512_cmplt_epu64_mask((__m512i)a, (__m512i)b); }
uint32_t below(Vector<uint32_t> a, Vector<uint32_t> b) { return _mm512_cmplt_epu32_mask((__m512i)a, (__m512i)b); }
// The lanes of the mask, one beside the other.
Vector<uint64_t> compressed(Vector<uint64_t> v, uint32_t mask) {
  return (Vector<uint64_t>)_mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), (__m512i)v);
}
Vector<uint32_t> compressed(Vector<uint32_t> v, uint32_t mask) {
  return (Vector<uint32_t>)_mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), (__m512i)v);
}

template <class Word>
Vector<Word> lane_numbers() {
  Vector<Word> lanes;
  for (size_t i = 0; i < lanes_of<Word>; ++i) lanes[i] = static_cast<Word>(i);
  return lanes;
}

template <class Word>
[[gnu::always_inline]] inline void order(Vector<Word>& a, Vector<Word>& b) {
  Vector<Word> low = a < b ? a : b;
  b = a < b ? b : a;
  a = low;
}

// Of two lanes whose numbers differ by the bits of `by` the first gets the smaller value, in each row.
template <class Word, size_t rows>
[[gnu::always_inline]] inline void order_lanes(Vector<Word>* row, size_t by) {
  const Vector<Word> lane = lane_numbers<Word>(), other_lane = lane ^ static_cast<Word>(by);
#pragma GCC unroll 16
  for (size_t i = 0; i < rows; ++i) {
    Vector<Word> v = row[i], other = __builtin_shuffle(v, other_lane);
    row[i] = lane < other_lane ? (v < other ? v : other) : (v < other ? other : v);
  }
}

// Batcher's bitonic network (Knuth, volume 3, 5.3.4), every comparison ascending: what is sorted meets its neighbour in
// reverse.
template <class Word, size_t rows>
void sort_rows(Word* words) {
  constexpr size_t lanes = lanes_of<Word>;
  Vector<Word> row[rows];
  auto* memory = reinterpret_cast<Vector<Word>*>(words);
#pragma GCC unroll 16
  for (size_t i = 0; i < rows; ++i) row[i] = memory[i];
#pragma GCC unroll 4
  for (size_t merged = 2; merged <= lanes; merged *= 2) {
    order_lanes<Word, rows>(row, merged - 1);
#pragma GCC unroll 4
    for (size_t apart = merged / 4; apart > 0; apart /= 2) order_lanes<Word, rows>(row, apart);
  }
  const Vector<Word> reverse = lane_numbers<Word>() ^ static_cast<Word>(lanes - 1);
#pragma GCC unroll 4
  for (size_t merged = 2; merged <= rows; merged *= 2) {
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; ++i) {
      if (i & (merged / 2)) continue;
      Vector<Word>& other = row[i ^ (merged - 1)];
      other = __builtin_shuffle(other, reverse);
      order<Word>(row[i], other);
      other = __builtin_shuffle(other, reverse);
    }
#pragma GCC unroll 4
    for (size_t apart = merged / 4; apart > 0; apart /= 2)
#pragma GCC unroll 16
      for (size_t i = 0; i < rows; ++i)
        if (!(i & apart)) order<Word>(row[i], row[i + apart]);
#pragma GCC unroll 4
    for (size_t apart = lanes / 2; apart > 0; apart /= 2) order_lanes<Word, rows>(row, apart);
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < rows; ++i) memory[i] = row[i];
}

template <class Word>
void sort_few(const Word* from, Word* to, size_t count) {
  alignas(64) Word padded[network_size<Word>];
  constexpr size_t few_rows = 4, few = few_rows * lanes_of<Word>;
  std::copy_n(from, count, padded);
  std::fill(padded + count, padded + (count <= few ? few : network_size<Word>), std::numeric_limits<Word>::max());
  if (count <= few)
    sort_rows<Word, few_rows>(padded);
  else
    sort_rows<Word, most_rows>(padded);
  std::copy_n(padded, count, to);
}

// Those below `pivot`, or with `equal` up to it, to the front of `to`, the others to its back; how many are in front.
template <class Word>
size_t part(const Word* from, Word* to, size_t count, Word pivot, bool equal) {
  constexpr size_t lanes = lanes_of<Word>;
  constexpr uint32_t every = (uint32_t{1} << lanes) - 1;
  const Vector<Word> lane = lane_numbers<Word>(), limit = Vector<Word>{} + static_cast<Word>(pivot + (equal ? 1 : 0));
  const bool all = equal && pivot == std::numeric_limits<Word>::max();
  Word *front = to, *back = to + count;
  size_t i = 0;
  // Whole vectors are stored: what is not read yet leaves room for what they have too much.
  for (; i + 2 * lanes <= count; i += lanes) {
    auto v = *reinterpret_cast<const Vector<Word>*>(from + i);
    uint32_t is_front = all ? every : below(v, limit);
    auto fronts = static_cast<size_t>(std::popcount(is_front)), backs = lanes - fronts;
    *reinterpret_cast<Vector<Word>*>(front) = compressed(v, is_front);
    *reinterpret_cast<Vector<Word>*>(back - lanes) =
        __builtin_shuffle(compressed(v, is_front ^ every), lane + static_cast<Word>(backs));
    front += fronts;
    back -= backs;
  }
  for (; i < count; ++i) *(from[i] < pivot || (equal && from[i] == pivot) ? front++ : --back) = from[i];
  return static_cast<size_t>(front - to);
}

template <class Word>
Word pivot_of(const Word* words, size_t count) {
  constexpr size_t samples = 4 * lanes_of<Word>;
  Word sample[samples];
  for (size_t i = 0; i < samples; ++i) sample[i] = words[i * (count / samples)];
  sort_few(sample, sample, samples);
  return sample[samples / 2];
}

// The places that a line is read at, as those of a part that begins at `at`.
struct Wanted {
  std::span<const Places> places;
  size_t at = 0;
  bool any(size_t count) const {
    return places.empty() ||
           std::ranges::any_of(places, [&](const Places& p) { return p.begin < at + count && at < p.end; });
  }
  Wanted from(size_t place) const { return {places, at + place}; }
};

// `words` sorted into `to`, which is `words` or `spare`; both are written.
template <class Word>
void quicksort(Word* words, Word* spare, size_t count, Word* to, Wanted wanted, int depth) {
  while (count > network_size<Word> && wanted.any(count)) {
    if (depth-- == 0) {  // a series of bad pivots
      std::sort(words, words + count);
      if (to != words) std::copy_n(words, count, to);
      return;
    }
    Word pivot = pivot_of(words, count);
    size_t front = part(words, spare, count, pivot, false);
    if (front == 0) {
      // Nothing is less: those that equal the pivot are in their place.
      front = part(words, spare, count, pivot, true);
      if (to != spare) std::fill_n(to, front, pivot);
    } else {
      quicksort(spare, words, front, to, wanted, depth);
    }
    wanted = wanted.from(front);
    words += front;
    spare += front;
    to += front;
    count -= front;
    std::swap(words, spare);
  }
  if (count && wanted.any(count)) sort_few(words, to, count);
}

template <class Word>
void sort_in_place(Word* words, Word* spare, size_t count, Wanted wanted = {}) {
  quicksort(words, spare, count, words, wanted, 2 * static_cast<int>(std::bit_width(count)));
}

// In as many levels, by 2**levels - 1 pivots; `counts` gets the sizes of the parts. After an odd number of levels they
// are in `spare`.
template <class Word>
void part_by_levels(Word* words, Word* spare, size_t count, const Word* pivots, int levels, size_t* counts) {
  if (levels == 0) {
    *counts = count;
    return;
  }
  const size_t half = size_t{1} << (levels - 1), front = part(words, spare, count, pivots[half - 1], false);
  part_by_levels(spare, words, front, pivots, levels - 1, counts);
  part_by_levels(spare + front, words + front, count - front, pivots + half, levels - 1, counts + half);
}

// Pieces of a long line, each into parts; the same parts of all pieces together; and each part by itself.
template <class Word>
void sort_by_threads(Word* words, Word* spare, size_t count, Share share) {
  constexpr size_t samples_of_part = 32, most_parts = 32, many = 1 << 20;
  if (count < long_line || share == by_caller) return sort_in_place(words, spare, count);
  const int levels = count < many ? 3 : 5;
  const size_t parts = size_t{1} << levels, samples = parts * samples_of_part;
  Word sample[most_parts * samples_of_part], beside[most_parts * samples_of_part], pivots[most_parts];
  for (size_t i = 0; i < samples; ++i) sample[i] = words[i * (count / samples)];
  sort_in_place(sample, beside, samples);
  for (size_t i = 1; i < parts; ++i) pivots[i - 1] = sample[i * samples_of_part];
  size_t counts[line_pieces][most_parts], begins[line_pieces][most_parts], part_begins[most_parts + 1];
  shared_pieces(share, count, 200, [&](size_t piece, size_t begin, size_t end) {
    part_by_levels(words + begin, spare + begin, end - begin, pivots, levels, counts[piece]);
  });
  size_t place = 0;
  for (size_t i = 0; i < parts; ++i) {
    part_begins[i] = place;
    for (size_t piece = 0; piece < line_pieces; ++piece) {
      begins[piece][i] = place;
      place += counts[piece][i];
    }
  }
  part_begins[parts] = count;
  shared_pieces(share, count, 200, [&](size_t piece, size_t begin, size_t) {
    const Word* from = spare + begin;
    for (size_t i = 0; i < parts; from += counts[piece][i++])
      std::copy_n(from, counts[piece][i], words + begins[piece][i]);
  });
  shared(share, static_cast<int64_t>(parts), static_cast<int64_t>(count / parts * 500),
         [&](int64_t first, int64_t last) {
           for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i)
             sort_in_place(words + part_begins[i], spare + part_begins[i], part_begins[i + 1] - part_begins[i]);
         });
}

}  // namespace
}  // namespace weft
#pragma GCC pop_options

namespace weft {
bool sorts_words() { return widest_vectors() == 64; }
void sort_words(uint32_t* words, uint32_t* spare, size_t count, Share share) {
  sort_by_threads(words, spare, count, share);
}
void sort_words(uint64_t* words, uint64_t* spare, size_t count, Share share) {
  sort_by_threads(words, spare, count, share);
}
void select_words(uint32_t* words, uint32_t* spare, size_t count, std::span<const Places> wanted) {
  sort_in_place(words, spare, count, Wanted{wanted});
}
void select_words(uint64_t* words, uint64_t* spare, size_t count, std::span<const Places> wanted) {
  sort_in_place(words, spare, count, Wanted{wanted});
}
}  // namespace weft
#else
namespace weft {
bool sorts_words() { return false; }
void sort_words(uint32_t*, uint32_t*, size_t, Share) {}
void sort_words(uint64_t*, uint64_t*, size_t, Share) {}
void select_words(uint32_t*, uint32_t*, size_t, std::span<const Places>) {}
void select_words(uint64_t*, uint64_t*, size_t, std::span<const Places>) {}
}  // namespace weft
#endif
