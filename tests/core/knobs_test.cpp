#include "weft/core/knobs.h"

#include <doctest/doctest.h>

#include "weft/core/error.h"

using namespace weft;

TEST_CASE("a scope sets knobs until it ends") {
  bool before = knob_flag(Knob::verify);
  {
    ScopedKnobs outer({{Knob::verify, before ? "no" : "yes"}, {Knob::threads, "3"}});
    CHECK(knob_flag(Knob::verify) != before);
    {
      ScopedKnobs inner({{Knob::threads, std::nullopt}});
      CHECK(scoped_integer(Knob::threads) == 0);
      CHECK(knob_source(Knob::verify) == "scope");
    }
    CHECK(knob_integer(Knob::threads) == 3);
  }
  CHECK(knob_flag(Knob::verify) == before);
  CHECK_FALSE(scoped_integer(Knob::threads));
}

TEST_CASE("values and names that do not fit are errors") {
  CHECK_THROWS_WITH_AS(ScopedKnobs({{Knob::threads, "1025"}}),
                       doctest::Contains("'threads' must be an integer from 0 to 1024"), Error);
  CHECK_THROWS_WITH_AS(knob_named("tread"), doctest::Contains("the nearest is 'threads'"), Error);
  CHECK(knob_named("dump") == Knob::dump);
}
