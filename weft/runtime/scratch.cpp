#include "weft/runtime/scratch.h"

#include <sys/mman.h>

#include <cstring>

#include "weft/core/error.h"
#include "weft/core/pages.h"
#include "weft/library/custom.h"

namespace weft {
namespace {

// Every product asks for it: found without a call.
struct Scratch {
  void* memory;
  int64_t bytes;
  bool is_kept;
};
constinit thread_local Scratch scratch __attribute__((tls_model("initial-exec"))) = {};

void let_go() {
  if (scratch.memory) munmap(scratch.memory, static_cast<size_t>(scratch.bytes));
  scratch = {};
}

struct AtEnd {
  ~AtEnd() { let_go(); }
};

bool grow(int64_t bytes) {
  thread_local AtEnd at_end;
  let_go();
  constexpr auto page = static_cast<int64_t>(small_page);
  if (bytes > INT64_MAX - page) return false;
  int64_t size = (bytes + page - 1) / page * page;
  void* memory = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  scratch = {memory, size, false};
  return true;
}

void note_none(int64_t bytes) {
  try {
    fail(ErrorKind::runtime, "out_of_memory", "no memory for ", bytes, " bytes that a thread keeps");
  } catch (...) {
    note_error();
  }
}

}  // namespace

void forget_scratch() { scratch.is_kept = false; }

void* kept_scratch(int64_t bytes) {
  bool is_kept = scratch.is_kept && bytes <= scratch.bytes;
  void* memory = thread_scratch(bytes);
  if (!is_kept) std::memset(memory, 0, scratch_stamp);
  scratch.is_kept = true;
  return memory;
}

void* thread_scratch(int64_t bytes) {
  scratch.is_kept = false;
  if (bytes > scratch.bytes && !grow(bytes)) [[unlikely]] {
    note_none(bytes);
    leave_machine_code();
  }
  return scratch.memory;
}

}  // namespace weft
