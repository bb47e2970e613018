// Functions that launch what an entry names: in an entry of many launches each is one call, which compiles in a tenth
// of the time.
#pragma once

#include <string>
#include <vector>

#include "weft/codegen/llvm/kernel_emitter.h"

namespace weft {

// An argument of a launch: its LLVM type, i64 or ptr, and its register or constant.
struct Word {
  std::string type, value;
};

enum class Launcher : uint8_t {
  serial,    // function(words, 0, first)
  parallel,  // all threads take part: `first` items of price `second`
  routine,   // function(words, words from `first` on, words from `second` on)
};

// The call of the module's launcher of this kind for such words. `number`: of the launch, for who listens.
std::string launch_text(ModuleText& module, Launcher kind, size_t number, const std::string& function,
                        const std::string& first, const std::string& second, const std::vector<Word>& words);

}  // namespace weft
