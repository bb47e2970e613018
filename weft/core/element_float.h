// Float and complex operations on elements.
#pragma once

#include "weft/core/element.h"

namespace weft {

// apply() for operands of a float or complex type.
Element apply_float(Scalar op, DType result, const Element* operands);

}  // namespace weft
