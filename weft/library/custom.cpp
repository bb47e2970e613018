// The table of added operations, and calls of them.
#include "weft/library/custom.h"

#include <setjmp.h>

#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "weft/core/error.h"
#include "weft/distributed/beside.h"

namespace weft {
namespace {

struct Table {
  std::shared_mutex mutex;
  std::map<std::string, std::unique_ptr<const CustomOp>, std::less<>> ops;
};

// Never destroyed: programs may run until the process ends, and the functions may belong to an interpreter that is
// gone.
Table& table() {
  static Table* const the_table = new Table;
  return *the_table;
}

struct Catch {
  jmp_buf jump;
  std::exception_ptr error;
  Catch* outer;
};
thread_local Catch* innermost = nullptr;

Type read_type(const int64_t*& at) {
  Type type{static_cast<DType>(at[0]), {}};
  int64_t rank = at[1];
  at += 2;
  for (int64_t i = 0; i < rank; ++i) type.dims.emplace_back(*at++);
  return type;
}

constexpr char separator = '\x1f';

}  // namespace

void add_custom_op(CustomOp op) {
  std::unique_lock lock(table().mutex);
  std::string name = op.name;
  auto [at, is_new] = table().ops.try_emplace(name, nullptr);
  if (!is_new) fail(ErrorKind::value, "custom_op_name", "an operation named '", name, "' exists already");
  at->second = std::make_unique<const CustomOp>(std::move(op));
}

const CustomOp* find_custom_op(std::string_view name) {
  std::shared_lock lock(table().mutex);
  auto found = table().ops.find(name);
  return found == table().ops.end() ? nullptr : found->second.get();
}

// "line file function", with separators.
std::string place_text(const Location& loc) {
  return loc ? cat(loc.line(), separator, loc.file(), separator, loc.function()) : std::string();
}

Location read_place(std::string_view text) {
  size_t first = text.find(separator), second = text.find(separator, first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return {};
  int line = std::atoi(std::string(text.substr(0, first)).c_str());
  return Location(std::string(text.substr(first + 1, second - first - 1)), line, std::string(text.substr(second + 1)),
                  {});
}

std::vector<std::string> custom_texts(std::string name, std::string config, const Location& loc) {
  return {std::move(name), std::move(config), place_text(loc)};
}

void run_custom_op(const char* const* texts, const int64_t* numbers, void* const* buffers, bool prefer_native) {
  try {
    const CustomOp* op = find_custom_op(texts[0]);
    if (!op)
      fail(ErrorKind::unsupported, "custom_call_target", "custom_call of '", texts[0], "': no implementation is known");
    if (op->native && (prefer_native || !op->evaluate)) return op->native(numbers, buffers);
    std::vector<Type> operands, results;
    const int64_t* at = numbers + 2;
    for (int64_t i = 0; i < numbers[0]; ++i) operands.push_back(read_type(at));
    for (int64_t i = 0; i < numbers[1]; ++i) results.push_back(read_type(at));
    op->evaluate(operands, results, texts[1], buffers);
  } catch (const Error& error) {
    raise(error.at(read_place(texts[2])));
  }
}

void leave_machine_code() { _longjmp(innermost->jump, 1); }

void note_error() {
  if (!innermost) std::terminate();
  innermost->error = std::current_exception();
}

void custom_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies) {
  try {
    return run_custom_op(reinterpret_cast<const char* const*>(bodies), numbers, buffers, true);
  } catch (...) {
    note_error();
  }
  // Past the handler: nothing of this frame is left to be released.
  leave_machine_code();
}

void catch_custom_errors(void (*call)(void*), void* data) {
  Catch here;
  here.outer = innermost;
  innermost = &here;
  if (_setjmp(here.jump) == 0) call(data);
  innermost = here.outer;
  if (!here.error) return;
  end_all_beside();  // the memory of the run is let go of next
  std::rethrow_exception(here.error);
}

}  // namespace weft
