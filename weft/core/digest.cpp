// Four streams of words; their ends are mixed.
#include "weft/core/digest.h"

#include <array>
#include <bit>
#include <cstring>

#include "weft/core/hash.h"

namespace weft {
namespace {

constexpr size_t block = 32;
using Words = std::array<uint64_t, block / sizeof(uint64_t)>;

// Each step can be undone for a known word, so that no difference is lost before the end; and a bit goes through two
// multiplications with a rotation between, so that no small difference of a later word makes up for it.
void step(Words& streams, const std::byte* bytes) {
  Words words;
  std::memcpy(words.data(), bytes, block);
  for (size_t i = 0; i < words.size(); ++i)
    streams[i] = std::rotl(streams[i] + words[i] * 0x9fb21c651e98df25u, 31) * 0xd6e8feb86659fd93u;
}

}  // namespace

std::string Digest::text() const {
  std::string out;
  for (uint64_t part : {high, low})
    for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[part >> shift & 15];
  return out;
}

Digest digest_of(std::span<const std::byte> bytes) {
  Words streams;
  for (size_t i = 0; i < streams.size(); ++i) streams[i] = hash_combine(i, bytes.size());
  size_t at = 0;
  for (; at + block <= bytes.size(); at += block) step(streams, bytes.data() + at);
  if (at < bytes.size()) {
    std::array<std::byte, block> last{};
    std::memcpy(last.data(), bytes.data() + at, bytes.size() - at);
    step(streams, last.data());
  }
  Digest digest{1, 2};
  for (uint64_t stream : streams)
    digest = {hash_combine(digest.low, stream), hash_combine(digest.high, std::rotl(stream, 32))};
  return digest;
}

Digest combine(const Digest& first, const Digest& second) {
  return {hash_combine(hash_combine(first.low, second.low), first.high),
          hash_combine(hash_combine(first.high, second.high), second.low)};
}

}  // namespace weft
