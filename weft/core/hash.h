// Combining hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft {

inline size_t hash_combine(size_t seed, size_t value) {
  uint64_t x = seed + 0x9e3779b97f4a7c15u + value;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace weft
