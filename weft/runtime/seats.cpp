// A scheduler may leave two threads of a loop on one CPU for seconds while another one idles: each looks busy, and
// virtual machines even pack what they run. To narrow the thread's mask for a moment is the one way to ask for another
// CPU. Whether that one idles nobody says; where it does not, a loop waits for its worker, and to share the caller's
// CPU is better.
#include "weft/runtime/seats.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "weft/core/span.h"

namespace weft {
namespace {

// In ns. A move has failed when its worker was kept waiting for so long, and was good when it worked for so long before
// that.
constexpr int64_t most_waiting = 500'000, worked_well = 20'000'000;
// After a move nothing is tried for so long; after each that failed, for twice as long as after the one before.
constexpr int64_t first_pause = 5'000'000, last_pause = 1'000'000'000;

// One worker's moves.
struct Moves {
  size_t seat = 0;  // where it sat last
  int64_t pause = first_pause, next = 0;
  bool on_trial = false;
  size_t back = 0;    // where it came from
  uint64_t mark = 0;  // of the loop that it worked in when it last looked at the clocks
  int64_t clock = 0, cpu_time = 0, worked = 0, waited = 0;
};
thread_local Moves moves;

int64_t thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

// Runs this thread on `cpu` and gives it its mask back; one that others set meanwhile stays.
void move_to(size_t cpu, const cpu_set_t& mask) {
  cpu_set_t there, all, now;
  CPU_ZERO(&there);
  CPU_SET(cpu, &there);
  if (sched_setaffinity(0, sizeof there, &there) != 0) return;
  if (sched_getaffinity(0, sizeof now, &now) != 0 || !CPU_EQUAL(&now, &there)) return;
  // A thread whose mask nobody narrowed asks for all CPUs, so that it follows its control group, should that get more.
  std::memset(&all, 0xff, sizeof all);
  sched_setaffinity(0, sizeof all, &all);
  if (sched_getaffinity(0, sizeof now, &now) == 0 && !CPU_EQUAL(&now, &mask)) sched_setaffinity(0, sizeof mask, &mask);
}

void end_trial(bool is_good) {
  moves.on_trial = false;
  moves.pause = is_good ? first_pause : std::min(2 * moves.pause, last_pause);
  moves.next = span_clock() + moves.pause;
  cpu_set_t mask;
  if (is_good || sched_getaffinity(0, sizeof mask, &mask) != 0 || !CPU_ISSET(moves.back, &mask)) return;
  move_to(moves.back, mask);
}

// Between two looks in one loop the thread had something to do all the time.
void judge(uint64_t mark) {
  int64_t clock = span_clock(), cpu_time = thread_time();
  if (mark == moves.mark) {
    int64_t worked = cpu_time - moves.cpu_time;
    moves.worked += worked;
    moves.waited += clock - moves.clock - worked;
  }
  moves.mark = mark;
  moves.clock = clock;
  moves.cpu_time = cpu_time;
  if (moves.waited > most_waiting)
    end_trial(false);
  else if (moves.worked > worked_well)
    end_trial(true);
}

}  // namespace

Seats::Seats() : seats_(static_cast<size_t>(std::clamp<long>(sysconf(_SC_NPROCESSORS_CONF), 1, CPU_SETSIZE))) {}

void Seats::sit(uint64_t loop, int slot) {
  auto cpu = static_cast<size_t>(sched_getcpu());
  uint64_t mark = loop * most_slots + static_cast<uint64_t>(slot);
  if (cpu >= seats_.size()) return;
  bool sits = seats_[cpu].taken.load(std::memory_order_relaxed) == mark || take(mark, cpu);
  if (moves.on_trial)
    judge(mark);
  else if (!sits)
    move(mark, cpu);
}

// False: somebody else has it.
bool Seats::take(uint64_t mark, size_t cpu) {
  // Where the system took it from, somebody else may sit.
  uint64_t own = mark;
  if (moves.seat != cpu && moves.seat < seats_.size())
    seats_[moves.seat].taken.compare_exchange_strong(own, 0, std::memory_order_relaxed);
  moves.seat = cpu;
  std::atomic<uint64_t>& taken = seats_[cpu].taken;
  uint64_t by = taken.load(std::memory_order_relaxed);
  bool is_caller = mark % most_slots == 0;
  if (!is_caller && by / most_slots == mark / most_slots) return by == mark;
  taken.store(mark, std::memory_order_relaxed);
  return true;
}

void Seats::move(uint64_t mark, size_t cpu) {
  int64_t now = span_clock();
  cpu_set_t mask;
  if (now < moves.next || sched_getaffinity(0, sizeof mask, &mask) != 0) return;
  moves.next = now + moves.pause;
  for (size_t i = 1; i < seats_.size(); ++i) {
    size_t other = (cpu + i) % seats_.size();
    uint64_t by = seats_[other].taken.load(std::memory_order_relaxed);
    if (!CPU_ISSET(other, &mask) || (by / most_slots == mark / most_slots && by != mark)) continue;
    if (!seats_[other].taken.compare_exchange_strong(by, mark, std::memory_order_relaxed)) continue;
    move_to(other, mask);
    moves.seat = other;
    moves.back = cpu;
    moves.on_trial = true;
    moves.mark = 0;
    moves.worked = moves.waited = 0;
    return;
  }
}

}  // namespace weft
