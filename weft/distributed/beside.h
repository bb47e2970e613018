// Collectives that go on while the thread that began them computes.
#pragma once

#include "weft/core/api.h"
#include "weft/distributed/communicator.h"

namespace weft WEFT_API {

// Begins it; its memory stays as it is until its end is awaited. One thread's are run one after the other, in the order
// in which they began.
void begin_beside(Communicator& communicator, CollectiveCall call);
// Waits for the one that this thread began with this result, and throws what it failed with; nothing where there is
// none.
void await_beside(const void* result);
// Waits until all that this thread began are done, whose ends are still to be awaited.
void wait_beside();
// Waits for all that this thread began: for their memory, whatever became of them.
void settle_beside() noexcept;

}  // namespace weft
