// The devices of this process.
#include "weft/runtime/device.h"

#include <pthread.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "weft/core/error.h"
#include "weft/core/pages.h"
#include "weft/runtime/device_state.h"
#include "weft/runtime/neuron.h"
#include "weft/runtime/thread_pool.h"

namespace weft {
namespace {

constexpr int most_devices = 1024;
// Bytes on each device that wait for their next user.
constexpr int64_t most_kept = int64_t{256} << 20;

class HostMemory : public DeviceMemory {
 public:
  bool is_host() const override { return true; }
  void* allocate(int64_t bytes) override { return allocate_pages(static_cast<size_t>(bytes)); }
  void release(void* memory, int64_t) noexcept override { std::free(memory); }
  void write(void* memory, int64_t offset, const void* from, int64_t bytes) override {
    std::memmove(static_cast<char*>(memory) + offset, from, static_cast<size_t>(bytes));
  }
  void read(const void* memory, int64_t offset, void* to, int64_t bytes) override {
    std::memmove(to, static_cast<const char*>(memory) + offset, static_cast<size_t>(bytes));
  }
};

struct All {
  std::mutex mutex;
  std::vector<std::unique_ptr<DeviceState>> list;
  DeviceState* first = add("cpu", 0, std::make_unique<HostMemory>());

  DeviceState* find(std::string_view kind, int index) {
    for (const auto& state : list)
      if (state->kind == kind && state->index == index) return state.get();
    return nullptr;
  }
  DeviceState* add(std::string_view kind, int index, std::unique_ptr<DeviceMemory> memory) {
    list.push_back(std::make_unique<DeviceState>(kind, index, std::move(memory)));
    return list.back().get();
  }
};

void watch_forks();

// Devices stay: buffers may outlive everything else.
All& all() {
  static All* devices = [] {
    auto* made = new All;
    watch_forks();
    return made;
  }();
  return *devices;
}
// Before there are threads: who forks while one is in there would have a child that waits for ever.
[[maybe_unused]] const All& made_early = all();

void unlock() {
  for (const auto& state : all().list) state->allocator.mutex().unlock();
  all().mutex.unlock();
}

// A fork finds all devices and their memory as nobody is changing them.
void watch_forks() {
  auto lock = [] {
    all().mutex.lock();
    for (const auto& state : all().list) state->allocator.mutex().lock();
  };
  auto in_child = [] {
    for (const auto& state : all().list) {
      state->queue.release();  // its thread is no more, and may hold its mutex
      state->queue = std::make_unique<Queue>();
    }
    unlock();
  };
  pthread_atfork(lock, unlock, in_child);
}

}  // namespace

DeviceState::DeviceState(std::string_view kind, int index, std::unique_ptr<DeviceMemory> memory)
    : kind(kind),
      name(cat(kind, ":", index)),
      index(index),
      is_host(memory->is_host()),
      allocator(std::move(memory), most_kept) {}

Device Device::cpu(int index) {
  if (index < 0 || index >= most_devices)
    fail(ErrorKind::value, "device", "the number of a CPU device must be from 0 to ", most_devices - 1, ", got ",
         index);
  if (index == 0) return Device(all().first);
  std::lock_guard lock(all().mutex);
  DeviceState* found = all().find("cpu", index);
  return Device(found ? found : all().add("cpu", index, std::make_unique<HostMemory>()));
}

Device Device::named(std::string_view name) {
  size_t colon = name.find(':');
  std::string_view kind = name.substr(0, colon);
  int index = 0;
  bool fits = true;
  if (colon != std::string_view::npos) {
    const char* end = name.data() + name.size();
    auto [at, error] = std::from_chars(name.data() + colon + 1, end, index);
    fits = error == std::errc() && at == end;
  }
  if (fits && kind == "cpu") return cpu(index);
  DeviceState* found = nullptr;
  auto find = [&] {
    std::lock_guard lock(all().mutex);
    found = fits ? all().find(kind, index) : nullptr;
  };
  find();
  if (!found && kind == "neuron") {
    neuron_devices();
    find();
  }
  if (found) return Device(found);
  std::vector<std::string> names;
  for (const Device& device : devices()) names.push_back(device.name());
  fail(ErrorKind::value, "device", "no device '", name, "', there are ", names);
}

const std::string& Device::name() const { return state_->name; }
std::string_view Device::kind() const { return state_->kind; }
bool Device::is_host() const { return state_->is_host; }
int Device::index() const { return state_->index; }
MemoryStats Device::memory() const { return state_->allocator.stats(); }
void Device::set_memory_limit(int64_t bytes) const { state_->allocator.set_limit(bytes); }
void Device::release_unused() const { state_->allocator.release_unused(); }
Event Device::pending() const { return state_->queue->last(); }
void Device::synchronize() const {
  Event all = pending();
  try {
    all.wait();
  } catch (...) {
    // It is the error of who waits for that run.
  }
}

std::vector<Device> devices() {
  std::vector<Device> result;
  std::lock_guard lock(all().mutex);
  for (bool cpu : {true, false})
    for (const auto& state : all().list)
      if ((state->kind == "cpu") == cpu) result.push_back(Device(state.get()));
  return result;
}

void stop_queues() {
  static std::mutex one_at_a_time;
  std::lock_guard lock(one_at_a_time);
  for (const Device& device : devices()) device.state().queue->stop();
}

void stop_queues_at_exit() {
  static std::atomic<bool> is_known{false};
  if (is_known.exchange(true)) return;
  num_threads();  // the pool, which a run needs to its end, is there before and therefore longer
  std::atexit(stop_queues);
}

Device add_device(std::string_view kind, int index, std::unique_ptr<DeviceMemory> memory) {
  if (kind.empty() || kind.find(':') != kind.npos || index < 0 || !memory)
    fail(ErrorKind::value, "device", "a device must have a kind without ':', a number from 0 on and memory, got '",
         kind, "', ", index, memory ? "" : " and none");
  std::lock_guard lock(all().mutex);
  if (all().find(kind, index)) fail(ErrorKind::value, "device", "there is a device '", kind, ":", index, "' already");
  return Device(all().add(kind, index, std::move(memory)));
}

}  // namespace weft
