// Which CPU each thread of a loop works on, so that no two of them share one while another of their CPUs is free.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace weft {

class Seats {
 public:
  // So many slots a loop has at most.
  static constexpr uint64_t most_slots = 1 << 16;

  Seats();

  // Before and after each piece of loop number `loop` (from 1, and no number comes again) by its thread `slot`. The
  // caller, slot 0, takes the CPU it is on and stays. A worker that finds itself on another thread's CPU moves to a
  // free one of its mask, which is as it was afterwards. Where others keep it waiting there it goes back, and tries
  // again later.
  void sit(uint64_t loop, int slot);

 private:
  // By whom, in which loop: what an earlier loop left is free.
  struct alignas(64) Seat {
    std::atomic<uint64_t> taken{0};
  };

  bool take(uint64_t mark, size_t cpu);
  void move(uint64_t mark, size_t cpu);

  std::vector<Seat> seats_;
};

}  // namespace weft
