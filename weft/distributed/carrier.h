// Ranks whose bytes something else moves, between hosts too: MPI, or what torch has.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "weft/distributed/communicator.h"

namespace weft {

// Bytes for another rank, or a place for those of one.
struct Parcel {
  int rank;
  std::byte* data;
  int64_t bytes;
};

class Carrier {
 public:
  virtual ~Carrier() = default;
  // Whom it waited for in vain, and how that ended.
  struct Outcome {
    enum class Kind : uint8_t { done, late, ended } kind = Kind::done;
    int rank = -1;
  };
  // Sends and receives all at once, and waits until that is done. What goes from one rank to another arrives in order,
  // for messages and for the rest apart. No parcel is empty.
  virtual Outcome exchange(bool is_message, std::span<const Parcel> sent, std::span<const Parcel> received) = 0;
  virtual void close() = 0;
  // Whether it waits without a CPU, on any thread.
  virtual bool runs_beside() const { return false; }
};

// Collectives as exchanges of bytes: the same checks, and the same sums in the same order, as those of other
// communicators. `timeout`: the seconds that the carrier waits, which errors tell.
std::unique_ptr<Communicator> carried_communicator(std::unique_ptr<Carrier> carrier, int rank, int size,
                                                   double timeout);

}  // namespace weft
