// What a call must fulfil before any other rank hears of it.
#include "weft/distributed/communicator.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "weft/core/error.h"
#include "weft/distributed/host_lock.h"

namespace weft {
namespace {

constexpr std::string_view names[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute",
                                      "broadcast",  "barrier",    "send",           "recv"};

void require_rank(const CollectiveCall& call, int rank, int size, std::string_view what) {
  if (rank < 0 || rank >= size)
    fail(ErrorKind::value, "rank", name(call.kind), ": ", what, " must be a rank from 0 to ", size - 1, ", got ", rank);
}

void require_pairs(const CollectiveCall& call, int size) {
  std::vector<bool> sends(static_cast<size_t>(size)), receives(static_cast<size_t>(size));
  for (auto [source, target] : call.pairs) {
    require_rank(call, source, size, "a source");
    require_rank(call, target, size, "a target");
    if (sends[static_cast<size_t>(source)] || receives[static_cast<size_t>(target)])
      fail(ErrorKind::value, "pairs", "collective_permute: a rank sends once at most and receives once at most, got (",
           source, ", ", target, ") beside another such pair");
    sends[static_cast<size_t>(source)] = receives[static_cast<size_t>(target)] = true;
  }
}

void require_fit(const CollectiveCall& call, int rank, int size) {
  if (is_message(call.kind)) {
    require_rank(call, call.root, size, "the other rank");
    if (call.root == rank)
      fail(ErrorKind::value, "rank", name(call.kind), ": the other rank must not be this one, which is ", rank);
  }
  if (call.kind == Collective::broadcast && std::ranges::find(call.members, call.root) == call.members.end())
    fail(ErrorKind::value, "rank", "broadcast: the root must be a rank of the group ", call.members, ", got ",
         call.root);
  if (is_reduction(call.kind)) require_reducible(call.op, call.operand.dtype);
  if (call.kind == Collective::permute) require_pairs(call, size);
  if (call.kind == Collective::reduce_scatter || call.kind == Collective::all_to_all) {
    auto parts = static_cast<int64_t>(call.members.size());
    bool has_axis = static_cast<size_t>(call.axis) < call.operand.dims.size();
    int64_t extent = has_axis ? call.operand.dims[static_cast<size_t>(call.axis)] : 0;
    if (!has_axis || extent % parts != 0)
      fail(ErrorKind::value, "parts", name(call.kind), ": axis ", call.axis, " must divide into ", parts,
           " parts, one for each rank of the group, got shape ", call.operand.dims);
  }
}

// A group of one gives what it has.
void run_alone(const CollectiveCall& call, int rank) {
  bool receives_nothing =
      call.kind == Collective::permute && std::ranges::find(call.pairs, std::pair(rank, rank)) == call.pairs.end();
  auto bytes = static_cast<size_t>(call.operand.bytes());
  if (bytes == 0 || !call.result || call.result == call.operand.data) return;
  if (receives_nothing)
    std::memset(call.result, 0, bytes);
  else
    std::memcpy(call.result, call.operand.data, bytes);
}

// The number of forks that led to this process: asking the system which one it is takes longer than a small call.
std::atomic<int> forks = 0;
[[maybe_unused]] const bool counts_forks = pthread_atfork(nullptr, nullptr, [] { ++forks; }) == 0;

// Up to so many bytes are combined sooner than another thread has taken the host's lock.
constexpr int64_t done_at_once = 64 << 10;

}  // namespace

std::string_view name(Collective kind) { return names[static_cast<size_t>(kind)]; }

int64_t Payload::count() const {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

Communicator::Communicator(int rank, int size) : rank_(rank), size_(size), forks_(forks) {}

std::vector<int> Communicator::members_of(const CollectiveCall& call) const {
  std::vector<int> mine;
  if (call.groups.empty()) {
    mine.resize(static_cast<size_t>(size_));
    std::iota(mine.begin(), mine.end(), 0);
    return mine;
  }
  std::vector<bool> is_named(static_cast<size_t>(size_));
  for (const std::vector<int>& group : call.groups)
    for (int each : group) {
      require_rank(call, each, size_, "a group's member");
      if (is_named[static_cast<size_t>(each)])
        fail(ErrorKind::value, "groups", name(call.kind), ": groups must name a rank once, got rank ", each, " twice");
      is_named[static_cast<size_t>(each)] = true;
      if (each == rank_) mine = group;
    }
  if (mine.empty())
    fail(ErrorKind::value, "groups", name(call.kind), ": is called by rank ", rank_, ", which is in no group");
  return mine;
}

void Communicator::run(CollectiveCall call) {
  try {
    call.members = members_of(call);
    if (call.kind == Collective::broadcast) std::ranges::sort(call.members);  // their order says nothing
    call.index = static_cast<int>(std::ranges::find(call.members, rank_) - call.members.begin());
    require_fit(call, rank_, size_);
  } catch (const Error& error) {
    raise(error.at(call.loc));
  }
  if (call.members.size() == 1) return run_alone(call, rank_);
  // In a fork's child nobody lets go of what another thread of the parent held.
  bool is_own = forks == forks_;
  if (call.operand.bytes() > done_at_once) let_go_of_host_lock();
  std::unique_lock lock(mutex_, std::defer_lock);
  if (is_own && !lock.try_lock()) {
    // Who has it may need the host's.
    let_go_of_host_lock();
    lock.lock();
  }
  if (is_closed_ || !is_own)
    raise({ErrorKind::runtime,
           is_closed_ ? "the communicator is closed" : "the communicator is the parent process's, not its fork's",
           "communicator", call.loc});
  try {
    exchange(call);
  } catch (const Error& error) {
    raise(Error(error.kind(), cat(name(call.kind), ": ", error.message()), error.label(), call.loc));
  }
}

void Communicator::close() {
  // The child of a fork is no rank.
  if (!std::exchange(is_closed_, true) && forks == forks_) leave();
}

}  // namespace weft
