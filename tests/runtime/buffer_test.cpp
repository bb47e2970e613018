// Buffers, the memory of devices, and work that is done in order.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <numeric>
#include <thread>

#include "tests/label_of.h"
#include "weft/c.h"
#include "weft/core/error.h"
#include "weft/runtime/buffer.h"
#include "weft/runtime/device_state.h"
#include "weft/runtime/process_mutex.h"
#include "weft/runtime/services.h"

using namespace weft;

namespace {

thread_local int allocations_left = std::numeric_limits<int>::max();

// A device whose making takes a while.
class SlowMemory : public DeviceMemory {
 public:
  explicit SlowMemory(std::atomic<bool>& begun) : begun_(begun) {}
  bool is_host() const override {
    begun_ = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return true;
  }
  void* allocate(int64_t bytes) override { return std::malloc(static_cast<size_t>(bytes)); }
  void release(void* memory, int64_t) noexcept override { std::free(memory); }
  void write(void*, int64_t, const void*, int64_t) override {}
  void read(const void*, int64_t, void*, int64_t) override {}

 private:
  std::atomic<bool>& begun_;
};

// The status of a child that does this and ends.
int status_of_child(auto work) {
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    work();
    _exit(100);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

// Memory that runs out for a thread after some allocations.
[[gnu::noinline]] void* operator new(size_t bytes) {
  void* memory = allocations_left-- > 0 ? std::malloc(bytes ? bytes : 1) : nullptr;
  if (!memory) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return allocations_left-- > 0 ? std::malloc(bytes ? bytes : 1) : nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

TEST_CASE("parts and other shapes of a buffer are its memory") {
  Buffer buffer(DType::f32, {4, 3});
  std::iota(buffer.writable_elements<float>().begin(), buffer.writable_elements<float>().end(), 0.0f);
  Buffer part = buffer.slice(1, 3);
  CHECK(part.dims() == Ints{2, 3});
  CHECK(part.elements<float>()[0] == 3);
  part.writable_elements<float>()[5] = 100;
  CHECK(buffer.reshape({2, 6}).slice(1, 2).elements<float>()[2] == 100);
  CHECK(buffer.slice(4, 4).bytes() == 0);
  buffer = {};  // the part keeps the memory
  CHECK(part.elements<float>()[5] == 100);
  CHECK(Buffer(DType::f64, {}).count() == 1);
  CHECK(Buffer(DType::f64, {0, int64_t{1} << 62, 8}).bytes() == 0);
}

TEST_CASE("what does not fit into a buffer is refused before memory is taken") {
  Buffer buffer(DType::f32, {4});
  CHECK(label_of([&] { Buffer(DType::f32, {2, -1}); }) == "extent");
  CHECK(label_of([&] { Buffer(DType::f32, {int64_t{1} << 62, 4}); }) == "size_overflow");
  CHECK(label_of([&] { buffer.slice(1, 5); }) == "slice");
  CHECK(label_of([&] { buffer.slice(3, 1); }) == "slice");
  CHECK(label_of([&] { Buffer(DType::f32, {}).slice(0, 0); }) == "slice");
  CHECK(label_of([&] { buffer.reshape({3}); }) == "reshape");
  CHECK(label_of([&] { buffer.elements<double>(); }) == "element_type");
  CHECK(label_of([&] { buffer.copy_from(Buffer(DType::i32, {4})); }) == "copy");
  CHECK(label_of([&] { Buffer().dims(); }) == "no_buffer");
  CHECK(label_of([&] { Buffer::adopt(static_cast<void*>(nullptr), DType::f32, {1}); }) == "null_memory");
  CHECK_THROWS_AS(buffer.slice(1, 5), OutOfBoundsError);
}

TEST_CASE("C is told of null pointers") {
  CHECK(weft_buffer_dtype(nullptr) == nullptr);
  CHECK(weft_buffer_rank(nullptr) == 0);
  CHECK(weft_buffer_dims(nullptr) == nullptr);
  CHECK(weft_buffer_bytes(nullptr) == 0);
  CHECK(weft_buffer_data(nullptr) == nullptr);
  CHECK(weft_executable_name(nullptr) == nullptr);
  CHECK(weft_executable_input_count(nullptr) + weft_executable_output_count(nullptr) == 0);
  weft_buffer* buffer = nullptr;
  CHECK(weft_buffer_new(nullptr, 0, nullptr, nullptr, &buffer) == weft_value_error);
  CHECK(weft_buffer_new("f32", 1, nullptr, nullptr, &buffer) == weft_value_error);
  CHECK(weft_buffer_new("f32", 0, nullptr, nullptr, nullptr) == weft_value_error);
  CHECK(weft_buffer_slice(nullptr, 0, 0, &buffer) == weft_value_error);
  CHECK(weft_executable_load(nullptr, nullptr, nullptr) == weft_value_error);
  CHECK(weft_executable_run(nullptr, nullptr, 0, nullptr, 0) == weft_value_error);
  CHECK(weft_executable_run_async(nullptr, nullptr, 0, nullptr, 0, nullptr) == weft_value_error);
  CHECK(weft_event_wait(nullptr) == weft_value_error);
  CHECK(buffer == nullptr);
  weft_buffer_free(nullptr), weft_executable_free(nullptr), weft_event_free(nullptr);
}

TEST_CASE("adopted memory is let go of with the last handle") {
  float data[] = {1, 2, 3};
  bool gone = false;
  std::shared_ptr<const void> owner(data, [&](const void*) { gone = true; });
  Buffer buffer = Buffer::adopt(static_cast<const void*>(data), DType::f32, {3}, std::move(owner));
  CHECK(buffer.data() == data);
  CHECK(label_of([&] { buffer.writable_data(); }) == "read_only");
  Buffer part = buffer.slice(2, 3);
  buffer = {};
  CHECK(!gone);
  CHECK(part.elements<float>()[0] == 3);
  part = {};
  CHECK(gone);
}

TEST_CASE("memory of C is let go of once if it was adopted, and not if it was not") {
  float data[] = {1, 2, 3};
  int64_t dims[] = {3};
  int failed = 0;
  for (int allowed = 0;; ++allowed) {
    int released = 0;
    weft_buffer* buffer = nullptr;
    allocations_left = allowed;
    weft_status status = weft_buffer_adopt(
        data, "f32", 1, dims, "cpu:0", [](void* count) { ++*static_cast<int*>(count); }, &released, &buffer);
    allocations_left = std::numeric_limits<int>::max();
    REQUIRE(released == 0);
    weft_buffer_free(buffer);
    REQUIRE(released == (status == weft_ok));
    if (status == weft_ok) break;
    CHECK(status == weft_runtime_error);
    ++failed;
  }
  CHECK(failed >= 3);
}

TEST_CASE("a device counts its memory, keeps what is let go of, and holds to a limit") {
  Device device = Device::cpu(7);
  CHECK(device == Device::named("cpu:7"));
  CHECK(device.name() == "cpu:7");
  MemoryStats before = device.memory();
  const void* first = nullptr;
  {
    Buffer buffer(DType::u8, {100000}, device);
    first = buffer.data();
    CHECK(device.memory().in_use - before.in_use == 100032);
  }
  CHECK(device.memory().in_use == before.in_use);
  CHECK(device.memory().kept == before.kept + 100032);
  CHECK(Buffer(DType::u8, {100001}, device).data() == first);
  device.set_memory_limit(1 << 20);
  Buffer large(DType::u8, {1 << 19}, device);
  CHECK(label_of([&] { Buffer(DType::u8, {(1 << 19) + 1}, device); }) == "out_of_memory");
  CHECK_THROWS_AS(Buffer(DType::u8, {1 << 20}, device), ExecutionError);
  Buffer rest(DType::u8, {1 << 19}, device);  // what was kept made room
  CHECK(device.memory().kept == 0);
  CHECK(device.memory().peak == 1 << 20);
  CHECK(label_of([&] { device.set_memory_limit(-1); }) == "memory_limit");
  device.set_memory_limit(0);
  {
    Buffer kept(DType::u8, {1 << 16}, device);
  }
  device.set_memory_limit(device.memory().in_use + 1000);  // what is kept counts too once it is asked for
  CHECK(label_of([&] { Buffer(DType::u8, {1 << 16}, device); }) == "out_of_memory");
  device.set_memory_limit(0);
  CHECK(label_of([] { Device::cpu(-1); }) == "device");
  CHECK(label_of([] { Device::named("gpu:0"); }) == "device");
  CHECK(label_of([] { Device::named("cpu:1x"); }) == "device");
}

TEST_CASE("memory of independent turns is that of the device they run on") {
  Device device = Device::cpu(13);
  int64_t elsewhere = Device::cpu().memory().in_use;
  Services services = plain_services;
  auto turns = [](const int64_t*, void* const*, const Services* s) {
    s->parallel_turns(
        s->pool, 4, 1000, [](void**, int64_t, int64_t, void* memory) { *static_cast<int*>(memory) = 1; }, nullptr);
  };
  std::jthread([&] {
    services.pool = &device.state().allocator;
    run_entry(turns, nullptr, nullptr, services);
    CHECK(device.memory().in_use >= 1000);
    CHECK(Device::cpu().memory().in_use == elsewhere);
    services.pool = &Device::cpu(14).state().allocator;
    run_entry(turns, nullptr, nullptr, services);
    CHECK(device.memory().in_use == 0);
    CHECK(Device::cpu(14).memory().in_use >= 1000);
  }).join();
  CHECK(Device::cpu(14).memory().in_use == 0);
}

TEST_CASE("threads share a device") {
  Device device = Device::cpu(8);
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        Buffer buffer(DType::u8, {64 * (1 + (i * 7 + t) % 50)}, device);
        auto bytes = buffer.writable_elements<unsigned char>();
        std::ranges::fill(bytes, static_cast<unsigned char>(t));
        for (unsigned char each : bytes) wrong += each != t;
      }
    });
  threads.clear();
  CHECK(wrong == 0);
  CHECK(device.memory().in_use == 0);
  device.release_unused();
  CHECK(device.memory().kept == 0);
}

