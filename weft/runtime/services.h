// What machine code calls back, and how it is called.
#pragma once

#include <cstdint>

#include "weft/runtime/block.h"
#include "weft/runtime/tiled_turns.h"
#include "weft/runtime/trials.h"

namespace weft {

// Functions for machine code; their first argument everywhere is the pool it was given: the Allocator of the memory that they take,
// null for that of the first CPU device.
struct Services {
  // Runs body(args, begin, end) over disjoint parts of [0, count), in parallel when `cost` (of one item, in units of
  // 10 ps) times count is worth it.
  void (*parallel_for)(void* pool, int64_t count, int64_t cost, void (*body)(void** args, int64_t begin, int64_t end),
                       void** args);
  void* pool;
  // Runs body(args, begin, end, memory) over disjoint parts of [0, count) in parallel; `memory`: `bytes` for this part.
  void (*parallel_turns)(void* pool, int64_t count, int64_t bytes, void (*body)(void** args, int64_t begin, int64_t end, void* memory),
                         void** args);
  // Where somebody listens, else null: called as a launch of the program begins (1) and ends (0), on the thread that launches.
  void (*listen)(const Services* services, int64_t launch, int64_t begins);
  void* listener;
  // Setup does those of its launches from the first on and before the end; a run finds what is before the end packed.
  int64_t packing_first, packing_end;
  // Around a launch whose code is there in two ways (trials.h): the lowest bit of what begin_trial gives is the one to run, and
  // end_trial is told that and how many items there were. Without trials the first way is.
  int64_t (*begin_trial)(const Services* services, int64_t launch);
  void (*end_trial)(const Services* services, int64_t launch, int64_t begun, int64_t items);
  Trials* trials;
  // See tiled_turns.h.
  void (*tiled_turns)(void* pool, int64_t trips, int64_t count, const TiledKernel* kernels, int64_t reach, int64_t row_bytes);
};
// With nobody who listens; setup does all.
extern const Services plain_services;

// The entry of a program: `weft_run`, and `weft_setup` which fills persistent memory once. `buffers`: inputs, outputs,
// constants, then arena and persistent. Symbols in the order of the program.
using Entry = void (*)(const int64_t* symbols, void* const* buffers, const Services* services);

// Calls it with this process's threads. Errors of operations that users added are thrown from here.
void run_entry(Entry entry, const int64_t* symbols, void* const* buffers, const Services& services);

}  // namespace weft
