// The communicator that calls of a thread use, compiled programs among them.
#pragma once

#include "weft/core/api.h"
#include "weft/distributed/communicator.h"

namespace weft WEFT_API {

// This thread's own, else the process's, else what joining gives; where there is none of them, that of a rank alone.
Communicator& current_communicator();
// Null: none. Whoever sets one keeps it for as long as it is set.
void set_thread_communicator(Communicator* communicator);
void set_process_communicator(Communicator* communicator);
// What joins a launch where nobody has; null where there is nothing to join.
void set_joining(Communicator* (*join)());

}  // namespace weft
