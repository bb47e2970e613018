// Collectives as programs call them: the numbers and the text of a call, and what runs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "weft/core/type.h"
#include "weft/distributed/communicator.h"
#include "weft/library/routine.h"

namespace weft {

// A collective of a program, along the first dimension. Extents may be symbolic, so it is told as numbers.
struct ProgramCollective {
  Collective kind = Collective::all_reduce;
  ReduceOp op = ReduceOp::sum;
  Type operand;  // as the program has it, before `axis` was moved to the front
  int64_t axis = 0;
  int64_t group_size = 0;         // that the types of the program were made for; 0: any
  std::vector<Ints> groups = {};  // empty: all ranks
  Ints pairs = {};                // source and target, one after the other

  // Whether a launch makes the whole call, begins it, or waits for the end of one that was begun: the last number.
  enum Phase : int8_t { at_once, begins, ends };
  // Of a launch that makes all of it.
  Dims numbers() const;
};

// Runs it with the communicator of this thread. `texts`: the place of the call, as place_text has it. Error where it
// fails.
// `beside`: a launch that begins one may return before it is done.
void run_collective(const char* const* texts, const int64_t* numbers, void* const* buffers, bool beside = false);
// Waits for those that this thread has begun, before memory of a program that ended early may go.
void settle_collectives() noexcept;
// The same called by machine code (see custom.h); `bodies` are the texts.
void collective_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies);
// Writes the number of this rank, an unsigned integer of 32 bits.
void run_rank(const char* const* texts, const int64_t* numbers, void* const* buffers);
void rank_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies);

}  // namespace weft
