// Loops of short kernels.
#pragma once

#include "weft/codegen/llvm/kernel_emitter.h"

namespace weft {

// Notes the loops whose turns are short kernels alone, which calls of them and telling who listens would take longer
// than, and adds the functions of those kernels that such turns take in.
void take_in_short_loops(ModuleText& module, const Program& program);

}  // namespace weft
