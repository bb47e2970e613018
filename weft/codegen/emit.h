// Program → LLVM IR text and object code.
#pragma once

#include <string>
#include <vector>

#include "weft/codegen/target.h"
#include "weft/kernel/kernel.h"

namespace weft {

// LLVM IR of a whole program: every kernel as `void NAME(ptr args, i64 begin, i64 end)` (args: one pointer for each
// buffer, then one i64 for each symbol), and the entries weft_run and weft_setup as runtime/executable.h declares them.
std::string emit(const Program& program, const Target& target);

}  // namespace weft
