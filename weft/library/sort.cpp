// Sorting: each line's order is found once, then applied to all operands.
#include "weft/library/sort.h"

#include <algorithm>
#include <cstring>
#include <memory>
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

// A number whose unsigned order is that of the key, from the bits of an element. No branches: signs are random.
template <class Key>
Key key_of(Key bits, SortKey kind) {
  constexpr int width = 8 * sizeof(Key);
  constexpr Key sign = static_cast<Key>(Key{1} << (width - 1));
  if (kind == SortKey::unsigned_int) return bits;
  if (kind == SortKey::signed_int) return bits ^ sign;
  auto key = static_cast<Key>(bits ^ (static_cast<Key>(-(bits >> (width - 1))) | sign)), magnitude = static_cast<Key>(bits & ~sign);
  if (kind == SortKey::total_float) return key;
  auto infinity = static_cast<Key>(width == 64 ? uint64_t{0x7ff} << 52 : width == 32 ? 0x7f800000u : kind == SortKey::bf16 ? 0x7f80u : 0x7c00u);
  key = magnitude == 0 ? sign : key;
  return magnitude > infinity ? static_cast<Key>(~Key{0}) : key;
}

uint64_t key_of(const Bytes* at, SortKey kind, int64_t size) {
  switch (size) {
    case 1: return key_of(read<uint8_t>(at), kind);
    case 2: return key_of(read<uint16_t>(at), kind);
    case 4: return key_of(read<uint32_t>(at), kind);
    default: return key_of(read<uint64_t>(at), kind);
  }
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

// A number alone, where equal ones cannot be told apart.
uint64_t key_in(uint64_t e) { return e; }
uint64_t key_in(uint32_t e) { return e; }
bool before(uint64_t a, uint64_t b) { return a < b; }

// Lines shorter than this are not worth the counting.
constexpr size_t few = 96;

// By one digit of the keys after the other, the lowest first; digits that all keys share are passed over. The result is in
// either of the two.
template <class Entry>
Entry* radix_sort(Entry* entries, Entry* spare, size_t count, int64_t bytes) {
  if (count < few) {
    std::sort(entries, entries + count, [](const Entry& a, const Entry& b) { return before(a, b); });
    return entries;
  }
  // Long lines take larger digits: fewer passes for more counters.
  uint64_t width = bytes >= 4 && count > 20000 ? 11 : 8, mask = (uint64_t{1} << width) - 1;
  size_t digits = (static_cast<size_t>(bytes) * 8 + width - 1) / width;
  std::vector<size_t> counts(digits << width);
  for (size_t i = 0; i < count; ++i)
    for (uint64_t key = key_in(entries[i]), digit = 0; digit < digits; ++digit, key >>= width) ++counts[digit << width | (key & mask)];
  for (size_t digit = 0; digit < digits; ++digit) {
    size_t* starts = counts.data() + (digit << width);
    uint64_t shift = digit * width;
    if (starts[(key_in(entries[0]) >> shift) & mask] == count) continue;
    size_t start = 0;
    for (uint64_t i = 0; i <= mask; ++i) start += std::exchange(starts[i], start);
    for (size_t i = 0; i < count; ++i) spare[starts[(key_in(entries[i]) >> shift) & mask]++] = entries[i];
    std::swap(entries, spare);
  }
  return entries;
}

// Memory for the entries of a line and as many to spare, of all lines of a call.
template <class Entry>
struct Room {
  std::unique_ptr<Entry[]> memory;
  size_t count;
  explicit Room(int64_t length) : memory(new Entry[2 * static_cast<size_t>(length)]), count(static_cast<size_t>(length)) {}
  Entry* entries() const { return memory.get(); }
  Entry* spare() const { return memory.get() + count; }
};

// Lines of one operand: the keys themselves, and back. Equal keys of different patterns, zeros of both signs and NaN, lie
// together in the result and are put there in the order of the line.
template <class Key>
struct Alone {
  const Line& line;
  SortKey kind;
  bool descending;
  Room<Key> room;

  static constexpr int bits = 8 * sizeof(Key);
  static constexpr Key sign = Key{1} << (bits - 1), nan = static_cast<Key>(~Key{0});
  bool merges() const { return kind == SortKey::numpy_float || kind == SortKey::bf16; }

  Key pattern(Key key) const {
    if (kind == SortKey::unsigned_int) return key;
    if (kind == SortKey::signed_int) return key ^ sign;
    return key ^ (static_cast<Key>((key >> (bits - 1)) - 1) | sign);
  }

  // The keys of all elements for one kind that the compiler knows.
  template <SortKey known>
  int64_t fill(const Key* from) {
    int64_t odd = 0;
    Key flip = descending ? nan : Key{0};
    for (int64_t i = 0; i < line.length; ++i) {
      Key key = key_of(from[i * line.stride], known);
      odd += key == nan || key == sign;
      room.entries()[i] = key ^ flip;
    }
    return merges() ? odd : 0;
  }

  int64_t fill(const Key* from) {
    switch (kind) {
      case SortKey::signed_int: return fill<SortKey::signed_int>(from);
      case SortKey::unsigned_int: return fill<SortKey::unsigned_int>(from);
      case SortKey::total_float: return fill<SortKey::total_float>(from);
      default: return fill<SortKey::numpy_float>(from);
    }
  }

  void sort(int64_t base) {
    const auto* from = static_cast<const Key*>(line.buffers[0]) + base;
    auto* to = static_cast<Key*>(line.buffers[1]) + base;
    bool merged_some = fill(from) > 0;
    const Key* keys = radix_sort(room.entries(), room.spare(), room.count, sizeof(Key));
    Key flip = descending ? nan : Key{0};
    for (int64_t i = 0; i < line.length; ++i) to[i * line.stride] = pattern(keys[i] ^ flip);
    if (!merged_some) return;
    for (Key merged : {nan, sign}) {
      auto place = std::lower_bound(keys, keys + line.length, static_cast<Key>(merged ^ flip)) - keys;
      for (int64_t i = 0; i < line.length; ++i)
        if (key_of(from[i * line.stride], kind) == merged) to[place++ * line.stride] = from[i * line.stride];
    }
  }
};

template <class Entry>
void order_by_key(const Line& line, int64_t base, SortKey kind, bool descending, const Room<Entry>& room, std::vector<int64_t>& order) {
  int64_t size = line.sizes[0];
  uint64_t mask = size == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1;
  for (int64_t i = 0; i < line.length; ++i) {
    uint64_t key = key_of(line.operand(0, base + i * line.stride), kind, size);
    room.entries()[i] = entry((descending ? ~key : key) & mask, i, static_cast<Entry*>(nullptr));
  }
  const Entry* sorted = radix_sort(room.entries(), room.spare(), room.count, size);
  for (int64_t i = 0; i < line.length; ++i) order[static_cast<size_t>(i)] = place_in(sorted[i]);
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
  bool descending = numbers[5] != 0, packs = line.sizes[0] <= 4 && line.length <= int64_t{0xffffffff};
  auto each_line = [&](auto sort) {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) sort(o * line.length * inner + i);
  };
  auto ordered = [&](auto find) {
    std::vector<int64_t> order(static_cast<size_t>(line.length));
    each_line([&](int64_t base) {
      find(base, order);
      reorder(line, base, order);
    });
  };
  auto alone = [&](auto keys) { each_line([&](int64_t base) { keys.sort(base); }); };
  auto by_key = [&](auto room) { ordered([&](int64_t base, std::vector<int64_t>& order) { order_by_key(line, base, kind, descending, room, order); }); };
  if (kind == SortKey::body) return ordered([&](int64_t base, std::vector<int64_t>& order) { order_by_body(line, base, order); });
  if (line.count == 1 && line.sizes[0] == 4) return alone(Alone<uint32_t>{line, kind, descending, Room<uint32_t>(line.length)});
  if (line.count == 1 && line.sizes[0] == 8) return alone(Alone<uint64_t>{line, kind, descending, Room<uint64_t>(line.length)});
  if (packs) return by_key(Room<Packed>(line.length));
  by_key(Room<Wide>(line.length));
}

}  // namespace weft
