// The pool: workers that spin for a moment after a loop and then sleep.
#include "weft/runtime/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "weft/core/cpu.h"
#include "weft/core/error.h"
#include "weft/core/interrupt.h"
#include "weft/core/knobs.h"
#include "weft/library/custom.h"
#include "weft/runtime/scratch.h"
#include "weft/runtime/seats.h"

namespace weft {
namespace {

using Body = void (*)(void**, int64_t, int64_t);

// Work, in units of 10 ps, from which on a worker that is awake is of use.
constexpr int64_t worth_sharing = 200000;
// How long an idle worker looks for work before it sleeps, in checks of about 10 ns.
constexpr int idle_checks = 4000;
// What a piece of a loop that may end early takes at most, in units of 10 ps: 50 ms.
constexpr int64_t most_of_piece = 5'000'000'000;
constexpr int64_t most_pieces = int64_t{1} << 31;

thread_local bool inside_loop = false;
thread_local int slot = 0;
thread_local SpanLabel loop_label{};

// Pieces of a loop that are meant for one thread: the number of the first that is left, and above it the end.
struct alignas(64) Share {
  std::atomic<uint64_t> left{0};
};

// One loop in progress. Each thread takes the same items whenever the same loop runs, which its cache may still hold,
// from the front of its share, and then pieces from the back of the others' shares.
struct Loop {
  Body body = nullptr;
  void** args = nullptr;
  int64_t count = 0, pieces = 1;
  int threads = 1;
  Share* shares = nullptr;
  Seats* seats = nullptr;
  uint64_t number = 0;  // no other loop of the pool has it
  SpanLabel label{};
  EarlyEnd* end = nullptr;  // null: it does not end early

  void divide() {
    for (int i = 0; i < threads; ++i) {
      auto first = static_cast<uint64_t>(pieces * i / threads), end = static_cast<uint64_t>(pieces * (i + 1) / threads);
      shares[i].left.store(end << 32 | first, std::memory_order_relaxed);
    }
  }

  // Pieces that nobody else has, from `first` to `end`; false: none is left. Of its own a thread takes two at once
  // while four are left: what it reads lies together.
  static bool take(Share& share, bool is_own, int64_t& first, int64_t& end) {
    uint64_t left = share.left.load(std::memory_order_relaxed);
    for (;;) {
      first = static_cast<int64_t>(left & 0xffffffff);
      end = static_cast<int64_t>(left >> 32);
      if (first >= end) return false;
      int64_t some = end - first >= 4 ? 2 : 1;
      uint64_t rest = is_own ? left + static_cast<uint64_t>(some) : left - (uint64_t{1} << 32);
      if (!share.left.compare_exchange_weak(left, rest, std::memory_order_relaxed)) continue;
      if (is_own)
        end = first + some;
      else
        first = end - 1;
      return true;
    }
  }

  int64_t item(int64_t piece) const { return count / pieces * piece + std::min(piece, count % pieces); }

  void work() {
    int64_t first = 0, last = 0;
    for (int i = 0; i < threads; ++i) {
      while (!(end && end->has_come())) {
        seats->sit(number, slot);
        if (!take(shares[(slot + i) % threads], i == 0, first, last)) break;
        body(args, item(first), item(last));
      }
    }
  }

  // `way`: work, or work_alone. Machine code that ends with an error (library/custom.h) ends the loop.
  template <void (Loop::*way)()>
  void take_part() {
    forget_scratch();
    if (!end) return (this->*way)();
    try {
      catch_custom_errors([](void* loop) { (static_cast<Loop*>(loop)->*way)(); }, this);
    } catch (...) {
      end->keep(std::current_exception());
    }
  }

  // By the caller alone, who has no share.
  void work_alone() {
    if (!end) return body(args, 0, count);
    for (int64_t piece = 0; piece < pieces && !end->has_come(); ++piece) body(args, item(piece), item(piece + 1));
  }
};

class Pool {
 public:
  ~Pool() { stop(); }

  // After a fork the threads are gone: their handles must be let go without a join.
  void abandon() {
    for (std::thread& worker : workers_) worker.detach();
  }

