// The test binary itself works.
#include <doctest/doctest.h>

TEST_CASE("the tests run") { CHECK(1 + 1 == 2); }
