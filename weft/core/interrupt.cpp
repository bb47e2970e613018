#include "weft/core/interrupt.h"

#include <time.h>

#include <utility>

namespace weft {
namespace {

std::atomic<Interrupt> interrupt{nullptr};

// It takes no longer to read than a call.
int64_t coarse_clock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace

constinit thread_local InterruptState interrupt_state;

void set_interrupt(Interrupt look) { interrupt.store(look); }

void check_interrupt() {
  Interrupt look = interrupt.load(std::memory_order_relaxed);
  if (!look) return;
  constexpr int64_t between_looks = 200'000'000;
  int64_t& next_look = interrupt_state.next_look;
  int64_t now = coarse_clock();
  bool is_due = next_look != 0 && now >= next_look;
  if (is_due || next_look == 0) next_look = now + between_looks;
  if (is_due) look();
}

void EarlyEnd::look() {
  try {
    check_interrupt();
  } catch (...) {
    keep(std::current_exception());
  }
}

void EarlyEnd::keep(std::exception_ptr error) {
  if (has_error_.exchange(true)) return;
  error_ = std::move(error);
  has_come_.store(true, std::memory_order_relaxed);
}

}  // namespace weft
