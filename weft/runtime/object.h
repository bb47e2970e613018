// Machine code from ELF relocatable objects, loaded without a linker.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace weft {

// A function of machine code.
struct CodeFunction {
  std::string name;  // of its kernel, or that and ".part"
  const char* code = nullptr;
  uint64_t bytes = 0;
};

// Code and its constants in pages of this process: writable while they are filled, executable and read-only after,
// never both. The objects may call each other's global functions and a fixed table of functions (memcpy, libm, ours).
class CodeObject {
 public:
  // Error(io) on bytes that are no such objects, or that need what the loader does not know; nothing is trusted.
  explicit CodeObject(std::span<const std::string> objects);
  ~CodeObject();
  CodeObject(const CodeObject&) = delete;
  CodeObject& operator=(const CodeObject&) = delete;

  // The address of a global function; null when there is none of that name.
  void* find(std::string_view name) const;
  int64_t bytes() const;
  // All its functions, where the knob `perf` asks for them.
  std::span<const CodeFunction> functions() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace weft
