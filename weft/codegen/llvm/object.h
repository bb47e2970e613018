// LLVM IR text → an ELF relocatable object in memory.
#pragma once

#include <string>
#include <string_view>

#include "weft/codegen/target.h"

namespace weft {

struct ObjectCode {
  std::string bytes;
  double parse_ms = 0, pass_ms = 0, code_ms = 0;
};

// InternalError where the text is not legal IR: it is ours. Thread-safe.
ObjectCode compile_to_object(const std::string& ir, const Target& target);
// For dumps: IR after LLVM's passes, and assembly.
struct CodeText {
  std::string optimized, assembly;
};
CodeText compile_to_text(const std::string& ir, const Target& target);

}  // namespace weft
