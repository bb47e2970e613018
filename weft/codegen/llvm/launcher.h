// Functions that launch what an entry names: in an entry of many launches each is one call, which compiles in a tenth
// of the time.
#pragma once

#include <string>
#include <vector>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/support/services.h"

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

// Counted loops around an independent one, at most.
inline constexpr size_t most_nested = 64;
inline constexpr size_t tiled_words = sizeof(weft_tiled_kernel) / 8;

// Slots that a launch needs for its arguments: buffers, symbols and whether a weight is packed; of a routine its
// numbers and bodies too.
size_t arguments_of(const Launch& launch);

// Whether one turn of a loop may take long without a look whether the run is to end: what takes part in parallel loops
// looks by itself.
bool may_take_long(const Program& program, const std::vector<LaunchBlock>& blocks);

// The call of the module's launcher of this kind for such words. `number`: of the launch, for who listens.
std::string launch_text(ModuleText& module, Launcher kind, size_t number, const std::string& function,
                        const std::string& first, const std::string& second, const std::vector<Word>& words);

}  // namespace weft
