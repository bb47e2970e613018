// A lock of the host language that a thread holds while it calls a communicator: Python's.
#pragma once

#include "weft/core/api.h"

namespace weft WEFT_API {

// Held as a collective begins. Who has to wait for another rank lets go of it first, since that rank may need it; a
// rank that finds all others there never does.
class HostLock {
 public:
  virtual void let_go() = 0;  // nothing where it is not held

 protected:
  ~HostLock() = default;
};

// Of this thread; null where it holds none.
HostLock* set_host_lock(HostLock* lock);
void let_go_of_host_lock();

}  // namespace weft