TEST_CASE("work is done in order, after what it waits for, and its error is for who asks") {
  DeviceState& first = Device::cpu(9).state();
  DeviceState& second = Device::cpu(10).state();
  std::vector<int> order;
  std::atomic<bool> open{false};
  Event slow = first.queue->push(
      [&] {
        while (!open) std::this_thread::yield();
        order.push_back(1);
      },
      {});
  Event next = first.queue->push([&] { order.push_back(2); }, {});
  Event other = second.queue->push([&] { order.push_back(3); }, {next});
  CHECK(!slow.is_done());
  CHECK(!slow.wait_for(-1));
  CHECK(!other.is_done());
  std::jthread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    open = true;
  });
  CHECK(slow.wait_for(std::numeric_limits<double>::infinity()));
  other.wait();
  CHECK(order == std::vector{1, 2, 3});
  Event bad = first.queue->push([] { fail(ErrorKind::value, "sample", "went wrong"); }, {});
  Event dependent = second.queue->push([&] { order.push_back(4); }, {bad});
  for (int i = 0; i < 2; ++i) CHECK(label_of([&] { bad.wait(); }) == "sample");
  CHECK(label_of([&] { dependent.wait(); }) == "sample");
  CHECK(order.size() == 3);
  Device::cpu(9).synchronize();
  Event().wait();
}

