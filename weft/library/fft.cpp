// Discrete Fourier transforms of arrays: each line of each dimension, by plans of one dimension.
#include "weft/library/fft.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "weft/library/fft_cache.h"

namespace weft {
namespace {

// Columns longer than this leave the cache when there is one in each lane: a copy of each is faster.
constexpr int64_t longest_columns = 8192;
constexpr int64_t longest_elsewhere = 1024;
// Spectra of real lines up to this one are made in the lanes. Those of longer ones, which begin anywhere, are written
// line after line.
template <class T>
constexpr int64_t longest_in_lanes = 192 / sizeof(T);

int64_t product(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

// Complex numbers that a transform of this length works with where it is too long for one thread; else none.
template <class T>
int64_t long_room(int64_t n) {
  if (is_smooth(n)) return n > fft_longest_alone<T> ? n : 0;
  int64_t length = fft_convolution_length(n);
  return length > fft_longest_alone<T> ? 2 * length : 0;
}

template <class T>
FftUse use_for(int64_t lines) {
  return lines >= fft_engine<T>().lanes / 2 ? FftUse::many : FftUse::alone;
}

// In units of 10 ps.
template <class T>
int64_t cost_of(const FftPlan<T>& plan) {
  int64_t n = plan.length(), each = static_cast<int64_t>(std::log2(static_cast<double>(n))) + 4;
  return 12 * n * each * (is_smooth(n) ? 1 : 6);
}

// Numbers of type T that a block works with.
template <class T>
struct Rooms {
  T *plan, *extra;
};

// Runs body(first, count, rooms, share) for blocks of lines, over threads; long lines one by one, each over threads.
// `extra`: numbers for each line.
template <class T, class Body>
void each_block(const FftPlan<T>& plan, int64_t lines, int64_t extra, T* scratch, Share share, const Body& body) {
  int64_t block = plan.block();
  if (plan.is_shared()) {
    int64_t room = 2 * long_room<T>(plan.length());
    for (int64_t line = 0; line < lines; ++line) body(line, int64_t{1}, Rooms<T>{scratch, scratch + room}, share);
    return;
  }
  shared(share, (lines + block - 1) / block, cost_of(plan) * block, [&](int64_t begin, int64_t end) {
    FftRoom<T> room(plan.room() + block * extra);
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = i * block;
      body(first, std::min(block, lines - first), Rooms<T>{room.get(), room.get() + plan.room()}, by_caller);
    }
  });
}

// Lines of contiguous elements.
template <class T>
void lines_of(const T* from, T* to, int64_t lines, int64_t n, bool inverse, T* scratch, Share share) {
  auto tables = fft_tables<T>(n, use_for<T>(lines), false);
  T scale = inverse ? T(1) / static_cast<T>(n) : T(1);
  each_block(tables->plan, lines, 0, scratch, share, [&](int64_t first, int64_t count, Rooms<T> rooms, Share inner) {
    tables->plan.run({from + 2 * first * n, n, to + 2 * first * n, n, count, inverse, scale}, rooms.plan, inner);
  });
}

// Columns one after the other, each copied to a line and back.
template <class T>
void copied_columns(const T* from, T* to, int64_t outer, int64_t n, int64_t inner, bool inverse, T* scratch,
                    Share share) {
  auto tables = fft_tables<T>(n, FftUse::alone, false);
  T scale = inverse ? T(1) / static_cast<T>(n) : T(1);
  each_block(tables->plan, outer * inner, 2 * n, scratch, share,
             [&](int64_t column, int64_t, Rooms<T> rooms, Share inside) {
               int64_t start = 2 * (column / inner * n * inner + column % inner);
               T* line = rooms.extra;
               for (int64_t k = 0; k < n; ++k) std::copy_n(from + start + 2 * k * inner, 2, line + 2 * k);
               tables->plan.run({line, n, line, n, 1, inverse, scale}, rooms.plan, inside);
               for (int64_t k = 0; k < n; ++k) std::copy_n(line + 2 * k, 2, to + start + 2 * k * inner);
             });
}

// Lines whose elements are `inner` apart, as many side by side, in each of `outer` blocks.
template <class T>
void columns_of(const T* from, T* to, int64_t outer, int64_t n, int64_t inner, bool inverse, T* scratch, Share share) {
  if (inner == 1) return lines_of(from, to, outer, n, inverse, scratch, share);
  if (!is_smooth(n) || n > longest_columns) return copied_columns(from, to, outer, n, inner, inverse, scratch, share);
  auto tables = fft_tables<T>(n, FftUse::columns, false);
  const FftPlan<T>& plan = tables->plan;
  T scale = inverse ? T(1) / static_cast<T>(n) : T(1);
  int64_t lanes = plan.block(), blocks = (inner + lanes - 1) / lanes;
  shared(share, outer * blocks, cost_of(plan) * lanes, [&](int64_t begin, int64_t end) {
    FftRoom<T> room(plan.room());
    for (int64_t i = begin; i < end; ++i) {
      int64_t column = i % blocks * lanes, some = std::min(lanes, inner - column),
              start = 2 * (i / blocks * n * inner + column);
      plan.run_columns({from + start, inner, 1, some}, {to + start, inner, 1, some}, inverse, scale, room.get());
    }
  });
}

// All dimensions of `dims` but the first and the last: from the last of these on; gives where the numbers are.
template <class T>
const T* outer_dims(const T* from, T* to, const std::vector<int64_t>& dims, bool inverse, T* scratch, Share share) {
  for (size_t axis = dims.size() - 2; axis > 0; --axis) {
    std::span<const int64_t> all = dims;
    columns_of(from, to, product(all.first(axis)), dims[axis], product(all.subspan(axis + 1)), inverse, scratch, share);
    from = to;
  }
  return from;
}

template <class T>
void for_pairs(int64_t half, Share share, const auto& body) {
  constexpr int64_t piece = 4096;
  int64_t count = half / 2;
  shared(share, (count + piece - 1) / piece, 200 * piece,
         [&](int64_t begin, int64_t end) { body(1 + begin * piece, std::min(1 + end * piece, count + 1)); });
}

// Of 2 * half real numbers as half complex ones; to half + 1 for each line. Short lines are first transformed
// elsewhere: the last vector of pairs may then overlap the one before.
template <class T>
void even_forward(const T* from, T* to, int64_t lines, int64_t half, T* scratch, Share share) {
  auto tables = fft_tables<T>(half, use_for<T>(lines), true);
  const FftPlan<T>& plan = tables->plan;
  const T* roots = tables->real_roots.data();
  bool elsewhere = half <= longest_elsewhere;
  each_block(plan, lines, elsewhere ? 2 * half : 0, scratch, share,
             [&](int64_t first, int64_t count, Rooms<T> rooms, Share inner) {
               T *start = to + 2 * first * (half + 1), *middle = elsewhere ? rooms.extra : start;
               if (plan.is_beside() && half <= longest_in_lanes<T>)
                 return plan.run_even_reals(from + 2 * first * half, start, count, roots, rooms.plan);
               int64_t apart = elsewhere ? half : half + 1;
               plan.run({from + 2 * first * half, half, middle, apart, count, false, T(1)}, rooms.plan, inner);
               for (int64_t line = 0; line < count; ++line) {
                 T *x = middle + 2 * line * apart, *y = start + 2 * line * (half + 1), re = x[0], im = x[1];
                 y[0] = re + im;
                 y[2 * half] = re - im;
                 y[1] = y[2 * half + 1] = 0;
                 for_pairs<T>(half, inner, [&](int64_t begin, int64_t end) {
                   fft_engine<T>().split_real(x, half, roots, begin, end, y);
                 });
               }
             });
}

template <class T>
void even_inverse(const T* from, T* to, int64_t lines, int64_t half, T* scratch, Share share) {
  auto tables = fft_tables<T>(half, use_for<T>(lines), true);
  const T* roots = tables->real_roots.data();
  T scale = T(1) / static_cast<T>(2 * half);
  each_block(tables->plan, lines, 0, scratch, share, [&](int64_t first, int64_t count, Rooms<T> rooms, Share inner) {
    for (int64_t line = first; line < first + count; ++line) {
      const T* x = from + 2 * line * (half + 1);
      T* y = to + 2 * line * half;
      // The imaginary parts of what stands for itself are ignored.
      y[0] = x[0] + x[2 * half];
      y[1] = x[0] - x[2 * half];
      for_pairs<T>(half, inner,
                   [&](int64_t begin, int64_t end) { fft_engine<T>().merge_real(x, half, roots, begin, end, y); });
    }
    T* start = to + 2 * first * half;
    tables->plan.run({start, half, start, half, count, true, scale}, rooms.plan, inner);
  });
}

// Of an odd number of real numbers, as complex ones.
template <class T>
void odd_forward(const T* from, T* to, int64_t lines, int64_t n, T* scratch, Share share) {
  auto tables = fft_tables<T>(n, use_for<T>(lines), false);
  int64_t half = n / 2 + 1;
  each_block(tables->plan, lines, 2 * n, scratch, share,
             [&](int64_t first, int64_t count, Rooms<T> rooms, Share inner) {
               if (tables->plan.is_beside())
                 return tables->plan.run_reals(from + first * n, to + 2 * first * half, count, rooms.plan);
               for (int64_t i = 0; i < count * n; ++i) {
                 rooms.extra[2 * i] = from[first * n + i];
                 rooms.extra[2 * i + 1] = 0;
               }
               tables->plan.run({rooms.extra, n, rooms.extra, n, count, false, T(1)}, rooms.plan, inner);
               for (int64_t line = 0; line < count; ++line) {
                 T* y = to + 2 * (first + line) * half;
                 std::copy_n(rooms.extra + 2 * line * n, 2 * half, y);
                 y[1] = 0;  // which a convolution gives but nearly
               }
             });
}

template <class T>
void odd_inverse(const T* from, T* to, int64_t lines, int64_t n, T* scratch, Share share) {
  auto tables = fft_tables<T>(n, use_for<T>(lines), false);
  int64_t half = n / 2 + 1;
  each_block(
      tables->plan, lines, 2 * n, scratch, share, [&](int64_t first, int64_t count, Rooms<T> rooms, Share inner) {
        for (int64_t line = 0; line < count; ++line) {
          const T* x = from + 2 * (first + line) * half;
          T* y = rooms.extra + 2 * line * n;
          std::copy_n(x, 2 * half, y);
          y[1] = 0;
          for (int64_t k = half; k < n; ++k) {
            y[2 * k] = x[2 * (n - k)];
            y[2 * k + 1] = -x[2 * (n - k) + 1];
          }
        }
        tables->plan.run({rooms.extra, n, rooms.extra, n, count, true, T(1) / static_cast<T>(n)}, rooms.plan, inner);
        for (int64_t i = 0; i < count * n; ++i) to[first * n + i] = rooms.extra[2 * i];
      });
}

template <class T>
FftScratch scratch_of(FftKind kind, std::span<const int64_t> lengths) {
  if (product(lengths) == 0) return {0, 0};
  bool real = kind == FftKind::real_forward || kind == FftKind::real_inverse;
  FftScratch sizes{0, 0};
  for (size_t axis = 0; axis < lengths.size(); ++axis) {
    bool last = axis + 1 == lengths.size(), halved = last && real && lengths[axis] % 2 == 0;
    int64_t n = halved ? lengths[axis] / 2 : lengths[axis], room = long_room<T>(n);
    // A copy of the line as well, where that is complex and it is not, or where it is a column.
    if (room > 0) sizes.once = std::max(sizes.once, room + n);
  }
  if (kind == FftKind::real_inverse && lengths.size() > 1)
    sizes.each = product(lengths.first(lengths.size() - 1)) * (lengths.back() / 2 + 1);
  return sizes;
}

template <class T>
void run(FftKind kind, const std::vector<int64_t>& dims, const T* from, T* to, T* scratch, Share share) {
  int64_t n = dims.back(), lines = product(dims) / n;
  if (kind == FftKind::forward || kind == FftKind::inverse) {
    bool inverse = kind == FftKind::inverse;
    lines_of(from, to, lines, n, inverse, scratch, share);
    outer_dims<T>(to, to, dims, inverse, scratch, share);
    return;
  }
  std::vector<int64_t> half_dims = dims;
  half_dims.back() = n / 2 + 1;
  if (kind == FftKind::real_forward) {
    if (n % 2 == 0)
      even_forward(from, to, lines, n / 2, scratch, share);
    else
      odd_forward(from, to, lines, n, scratch, share);
    outer_dims<T>(to, to, half_dims, false, scratch, share);
    return;
  }
  if (dims.size() > 2) {
    // Behind what one line needs.
    T* each = scratch + 2 * scratch_of<T>(kind, std::span(dims).subspan(1)).once;
    from = outer_dims<T>(from, each, half_dims, true, scratch, share);
  }
  if (n % 2 == 0)
    even_inverse(from, to, lines, n / 2, scratch, share);
  else
    odd_inverse(from, to, lines, n, scratch, share);
}

}  // namespace

FftScratch fft_scratch(DType dtype, FftKind kind, std::span<const int64_t> lengths) {
  return dtype == DType::c128 ? scratch_of<double>(kind, lengths) : scratch_of<float>(kind, lengths);
}

void fft(DType dtype, FftKind kind, int64_t batch, std::span<const int64_t> lengths, const void* input, void* output,
         void* scratch, Share share) {
  std::vector<int64_t> dims{batch};
  dims.insert(dims.end(), lengths.begin(), lengths.end());
  if (product(dims) == 0) return;
  if (dtype == DType::c128)
    run(kind, dims, static_cast<const double*>(input), static_cast<double*>(output), static_cast<double*>(scratch),
        share);
  else
    run(kind, dims, static_cast<const float*>(input), static_cast<float*>(output), static_cast<float*>(scratch), share);
}

void fft_routine(const int64_t* numbers, void* const* buffers, Share share) {
  auto dtype = static_cast<DType>(numbers[0]);
  auto kind = static_cast<FftKind>(numbers[2]);
  std::span<const int64_t> lengths{numbers + 4, static_cast<size_t>(numbers[3])};
  FftScratch sizes = fft_scratch(dtype, kind, lengths);
  fft(dtype, kind, numbers[1], lengths, buffers[0], buffers[1], sizes.each + sizes.once > 0 ? buffers[2] : nullptr,
      share);
}

}  // namespace weft