  // For a caller who has entered, as `run`. Where the system gives no more threads, those that there are do the work.
  void resize(int threads) {
    if (threads == threads_) return;
    threads_ = threads;
    stop();
    shares_ = std::vector<Share>(static_cast<size_t>(threads));
    stopping_.store(false);
    try {
      for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { serve(i); });
    } catch (const std::system_error&) {
    }
  }

  bool try_enter() { return !busy_.exchange(true, std::memory_order_acquire); }
  void leave() { busy_.store(false, std::memory_order_release); }

  // Workers join the loop as long as it is open, so that none which is asleep or descheduled is waited for.
  void run(Loop& loop, int64_t work) {
    uint64_t number = state_.load(std::memory_order_relaxed) / one_loop + 1, open = number * one_loop;
    loop.shares = shares_.data();
    loop.seats = &seats_;
    loop.number = number;
    loop.divide();
    loop_.store(&loop, std::memory_order_relaxed);
    left_.store(0, std::memory_order_relaxed);
    // Before a worker joins, it has its seat.
    seats_.sit(number, slot);
    state_.store(open, std::memory_order_seq_cst);
    wake(work, loop.pieces - 1);
    loop.take_part<&Loop::work>();
    uint64_t joined = state_.exchange(open + one_loop, std::memory_order_acq_rel) - open;
    // With more threads than free CPUs a worker may need this one to finish.
    for (int i = 0; left_.load(std::memory_order_acquire) != joined; ++i) {
      if (i < idle_checks)
        relax();
      else
        std::this_thread::yield();
    }
  }

 private:
  // The state: in the low bits how many workers joined, above them a count that is odd while a loop is open.
  static constexpr uint64_t one_loop = Seats::most_slots;

  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_.store(true);
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  static bool is_open(uint64_t state) { return state / one_loop % 2 == 1; }

  // Sleepers are woken for much work, or for the sum of many small loops that they missed.
  void wake(int64_t work, int64_t helpers) {
    if (sleeping_.load(std::memory_order_seq_cst) == 0) return;
    missed_ += std::min(work, worth_waking);
    if (missed_ < worth_waking) return;
    missed_ = 0;
    std::lock_guard lock(mutex_);
    if (helpers >= sleeping_.load(std::memory_order_relaxed)) return wake_.notify_all();
    for (int64_t i = 0; i < helpers; ++i) wake_.notify_one();
  }

  void serve(int number) {
    const BesideEnvironment beside;
    inside_loop = true;
    slot = number;
    pthread_setname_np(pthread_self(), cat("weft-", number).c_str());
    for (uint64_t seen = 0;;) {
      uint64_t state = wait_for_work(seen);
      if (stopping_.load(std::memory_order_relaxed)) return;
      if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire)) continue;
      seen = state / one_loop;
      Loop& loop = *loop_.load(std::memory_order_relaxed);
      SpanLabel label = loop.label;
      int64_t begin = label ? span_clock() : 0;
      loop.take_part<&Loop::work>();
      if (label) record_span(label, begin, span_clock());
      left_.fetch_add(1, std::memory_order_release);
    }
  }

  // The state of an open loop other than the one seen last; anything when the pool stops.
  uint64_t wait_for_work(uint64_t seen) {
    uint64_t state = 0;
    auto found = [&](std::memory_order order) {
      state = state_.load(order);
      return (is_open(state) && state / one_loop != seen) || stopping_.load(std::memory_order_relaxed);
    };
    for (int i = 0; i < idle_checks; ++i) {
      if (found(std::memory_order_relaxed)) return state;
      relax();
    }
    std::unique_lock lock(mutex_);
    sleeping_.fetch_add(1, std::memory_order_seq_cst);
    wake_.wait(lock, [&] { return found(std::memory_order_seq_cst); });
    sleeping_.fetch_sub(1, std::memory_order_seq_cst);
    return state;
  }

  int threads_ = 1;
  std::vector<std::thread> workers_;
  std::vector<Share> shares_;
  Seats seats_;
  std::atomic<Loop*> loop_{nullptr};
  std::atomic<uint64_t> state_{0}, left_{0};
  std::atomic<int> sleeping_{0};
  int64_t missed_ = 0;  // by sleepers; the caller's, who has entered
  std::atomic<bool> busy_{false}, stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

