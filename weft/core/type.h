// The type of a tensor value: element type and dimensions; and the layout of one in memory.
#pragma once

#include <string>
#include <vector>

#include "weft/core/api.h"
#include "weft/core/dim.h"
#include "weft/core/dtype.h"
#include "weft/core/quantization.h"

namespace weft WEFT_API {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;

struct Type {
  DType dtype = DType::f32;
  Dims dims;
  // What the integers in it stand for, in programs that were read; none of our own passes or kernels sees it, as
  // with_stored_types() (ir/quantized.h) comes first.
  const Quantization* quantized = nullptr;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  bool is_static() const;
  // Whether no extent is known to be negative.
  bool is_possible() const;
  // Product of the dims; Error on overflow.
  Dim count() const;
  // About the same, where symbols have their usual values, however large.
  double usual_count() const;
  // The dims as integers. Error(value, "symbolic_extent") where one is symbolic.
  Ints static_dims() const;
  bool operator==(const Type&) const = default;
  // StableHLO's spelling: tensor<2x3xf32>; symbolic extents as tensor<?x3xf32, "n"> (an MLIR tensor encoding: the
  // expressions of the dynamic dimensions, in order, separated by ", ").
  std::string text() const;
  // The human spelling: float32[2, n].
  std::string short_text() const;
};

// Strides in elements of a dense row-major tensor.
Ints row_major_strides(const Ints& dims);
Dims row_major_strides(const Dims& dims);

// The permutation that undoes one.
Ints inverse(const Ints& permutation);

// NumPy's broadcasting; an extent of 1 stretches; two extents that are not known to be equal are an Error
// (label "broadcast") with both.
Dims broadcast(const Dims& lhs, const Dims& rhs);

}  // namespace weft
