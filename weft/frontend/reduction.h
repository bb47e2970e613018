// NumPy's reductions by name, with all that they take.
#pragma once

#include <optional>
#include <string_view>

#include "weft/frontend/operand.h"

namespace weft {

struct Reduction {
  Axes axes = {};
  bool keepdims = false;
  std::optional<DType> dtype = {};      // of sums and averages: to compute in, and of the result
  std::optional<Operand> initial = {};  // of sums, products and extremes: takes part in each result
  Tensor mask = {};                     // which elements take part; nothing: all
  double ddof = 0;                      // of var and std: by how much their count is less
  Tensor mean = {};                     // of var and std: what deviations are from
};

// sum, prod, max, min, any, all, mean, var or std. Booleans and integers of less than 64 bits add and multiply up as 64
// bits, and are averaged as f64; f16 is averaged in f32. Error(value, "axis", "axis_duplicate", "empty_reduction",
// "where_without_initial"), Error(type, "complex_order").
Tensor reduce(std::string_view name, const Tensor& x, const Reduction& how);

// The place of the greatest ("argmax") or least ("argmin") element along an axis, or among all: the first of equals,
// the first NaN. i64. Error(value, "empty_reduction").
Tensor place_of(std::string_view name, const Tensor& x, std::optional<int64_t> axis, bool keepdims);

// The dtypes in which NumPy adds and multiplies up, and of averages.
DType total_type(DType dtype);
DType average_type(DType dtype);

}  // namespace weft
