// What an executable is made of.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "weft/runtime/block.h"
#include "weft/runtime/device_state.h"
#include "weft/runtime/executable.h"
#include "weft/runtime/listen.h"
#include "weft/runtime/object.h"
#include "weft/runtime/services.h"

namespace weft {

// Arenas that are kept between runs, so that their pages stay mapped. Nobody waits for another: a process may fork while one of
// its threads is in here.
class ArenaCache {
 public:
  Block take(Allocator& allocator, int64_t bytes) {
    {
      std::unique_lock lock(mutex_, std::try_to_lock);
      if (lock && !free_.empty()) {
        Block arena = std::move(free_.back());
        free_.pop_back();
        if (arena.get_deleter().bytes >= bytes) return arena;
      }
    }
    return take_block(allocator, bytes);
  }

  void give(Block arena) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock && free_.size() < 4) free_.push_back(std::move(arena));
  }

 private:
  std::mutex mutex_;
  std::vector<Block> free_;
};

// The value of an extent with the symbols bound.
int64_t evaluate(const Dim& dim, const Manifest& m, std::span<const int64_t> symbols);

// Memory of a device as it gave it, and the part of that.
struct DeviceRange {
  void* memory;
  int64_t offset, bytes;
};

// A program on a device whose memory is none of the host's; thread-safe.
class DeviceProgram {
 public:
  virtual ~DeviceProgram() = default;
  // Of the types of the manifest; outputs share no memory. Blocks until done.
  virtual void run(std::span<const DeviceRange> inputs, std::span<const DeviceRange> outputs) const = 0;
};

// A program is machine code in this process, or one on a device.
struct Executable::State {
  Manifest manifest;
  Device device;
  Allocator& allocator;
  Services services = plain_services;
  std::optional<CodeObject> code;
  std::unique_ptr<DeviceProgram> elsewhere;
  Entry run = nullptr;
  Block persistent;
  mutable ArenaCache arenas;
  LaunchLabels labels;
  std::vector<size_t> lined_up;  // results that have to begin at a cache line

  State(Manifest m, const Device& where);
};

}  // namespace weft
