// The pool: workers that spin for a moment after a loop and then sleep.
#include "weft/runtime/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "weft/core/error.h"

namespace weft {
namespace {

using Body = void (*)(void**, int64_t, int64_t);

// Rough scalar operations for which waking a thread pays.
constexpr int64_t worth_sharing = 50000;
// How long an idle worker looks for work before it sleeps, in checks of about 10 ns.
constexpr int idle_checks = 4000;

thread_local bool inside_loop = false;

void relax() { __builtin_ia32_pause(); }

int available_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

int default_threads() {
  const char* knob = std::getenv("WEFT_THREADS");
  int n = knob ? std::atoi(knob) : 0;
  return n >= 1 && n <= 1024 ? n : available_cpus();
}

// One loop in progress. Items are taken in pieces by an atomic counter.
struct Loop {
  Body body = nullptr;
  void** args = nullptr;
  int64_t count = 0, piece = 1;
  std::atomic<int64_t> next{0};

  void work() {
    for (;;) {
      int64_t begin = next.fetch_add(piece, std::memory_order_relaxed);
      if (begin >= count) return;
      body(args, begin, std::min(begin + piece, count));
    }
  }
};

class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
  }

  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stopping_.store(true);
      generation_.fetch_add(1);
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  // After a fork the threads are gone: their handles must be let go without a join.
  void abandon() {
    for (std::thread& worker : workers_) worker.detach();
  }

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  bool try_enter() { return !busy_.exchange(true, std::memory_order_acquire); }
  void leave() { busy_.store(false, std::memory_order_release); }

  void run(Loop& loop) {
    loop_.store(&loop, std::memory_order_relaxed);
    active_.store(threads() - 1, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_seq_cst);
    if (sleeping_.load(std::memory_order_seq_cst) > 0) {
      std::lock_guard lock(mutex_);
      wake_.notify_all();
    }
    loop.work();
    // With more threads than free CPUs a worker may need this one to finish.
    for (int i = 0; active_.load(std::memory_order_acquire) != 0; ++i) {
      if (i < idle_checks) relax();
      else std::this_thread::yield();
    }
  }

 private:
  void serve() {
    inside_loop = true;
    uint64_t seen = 0;
    for (;;) {
      uint64_t now = wait_for_work(seen);
      if (stopping_.load(std::memory_order_relaxed)) return;
      seen = now;
      loop_.load(std::memory_order_relaxed)->work();
      active_.fetch_sub(1, std::memory_order_release);
    }
  }

  uint64_t wait_for_work(uint64_t seen) {
    for (int i = 0; i < idle_checks; ++i) {
      uint64_t now = generation_.load(std::memory_order_acquire);
      if (now != seen) return now;
      relax();
    }
    std::unique_lock lock(mutex_);
    sleeping_.fetch_add(1, std::memory_order_seq_cst);
    wake_.wait(lock, [&] { return generation_.load(std::memory_order_seq_cst) != seen; });
    sleeping_.fetch_sub(1, std::memory_order_seq_cst);
    return generation_.load(std::memory_order_acquire);
  }

  std::vector<std::thread> workers_;
  std::atomic<Loop*> loop_{nullptr};
  std::atomic<uint64_t> generation_{0};
  std::atomic<int> active_{0}, sleeping_{0};
  std::atomic<bool> busy_{false}, stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

struct Shared {
  std::mutex mutex;            // guards the pool's making and replacement
  std::atomic<Pool*> pool{nullptr};
  std::atomic<int> wanted{0};  // 0: the default

  ~Shared() { delete pool.load(); }
};

Shared& shared() {
  static Shared instance;
  return instance;
}

void forget_after_fork() {
  // The child has this thread only; the mutexes of the others may be held for ever.
  Pool* old = shared().pool.exchange(nullptr);
  if (old) old->abandon();
  new (&shared().mutex) std::mutex;
}

Pool& pool() {
  Pool* current = shared().pool.load(std::memory_order_acquire);
  if (current) return *current;
  std::lock_guard lock(shared().mutex);
  current = shared().pool.load();
  if (!current) {
    static bool registered = (pthread_atfork(nullptr, nullptr, forget_after_fork), true);
    (void)registered;
    current = new Pool(num_threads());
    shared().pool.store(current, std::memory_order_release);
  }
  return *current;
}

}  // namespace

int num_threads() {
  int wanted = shared().wanted.load();
  static const int standard = default_threads();
  return wanted > 0 ? wanted : standard;
}

void set_num_threads(int n) {
  if (n < 0 || n > 1024) fail(ErrorKind::value, "num_threads", "the number of threads must be from 0 to 1024, got ", n);
  Shared& all = shared();
  std::lock_guard lock(all.mutex);
  int before = num_threads();
  all.wanted.store(n);
  if (num_threads() == before) return;
  // A loop of another thread may be running: wait for it, and keep new ones out.
  Pool* old = all.pool.load();
  if (!old) return;
  while (!old->try_enter()) std::this_thread::yield();
  all.pool.store(nullptr);
  delete old;
}

void parallel_for(int64_t count, int64_t cost, Body body, void** args) {
  if (count <= 0) return;
  int64_t work = 0;
  bool small = !__builtin_mul_overflow(count, cost, &work) && work < worth_sharing;
  if (count == 1 || small || inside_loop || num_threads() == 1) return body(args, 0, count);
  Pool& threads = pool();
  if (!threads.try_enter()) return body(args, 0, count);
  Loop loop;
  loop.body = body;
  loop.args = args;
  loop.count = count;
  loop.piece = std::max<int64_t>(1, count / (threads.threads() * 4));
  inside_loop = true;
  threads.run(loop);
  inside_loop = false;
  threads.leave();
}

}  // namespace weft
