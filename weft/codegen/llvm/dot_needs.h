// What a dot kernel asks of the shared loops, as far as its extents and strides are known.
#pragma once

#include "weft/codegen/llvm/dot_shape.h"

namespace weft {

// Rows of a work item and of a run.
struct DotRows {
  int64_t block, run;
};
DotRows rows_of(const DotKernel& kernel, const DotShape& shape);
// Rows of a tile.
int64_t tile_rows(const DotKernel& kernel, const DotForm& form, const DotShape& shape);
// How far ahead a single row fetches rhs, in bytes; 0: not.
int64_t fetch_of(const DotKernel& kernel);
DotForm form_of(const Target& target, const DotKernel& kernel);
// What the driver will ask for at run time.
DotNeeds needs_of(const DotKernel& kernel, const DotForm& form, const DotShape& shape);

}  // namespace weft
