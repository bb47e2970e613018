// The functions of a module that launch kernels.
#pragma once

#include "weft/codegen/llvm/dot_kernel.h"
#include "weft/codegen/llvm/kernel_emitter.h"

namespace weft {

// A launch that costs less (see kernel/cost.h) never asks for threads.
inline constexpr int64_t small_launch = 200000;
// Ends the name of a kernel's other function (Kernel::two_ways), and of the one that the turns of a loop take in.
inline constexpr std::string_view other_way = ".kept", inlined_way = ".in";

// Adds weft_run and weft_setup to a module whose kernels are there.
void write_entries(ModuleText& module, const Program& program, DotEmitter& dots);

}  // namespace weft
