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

  Dims numbers() const;
};

// Runs it with the communicator of this thread. `texts`: the place of the call, as place_text has it. Error where it
// fails.
void run_collective(const char* const* texts, const int64_t* numbers, void* const* buffers);
// The same called by machine code (see custom.h); `bodies` are the texts.
void collective_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies);
// In two steps, between which the program goes on (see beside.h). Ends come in the order of beginnings.
void collective_begin_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies);
void collective_end_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies);
// Writes the number of this rank, an unsigned integer of 32 bits.
void run_rank(const char* const* texts, const int64_t* numbers, void* const* buffers);
void rank_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies);

}  // namespace weft
