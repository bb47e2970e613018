// Where maxima and minima start from.
#pragma once

#include "weft/core/dtype.h"

namespace weft {

// The least (or greatest) number of a float type: an infinity where it has one.
double extreme_number(DType dtype, bool least);

}  // namespace weft
