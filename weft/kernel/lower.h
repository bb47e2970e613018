// From a flat graph to kernels, launches and a memory plan.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "weft/ir/graph.h"
#include "weft/kernel/kernel.h"

namespace weft {

// The counters of the loops around a program, outermost first, each with its least and greatest value.
struct Counter {
  std::string name;
  Dim low, high;
};
using Counters = std::vector<Counter>;
// The greatest value of an extent over the range of a counter.
Dim upper_bound(const Dim& extent, const Counter& counter);

// Fuses, lowers, schedules and plans: graph at flat level, verified, without dead nodes. `multiplies_bf16`: the target
// adds up products of bfloat16 as they are. `packs_later`: products read large weights as they lie until a later run
// packs them. `rows_alone`: kernels take no rows together, which is less code and gives the same bits.
Program lower(const Graph& flat, const Counters& counters = {}, bool multiplies_bf16 = false, bool packs_later = false,
              bool rows_alone = false);

// Marks loops whose turns may follow each other through a few rows at a time.
void tile_turns(Program& program);

// Marks what is written past the caches: large results that begin at a cache line, which Executable::run sees to.
void write_past_caches(Program& program);

// Runs a program without LLVM, element by element: the oracle between the graph interpreter and machine code.
std::vector<Literal> interpret(const Program& program, std::span<const Literal> inputs);

}  // namespace weft
