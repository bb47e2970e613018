// Memory of a device: counted, limited, and kept for a while when it is let go of.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "weft/runtime/device.h"

namespace weft {

// Thread-safe.
class Allocator {
 public:
  // `most_kept`: bytes, of blocks that are not small, that wait for their next user.
  Allocator(std::unique_ptr<DeviceMemory> memory, int64_t most_kept)
      : memory_(std::move(memory)), most_kept_(most_kept) {}

  // At least so many bytes, from the beginning of a cache line. Error(runtime, "out_of_memory") with what was wanted
  // and what is there.
  void* take(int64_t bytes);
  void give(void* memory, int64_t bytes) noexcept;

  MemoryStats stats() const;
  void set_limit(int64_t bytes);
  void release_unused() noexcept;
  // Held while a process forks: its child is not to find this half changed.
  std::mutex& mutex() { return mutex_; }
  DeviceMemory& memory() const { return *memory_; }

 private:
  struct Block {
    void* memory;
    int64_t bytes;
  };
  using Kept = std::list<Block>;  // the longest unused first

  void* take_kept(int64_t bytes);
  void shrink(int64_t most) noexcept;

  mutable std::mutex mutex_;
  std::unique_ptr<DeviceMemory> memory_;
  int64_t most_kept_;
  MemoryStats stats_;
  Kept kept_;
  std::multimap<int64_t, Kept::iterator> by_size_;  // equal ones in the same order
};

}  // namespace weft
