// Threads of one loop leave each other's CPUs, and their masks stay what they were set to.
#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "weft/runtime/seats.h"
#include "weft/runtime/thread_pool.h"

using namespace weft;

namespace {

cpu_set_t mask_of(pid_t thread = 0) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(thread, sizeof mask, &mask);
  return mask;
}

cpu_set_t mask_with(std::initializer_list<int> cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &mask);
  return mask;
}

bool has_mask(const cpu_set_t& wanted) {
  cpu_set_t mask = mask_of();
  return CPU_EQUAL(&mask, &wanted);
}

bool narrow(const cpu_set_t& mask, pid_t thread = 0) { return sched_setaffinity(thread, sizeof mask, &mask) == 0; }

// Two CPUs of this process; none where it has one.
std::optional<std::pair<int, int>> two_cpus() {
  cpu_set_t mask = mask_of();
  std::vector<int> found;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<size_t>(cpu), &mask)) found.push_back(cpu);
  if (found.size() < 2) return std::nullopt;
  return std::pair(found[0], found[1]);
}

// Runs this test's thread on one CPU for a while.
struct OnCpu {
  cpu_set_t before = mask_of();
  explicit OnCpu(int cpu) { narrow(mask_with({cpu})); }
  ~OnCpu() { narrow(before); }
};

// Where a worker is that was put on the caller's CPU, once it left that, or after many looks.
int worker_leaves(Seats& seats, uint64_t loop, int cpu) {
  for (int i = 0; i < 1000; ++i) {
    seats.sit(loop, 1);
    if (sched_getcpu() != cpu) return sched_getcpu();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return cpu;
}

}  // namespace

TEST_CASE("a worker leaves its caller's CPU, and its mask is what it was") {
  auto cpus = two_cpus();
  if (!cpus) return;
  auto [first, second] = *cpus;
  Seats seats;
  OnCpu here(first);
  seats.sit(1, 0);
  for (const cpu_set_t& mask : {here.before, mask_with({first, second})}) {
    std::thread([&, caller = first] {
      // From here on nothing else makes it go: a narrower mask that is widened again moves nobody.
      narrow(mask_with({caller}));
      narrow(mask);
      CHECK(worker_leaves(seats, 1, caller) != caller);
      CHECK(has_mask(mask));
    }).join();
  }
}

TEST_CASE("a worker that is kept waiting where it moved to goes back, and its mask is what it was") {
  auto cpus = two_cpus();
  if (!cpus) return;
  Seats seats;
  OnCpu here(cpus->first);
  seats.sit(1, 0);
  std::thread([&] {
    cpu_set_t both = mask_with({cpus->first, cpus->second});
    bool goes_back = false;
    // Anybody else on this machine may have it moved in between.
    for (int i = 0; i < 20 && !goes_back; ++i) {
      narrow(mask_with({cpus->first}));
      narrow(both);
      if (worker_leaves(seats, 1, cpus->first) == cpus->first) continue;
      seats.sit(1, 1);
      // To sleep looks like waiting for the CPU.
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      seats.sit(1, 1);
      goes_back = sched_getcpu() == cpus->first;
      CHECK(has_mask(both));
    }
    CHECK(goes_back);
  }).join();
}

TEST_CASE("a worker whose mask has the caller's CPU alone stays") {
  auto cpus = two_cpus();
  if (!cpus) return;
  Seats seats;
  OnCpu here(cpus->first);
  seats.sit(1, 0);
  std::thread([&] {
    seats.sit(1, 1);
    CHECK(sched_getcpu() == cpus->first);
    CHECK(has_mask(mask_with({cpus->first})));
  }).join();
}

TEST_CASE("nobody moves from where it sits alone, and what an earlier loop left is free") {
  auto cpus = two_cpus();
  if (!cpus) return;
  Seats seats;
  OnCpu here(cpus->first);
  seats.sit(1, 0);
  seats.sit(2, 1);
  std::thread([&] {
    narrow(mask_with({cpus->second}));
    seats.sit(2, 0);
    seats.sit(2, 0);
  }).join();
  seats.sit(2, 1);
  CHECK(sched_getcpu() == cpus->first);
}

TEST_CASE("a worker stays where every other CPU is another's") {
  auto cpus = two_cpus();
  if (!cpus) return;
  Seats seats;
  OnCpu here(cpus->first);
  seats.sit(1, 0);
  std::thread([&] {
    narrow(mask_with({cpus->second}));
    seats.sit(1, 2);
  }).join();
  std::thread([&] {
    cpu_set_t both = mask_with({cpus->first, cpus->second});
    narrow(both);
    int before = sched_getcpu();
    seats.sit(1, 1);
    // It may have begun on the other one.
    CHECK((before == cpus->second || sched_getcpu() == before));
    CHECK(has_mask(both));
  }).join();
}

namespace {

struct Meeting {
  pid_t caller = gettid();
  int cpu = 0;
  cpu_set_t wide = mask_of();
  std::atomic<int> pieces{0}, together{0}, apart{0};
  std::atomic<bool> mask_stays{true};
};

// With its first piece the worker goes where its caller sleeps, and may leave; it says of later ones where they begin.
void meet(void** args, int64_t begin, int64_t end) {
  auto& meeting = *static_cast<Meeting*>(args[0]);
  meeting.pieces += static_cast<int>(end - begin);
  if (gettid() == meeting.caller) return std::this_thread::sleep_for(std::chrono::milliseconds(30));
  if (meeting.together++ == 0) {
    narrow(mask_with({meeting.cpu}));
    narrow(meeting.wide);
  } else {
    if (sched_getcpu() != meeting.cpu) ++meeting.apart;
    if (!has_mask(meeting.wide)) meeting.mask_stays = false;
  }
  // Who sleeps may wake anywhere.
  for (auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
       std::chrono::steady_clock::now() < until;) {
  }
}

}  // namespace

TEST_CASE("a worker of the pool leaves its caller's CPU") {
  auto cpus = two_cpus();
  if (!cpus) return;
  Meeting meeting;
  meeting.cpu = cpus->first;
  void* args[] = {&meeting};
  {
    OnCpu here(cpus->first);
    // Threads that are new have this one's mask.
    for (int threads : {3, 2}) {
      set_num_threads(threads);
      parallel_for(2, worth_waking, [](void**, int64_t, int64_t) {}, nullptr);
    }
    for (int loop = 0; loop < 100 && meeting.apart == 0; ++loop) {
      meeting.pieces = meeting.together = 0;
      parallel_for(64, worth_waking, meet, args);
      CHECK(meeting.pieces == 64);
    }
  }
  CHECK(meeting.apart > 0);
  CHECK(meeting.mask_stays);
  set_num_threads(0);
  // The next test's have all again.
  parallel_for(2, worth_waking, [](void**, int64_t, int64_t) {}, nullptr);
}
