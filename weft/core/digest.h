// Digests of content: names of cache entries, and the finding of damage in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft {

// 128 bits that depend on every bit of what was digested, the same in every process; read at about 10 GB/s. Two
// contents that anyone comes across differ in them; no defence against someone who makes up contents that agree.
struct Digest {
  uint64_t low = 0, high = 0;
  bool operator==(const Digest&) const = default;
  // 32 hexadecimal digits.
  std::string text() const;
};

Digest digest_of(std::span<const std::byte> bytes);
inline Digest digest_of(std::string_view text) { return digest_of(std::as_bytes(std::span(text))); }
// Of one after the other; their order counts.
Digest combine(const Digest& first, const Digest& second);

}  // namespace weft
