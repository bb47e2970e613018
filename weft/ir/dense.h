// Elements of constants as MLIR's dense<…> spells them.
#pragma once

#include <string>

#include "weft/ir/literal.h"

namespace weft {

// dense<[[1, 2], [3, 4]]>, dense<1.0> for a splat, dense<"0x…"> for many.
std::string dense_text(const Literal& literal);

// 1.5e+00, or the bits of what is not finite.
std::string decimal_text(double value);

}  // namespace weft
