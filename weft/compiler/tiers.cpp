#include "weft/compiler/tiers.h"

#include <pthread.h>

#include <cstdlib>
#include <memory>
#include <mutex>

#include "weft/core/error.h"
#include "weft/runtime/queue.h"

namespace weft {
namespace {

// 5 ms, in prices of kernel/cost.h.
constexpr int64_t little = 500'000'000;

struct Helper {
  std::mutex mutex;  // while work is given, and while the process forks
  std::unique_ptr<Queue> queue = std::make_unique<Queue>();
};

// It stays: work may be given while the process ends.
Helper& helper() {
  static Helper* made = [] {
    auto wait = [] {
      helper().mutex.lock();
      helper().queue->last().wait_for(1e9);
    };
    auto in_child = [] {
      helper().queue.release();  // its thread is no more
      helper().queue = std::make_unique<Queue>();
      helper().mutex.unlock();
    };
    pthread_atfork(wait, [] { helper().mutex.unlock(); }, in_child);
    std::atexit([] { helper().queue->stop(); });
    return new Helper;
  }();
  return *made;
}

}  // namespace

bool does_little(const Program& program) {
  Dim work = 0;
  for (const Launch& launch : program.run) {
    if (launch.kind != LaunchKind::kernel) return false;
    Dim price = launch.parallel * launch.cost;
    if (const auto& dot = program.kernels[static_cast<size_t>(launch.kernel)].dot) {
      price = dot->m * dot->n * dot->k;
      for (const Dim& extent : dot->batch) price = price * extent;
    }
    work = work + price;
  }
  return work.max() <= little;
}

void Later::give() {
  std::lock_guard lock(helper().mutex);
  if (has_begun_.load(std::memory_order_relaxed)) return;
  try {
    done_ = helper().queue->push(work_, {});
  } catch (const Error&) {
    work_();  // the process ends
  }
  work_ = nullptr;
  has_begun_.store(true, std::memory_order_release);
}

}  // namespace weft
