// Integers that stand for real numbers: (stored - zero_point) * scale.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/core/api.h"
#include "weft/core/dtype.h"

namespace weft WEFT_API {

// With one scale for a whole tensor, or one for each index along a dimension.
struct Quantization {
  DType expressed = DType::f32;
  int64_t storage_min = 0, storage_max = 0;
  int64_t dimension = -1;  // -1: one scale
  std::vector<double> scales = {};
  std::vector<int64_t> zero_points = {};  // as many

  bool operator==(const Quantization&) const = default;
  // MLIR's spelling: !quant.uniform<i8<-127:127>:f32:1, {5.0e-01:3, 1.0e+00}>.
  std::string text(DType storage) const;
};

// The one copy of it in the process, so that types compare pointers; lives for ever.
const Quantization* interned(Quantization quantization);

// The least and greatest number that an integer type holds; of 64 bits, those of i64.
int64_t least_integer(DType dtype);
int64_t greatest_integer(DType dtype);

}  // namespace weft
