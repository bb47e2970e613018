// Sorting: each line's order is found once, then applied to all operands.
#include "weft/library/sort.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>
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

// A key and where its element stands in the line. Keys of up to 32 bits share one word with the place.
struct Wide {
  uint64_t key;
  uint64_t place;
};
struct Packed {
  uint64_t word;
};
Wide entry(uint64_t key, int64_t place, Wide*) { return {key, static_cast<uint64_t>(place)}; }
Packed entry(uint64_t key, int64_t place, Packed*) { return {key << 32 | static_cast<uint64_t>(place)}; }
uint64_t key_in(const Wide& e) { return e.key; }
uint64_t key_in(const Packed& e) { return e.word >> 32; }
int64_t place_in(const Wide& e) { return static_cast<int64_t>(e.place); }
int64_t place_in(const Packed& e) { return static_cast<int64_t>(e.word & 0xffffffff); }
// Places make entries different, so that any sort is stable.
bool before(const Wide& a, const Wide& b) { return a.key != b.key ? a.key < b.key : a.place < b.place; }
bool before(const Packed& a, const Packed& b) { return a.word < b.word; }

// Lines shorter than this are not worth the counting.
constexpr size_t few = 96;

// By one byte of the keys after the other, the lowest first; bytes that all keys share are passed over.
template <class Entry>
void radix_sort(std::vector<Entry>& entries, std::vector<Entry>& spare, int64_t bytes) {
  size_t count = entries.size();
  if (count < few) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return before(a, b); });
    return;
  }
  spare.resize(count);
  std::vector<std::array<size_t, 256>> counts(static_cast<size_t>(bytes));
  for (const Entry& e : entries)
    for (uint64_t key = key_in(e), byte = 0; byte < counts.size(); ++byte, key >>= 8) ++counts[byte][key & 255];
  for (size_t byte = 0; byte < counts.size(); ++byte) {
    std::array<size_t, 256>& starts = counts[byte];
    if (starts[(key_in(entries[0]) >> (8 * byte)) & 255] == count) continue;
    size_t start = 0;
    for (size_t& number : starts) start += std::exchange(number, start);
    for (const Entry& e : entries) spare[starts[(key_in(e) >> (8 * byte)) & 255]++] = e;
    entries.swap(spare);
  }
}

// Room for the entries of one line after the other.
template <class Entry>
struct Room {
  std::vector<Entry> entries, spare;
};

template <class Entry>
void order_by_key(const Line& line, int64_t base, SortKey kind, bool descending, Room<Entry>& room, std::vector<int64_t>& order) {
  int64_t size = line.sizes[0];
  uint64_t mask = size == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1;
  room.entries.clear();
  for (int64_t i = 0; i < line.length; ++i) {
    uint64_t key = key_of(line.operand(0, base + i * line.stride), kind, size);
    room.entries.push_back(entry((descending ? ~key : key) & mask, i, static_cast<Entry*>(nullptr)));
  }
  radix_sort(room.entries, room.spare, size);
  for (int64_t i = 0; i < line.length; ++i) order[static_cast<size_t>(i)] = place_in(room.entries[static_cast<size_t>(i)]);
}

void order_by_body(const Line& line, int64_t base, std::vector<int64_t>& order) {
  std::iota(order.begin(), order.end(), int64_t{0});
  Bytes answer = 0;
  std::vector<void*> scalars(static_cast<size_t>(2 * line.count + 1));
  scalars.back() = &answer;
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    for (int64_t k = 0; k < line.count; ++k) {
      scalars[static_cast<size_t>(2 * k)] = const_cast<Bytes*>(line.operand(k, base + a * line.stride));
      scalars[static_cast<size_t>(2 * k + 1)] = const_cast<Bytes*>(line.operand(k, base + b * line.stride));
    }
    line.bodies[0](scalars.data(), 0, 1);
    return answer != 0;
  });
}

// All operands of a line in that order.
void reorder(const Line& line, int64_t base, const std::vector<int64_t>& order) {
  for (int64_t k = 0; k < line.count; ++k) {
    auto* to = static_cast<Bytes*>(line.buffers[line.count + k]);
    int64_t size = line.sizes[k];
    auto each = [&]<int64_t fixed>() {
      for (int64_t at = 0; at < line.length; ++at)
        std::memcpy(to + (base + at * line.stride) * fixed, line.operand(k, base + order[static_cast<size_t>(at)] * line.stride), static_cast<size_t>(fixed));
    };
    switch (size) {
      case 1: each.operator()<1>(); break;
      case 2: each.operator()<2>(); break;
      case 4: each.operator()<4>(); break;
      case 8: each.operator()<8>(); break;
      default: each.operator()<16>(); break;
    }
  }
}

}  // namespace

void sort_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies) {
  int64_t outer = numbers[1], inner = numbers[3];
  Line line{numbers, buffers, bodies, numbers[0], numbers[2], inner, numbers + 6};
  auto kind = static_cast<SortKey>(numbers[4]);
  std::vector<int64_t> order(static_cast<size_t>(line.length));
  Room<Wide> wide;
  Room<Packed> packed;
  bool packs = line.sizes[0] <= 4 && line.length <= int64_t{0xffffffff}, descending = numbers[5] != 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      int64_t base = o * line.length * inner + i;
      if (kind == SortKey::body) order_by_body(line, base, order);
      else if (packs) order_by_key(line, base, kind, descending, packed, order);
      else order_by_key(line, base, kind, descending, wide, order);
      reorder(line, base, order);
    }
}

}  // namespace weft
