// A mutex that the child of a fork finds free, though a thread of its parent held it: that thread is not in the child.
#pragma once

#include <unistd.h>

#include <atomic>

namespace weft {

// What it guards may be half written in such a child: for work that can be done again from where it was last called
// done.
class ProcessMutex {
 public:
  bool try_lock() {
    pid_t own = getpid(), holder = holder_.load();
    return holder != own && holder_.compare_exchange_strong(holder, own);
  }
  void lock() {
    while (!try_lock()) holder_.wait(getpid());
  }
  void unlock() {
    holder_.store(nobody);
    holder_.notify_all();
  }

 private:
  static constexpr pid_t nobody = 0;
  std::atomic<pid_t> holder_ = nobody;
};

}  // namespace weft
