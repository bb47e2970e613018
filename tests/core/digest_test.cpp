// Digests: every bit counts, and so do length and order.
#include "weft/core/digest.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace weft;

TEST_CASE("contents that differ in one bit, or in zeros at the end, have other digests") {
  std::set<std::string> seen;
  size_t count = 0;
  for (size_t size : {0, 1, 7, 8, 63, 64, 65, 200}) {
    std::vector<std::byte> bytes(size);
    seen.insert(digest_of(bytes).text()), ++count;
    for (size_t bit = 0; bit < size * 8; ++bit) {
      bytes[bit / 8] ^= std::byte(1 << bit % 8);
      seen.insert(digest_of(bytes).text()), ++count;
      bytes[bit / 8] ^= std::byte(1 << bit % 8);
    }
  }
  CHECK(seen.size() == count);
}

TEST_CASE("half of the bits change where one of the content does") {
  std::vector<std::byte> bytes(1000);
  Digest plain = digest_of(bytes);
  for (size_t at : {size_t{0}, size_t{511}, size_t{999}}) {
    bytes[at] ^= std::byte{16};
    Digest other = digest_of(bytes);
    int changed = __builtin_popcountll(plain.low ^ other.low) + __builtin_popcountll(plain.high ^ other.high);
    CHECK(changed > 30);
    CHECK(changed < 98);
    bytes[at] ^= std::byte{16};
  }
}

TEST_CASE("the order of what is combined counts") {
  Digest a = digest_of("a"), b = digest_of("b");
  CHECK(combine(a, b) != combine(b, a));
  CHECK(combine(a, a) != a);
  CHECK(digest_of("").text().size() == 32);
  // What other processes, and other builds for this format of files, must find again.
  CHECK(digest_of("weft").text() == digest_of(std::string("we") + "ft").text());
}