TEST_CASE("the child of a fork has devices of its own") {
  std::atomic<bool> open{false};
  Event pending = Device::cpu(11).state().queue->push(
      [&] {
        while (!open) std::this_thread::yield();
      },
      {});
  pid_t child = fork();
  if (child == 0) {
    bool refused = label_of([&] { pending.wait(); }) == "forked";
    bool ran = false;
    Device::cpu(11).state().queue->push([&] { ran = true; }, {}).wait();
    Buffer buffer(DType::f32, {10}, Device::cpu(11));
    _exit(refused && ran ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  open = true;
  pending.wait();
  CHECK(status == 0);
}

TEST_CASE("the child of a fork takes over what a thread of its parent was doing") {
  ProcessMutex mutex;
  std::unique_lock lock(mutex);
  CHECK(!mutex.try_lock());
  int status = status_of_child([&] {
    mutex.lock();
    bool is_held = !mutex.try_lock();
    mutex.unlock();
    if (is_held && mutex.try_lock()) _exit(7);
  });
  CHECK(status == 7);
  lock.unlock();

  int64_t sum = 0;
  auto add = [&] {
    for (int i = 0; i < 1000; ++i) {
      std::lock_guard own(mutex);
      ++sum;
    }
  };
  std::thread other(add);
  add();
  other.join();
  CHECK(sum == 2000);
}

TEST_CASE("a fork waits for a device that another thread is making") {
  std::atomic<bool> begun{false};
  std::jthread maker([&] { add_device("slow", 0, std::make_unique<SlowMemory>(begun)); });
  while (!begun) std::this_thread::yield();
  CHECK(status_of_child([] { _exit(Device::named("slow:0").is_host() ? 5 : 6); }) == 5);
}

#ifdef __SANITIZE_THREAD__
constexpr bool is_watched = true;  // by what knows of no threads that a child begins
#else
constexpr bool is_watched = false;
#endif

TEST_CASE("work may end the process" * doctest::skip(is_watched)) {
  CHECK(status_of_child([] { Device::cpu(16).state().queue->push([] { std::exit(7); }, {}).wait(); }) == 7);
}
