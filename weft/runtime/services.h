// What machine code calls back, and how it is called.
#pragma once

#include <cstdint>

#include "weft/runtime/block.h"
#include "weft/runtime/tiled_turns.h"
#include "weft/runtime/trials.h"
#include "weft/support/services.h"

namespace weft {

using Services = weft_services;
// With nobody who listens; setup does all.
extern const Services plain_services;

// The entry of a program: `weft_run`, and `weft_setup` which fills persistent memory once. `buffers`: inputs, outputs,
// constants, then arena and persistent. Symbols in the order of the program.
using Entry = void (*)(const int64_t* symbols, void* const* buffers, const Services* services);

// Calls it with this process's threads. Errors of operations that users added are thrown from here.
void run_entry(Entry entry, const int64_t* symbols, void* const* buffers, const Services& services);

}  // namespace weft
