// From a flat graph to kernels, launches and a memory plan.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "weft/ir/graph.h"
#include "weft/kernel/kernel.h"

namespace weft {

// Fuses, lowers, schedules and plans: graph at flat level, verified, without dead nodes.
Program lower(const Graph& flat);

// Runs a program without LLVM, element by element: the oracle between the graph interpreter and machine code.
std::vector<Literal> interpret(const Program& program, std::span<const Literal> inputs);

}  // namespace weft
