// Discrete Fourier transforms.
#pragma once

#include <cstdint>
#include <span>

#include "weft/core/dtype.h"

namespace weft {

enum class FftKind : uint8_t { forward, inverse, real_forward, real_inverse };

// Transforms the trailing dimensions of `batch` arrays that lie one after the other, row-major. `lengths`: the extents
// transformed (1 to 3), of the real side for the real kinds. `dtype`: c64 or c128, of the complex side; the real side is
// f32 or f64. real_forward writes lengths.back() / 2 + 1 numbers for the last dimension, real_inverse reads as many and
// takes the rest as their conjugates. Inverse transforms divide by the number of elements. Lengths of zero give nothing.
// Mixed radix (Stockham); lengths with large prime factors by Bluestein's algorithm.
void fft(DType dtype, FftKind kind, int64_t batch, std::span<const int64_t> lengths, const void* input, void* output);

}  // namespace weft
