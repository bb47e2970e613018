// Program → LLVM IR text and object code.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weft/codegen/target.h"
#include "weft/kernel/kernel.h"

namespace weft {

// Functions that programs share, compiled before: by name the object that defines it, and nothing else for others.
using Library = std::map<std::string, std::string_view, std::less<>>;

// LLVM IR of a whole program: every kernel as `void NAME(ptr args, i64 begin, i64 end)` (args: one pointer for each
// buffer, then one i64 for each symbol), and the entries weft_run and weft_setup as runtime/executable.h declares them.
// Functions of the library are declared where it has them.
std::string emit(const Program& program, const Target& target, const Library& library = {});

struct QuickCode {
  std::string ir;
  int64_t left_out = 0;  // of what `emit` gives, in prices of kernel/cost.h; 0: nothing
};
// The same with fewer vectors at once: it is compiled in a part of the time, and slower. Its results are the same to
// the bit.
QuickCode emit_quick(const Program& program, const Target& target, const Library& library = {});

// The same text with debug information: each kernel is a function at the user's line of what it stores.
std::string with_lines(const std::string& ir, const Program& program);

}  // namespace weft
