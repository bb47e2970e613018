// Elements of constants as MLIR's dense<…> spells them.
#pragma once

#include <string>

#include "weft/ir/literal.h"

namespace weft {

// dense<[[1, 2], [3, 4]]>, dense<1.0> for a splat, dense<"0x…"> for many.
std::string dense_text(const Literal& literal);

}  // namespace weft
