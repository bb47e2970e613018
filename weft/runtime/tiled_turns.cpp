// Split tiling in time (Krishnamoorthy et al., "Effective automatic parallelization of stencil computations", PLDI
// 2007): rows are parted among threads. First each thread takes its part through some steps, at each of which it leaves
// out `reach` more rows at the ends that others own, where it would need theirs; then what was left out between two
// parts. Within a part each step runs `reach` rows behind the one before, through a few rows at a time.
#include "weft/runtime/tiled_turns.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "weft/core/interrupt.h"
#include "weft/core/pages.h"
#include "weft/runtime/scratch.h"
#include "weft/runtime/thread_pool.h"

namespace weft {
namespace {

// What rows between the first step and the last may take: of a core's own cache, or of the cache that cores share; and
// what a step takes at once.
constexpr int64_t near_bytes = own_cache / 4 * 3, shared_bytes = beyond_caches / 2, bytes_at_once = 64 << 10;
constexpr int64_t most_steps = 256;

class Tiles {
 public:
  Tiles(int64_t count, const TiledKernel* kernels, int64_t reach, int64_t row_bytes)
      : count_(count), kernels_(kernels), reach_(reach) {
    first_ = kernels[0].first;
    for (int64_t k = 0; k < count; ++k) {
      const TiledKernel& kernel = kernels[k];
      first_ = std::min(first_, kernel.first);
      end_ = std::max(end_, kernel.first + (kernel.items + kernel.unit - 1) / kernel.unit);
      cost_ += kernel.cost * kernel.items;
    }
    row_bytes = std::max<int64_t>(row_bytes, 1);
    at_once_ = std::clamp<int64_t>(bytes_at_once / row_bytes, 1, 64);
    parts_ = std::max<int64_t>(std::min<int64_t>(num_threads(), (end_ - first_) / at_once_), 1);
    // What the caches of all threads hold from step to step needs no tiles.
    if ((end_ - first_) * row_bytes <= parts_ * own_cache) return;
    most_turns_ = most_steps / count;
    if (reach == 0) return;
    int64_t rows_of_turn = reach * count, part = (end_ - first_) / parts_;
    auto fitting = [&](int64_t bytes) { return (bytes / row_bytes - at_once_) / rows_of_turn; };
    int64_t near = fitting(near_bytes);
    most_turns_ = std::min(most_turns_, near > 1 ? near : fitting(shared_bytes / parts_));
    // What two neighbours leave out takes one thread and grows with the turns, whereas what each turn reads from afar
    // falls.
    if (parts_ > 1)
      most_turns_ = std::min(most_turns_, static_cast<int64_t>(std::sqrt(static_cast<double>(part / rows_of_turn))));
  }

  void run(int64_t trips) {
    // Nearly equally many in each round.
    for (int64_t rounds = most_turns_ > 1 ? (trips + most_turns_ - 1) / most_turns_ : 0; rounds > 0; --rounds) {
      int64_t turns = (trips + rounds - 1) / rounds;
      trips -= turns;
      round(turns);
      early_end_.rethrow();
    }
    for (; trips > 0; --trips) one();
  }

 private:
  void one() const {
    for (int64_t k = 0; k < count_; ++k)
      parallel_for_until_interrupted(kernels_[k].items, kernels_[k].cost, kernels_[k].body, kernels_[k].args);
  }

  void round(int64_t turns) {
    steps_ = turns * count_;
    void* self[] = {this};
    int64_t cost = cost_ * turns / parts_;
    parallel_for(
        parts_, cost,
        [](void** args, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) static_cast<Tiles*>(args[0])->part(i);
        },
        self, num_threads(), 1);
    if (reach_ == 0 || parts_ == 1 || early_end_.has_come()) return;
    parallel_for(
        parts_ - 1, cost * steps_ * reach_ * parts_ / (end_ - first_),
        [](void** args, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) static_cast<const Tiles*>(args[0])->between(i + 1);
        },
        self, num_threads(), 1);
  }

  // Where part `i` begins.
  int64_t edge(int64_t i) const { return first_ + (end_ - first_) * i / parts_; }

  void part(int64_t i) {
    auto low = [&](int64_t step) { return i == 0 ? first_ : edge(i) + step * reach_; };
    auto high = [&](int64_t step) { return i == parts_ - 1 ? end_ : edge(i + 1) - step * reach_; };
    std::array<int64_t, most_steps> done;
    for (int64_t step = 0; step < steps_; ++step) done[static_cast<size_t>(step)] = low(step);
    int64_t last = high(steps_ - 1) + (steps_ - 1) * reach_;
    for (int64_t front = low(0); front < last && !early_end_.has_come();) {
      front = std::min(front + at_once_, last);
      for (int64_t step = 0; step < steps_; ++step) {
        int64_t& from = done[static_cast<size_t>(step)];
        int64_t to = std::min(high(step), front - step * reach_);
        if (to <= from) continue;
        rows(step, from, to);
        from = to;
      }
    }
  }

  void between(int64_t i) const {
    for (int64_t step = 1; step < steps_; ++step) rows(step, edge(i) - step * reach_, edge(i) + step * reach_);
  }

  void rows(int64_t step, int64_t from, int64_t to) const {
    const TiledKernel& kernel = kernels_[step % count_];
    int64_t begin = std::max<int64_t>(from - kernel.first, 0) * kernel.unit,
            end = std::min((to - kernel.first) * kernel.unit, kernel.items);
    forget_scratch();
    if (begin < end) kernel.body(kernel.args, begin, end);
  }

  int64_t count_;
  const TiledKernel* kernels_;
  int64_t reach_, first_ = 0, end_ = 0, cost_ = 0, at_once_ = 1, parts_ = 1, most_turns_ = 1, steps_ = 0;
  EarlyEnd early_end_;
};

}  // namespace

void tiled_turns(void*, int64_t trips, int64_t count, const TiledKernel* kernels, int64_t reach, int64_t row_bytes) {
  Tiles(count, kernels, reach, row_bytes).run(trips);
}

}  // namespace weft
