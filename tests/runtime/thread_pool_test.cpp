// Shared loops: every item once, whoever calls, however many threads there are.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "weft/core/error.h"
#include "weft/core/interrupt.h"
#include "weft/runtime/thread_pool.h"

using namespace weft;

namespace {

void visit(void** args, int64_t begin, int64_t end) {
  auto* counts = static_cast<int*>(args[0]);
  for (int64_t i = begin; i < end; ++i) ++counts[i];
}

// Each item of a loop inside counts in a part of its own.
void visit_inside(void** args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    void* inner[] = {static_cast<int*>(args[0]) + i * 10};
    parallel_for(10, 1 << 20, visit, inner);
  }
}

bool visits_all_once(int64_t count, int64_t cost) {
  std::vector<int> counts(static_cast<size_t>(count));
  void* args[] = {counts.data()};
  parallel_for(count, cost, visit, args);
  return std::all_of(counts.begin(), counts.end(), [](int n) { return n == 1; });
}

struct Threads {
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(0); }
};

}  // namespace

TEST_CASE("every item is visited once") {
  for (int threads : {1, 2, 5}) {
    Threads scope(threads);
    for (int round = 0; round < 200; ++round)
      for (int64_t count : {0, 1, 2, 7, 67, 1000})
        for (int64_t cost : {int64_t{1}, int64_t{300000}, INT64_MAX}) REQUIRE(visits_all_once(count, cost));
  }
}

TEST_CASE("workers that sleep are woken or not waited for") {
  Threads scope(4);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (int64_t cost : {300000, 30000000}) REQUIRE(visits_all_once(64, cost));
  }
}

TEST_CASE("loops inside loops and loops of several threads") {
  Threads scope(3);
  std::atomic<int> failures = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        std::vector<int> counts(500);
        void* args[] = {counts.data()};
        parallel_for(50, 1 << 20, visit_inside, args);
        failures += !std::all_of(counts.begin(), counts.end(), [](int n) { return n == 1; });
      }
    });
  for (int n = 1; n < 5; ++n) set_num_threads(n);
  for (std::thread& caller : callers) caller.join();
  CHECK(failures == 0);
}

TEST_CASE("numbers of threads that make no sense are refused") {
  CHECK_THROWS_AS(set_num_threads(-1), Error);
  CHECK_THROWS_AS(set_num_threads(1025), Error);
}

namespace {

std::atomic<int> looks{0}, looks_to_end{0};

// Takes a millisecond for each item.
void visit_slowly(void** args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    static_cast<std::atomic<int64_t>*>(args[0])->fetch_add(1);
  }
}

}  // namespace

TEST_CASE("a loop whose thread is told to end leaves out what is left, and the next one is whole") {
  constexpr int64_t millisecond = 100'000'000;
  set_interrupt([] {
    if (++looks == looks_to_end) fail(ErrorKind::runtime, "told", "it is to end");
  });
  for (int threads : {1, 2}) {
    Threads scope(threads);
    for (int end : {1, 2, 0}) {
      looks = 0, looks_to_end = end;
      std::atomic<int64_t> visited{0};
      void* args[] = {&visited};
      std::string label;
      InterruptibleWork work;
      try {
        parallel_for_until_interrupted(900, millisecond, visit_slowly, args);
      } catch (const Error& error) {
        label = error.label();
      }
      CHECK(label == (end ? "told" : ""));
      CHECK((visited < 900) == (end != 0));
      CHECK(visited > 0);
      CHECK(visits_all_once(1000, 300000));
    }
  }
  // Nobody looks for another thread, whose work ends by itself.
  looks_to_end = 1;
  std::atomic<int64_t> visited{0};
  void* args[] = {&visited};
  parallel_for(300, millisecond, visit_slowly, args);
  CHECK(visited == 300);
  set_interrupt(nullptr);
}
