// How a host language ends work that takes long: Python's Ctrl-C.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>

namespace weft {

// Looks whether the work of this thread is to end, and throws what it then ends with.
using Interrupt = void (*)();
void set_interrupt(Interrupt look);

// Of a thread. Every run begins with it: found without a call.
struct InterruptState {
  int64_t next_look = 0;  // in nanoseconds of a clock; 0: 0.2 s from when it is asked for
  int works = 0;
};
extern constinit thread_local InterruptState interrupt_state __attribute__((tls_model("initial-exec")));

// For work that takes long, as often as it likes: looks every 0.2 s, and throws what that throws.
void check_interrupt();
// Work of this thread, which may hold other work: the first look is 0.2 s after its first check, so that work which
// does not take long has none.
class InterruptibleWork {
 public:
  InterruptibleWork() {
    if (interrupt_state.works++ == 0) interrupt_state.next_look = 0;
  }
  ~InterruptibleWork() { --interrupt_state.works; }
  InterruptibleWork(const InterruptibleWork&) = delete;
  InterruptibleWork& operator=(const InterruptibleWork&) = delete;
};

// Ends a loop of several threads when the one that made this is to end.
class EarlyEnd {
 public:
  // Whether what is left is to be left out.
  bool has_come() {
    if (has_come_.load(std::memory_order_relaxed)) return true;
    if (std::this_thread::get_id() == owner_) look();
    return has_come_.load(std::memory_order_relaxed);
  }
  // For any thread that takes part: it comes with this error, unless it has come with another.
  void keep(std::exception_ptr error);
  // For the thread that made it, once the others are done.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void look();

  std::thread::id owner_ = std::this_thread::get_id();
  std::exception_ptr error_;
  std::atomic<bool> has_error_{false}, has_come_{false};
};

}  // namespace weft
