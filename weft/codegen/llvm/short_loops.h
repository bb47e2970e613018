// Loops of short kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weft/codegen/llvm/kernel_emitter.h"

namespace weft {

// Notes the loops whose turns are short kernels alone, which calls of them and telling who listens would take longer
// than, and adds the functions of those kernels that such turns take in.
void take_in_short_loops(ModuleText& module, const Program& program);

// The scalars that the turns of such a loop have in memory of their own, which the compiler keeps in registers: by the
// number of the buffer, the name of that memory. What the loop begins with and gives is copied: see `carried`.
struct LoopScalars {
  std::map<int32_t, std::string> names;
  std::string room;              // the instructions that make the memory
  std::vector<int32_t> carried;  // buffers, once for each memory

  LoopScalars(const Program& program, const Launch& loop);
};

}  // namespace weft
