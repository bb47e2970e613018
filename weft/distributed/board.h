// Memory that all ranks of a communicator see, and how they wait for each other in it.
//
// A rank writes to its own places alone: what it has to say, and for each other rank how much it has said and how much
// of theirs it has read. So there is no lock that a rank could die with.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "weft/core/cpu.h"
#include "weft/distributed/communicator.h"
#include "weft/distributed/host_lock.h"

namespace weft {

// By a clock that nobody sets.
double monotonic_seconds();

// What a call is, as far as ranks must agree; plain bytes, so that it can be compared across processes.
struct Announcement {
  uint64_t digest;  // of all that must be the same; the rest is for people
  Collective kind;
  ReduceOp op;
  DType dtype;
  int32_t dims_count, root, axis;
  int64_t dims[8];  // the first
  uint64_t members[max_ranks / 64];
  int32_t line;
  char file[196];
};
void announce(const CollectiveCall& call, Announcement& announcement);
// What two ranks do that do not agree, and where.
std::string disagreement(int rank, const Announcement& own, int other_rank, const Announcement& other);

// A place for what a rank says: two of them, so that it can say the next thing while others read the last.
struct Slot {
  Announcement announcement;
  // Where the bytes are when they are not below, and where the result goes: in-process only.
  const std::byte* direct;
  std::byte* result;
  alignas(64) std::byte bytes[1];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

// The two kinds of things that are said: one after the other among themselves.
enum class Lane : uint8_t { group, message };

class Board {
 public:
  // In `memory` of bytes_for(size), zeros at first. is_alive(rank): whether a rank that has come is still there.
  Board(std::shared_ptr<std::byte> memory, int rank, int size, double timeout, std::function<bool(int)> is_alive);
  static size_t bytes_for(int size);
  // Bytes that a slot of a lane takes at once.
  static int64_t capacity(Lane lane);

  int rank() const { return rank_; }
  int size() const { return size_; }

  Slot& slot(Lane lane, int rank, int half);
  // What `from` has said to `to`, as `count * 2 + half` of the last, and how much of it `to` has read.
  std::atomic<uint64_t>& said(Lane lane, int from, int to);
  std::atomic<uint64_t>& read(Lane lane, int from, int to);

  // Waits until `ready()` holds, which is up to rank `peer`; throws what failed.
  template <class Ready>
  void wait(int peer, const Ready& ready) {
    for (int turn = 0; turn < spins_; ++turn) {
      if (ready()) return;
      if (turn == held_spins_) let_go_of_host_lock();
      relax();
    }
    let_go_of_host_lock();
    wait_asleep(peer, [](const void* data) { return (*static_cast<const Ready*>(data))(); }, &ready);
  }
  // To be called once something was written that `peers` may wait for.
  void ring(std::span<const int> peers);

  // Around uses of another rank's own memory, which that rank must not let go of meanwhile, not even when it fails.
  // Throws what failed; nothing is waited for in between.
  void begin_use();
  void end_use();
  // Once something has failed: waits until nobody uses this rank's.
  void await_users();

  // This rank has come, or has gone for good.
  void arrive();
  void leave();
  bool has_arrived(int rank) const;
  // Once all have come: by the CPUs that they have between them, how long to look before sleep.
  void count_cpus();
  bool has_cpu_each() const { return spins_ > few_spins; }
  // How long to look before the host's lock is let go of; ranks that are threads need it to come.
  void set_held_spins(int turns) { held_spins_ = turns; }
  void set_ready();
  bool is_ready() const;

  // The first failure is everybody's: all who wait or call throw it from then on.
  void fail_all(const std::string& label, const std::string& message);
  void throw_failure() const;

 private:
  static constexpr int few_spins = 50;
  struct RankState;
  struct Header;
  using Test = bool (*)(const void* data);

  static int spins(int ranks, int cpus);
  void ring_one(int peer);
  void ring_all();
  void wait_asleep(int peer, Test ready, const void* data);
  // Looks whether `peer` can still come, in a wait that began at `begin`.
  void look_after(int peer, double begin);
  static size_t slots_begin(int size);
  Header& header() const;
  RankState& state(int rank) const;
  std::atomic<uint64_t>& counter(int table, int from, int to);

  std::shared_ptr<std::byte> memory_;
  int rank_, size_, spins_, held_spins_ = 0;
  double timeout_;
  std::function<bool(int)> is_alive_;
};

// The communicator over a board. `direct`: ranks can read each other's own memory.
std::unique_ptr<Communicator> communicator_on(std::unique_ptr<Board> board, bool direct);

}  // namespace weft
