// Of two ways to run a launch the one that takes less is run, and what that is may change.
#include <doctest/doctest.h>

#include <array>

#include "weft/runtime/trials.h"

using namespace weft;

namespace {

struct Runs {
  Trial trial;
  int64_t now = 1'000'000'007;
  std::array<int, 2> taken{};

  // So many runs of `items`, an item of each way taking so many nanoseconds; how often the second way was taken.
  int run(int count, std::array<int64_t, 2> nanoseconds, int64_t items = 1000) {
    int others = 0;
    for (int i = 0; i < count; ++i) {
      int64_t begun = trial.begin(now);
      others += begun & 1;
      now += nanoseconds[static_cast<size_t>(begun & 1)] * items;
      trial.end(begun, now, items);
    }
    return others;
  }
};

}  // namespace

TEST_CASE("the way that takes less is run but for trials") {
  Runs first, second;
  CHECK(first.run(2000, {10, 20}) <= 2000 / 50);
  CHECK(second.run(2000, {20, 10}) >= 2000 - 2000 / 50);
}

TEST_CASE("ways that are nearly equal are tried more often") {
  Runs near, far;
  CHECK(near.run(2000, {10, 11}) > far.run(2000, {10, 20}));
}

TEST_CASE("another way becomes the better one") {
  Runs runs;
  runs.run(1000, {10, 20});
  runs.run(600, {20, 10});
  CHECK(runs.run(1000, {20, 10}) >= 950);
  runs.run(600, {10, 20});
  CHECK(runs.run(1000, {10, 20}) <= 50);
}

TEST_CASE("the time of an item is compared, whatever their number") {
  Runs runs;
  int others = 0;
  for (int i = 0; i < 2000; ++i) others += runs.run(1, {20, 10}, i % 7 * 1000);
  CHECK(others >= 1900);
}
