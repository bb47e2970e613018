// The loops of Fourier transforms, once for each kind of vectors that CPUs have.
#pragma once

#include <cstdint>

namespace weft {

// Complex numbers in memory: those of `lanes` transforms, of which each has its elements `step` apart, and the next
// one's lie `apart` from its own; both in complex numbers.
template <class Number>
struct FftLines {
  Number* at;
  int64_t step, apart, lanes;
};

// One step of a transform by Stockham's method: blocks of radix * groups elements, `stride` of them side by side,
// become radix times as many. `twiddles`: radix - 1 complex numbers for each group; `roots`: of unity, radix of them.
template <class T>
struct FftPass {
  int64_t radix, groups, stride;
  const T *twiddles, *roots;
};

// Several transforms side by side, one in each lane of a vector. Their elements are rows: the real parts of all lanes,
// then the imaginary ones. Rows lie at multiples of 64 bytes; other memory may lie anywhere. `swap`: real and imaginary
// parts change places, on the way in and on the way out, which makes a transform its inverse.
template <class T>
struct FftEngine {
  int64_t lanes;
  // Lanes beyond those that there are get what is in others.
  void (*gather)(FftLines<const T> from, int64_t count, bool swap, T* rows);
  // The same for `lanes` lines of real numbers, `apart` of them apart; imaginary parts are zero.
  void (*gather_reals)(const T* from, int64_t apart, int64_t lanes, int64_t count, T* rows);
  void (*scatter)(const T* rows, int64_t count, bool swap, T scale, FftLines<T> to);
  // Transforms rows; gives where they are then, in `rows` or in `other`.
  T* (*transform)(const FftPass<T>* passes, int64_t count, T* rows, T* other);
  // The same as split_real in each lane, of `half` rows; there is room for one more.
  void (*split_rows)(T* rows, int64_t half, const T* roots);
  // Where lane l was the transform of every lanes-th element from l on: the whole transform, of lanes * count elements.
  // `twiddles`: for each row, of all lanes.
  void (*join)(const T* rows, int64_t count, const T* twiddles, bool swap, T scale, T* to);
  // Multiplies row k by steps[k], one complex number, and by row k of `twiddles`.
  void (*turn)(T* rows, int64_t count, const T* steps, const T* twiddles);
  // to = a * b for complex numbers; `to` may be a.
  void (*multiply)(const T* a, const T* b, int64_t count, bool swap_a, bool swap_to, T scale, T* to);
  // Between the transform of `half` complex numbers and that of the 2 * half real ones which they hold, in pairs:
  // elements k and half - k for k in [begin, end), which are at least 1 and at most half / 2. `roots`: cos, then -sin,
  // of 2 pi k / (2 half), half / 2 + 1 of each. `to` may be `from`.
  void (*split_real)(const T* from, int64_t half, const T* roots, int64_t begin, int64_t end, T* to);
  // The other way, times two, for an inverse transform.
  void (*merge_real)(const T* from, int64_t half, const T* roots, int64_t begin, int64_t end, T* to);
};

// For vectors of 64, 32 and 16 bytes: AVX-512, AVX2 with FMA, anything.
extern const FftEngine<float> fft_engine_64_f32, fft_engine_32_f32, fft_engine_16_f32;
extern const FftEngine<double> fft_engine_64_f64, fft_engine_32_f64, fft_engine_16_f64;

}  // namespace weft
