// Who hears of launches: profiles begin and end while programs run on several threads; a run that fails leaves nothing
// behind.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/label_of.h"
#include "weft/core/error.h"
#include "weft/library/custom.h"
#include "weft/runtime/buffer.h"
#include "weft/runtime/listen.h"
#include "weft/runtime/thread_pool.h"

using namespace weft;

namespace {

Manifest one_launch(std::string name) {
  Manifest m;
  m.name = name;
  m.arena_bytes = m.persistent_bytes = Dim(0);
  LaunchInfo launch;
  launch.name = name;
  launch.read_bytes = launch.written_bytes = Dim(8);
  m.launches.push_back(launch);
  return m;
}

void launch(const Services* services, void (*work)(const Services*)) {
  if (services->listen) services->listen(services, 0, 1);
  work(services);
  if (services->listen) services->listen(services, 0, 0);
}

void adds(const int64_t*, void* const*, const Services* services) {
  launch(services, [](const Services* s) {
    static std::atomic<int64_t> sum{0};
    void* args[] = {&sum};
    s->parallel_for(
        s->pool, 64, worth_waking,
        [](void** data, int64_t begin, int64_t end) {
          static_cast<std::atomic<int64_t>*>(data[0])->fetch_add(end - begin, std::memory_order_relaxed);
        },
        args);
  });
}

void fails(const int64_t*, void* const*, const Services* services) {
  launch(services, [](const Services*) {
    try {
      fail(ErrorKind::value, "sample", "went wrong");
    } catch (const Error&) {
      note_error();
    }
    leave_machine_code();
  });
}

}  // namespace

TEST_CASE("a launch that an error ends is over") {
  Manifest program = one_launch("failing"), other = one_launch("other");
  LaunchLabels labels, other_labels;
  int64_t since = start_recording();
  LaunchTimes times(program);
  for (int i = 0; i < 3; ++i)
    CHECK(label_of([&] { run_listened(fails, program, labels, "run", {}, nullptr); }) == "sample");
  CHECK(name_loops({}) == SpanLabel{});  // loops are not the failed launch's any more
  CHECK(times.times()[0].count == 0);
  run_listened(adds, program, labels, "run", {}, nullptr);
  run_listened(adds, other, other_labels, "run", {}, nullptr);
  CHECK(times.times()[0].count == 1);
  CHECK(stop_recording(since).find("\"name\": \"other\"") != std::string::npos);
}

TEST_CASE("programs run on several threads while profiles come and go and memory is counted") {
  set_num_threads(3);
  Manifest program = one_launch("shared");
  LaunchLabels labels;
  Device device = Device::cpu(12);
  std::atomic<int> running{4};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        Buffer buffer(DType::u8, {1000 * (1 + i % 100)}, device);
        if (i % 3)
          run_listened(adds, program, labels, "run", {}, nullptr);
        else
          label_of([&] { run_listened(fails, program, labels, "run", {}, nullptr); });
      }
      --running;
    });
  std::atomic<int> missed{0};
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      while (running > 0) {
        int64_t since = start_recording();
        LaunchTimes times(program);
        run_listened(adds, program, labels, "run", {}, nullptr);
        missed += times.times()[0].count != 1;
        missed += stop_recording(since).find("\"run shared\"") == std::string::npos;
        device.release_unused();
        missed += device.memory().in_use < 0;
      }
    });
  threads.clear();
  set_num_threads(0);
  CHECK(missed == 0);
  CHECK(device.memory().in_use == 0);
}
