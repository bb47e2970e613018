#include "weft/runtime/trials.h"

#include <algorithm>

namespace weft {
namespace {

// Runs of each way in a trial. The first of them, up to five, find the caches as the other way left them and are not
// counted.
constexpr int64_t runs = 8, first_counted = 5;

// Runs between trials, and where the other way was slower by a quarter.
constexpr int64_t between = 120, long_between = 504;

}  // namespace

int64_t Trial::begin(int64_t now) {
  int64_t turn = turn_.fetch_add(1, std::memory_order_relaxed), way = way_.load(std::memory_order_relaxed);
  if (turn == 2 * runs) {
    decide();
    way = way_.load(std::memory_order_relaxed);
  }
  bool is_other = turn >= runs && turn < 2 * runs,
       counts = turn >= 0 && turn < 2 * runs && turn % runs >= first_counted;
  return now * 4 + (counts ? 2 : 0) + (is_other ? 1 - way : way);
}

void Trial::end(int64_t begun, int64_t now, int64_t items) {
  if ((begun & 2) == 0 || items <= 0) return;
  std::atomic<int64_t>& least = least_[begun & 1];
  auto time = static_cast<int64_t>(static_cast<double>(now - (begun >> 2)) * 0x1p20 / static_cast<double>(items));
  if (time < least.load(std::memory_order_relaxed)) least.store(time, std::memory_order_relaxed);
}

void Trial::decide() {
  int64_t way = way_.load(std::memory_order_relaxed);
  auto present = static_cast<double>(least_[way].exchange(INT64_MAX, std::memory_order_relaxed));
  auto other = static_cast<double>(least_[1 - way].exchange(INT64_MAX, std::memory_order_relaxed));
  if (other < present) way_.store(1 - way, std::memory_order_relaxed);
  bool is_clear = std::max(present, other) > 1.25 * std::min(present, other);
  turn_.store(is_clear ? -long_between : -between, std::memory_order_relaxed);
}

}  // namespace weft