struct Shared {
  std::mutex mutex;  // guards the pool's making
  std::atomic<Pool*> pool{nullptr};
  std::atomic<int> wanted{0};    // 0: the standard
  std::atomic<int> standard{0};  // 0: nobody asked yet

  ~Shared() { delete pool.load(); }
};

constinit Shared shared_state;

void forget_after_fork() {
  // The child has this thread only; the mutexes of the others may be held for ever.
  Pool* old = shared_state.pool.exchange(nullptr);
  if (old) old->abandon();
  new (&shared_state.mutex) std::mutex;
}
// Before there are threads: what a child finds half made it waits for.
[[maybe_unused]] const bool watches_forks = pthread_atfork(nullptr, nullptr, forget_after_fork) == 0;

// As the environment was when this process first asked.
int standard_threads() {
  int standard = shared_state.standard.load();
  if (standard > 0) return standard;
  auto asked = static_cast<int>(knob_integer(Knob::threads));
  int found = asked > 0 ? asked : shared_cpus();
  return shared_state.standard.compare_exchange_strong(standard, found) ? found : standard;
}

Pool& pool() {
  Pool* current = shared_state.pool.load(std::memory_order_acquire);
  if (current) return *current;
  std::lock_guard lock(shared_state.mutex);
  current = shared_state.pool.load();
  if (!current) {
    current = new Pool;
    shared_state.pool.store(current, std::memory_order_release);
  }
  return *current;
}

void run_loop(int64_t count, int64_t cost, Body body, void** args, int threads, int parts, EarlyEnd* end) {
  if (count <= 0) return;
  int64_t work = 0;
  if (__builtin_mul_overflow(count, cost, &work)) work = end ? INT64_MAX : worth_waking;
  Loop loop;
  loop.body = body;
  loop.args = args;
  loop.count = count;
  loop.label = loop_label;
  loop.end = end;
  if (end) loop.pieces = std::min(count, work / most_of_piece + 1);
  if (count == 1 || work < worth_sharing || inside_loop || threads == 1) return loop.take_part<&Loop::work_alone>();
  Pool& shared_pool = pool();
  if (!shared_pool.try_enter()) return loop.take_part<&Loop::work_alone>();
  shared_pool.resize(threads);
  // A thread takes two at once.
  loop.pieces = std::min({count, std::max(int64_t{threads} * parts, 2 * loop.pieces), most_pieces});
  loop.threads = threads;
  inside_loop = true;
  shared_pool.run(loop, work);
  inside_loop = false;
  shared_pool.leave();
}

}  // namespace

int num_threads() {
  if (std::optional<int64_t> scoped = scoped_integer(Knob::threads))
    return *scoped > 0 ? static_cast<int>(*scoped) : shared_cpus();
  int wanted = shared_state.wanted.load();  // of all threads; who asks once is gone before the pool is
  return wanted > 0 ? wanted : standard_threads();
}

void set_num_threads(int n) {
  if (n < 0 || n > 1024) fail(ErrorKind::value, "num_threads", "the number of threads must be from 0 to 1024, got ", n);
  shared_state.wanted.store(n);  // the next loop has the pool follow
}

int thread_slot() { return slot; }

SpanLabel name_loops(SpanLabel label) { return std::exchange(loop_label, label); }

void parallel_for(int64_t count, int64_t cost, Body body, void** args, int threads, int parts) {
  run_loop(count, cost, body, args, threads, parts, nullptr);
}

void parallel_for_until_interrupted(int64_t count, int64_t cost, Body body, void** args, int threads, int parts) {
  // Inside of another loop it is that one which ends.
  if (inside_loop) return body(args, 0, count);
  EarlyEnd end;
  run_loop(count, cost, body, args, threads, parts, &end);
  end.rethrow();
}

}  // namespace weft
