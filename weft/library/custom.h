// Operations that users add: looked up by name by the graph, the interpreters and compiled programs.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/core/location.h"
#include "weft/core/type.h"
#include "weft/library/routine.h"

namespace weft {

// What is known of an added operation; one of `evaluate` and `native` at least.
struct CustomOp {
  using Infer = std::function<std::vector<Type>(std::span<const Type> operands, const std::string& config)>;
  using Evaluate = std::function<void(std::span<const Type> operands, std::span<const Type> results,
                                      const std::string& config, void* const* buffers)>;

  std::string name;
  // The types of the results; Error where operands do not fit. `config`: the attributes as MLIR writes them.
  Infer infer;
  // Fills the results from the operands; dense row-major buffers, operands first. Used by the interpreters, and by
  // compiled programs where there is no native function.
  Evaluate evaluate;
  // The same as a C function. Numbers: of operands, of results; for each buffer its dtype, rank and extents; then the
  // integer and boolean attributes in the order of their names.
  void (*native)(const int64_t* numbers, void* const* buffers) = nullptr;
};

// Adds it for as long as the process runs: compiled programs may call it at any time. Error where the name is taken.
// Thread-safe, like what follows.
void add_custom_op(CustomOp op);
// Null where there is none of that name.
const CustomOp* find_custom_op(std::string_view name);

// A call as programs keep it: texts {name, config, place}.
std::vector<std::string> custom_texts(std::string name, std::string config, const Location& loc);
// Where a call was written as programs keep it, and the reverse.
std::string place_text(const Location& loc);
Location read_place(std::string_view text);
// Runs it; `texts` as above. Error, at the place, where it fails.
void run_custom_op(const char* const* texts, const int64_t* numbers, void* const* buffers, bool prefer_native);
// The same called by machine code, which an error cannot be thrown through: it ends the innermost catch_custom_errors
// of this thread. `bodies` are the texts.
void custom_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies);
// The two steps of that, for other functions that machine code calls: in a handler of an exception, and past it.
void note_error();
[[noreturn]] void leave_machine_code();
// Runs `call(data)`, which holds nothing that would have to be released, and throws what ended it.
void catch_custom_errors(void (*call)(void*), void* data);

}  // namespace weft
