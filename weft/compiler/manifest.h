// What a program tells of itself beside its code.
#pragma once

#include "weft/kernel/kernel.h"
#include "weft/runtime/executable.h"

namespace weft {

Manifest manifest_of(const Program& program);

}  // namespace weft
