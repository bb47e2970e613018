// Rows of memory that the next turn of a loop reads, asked for while this one goes on.
#pragma once

#include <optional>

#include "weft/codegen/llvm/kernel_emitter.h"

namespace weft {

// All in bytes but their number, over the symbols of the program and the counters around.
struct NextRows {
  Dim offset, rows, stride, bytes;
};

// Of the left operand of a product, whose elements have so many bytes; nothing where the next turn of the loop reads no
// others, or so many that they would not be near when it begins.
std::optional<NextRows> rows_of_next_turn(const Kernel& kernel, const Launch& launch, const Launch& loop, int64_t size);

// @weft.fetch(ptr from, i64 rows, i64 stride, i64 bytes)
void declare_fetch(ModuleText& module);

}  // namespace weft
