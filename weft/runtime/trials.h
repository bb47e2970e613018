// Launches whose code is there in two ways that differ in time alone: the one that takes less is found by running both.
// Which that is changes with who else uses the memory of the machine, so that it is looked at again and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace weft {

// Of one launch. Threads may run it at once: at worst the slower way is run until the next trial.
class Trial {
 public:
  // Which way a run takes that begins at `now` (nanoseconds), in the lowest bit, and what `end` has to be told.
  int64_t begin(int64_t now);
  void end(int64_t begun, int64_t now, int64_t items);

 private:
  void decide();

  std::atomic<int64_t> turn_ = 0, way_ = 0;                 // turn_: runs since the trial began, below zero before it
  std::atomic<int64_t> least_[2] = {INT64_MAX, INT64_MAX};  // time of an item of each way, in units of 2^-20 ns
};

// Of a program's launches, by their numbers.
using Trials = std::vector<Trial>;

}  // namespace weft
