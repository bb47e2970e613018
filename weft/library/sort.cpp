// Sorting: each line's order is found once, then applied to all operands.
#include "weft/library/sort.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace weft {
namespace {

using Bytes = unsigned char;

template <class T>
T read(const Bytes* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// A number whose unsigned order is that of the key.
uint64_t key_of(const Bytes* at, SortKey kind, int64_t size) {
  uint64_t bits = size == 1 ? read<uint8_t>(at) : size == 2 ? read<uint16_t>(at) : size == 4 ? read<uint32_t>(at) : read<uint64_t>(at);
  uint64_t sign = uint64_t{1} << (8 * size - 1), all = sign | (sign - 1);
  switch (kind) {
    case SortKey::unsigned_int: return bits;
    case SortKey::signed_int: return bits ^ sign;
    case SortKey::total_float: return bits & sign ? ~bits & all : bits | sign;
    default: break;
  }
  uint64_t magnitude = bits & ~sign;
  uint64_t infinity = size == 8 ? uint64_t{0x7ff} << 52 : size == 4 ? 0x7f800000u : kind == SortKey::bf16 ? 0x7f80u : 0x7c00u;
  if (magnitude > infinity) return ~uint64_t{0};
  if (magnitude == 0) return sign;
  return bits & sign ? ~bits & all : bits | sign;
}

struct Line {
  const int64_t* numbers;
  void* const* buffers;
  const RoutineBody* bodies;
  int64_t count, length, stride;  // operands; elements of the line and the distance between them
  const int64_t* sizes;
  const Bytes* operand(int64_t k, int64_t at) const { return static_cast<const Bytes*>(buffers[k]) + at * sizes[k]; }
};

void order_by_key(const Line& line, int64_t base, SortKey kind, bool descending, std::vector<std::pair<uint64_t, int64_t>>& keys) {
  keys.clear();
  for (int64_t i = 0; i < line.length; ++i) {
    uint64_t key = key_of(line.operand(0, base + i * line.stride), kind, line.sizes[0]);
    keys.emplace_back(descending ? ~key : key, i);
  }
  // Positions make keys unique, so any sort is stable.
  std::sort(keys.begin(), keys.end());
}

void order_by_body(const Line& line, int64_t base, std::vector<std::pair<uint64_t, int64_t>>& keys) {
  keys.clear();
  for (int64_t i = 0; i < line.length; ++i) keys.emplace_back(0, i);
  Bytes answer = 0;
  std::vector<void*> scalars(static_cast<size_t>(2 * line.count + 1));
  scalars.back() = &answer;
  std::stable_sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
    for (int64_t k = 0; k < line.count; ++k) {
      scalars[static_cast<size_t>(2 * k)] = const_cast<Bytes*>(line.operand(k, base + a.second * line.stride));
      scalars[static_cast<size_t>(2 * k + 1)] = const_cast<Bytes*>(line.operand(k, base + b.second * line.stride));
    }
    line.bodies[0](scalars.data(), 0, 1);
    return answer != 0;
  });
}

}  // namespace

void sort_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies) {
  int64_t outer = numbers[1], inner = numbers[3];
  Line line{numbers, buffers, bodies, numbers[0], numbers[2], inner, numbers + 6};
  auto kind = static_cast<SortKey>(numbers[4]);
  std::vector<std::pair<uint64_t, int64_t>> keys;
  keys.reserve(static_cast<size_t>(line.length));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      int64_t base = o * line.length * inner + i;
      if (kind == SortKey::body) order_by_body(line, base, keys);
      else order_by_key(line, base, kind, numbers[5] != 0, keys);
      for (int64_t k = 0; k < line.count; ++k) {
        auto* to = static_cast<Bytes*>(buffers[line.count + k]);
        int64_t size = line.sizes[k];
        for (int64_t at = 0; at < line.length; ++at)
          std::memcpy(to + (base + at * inner) * size, line.operand(k, base + keys[static_cast<size_t>(at)].second * inner), static_cast<size_t>(size));
      }
    }
}

}  // namespace weft
