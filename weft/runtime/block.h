// Memory of a device that is given back when it is done with.
#pragma once

#include <memory>

#include "weft/runtime/allocator.h"

namespace weft {

struct GiveBack {
  Allocator* allocator = nullptr;
  int64_t bytes = 0;
  void operator()(void* memory) const { allocator->give(memory, bytes); }
};
using Block = std::unique_ptr<void, GiveBack>;

// Null for no bytes.
inline Block take_block(Allocator& allocator, int64_t bytes) {
  if (bytes <= 0) return nullptr;
  return Block(allocator.take(bytes), {&allocator, bytes});
}

}  // namespace weft
