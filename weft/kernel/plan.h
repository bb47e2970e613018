// The memory plan: where every buffer of a program lives.
#pragma once

#include "weft/kernel/draft.h"

namespace weft {

// Launches in order, equal kernels once, arena slots reused between values that do not live at the same time.
Program plan(Lowering& lowering);

// Whether one is an output that lands in the memory of the other, an input.
bool is_aliased(const Program& program, const BufferPlan& a, const BufferPlan& b);

}  // namespace weft
