// What a buffer is made of.
#pragma once

#include "weft/runtime/buffer.h"

namespace weft {

struct Buffer::State {
  DType dtype;
  bool writable;
  Ints dims;
  int64_t count, bytes;
  Device device;
  void* memory;    // as the device gave it
  int64_t offset;  // in bytes, of the first element
  std::shared_ptr<const void> owner;

  bool is_host() const { return device.is_host(); }
  char* data() const { return static_cast<char*>(memory) + offset; }
  bool shares_memory(const State& other) const {
    // Elsewhere, memory is no address.
    if (!is_host() && memory != other.memory) return false;
    return bytes > 0 && other.bytes > 0 && data() < other.data() + other.bytes && other.data() < data() + bytes;
  }
};

}  // namespace weft
