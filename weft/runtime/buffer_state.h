// What a buffer is made of.
#pragma once

#include "weft/runtime/buffer.h"

namespace weft {

struct Buffer::State {
  DType dtype;
  bool writable;
  bool is_host;
  Ints dims;
  int64_t count, bytes;
  Device device;
  void* memory;    // as the device gave it
  int64_t offset;  // in bytes, of the first element
  std::shared_ptr<const void> owner;

  char* data() const { return static_cast<char*>(memory) + offset; }
  bool shares_memory(const State& other) const {
    return bytes > 0 && other.bytes > 0 && data() < other.data() + other.bytes && other.data() < data() + bytes;
  }
};

}  // namespace weft
