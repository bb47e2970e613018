// Where programs run, and the memory there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/core/api.h"
#include "weft/runtime/event.h"

namespace weft WEFT_API {

struct DeviceState;

// Bytes, but for `allocations`.
struct MemoryStats {
  int64_t in_use = 0, peak = 0;
  int64_t kept = 0;         // let go of, and kept for who asks next
  int64_t limit = 0;        // 0: none
  int64_t allocations = 0;  // asked for so far
};

// What a kind of device has to do for the runtime; thread-safe.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // Whether `allocate` gives addresses that the host may use.
  virtual bool is_host() const = 0;
  // Null where there is no memory.
  virtual void* allocate(int64_t bytes) = 0;
  virtual void release(void* memory, int64_t bytes) noexcept = 0;
  // To and from the host, past an offset. Error(runtime) where that fails.
  virtual void write(void* memory, int64_t offset, const void* from, int64_t bytes) = 0;
  virtual void read(const void* memory, int64_t offset, void* to, int64_t bytes) = 0;
};

// A handle; copies are the same device, which lives as long as the process. Thread-safe.
class Device {
 public:
  // The first CPU device.
  Device() : Device(cpu()) {}
  // CPU device `index`, from 0 to 1023: each has memory statistics and a queue of its own, all share the CPUs and the
  // threads. They come into being when they are first asked for.
  static Device cpu(int index = 0);
  // "cpu", "cpu:1", or what add_device() was told. Error(value, "device") for others.
  static Device named(std::string_view name);

  const std::string& name() const;  // "cpu:0"
  std::string_view kind() const;    // "cpu"
  int index() const;
  // Whether its memory is the host's.
  bool is_host() const;
  bool operator==(const Device&) const = default;

  MemoryStats memory() const;
  // How much may be in use at once; 0 for as much as there is. What does not fit is Error(runtime, "out_of_memory").
  void set_memory_limit(int64_t bytes) const;
  // Gives memory that is kept for later back to the system.
  void release_unused() const;
  // Waits for all runs that were begun with run_async. Their errors are kept for who waits for them.
  void synchronize() const;
  // Of the run that was begun last; done when all before are.
  Event pending() const;

  DeviceState& state() const { return *state_; }

 private:
  friend std::vector<Device> devices();
  friend Device add_device(std::string_view kind, int index, std::unique_ptr<DeviceMemory> memory);
  explicit Device(DeviceState* state) : state_(state) {}
  DeviceState* state_;
};

// All that there are, CPUs first.
std::vector<Device> devices();
// Waits for the runs that are being done and drops those that are not begun; none can begin afterwards. For a process
// that ends, before what runs need is gone; the last static destructors do it too.
void stop_queues();
// Adds "kind:index". Error(value, "device") where it is there already, and of no kind or memory.
Device add_device(std::string_view kind, int index, std::unique_ptr<DeviceMemory> memory);

}  // namespace weft
