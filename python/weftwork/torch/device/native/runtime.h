// What torch asks of a device besides operations: memory, the current device and stream, events, hooks, the profiler.
//
// The memory is the host's and every operation is done when it returns: there is one device with one stream, and
// nothing to wait for.
#pragma once

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/profiler/stubs/base.h>

#include <chrono>
#include <map>
#include <mutex>

#include "alias.h"

namespace weft_torch {

using Clock = std::chrono::steady_clock;

// torch's own allocator of host memory, aligned to 64 bytes: results of its kernels are adopted as they are.
struct DeviceAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    c10::DataPtr data = c10::GetCPUAllocator()->allocate(bytes);
    data.unsafe_set_device(the_device);
    return data;
  }
  c10::DeleterFnPtr raw_deleter() const override { return c10::GetCPUAllocator()->raw_deleter(); }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }
};

// Memory that `Tensor.pin_memory` gives. It is like any other; `is_pinned` has to know it.
struct PinnedAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    c10::DataPtr data = c10::GetCPUAllocator()->allocate(bytes);
    auto* block = new Block{std::move(data), this};
    void* begin = block->data.get();
    if (bytes != 0) {
      std::lock_guard lock(mutex);
      ends[begin] = static_cast<char*>(begin) + bytes;
    }
    return {begin, block, &Block::release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }

  bool has(const void* pointer) const {
    std::lock_guard lock(mutex);
    auto after = ends.upper_bound(pointer);
    return after != ends.begin() && pointer < std::prev(after)->second;
  }

 private:
  struct Block {
    c10::DataPtr data;
    PinnedAllocator* owner;
    static void release(void* held) {
      auto* block = static_cast<Block*>(held);
      {
        std::lock_guard lock(block->owner->mutex);
        block->owner->ends.erase(block->data.get());
      }
      delete block;
    }
  };
  mutable std::mutex mutex;
  std::map<const void*, const void*, std::less<>> ends;  // begin of each block → its end
};

inline DeviceAllocator device_allocator;
inline auto& pinned_allocator = *new PinnedAllocator;  // tensors may outlive static objects

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return device_type; }
  c10::Device exchangeDevice(c10::Device device) const override {
    setDevice(device);
    return the_device;
  }
  c10::Device getDevice() const override { return the_device; }
  void setDevice(c10::Device device) const override { check_index(device); }
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::Stream getStream(c10::Device) const override { return c10::Stream(c10::Stream::DEFAULT, the_device); }
  c10::Stream getDefaultStream(c10::Device device) const override { return getStream(device); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override { return getStream(device); }
  c10::Stream getNewStream(c10::Device device, int) const override { return getStream(device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeDevice(const c10::DeviceIndex) const override {}
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}

  void record(void** event, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {
    if (*event == nullptr) *event = new Clock::time_point;
    *static_cast<Clock::time_point*>(*event) = Clock::now();
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<Clock::time_point*>(event);
  }
  double elapsedTime(void* from, void* to, const c10::DeviceIndex) const override {
    TORCH_CHECK(from != nullptr && to != nullptr, "both events must be recorded before the time between them is taken");
    return std::chrono::duration<double, std::milli>(*static_cast<Clock::time_point*>(to) -
                                                     *static_cast<Clock::time_point*>(from))
        .count();
  }
};

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  bool isPinnedPtr(const void* data) const override { return pinned_allocator.has(data); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator; }
  c10::Device getDeviceFromPtr(void*) const override { return the_device; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    static auto& generator =
        *new at::Generator(at::make_generator<DeviceGenerator>(at::detail::getDefaultCPUGenerator()));
    return generator;
  }
  at::Generator getNewGenerator(c10::DeviceIndex) const override {
    return at::make_generator<DeviceGenerator>(at::detail::createCPUGenerator());
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    TORCH_CHECK(storage.resizable(), "this storage cannot be resized");
    c10::DataPtr data = device_allocator.allocate(bytes);
    const size_t kept = std::min(bytes, storage.nbytes());
    if (kept != 0) device_allocator.copy_data(data.get(), storage.data(), kept);
    storage.set_data_ptr_noswap(std::move(data));
    storage.set_nbytes(bytes);
  }
};

struct ProfilerMethods final : torch::profiler::impl::ProfilerStubs {
  using Event = torch::profiler::impl::ProfilerVoidEventStub;
  void record(c10::DeviceIndex* device, Event* event, int64_t* cpu_ns) const override {
    if (device != nullptr) *device = 0;
    auto now = std::make_shared<Clock::time_point>(Clock::now());
    if (cpu_ns != nullptr) *cpu_ns = now->time_since_epoch() / std::chrono::nanoseconds(1);
    *event = std::move(now);
  }
  float elapsed(const Event* from, const Event* to) const override {
    const auto at = [](const Event* event) { return *static_cast<const Clock::time_point*>(event->get()); };
    return std::chrono::duration<float, std::micro>(at(to) - at(from)).count();
  }
  void mark(const char*) const override {}
  void rangePush(const char*) const override {}
  void rangePop() const override {}
  bool enabled() const override { return true; }
  void onEachDevice(std::function<void(int)> action) const override { action(0); }
  void synchronize() const override {}
};

}  // namespace weft_torch
