#include "weft/distributed/board.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "weft/core/error.h"
#include "weft/core/interrupt.h"
#include "weft/core/span.h"

namespace weft {
namespace {

constexpr int64_t capacities[] = {512 << 10, 64 << 10};
constexpr int tables = 4;  // said and read of both lanes
// A rank that waits for longer looks whether those it waits for are alive so often.
constexpr int64_t look_nanoseconds = 10'000'000;

size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }
size_t row_bytes(int size) { return rounded(static_cast<size_t>(size) * sizeof(uint64_t), 64); }
size_t slot_bytes(Lane lane) {
  return rounded(offsetof(Slot, bytes) + static_cast<size_t>(Board::capacity(lane)), 4096);
}
}  // namespace

double monotonic_seconds() { return 1e-9 * static_cast<double>(span_clock()); }

// A rank that waits for one without a CPU must leave it its own.
int Board::spins(int ranks, int cpus) { return ranks <= cpus ? 2'000 : few_spins; }

struct alignas(64) Board::RankState {
  std::atomic<uint32_t> bell, is_asleep, uses_others, has_arrived, has_left;
  std::atomic<int32_t> waits_for;  // a rank and one; 0: for none
  cpu_set_t cpus;                  // that it may run on, before it arrives
};

struct alignas(64) Board::Header {
  std::atomic<uint32_t> is_ready;
  std::atomic<uint32_t> failure;  // 0: none, 1: is being written, 2: is there
  char label[64];
  char message[4096];
};

Board::Board(std::shared_ptr<std::byte> memory, int rank, int size, double timeout, std::function<bool(int)> is_alive)
    : memory_(std::move(memory)),
      rank_(rank),
      size_(size),
      spins_(spins(size, available_cpus())),
      timeout_(timeout),
      is_alive_(std::move(is_alive)) {}

int64_t Board::capacity(Lane lane) { return capacities[static_cast<size_t>(lane)]; }

size_t Board::bytes_for(int size) {
  auto ranks = static_cast<size_t>(size);
  return slots_begin(size) + 2 * ranks * (slot_bytes(Lane::group) + slot_bytes(Lane::message));
}

size_t Board::slots_begin(int size) {
  auto ranks = static_cast<size_t>(size);
  return rounded(sizeof(Header) + ranks * sizeof(RankState) + tables * ranks * row_bytes(size), 4096);
}

Board::Header& Board::header() const { return *reinterpret_cast<Header*>(memory_.get()); }

Board::RankState& Board::state(int rank) const {
  return reinterpret_cast<RankState*>(memory_.get() + sizeof(Header))[rank];
}

std::atomic<uint64_t>& Board::counter(int table, int from, int to) {
  std::byte* rows = memory_.get() + sizeof(Header) + static_cast<size_t>(size_) * sizeof(RankState);
  return reinterpret_cast<std::atomic<uint64_t>*>(rows +
                                                  static_cast<size_t>(table * size_ + from) * row_bytes(size_))[to];
}

std::atomic<uint64_t>& Board::said(Lane lane, int from, int to) { return counter(static_cast<int>(lane), from, to); }
// In the row of the rank that reads, who writes it.
std::atomic<uint64_t>& Board::read(Lane lane, int from, int to) {
  return counter(2 + static_cast<int>(lane), to, from);
}

Slot& Board::slot(Lane lane, int rank, int half) {
  auto ranks = static_cast<size_t>(size_);
  size_t begin = slots_begin(size_);
  if (lane == Lane::message) begin += 2 * ranks * slot_bytes(Lane::group);
  return *reinterpret_cast<Slot*>(memory_.get() + begin + static_cast<size_t>(2 * rank + half) * slot_bytes(lane));
}

void Board::ring(std::span<const int> peers) {
  // Either this sees that another sleeps, or that one saw what was written before it did.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (int peer : peers) ring_one(peer);
}

void Board::ring_one(int peer) {
  RankState& other = state(peer);
  if (!other.is_asleep.load(std::memory_order_relaxed)) return;
  other.bell.fetch_add(1);
  syscall(SYS_futex, &other.bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Board::ring_all() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (int other = 0; other < size_; ++other) ring_one(other);
}

void Board::begin_use() {
  state(rank_).uses_others.store(1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  try {
    throw_failure();
  } catch (...) {
    end_use();
    throw;
  }
}

void Board::end_use() { state(rank_).uses_others.store(0, std::memory_order_release); }

void Board::await_users() {
  let_go_of_host_lock();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (int other = 0; other < size_; ++other)
    while (other != rank_ && state(other).uses_others.load() != 0) sched_yield();
}

void Board::wait_asleep(int peer, Test ready, const void* data) {
  RankState& mine = state(rank_);
  mine.waits_for.store(peer + 1);
  struct Awake {
    RankState& mine;
    ~Awake() {
      mine.is_asleep.store(0);
      mine.waits_for.store(0);
    }
  } awake{mine};
  double begin = monotonic_seconds();
  while (true) {
    uint32_t bell = mine.bell.load();
    mine.is_asleep.store(1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (ready(data)) return;
    throw_failure();
    timespec slice{0, look_nanoseconds};
    if (syscall(SYS_futex, &mine.bell, FUTEX_WAIT, bell, &slice, nullptr, 0) == 0) continue;
    // What the other wrote before it ended counts.
    bool is_gone = state(peer).has_left.load() || !is_alive_(peer);
    if (ready(data)) return;
    if (is_gone) fail_all("rank_ended", cat("rank ", peer, " has ended, and rank ", rank_, " waits for it"));
    look_after(peer, begin);
  }
}

void Board::look_after(int peer, double begin) {
  throw_failure();
  try {
    check_interrupt();
  } catch (...) {
    // The others cannot know how far this rank came.
    try {
      fail_all("rank_interrupted", cat("rank ", rank_, " was interrupted while it waited for rank ", peer));
    } catch (const Error&) {
    }
    throw;
  }
  if (monotonic_seconds() - begin < timeout_) return;
  // The one at fault is at the end of the chain of those who wait for each other.
  int last = peer;
  for (int i = 0; i < size_; ++i) {
    int next = state(last).waits_for.load() - 1;
    if (next < 0 || next == rank_) break;
    last = next;
  }
  fail_all("rank_timeout", cat("rank ", last, " did not come within ", timeout_, " s, and rank ", rank_, " waits for ",
                               last == peer ? std::string("it") : cat("rank ", peer, ", which waits for it")));
}

void Board::arrive() {
  // An affinity that is unknown, of more CPUs than a set has, is left empty.
  (void)sched_getaffinity(0, sizeof(cpu_set_t), &state(rank_).cpus);
  state(rank_).has_arrived.store(1);
}

void Board::count_cpus() {
  cpu_set_t all{};
  for (int rank = 0; rank < size_; ++rank) CPU_OR(&all, &all, &state(rank).cpus);
  spins_ = spins(size_, available_cpus(all));
}

bool Board::has_arrived(int rank) const { return state(rank).has_arrived.load() != 0; }

void Board::leave() {
  state(rank_).has_left.store(1);
  ring_all();
}

void Board::set_ready() { header().is_ready.store(1); }
bool Board::is_ready() const { return header().is_ready.load() != 0; }

void Board::fail_all(const std::string& label, const std::string& message) {
  Header& header = this->header();
  uint32_t none = 0;
  if (header.failure.compare_exchange_strong(none, 1)) {
    label.copy(header.label, sizeof header.label - 1);
    message.copy(header.message, sizeof header.message - 1);
    header.failure.store(2);
    ring_all();
  }
  throw_failure();
}

void Board::throw_failure() const {
  const Header& header = this->header();
  if (header.failure.load(std::memory_order_acquire) == 0) return;
  // Who writes it may be killed meanwhile.
  for (int i = 0; i < 1000 && header.failure.load() == 1; ++i) sched_yield();
  if (header.failure.load() == 1)
    fail(ErrorKind::runtime, "rank_ended", "a rank has ended while it reported a failure");
  fail(ErrorKind::runtime, header.label, std::string_view(header.message));
}

}  // namespace weft
