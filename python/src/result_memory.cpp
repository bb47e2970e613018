#include "result_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "weft/runtime/block.h"

namespace weft::py {
namespace {

// What was handed out: NumPy's word for its size is not that of the device. Never destroyed: arrays may outlive the
// module.
std::unordered_map<void*, Block>& used() {
  static auto* blocks = new std::unordered_map<void*, Block>;
  return *blocks;
}

}  // namespace

void* take_memory(Allocator& allocator, size_t bytes) {
  Block block = take_block(allocator, static_cast<int64_t>(std::max<size_t>(bytes, 1)));
  void* memory = block.get();
  used().emplace(memory, std::move(block));
  return memory;
}

void give_memory(void* memory) {
  if (used().erase(memory) == 0) std::free(memory);
}

void* resize_memory(void* memory, size_t bytes) {
  auto found = used().find(memory);
  if (found == used().end()) return std::realloc(memory, bytes);
  GiveBack owner = found->second.get_deleter();
  void* fresh = take_memory(*owner.allocator, bytes);
  std::memcpy(fresh, memory, std::min(static_cast<size_t>(owner.bytes), bytes));
  give_memory(memory);
  return fresh;
}

}  // namespace weft::py
