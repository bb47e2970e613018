// Programs that begin with code that was compiled quickly and go on with faster code.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "weft/kernel/kernel.h"
#include "weft/runtime/event.h"

namespace weft {

// What must be left out of quick code for it to be worth while: 2 ms or so of compiling.
inline constexpr int64_t worth_two_codes = 40;

// Whether a run, even of slow code, ends sooner than faster code could be compiled.
bool does_little(const Program& program);

// Work that is done beside everything else, by one thread in the order in which it was begun. A process that forks
// waits for what has begun, for its child has no such thread; one that ends waits for what is being done. Thread-safe.
class Later {
 public:
  explicit Later(std::function<void()> work) : work_(std::move(work)) {}
  // Takes no time where it has begun.
  void begin() {
    if (!has_begun_.load(std::memory_order_acquire)) give();
  }
  // Begins it and waits; throws what the work threw.
  void wait() {
    begin();
    done_.wait();
  }

 private:
  void give();

  std::function<void()> work_;
  Event done_;
  std::atomic<bool> has_begun_ = false;
};

}  // namespace weft
