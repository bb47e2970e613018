// Discrete Fourier transforms.
#pragma once

#include <cstdint>
#include <span>

#include "weft/core/dtype.h"
#include "weft/library/share.h"

namespace weft {

enum class FftKind : uint8_t { forward, inverse, real_forward, real_inverse };

// Transforms the trailing dimensions of `batch` arrays that lie one after the other, row-major. `lengths`: the extents
// transformed (1 to 3), of the real side for the real kinds. `dtype`: c64 or c128, of the complex side; the real side
// is f32 or f64. real_forward writes lengths.back() / 2 + 1 numbers for the last dimension, real_inverse reads as many
// and takes the rest as their conjugates. Inverse transforms divide by the number of elements. Lengths of zero give
// nothing. Mixed radix (Stockham) over vectors; lengths with large prime factors by Bluestein's algorithm. Plans are
// kept. `scratch`: complex numbers, as many as fft_scratch says of one array, and those of all arrays (see there).
void fft(DType dtype, FftKind kind, int64_t batch, std::span<const int64_t> lengths, const void* input, void* output,
         void* scratch, Share share);

// Complex numbers that fft works with, besides what fits into a cache: for each array, and once for all of them.
struct FftScratch {
  int64_t each, once;
};
FftScratch fft_scratch(DType dtype, FftKind kind, std::span<const int64_t> lengths);

// The routine of that name, see routine.h.
void fft_routine(const int64_t* numbers, void* const* buffers, Share share);

}  // namespace weft
