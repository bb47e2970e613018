// Ranks that compute together: what they exchange, and the one interface of all ways to do so.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "weft/core/api.h"
#include "weft/core/location.h"
#include "weft/core/type.h"
#include "weft/distributed/reduction.h"

namespace weft WEFT_API {

enum class Collective : uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  permute,
  broadcast,
  barrier,
  send,
  receive
};
std::string_view name(Collective kind);
// From one rank to one other; and where elements of several become one.
inline bool is_message(Collective kind) { return kind == Collective::send || kind == Collective::receive; }
inline bool is_reduction(Collective kind) {
  return kind == Collective::all_reduce || kind == Collective::reduce_scatter;
}

// Dense memory of one rank. Only `bytes()` of it count for what is exchanged; the extents are compared and shown.
struct Payload {
  const void* data = nullptr;
  DType dtype = DType::f32;
  Ints dims = {};
  int64_t count() const;
  int64_t bytes() const { return count() * size_of(dtype); }
};

// What every rank of a group must agree about, and this rank's memory.
struct CollectiveCall {
  Collective kind = Collective::barrier;
  ReduceOp op = ReduceOp::sum;  // of all_reduce and reduce_scatter
  Payload operand = {};         // of send and receive: what the message is
  void* result = nullptr;       // overlaps no operand, but may be the same memory in all_reduce and broadcast
  std::vector<std::vector<int>> groups =
      {};  // ranks; empty: one of all. The order in a group is that of parts and sums
  std::vector<std::pair<int, int>> pairs = {};  // of permute: source and target
  int root = 0;                                 // of broadcast: a rank; of send and receive: the other one
  int axis = 0;                                 // which the caller has moved to the front; compared and shown
  Location loc = {};

  // Filled by Communicator::run: this rank's group, and its place there.
  std::vector<int> members = {};
  int index = 0;
};

// One rank's end. Calls are made by one thread at a time, in the same order by all ranks of a group; ranks of other
// groups need not take part. A group's ranks have all begun a call before any ends it (but for send, which may end
// before it is received).
// - all_reduce: operand -> same shape; sums and products from the first rank of the group to the last, whoever comes
//   first
// - all_gather: operand -> the operands of all ranks, one after the other
// - reduce_scatter: as many equal parts as ranks -> this rank's part of the all_reduce
// - all_to_all: as many equal parts as ranks -> this rank's part of each rank's operand, one after the other
// - permute: the operand of the rank that sends to this one; zeros where none does
// - broadcast: the root's operand
// Results are bitwise the same for every communicator. Error(runtime) where ranks fail: labels "rank_ended",
// "rank_timeout", "rank_interrupted" and "collective_mismatch" name the rank and the lines, on every rank; the
// communicator is then of no more use.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  // Whether the ranks are threads of this process that each have a CPU.
  virtual bool is_of_threads() const { return false; }
  // Whether a call leaves this thread's CPU to others: something else moves the bytes.
  virtual bool runs_beside() const { return false; }
  // The group of this rank, in its order. Error(value), label "groups" or "rank".
  std::vector<int> members_of(const CollectiveCall& call) const;
  // Error(value) or Error(type) where the call does not fit the communicator; nobody else hears of that.
  void run(CollectiveCall call);
  // Says that this rank makes no more calls; those that wait for it fail. Called by destructors.
  void close();

 protected:
  Communicator(int rank, int size);
  // A call of a group of two or more that fits, one at a time.
  virtual void exchange(const CollectiveCall& call) = 0;
  // This rank is gone for the others.
  virtual void leave() = 0;

 private:
  int rank_, size_;
  bool is_closed_ = false;
  int forks_;  // between the first process and this one
  std::mutex mutex_;
};

// For `size` threads of this process, one for each.
std::vector<std::unique_ptr<Communicator>> local_communicators(int size, double timeout);

// For processes of one host and user, which all say the same `key`, and each its rank. The memory they share has no
// name: it is gone with the last of them, however they end. Error(runtime), label "rendezvous", names the ranks that
// have not come in time.
std::unique_ptr<Communicator> shared_memory_communicator(const std::string& key, int rank, int size, double timeout);

inline constexpr int max_ranks = 256;

}  // namespace weft
