// Collectives of a program that go on beside what it computes.
#pragma once

#include "weft/distributed/communicator.h"

namespace weft {

// Begins a call: on a thread of its own where that leaves this thread's CPU to it (Communicator::runs_beside), else it
// is done when this returns. Calls that were begun are run in order. The memory of the call must stay as it is until it
// has ended.
void begin_beside(Communicator& communicator, CollectiveCall call);
// Waits for the first call that was begun by this thread and has not ended; throws what it threw. Nothing where there
// is none.
void end_beside();
// Waits for all of them. Their errors are lost: to be called before others are thrown.
void end_all_beside() noexcept;
// Waits for all of them; throws the first error.
void drain_beside();

}  // namespace weft
