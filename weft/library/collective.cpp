// From the numbers that a program has to a call of a communicator.
#include "weft/library/collective.h"

#include <algorithm>

#include "weft/core/error.h"
#include "weft/distributed/beside.h"
#include "weft/distributed/current.h"
#include "weft/library/custom.h"

namespace weft {
namespace {

// Reads what ProgramCollective::numbers wrote.
class CallNumbers {
 public:
  explicit CallNumbers(const int64_t* at) : at_(at) {}
  int64_t next() { return *at_++; }
  int next_int() { return static_cast<int>(*at_++); }
  Ints list() {
    int64_t count = next();
    Ints values(at_, at_ + count);
    at_ += count;
    return values;
  }

 private:
  const int64_t* at_;
};

void append_list(Dims& numbers, const Ints& values) {
  numbers.emplace_back(static_cast<int64_t>(values.size()));
  numbers.insert(numbers.end(), values.begin(), values.end());
}

// The types of the program's values are for groups of one size.
void require_group_size(Communicator& communicator, const CollectiveCall& call, int64_t size) {
  if (size == 0) return;
  std::vector<int> members = communicator.members_of(call);
  if (static_cast<int64_t>(members.size()) != size)
    fail(ErrorKind::value, "groups", name(call.kind), ": the program is made for groups of ", size, " ranks, got ",
         members);
}

// What machine code calls: errors leave it.
template <class Call>
void called_by_machine_code(Call call) {
  try {
    return call();
  } catch (...) {
    note_error();
  }
  leave_machine_code();
}

}  // namespace

Dims ProgramCollective::numbers() const {
  Dims numbers{static_cast<int64_t>(kind),
               static_cast<int64_t>(op),
               static_cast<int64_t>(operand.dtype),
               axis,
               group_size,
               operand.rank()};
  numbers.insert(numbers.end(), operand.dims.begin(), operand.dims.end());
  numbers.emplace_back(static_cast<int64_t>(groups.size()));
  for (const Ints& group : groups) append_list(numbers, group);
  append_list(numbers, pairs);
  numbers.emplace_back(at_once);
  return numbers;
}

void run_collective(const char* const* texts, const int64_t* numbers, void* const* buffers, bool beside) {
  CallNumbers read(numbers);
  CollectiveCall call;
  call.kind = static_cast<Collective>(read.next());
  call.op = static_cast<ReduceOp>(read.next());
  call.operand.data = buffers[0];
  call.result = buffers[1];
  call.operand.dtype = static_cast<DType>(read.next());
  call.axis = read.next_int();
  int64_t group_size = read.next();
  call.operand.dims = read.list();
  for (int64_t left = read.next(); left > 0; --left) {
    Ints group = read.list();
    call.groups.emplace_back(group.begin(), group.end());
  }
  Ints pairs = read.list();
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    call.pairs.emplace_back(static_cast<int>(pairs[i]), static_cast<int>(pairs[i + 1]));
  auto phase = static_cast<ProgramCollective::Phase>(read.next());
  if (phase == ProgramCollective::ends) return await_beside(call.result);
  call.loc = read_place(texts[0]);
  Communicator& communicator = current_communicator();
  try {
    // The groups of a program say first whom they broadcast from.
    if (call.kind == Collective::broadcast) call.root = call.groups.empty() ? 0 : call.groups[0][0];
    for (const std::vector<int>& group : call.groups)
      if (call.kind == Collective::broadcast && std::ranges::find(group, communicator.rank()) != group.end())
        call.root = group[0];
    require_group_size(communicator, call, group_size);
  } catch (const Error& error) {
    raise(error.at(call.loc));
  }
  if (phase == ProgramCollective::begins && beside && communicator.runs_beside())
    return begin_beside(communicator, std::move(call));
  wait_beside();
  communicator.run(std::move(call));
}

void settle_collectives() noexcept { settle_beside(); }

void collective_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies) {
  called_by_machine_code([&] { run_collective(reinterpret_cast<const char* const*>(bodies), numbers, buffers, true); });
}

void run_rank(const char* const*, const int64_t*, void* const* buffers) {
  *static_cast<uint32_t*>(buffers[0]) = static_cast<uint32_t>(current_communicator().rank());
}

void rank_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies) {
  called_by_machine_code([&] { run_rank(reinterpret_cast<const char* const*>(bodies), numbers, buffers); });
}

}  // namespace weft
