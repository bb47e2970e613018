// Which communicator a thread uses.
#include "weft/distributed/current.h"

#include <atomic>
#include <utility>

#include "weft/distributed/host_lock.h"

namespace weft {
namespace {

thread_local Communicator* of_thread = nullptr;
thread_local HostLock* lock_of_thread = nullptr;
std::atomic<Communicator*> of_process = nullptr;
std::atomic<Communicator* (*)()> joining = nullptr;

// Never destroyed: programs may run until the process ends.
Communicator& rank_alone() {
  static Communicator* const alone = local_communicators(1, 1)[0].release();
  return *alone;
}

}  // namespace

Communicator& current_communicator() {
  if (of_thread) return *of_thread;
  if (Communicator* found = of_process.load(std::memory_order_acquire)) return *found;
  Communicator* (*join)() = joining.load(std::memory_order_acquire);
  Communicator* joined = join ? join() : nullptr;
  return joined ? *joined : rank_alone();
}

HostLock* set_host_lock(HostLock* lock) { return std::exchange(lock_of_thread, lock); }
void let_go_of_host_lock() {
  if (lock_of_thread) lock_of_thread->let_go();
}

void set_thread_communicator(Communicator* communicator) { of_thread = communicator; }
void set_process_communicator(Communicator* communicator) { of_process.store(communicator, std::memory_order_release); }
void set_joining(Communicator* (*join)()) { joining.store(join, std::memory_order_release); }

}  // namespace weft
