// What an executable is made of.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "weft/runtime/block.h"
#include "weft/runtime/device_state.h"
#include "weft/runtime/executable.h"
#include "weft/runtime/listen.h"
#include "weft/runtime/object.h"
#include "weft/runtime/process_mutex.h"
#include "weft/runtime/services.h"

namespace weft {

// Arenas that are kept between runs, so that their pages stay mapped. Nobody waits for another: a process may fork
// while one of its threads is in here.
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

// Large weights are packed by the runs after the first, a quarter of them by each: the first result need not wait for
// it. Until then products read them as they lie.
struct Packing {
  std::vector<int64_t> bytes;             // that each launch of setup writes
  int64_t part = 0;                       // bytes that a run packs
  mutable std::atomic<int64_t> done = 0;  // launches
  mutable std::atomic<bool> has_run = false;
  mutable ProcessMutex mutex;  // of who packs; runs do not wait for it

  bool is_done() const { return done.load(std::memory_order_acquire) == static_cast<int64_t>(bytes.size()); }
};

// Machine code with its entries.
struct LoadedCode {
  CodeObject object;
  Entry run = nullptr, setup = nullptr;

  // Error(io) on bytes that are no such objects.
  LoadedCode(std::span<const std::string> objects, const Manifest& manifest);
};

// A program is machine code in this process, or one on a device.
struct Executable::State {
  Manifest manifest;
  Device device;
  Allocator& allocator;
  Services services = plain_services;
  std::unique_ptr<const LoadedCode> first_code;
  mutable std::unique_ptr<const LoadedCode> better_code;  // of the same program, once it is there
  mutable std::atomic<const LoadedCode*> code = nullptr;  // the better one of these
  mutable std::function<void(bool waits)> improvement;    // begins what gives better code, and waits for it
  std::unique_ptr<DeviceProgram> elsewhere;
  Block persistent;
  mutable ArenaCache arenas;
  LaunchLabels labels;
  std::vector<size_t> lined_up;  // results that have to begin at a cache line
  Packing packing;
  Trials trials;

  State(Manifest m, const Device& where);
  // Packs what runs need from the first on.
  void begin_packing();
  // What a run is called with; some pack a part of the weights that are left before they begin.
  Services services_for_run() const;
  // By whoever holds the mutex: what comes next, until it is so many bytes.
  void pack_some(int64_t bytes) const;

 private:
  // Does these launches of setup.
  void set_up(int64_t first, int64_t end) const;
};

}  // namespace weft
