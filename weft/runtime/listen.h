// Who hears of the launches of runs: recordings, and profiles of one program.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "weft/core/span.h"
#include "weft/runtime/executable.h"
#include "weft/runtime/services.h"

namespace weft {

// How many LaunchTimes there are.
inline std::atomic<int> profiles{0};

// Whether runs have to look for somebody who listens. All that it costs where nobody does.
inline bool is_listened() {
  return __builtin_expect(is_recording() || profiles.load(std::memory_order_relaxed) != 0, false);
}

// While it lives, launches in the runs of this program that this thread begins are timed, on whatever threads they are.
// It must end on the thread that made it.
class LaunchTimes {
 public:
  explicit LaunchTimes(const Manifest& program);
  LaunchTimes(const LaunchTimes&) = delete;
  LaunchTimes& operator=(const LaunchTimes&) = delete;
  ~LaunchTimes();
  // By launch of the manifest.
  std::vector<LaunchTime> times() const;

 private:
  friend struct Listener;
  struct Sum {
    std::atomic<int64_t> count{0}, total{0}, min{INT64_MAX};
  };
  const Manifest& program_;
  std::vector<Sum> sums_;
  LaunchTimes* outer_;
};

// What spans of a program's launches are called; made when they are first recorded.
class LaunchLabels {
 public:
  std::span<const SpanLabel> of(const Manifest& program) const;

 private:
  mutable std::once_flag once_;
  mutable std::vector<SpanLabel> labels_;
};

// run_entry with whoever listens; `what`: "run" or "set up".
void run_listened(Entry entry, const Manifest& program, const LaunchLabels& labels, const char* what,
                  std::span<const int64_t> symbols, void* const* buffers, Services services = plain_services);

}  // namespace weft
