// Memory that threads keep for machine code, and loops that end for want of it.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "tests/label_of.h"
#include "weft/core/interrupt.h"
#include "weft/library/custom.h"
#include "weft/runtime/scratch.h"
#include "weft/runtime/thread_pool.h"

using namespace weft;

TEST_CASE("scratch is kept by its thread, grows and begins at a page") {
  auto* first = static_cast<char*>(thread_scratch(1000));
  first[999] = 1;
  CHECK(reinterpret_cast<uintptr_t>(first) % 4096 == 0);
  CHECK(thread_scratch(4096) == first);
  auto* grown = static_cast<char*>(thread_scratch(1 << 20));
  grown[(1 << 20) - 1] = 1;
  CHECK(thread_scratch(10) == grown);
  void* other = nullptr;
  std::thread([&] { other = thread_scratch(10); }).join();
  CHECK(other != grown);
}

TEST_CASE("no memory for scratch is an error of the run, on whatever thread") {
  for (int64_t bytes : {INT64_MAX, INT64_MAX / 4}) {
    CHECK(label_of([&] {
            catch_custom_errors([](void* data) { thread_scratch(*static_cast<int64_t*>(data)); }, &bytes);
          }) == "out_of_memory");
    for (int threads : {1, 4}) {
      set_num_threads(threads);
      std::atomic<int64_t> others = 0;
      void* args[] = {&bytes, &others};
      // The last item wants too much.
      auto body = [](void** data, int64_t, int64_t end) {
        if (end == 1000) thread_scratch(*static_cast<int64_t*>(data[0]));
        ++*static_cast<std::atomic<int64_t>*>(data[1]);
      };
      for (int64_t cost : {1, 100'000'000})
        CHECK(label_of([&] { parallel_for_until_interrupted(1000, cost, body, args); }) == "out_of_memory");
      others = 0;
      parallel_for_until_interrupted(999, 100'000'000, body, args);
      CHECK(others > 0);
    }
    set_num_threads(0);
  }
}
