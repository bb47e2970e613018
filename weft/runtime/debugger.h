// Code made at run time, as debuggers are told of it.
#pragma once

#include <cstdint>
#include <string>

// What gdb reads, and where it stops to do so.
extern "C" {

struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};

struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};

extern jit_descriptor __jit_debug_descriptor;
void __jit_debug_register_code();

}  // extern "C"

namespace weft {

// An ELF object in memory, with the addresses of its sections, which gdb reads while it lives.
class DebugImage {
 public:
  explicit DebugImage(std::string elf);
  DebugImage(const DebugImage&) = delete;
  DebugImage& operator=(const DebugImage&) = delete;
  ~DebugImage();

 private:
  struct Entry;
  std::string elf_;
  Entry* entry_;
};

}  // namespace weft
