// SciPy's special functions of real numbers: those of its ufuncs that operations compute.
#pragma once

#include <span>

#include "weft/frontend/ufuncs.h"

namespace weft {

// By SciPy's names, in their order. SciPy chooses the dtype: operands have it.
std::span<const Ufunc> special_ufuncs();

}  // namespace weft
