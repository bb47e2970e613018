// Threads that share loops of independent items.
#pragma once

#include <cstdint>

#include "weft/core/span.h"

namespace weft {

// How many threads loops use, the caller included: the scope of this thread that sets the knob
// `threads`, else set_num_threads, else WEFT_THREADS, else one for each CPU
// of this process's share (core/cpu.h).
int num_threads();

// Runs body(args, begin, end) over disjoint parts of [0, count) and waits. The parts depend on timing; results must
// not. Calls from inside a body, and calls while another thread's loop runs, are done by the caller alone. `cost`:
// rough time of one item in units of 10 ps; loops too small to share stay on the caller's thread. `threads`: how many
// at most, the caller included. `parts`: how many there are for each thread, at most.
void parallel_for(int64_t count, int64_t cost, void (*body)(void** args, int64_t begin, int64_t end), void** args,
                  int threads = num_threads(), int parts = 4);

// The same for loops whose thread may be told to end (core/interrupt.h), which is then thrown; some items were done.
// Not for loops that machine code has called, directly or not: nothing can be thrown through it.
void parallel_for_until_interrupted(int64_t count, int64_t cost, void (*body)(void** args, int64_t begin, int64_t end),
                                    void** args, int threads = num_threads(), int parts = 4);

// Work, in units of 10 ps, from which on waking a thread pays.
inline constexpr int64_t worth_waking = 2000000;

// Which of a loop's threads this one is: 0 for the caller.
int thread_slot();

// What this thread's loops are called in recordings from here on, by the threads that take part; gives what they were
// called before. The first label there is: nothing.
SpanLabel name_loops(SpanLabel label);

// Error(value) for negative numbers and more than 1024; 0 means one for each CPU.
void set_num_threads(int n);

}  // namespace weft
