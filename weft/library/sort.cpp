// Sorting: each line's order is found once, then applied to all operands.
#include "weft/library/sort.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/library/sort_columns.h"
#include "weft/library/sort_words.h"

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
  auto key = static_cast<Key>(bits ^ (static_cast<Key>(-(bits >> (width - 1))) | sign)),
       magnitude = static_cast<Key>(bits & ~sign);
  if (kind == SortKey::total_float) return key;
  auto infinity = static_cast<Key>(width == 64             ? uint64_t{0x7ff} << 52
                                   : width == 32           ? 0x7f800000u
                                   : kind == SortKey::bf16 ? 0x7f80u
                                                           : 0x7c00u);
  key = magnitude == 0 ? sign : key;
  return magnitude > infinity ? static_cast<Key>(~Key{0}) : key;
}

uint64_t key_of(const Bytes* at, SortKey kind, int64_t size) {
  switch (size) {
    case 1:
      return key_of(read<uint8_t>(at), kind);
    case 2:
      return key_of(read<uint16_t>(at), kind);
    case 4:
      return key_of(read<uint32_t>(at), kind);
    default:
      return key_of(read<uint64_t>(at), kind);
  }
}

struct Line {
  const int64_t* numbers;
  void* const* buffers;
  const RoutineBody* bodies;
  int64_t count, length, stride;  // operands; elements of the line and the distance between them
  const int64_t* sizes;
  Share share;                     // for what threads do of one line
  std::span<const Places> wanted;  // where it is read, if not everywhere
  const Bytes* operand(int64_t k, int64_t at) const { return static_cast<const Bytes*>(buffers[k]) + at * sizes[k]; }
};

// body(begin, end) for parts of a line.
template <class Body>
void along(const Line& line, const Body& body) {
  shared(line.share, line.length, 100, body);
}

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

// By one digit of the keys after the other, the lowest first; digits that all keys share are passed over. The result is
// in either of the two.
template <class Entry>
Entry* radix_sort(Entry* entries, Entry* spare, size_t count, int64_t bytes) {
  if (count < few) {
    std::sort(entries, entries + count, [](const Entry& a, const Entry& b) { return before(a, b); });
    return entries;
  }
  // Long lines take larger digits: fewer passes for more counters.
  uint64_t width = bytes >= 4 && count > 4000 ? 11 : 8, mask = (uint64_t{1} << width) - 1;
  size_t digits = (static_cast<size_t>(bytes) * 8 + width - 1) / width;
  std::vector<size_t> counts(digits << width);
  for (size_t i = 0; i < count; ++i)
    for (uint64_t key = key_in(entries[i]), digit = 0; digit < digits; ++digit, key >>= width)
      ++counts[digit << width | (key & mask)];
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

// Entries that are one number, as numbers.
uint64_t* words_of(Packed* entries) { return &entries->word; }
uint64_t* words_of(uint64_t* entries) { return entries; }
uint32_t* words_of(uint32_t* entries) { return entries; }

// Entries in a part of a long line: with their spare places they stay in a core's own cache.
constexpr size_t part_size = 8192, most_parts = 256, samples_of_part = 16;

// The keys between the parts of a line, as a search tree: node i has the nodes 2 i and 2 i + 1 below it.
template <class Entry>
std::vector<uint64_t> tree_of_splitters(const Entry* entries, size_t count, size_t parts) {
  std::vector<uint64_t> sample(parts * samples_of_part), tree(parts);
  for (size_t i = 0; i < sample.size(); ++i) sample[i] = key_in(entries[i * (count / sample.size())]);
  std::sort(sample.begin(), sample.end());
  for (size_t i = 1, level = parts; i < parts; ++i) {
    if (std::has_single_bit(i)) level /= 2;
    size_t place = i - std::bit_floor(i);
    tree[i] = sample[(2 * place + 1) * level * samples_of_part];
  }
  return tree;
}

// Long lines: equal keys and those between two splitters come to one part, in their order, and each part is sorted by
// itself (samplesort; Frazer and McKellar, 1970). The result is where the entries were.
template <class Entry>
Entry* sort_by_parts(Entry* entries, Entry* spare, size_t count, int64_t bytes, Share share) {
  const size_t parts = std::min(most_parts, std::bit_floor(count / part_size));
  const std::vector<uint64_t> tree = tree_of_splitters(entries, count, parts);
  std::vector<uint8_t> part_of(count);
  std::vector<size_t> places(line_pieces * parts), begins(parts + 1);
  shared_pieces(share, count, 400, [&](size_t piece, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      size_t node = 1;
      for (uint64_t key = key_in(entries[i]); node < parts;) node = 2 * node + (key >= tree[node]);
      part_of[i] = static_cast<uint8_t>(node - parts);
      ++places[piece * parts + node - parts];
    }
  });
  size_t place = 0;
  for (size_t part = 0; part < parts; ++part) {
    begins[part] = place;
    for (size_t piece = 0; piece < line_pieces; ++piece) place += std::exchange(places[piece * parts + part], place);
  }
  begins[parts] = count;
  shared_pieces(share, count, 400, [&](size_t piece, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) spare[places[piece * parts + part_of[i]]++] = entries[i];
  });
  shared(share, static_cast<int64_t>(parts), static_cast<int64_t>(part_size * 800), [&](int64_t first, int64_t last) {
    for (auto part = static_cast<size_t>(first); part < static_cast<size_t>(last); ++part) {
      Entry *from = spare + begins[part], *to = entries + begins[part];
      const size_t length = begins[part + 1] - begins[part];
      if (radix_sort(from, to, length, bytes) != to) std::copy_n(from, length, to);
    }
  });
  return entries;
}

template <class Entry>
Entry* sort_line(Entry* entries, Entry* spare, size_t count, int64_t bytes, Share share) {
  if constexpr (!std::is_same_v<Entry, Wide>) {
    if (sorts_words()) {
      sort_words(words_of(entries), words_of(spare), count, share);
      return entries;
    }
  }
  return count < long_line ? radix_sort(entries, spare, count, bytes)
                           : sort_by_parts(entries, spare, count, bytes, share);
}

// Only the entries at some places are right.
template <class Entry>
void select_line(Entry* entries, Entry* spare, size_t count, std::span<const Places> wanted) {
  if constexpr (!std::is_same_v<Entry, Wide>) {
    if (sorts_words()) return select_words(words_of(entries), words_of(spare), count, wanted);
  }
  const auto in_order = [](const Entry& a, const Entry& b) { return before(a, b); };
  Entry *from = entries, *const end = entries + count;
  for (const Places& places : wanted) {
    Entry *const first = entries + places.begin, *const last = entries + places.end;
    std::nth_element(from, first, end, in_order);
    std::nth_element(first, last, end, in_order);
    std::sort(first, last, in_order);
    from = last;
  }
}

// Memory for the entries of a line and as many to spare, or for some short lines side by side; of all lines of a call.
template <class Entry>
struct Room {
  static constexpr size_t columns = 64 / sizeof(Entry);
  struct Free {
    void operator()(Entry* memory) const { ::operator delete[](memory, std::align_val_t(64)); }
  };
  size_t count;
  std::unique_ptr<Entry[], Free> memory;
  explicit Room(int64_t length)
      : count(static_cast<size_t>(length)),
        memory(static_cast<Entry*>(
            ::operator new[](std::max<size_t>(count, 1) * sizeof(Entry) * (count <= longest_column ? columns : 2),
                             std::align_val_t(64)))) {}
  Entry* entries() const { return memory.get(); }
  Entry* spare() const { return memory.get() + count; }
};

// Lines of one operand: the keys themselves, and back. Equal keys of different patterns, zeros of both signs and NaN,
// lie together in the result and are put there in the order of the line.
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
  bool fill(const Key* from, Key* to, size_t step) const {
    std::atomic<int64_t> odd = 0;
    Key flip = descending ? nan : Key{0};
    along(line, [&](int64_t begin, int64_t end) {
      int64_t found = 0;
      for (int64_t i = begin; i < end; ++i) {
        Key key = key_of(from[i * line.stride], known);
        found += key == nan || (key == sign && from[i * line.stride] != 0);
        to[static_cast<size_t>(i) * step] = key ^ flip;
      }
      odd.fetch_add(found, std::memory_order_relaxed);
    });
    return merges() && odd > 0;
  }

  // Whether there are some that do not come back from their keys.
  bool fill(const Key* from, Key* to, size_t step) const {
    switch (kind) {
      case SortKey::signed_int:
        return fill<SortKey::signed_int>(from, to, step);
      case SortKey::unsigned_int:
        return fill<SortKey::unsigned_int>(from, to, step);
      case SortKey::total_float:
        return fill<SortKey::total_float>(from, to, step);
      default:
        return fill<SortKey::numpy_float>(from, to, step);
    }
  }

  void sort(const int64_t* bases, size_t count) const {
    bool merged[Room<Key>::columns];
    size_t step = count > 1 ? Room<Key>::columns : 1;
    // A line alone is sorted in the result where its elements lie side by side.
    Key* entries = count == 1 && line.stride == 1 ? result(bases[0]) : room.entries();
    for (size_t c = 0; c < count; ++c) merged[c] = fill(operand(bases[c]), entries + c, step);
    const Key* keys = entries;
    if (count == 1 && !merged[0] && !line.wanted.empty()) {
      select_line(entries, room.spare(), room.count, line.wanted);
      for (const Places& places : line.wanted)
        put_some(bases[0], entries, 1, static_cast<int64_t>(places.begin), static_cast<int64_t>(places.end));
      return;
    }
    if (count > 1)
      sort_columns(entries, room.count);
    else
      keys = sort_line(entries, room.spare(), room.count, sizeof(Key), line.share);
    for (size_t c = 0; c < count; ++c) put(bases[c], keys + c, step, merged[c]);
  }

  const Key* operand(int64_t base) const { return static_cast<const Key*>(line.buffers[0]) + base; }
  Key* result(int64_t base) const { return static_cast<Key*>(line.buffers[1]) + base; }

  void put_some(int64_t base, const Key* keys, size_t step, int64_t begin, int64_t end) const {
    Key *to = result(base), flip = descending ? nan : Key{0};
    for (int64_t i = begin; i < end; ++i) to[i * line.stride] = pattern(keys[static_cast<size_t>(i) * step] ^ flip);
  }

  // A line of the result from its sorted keys.
  void put(int64_t base, const Key* keys, size_t step, bool merged_some) const {
    const Key* from = operand(base);
    Key* to = result(base);
    Key flip = descending ? nan : Key{0};
    // Where equal keys of different patterns begin, before these may be overwritten.
    auto place_of = [&](Key merged) {
      auto is_before = [&](int64_t i) { return keys[static_cast<size_t>(i) * step] < static_cast<Key>(merged ^ flip); };
      return *std::ranges::partition_point(std::views::iota(int64_t{0}, line.length), is_before);
    };
    std::pair<Key, int64_t> merged_keys[] = {{nan, merged_some ? place_of(nan) : 0},
                                             {sign, merged_some ? place_of(sign) : 0}};
    along(line, [&](int64_t begin, int64_t end) { put_some(base, keys, step, begin, end); });
    if (!merged_some) return;
    for (auto [merged, place] : merged_keys)
      for (int64_t i = 0; i < line.length; ++i)
        if (key_of(from[i * line.stride], kind) == merged) to[place++ * line.stride] = from[i * line.stride];
  }
};

template <class Entry>
void fill(const Line& line, int64_t base, SortKey kind, bool descending, Entry* to, size_t step) {
  int64_t size = line.sizes[0];
  uint64_t mask = size == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1;
  along(line, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      uint64_t key = key_of(line.operand(0, base + i * line.stride), kind, size);
      to[static_cast<size_t>(i) * step] = entry((descending ? ~key : key) & mask, i, static_cast<Entry*>(nullptr));
    }
  });
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

// The places from `first` to `last` of all operands of a line, in the order that `place` gives.
template <class Place>
void reorder(const Line& line, int64_t base, int64_t first, int64_t last, const Place& place) {
  for (int64_t k = 0; k < line.count; ++k) {
    auto* to = static_cast<Bytes*>(line.buffers[line.count + k]);
    int64_t size = line.sizes[k];
    auto each = [&]<int64_t fixed>() {
      shared(line.share, last - first, 100, [&](int64_t begin, int64_t end) {
        for (int64_t at = first + begin; at < first + end; ++at)
          std::memcpy(to + (base + at * line.stride) * fixed,
                      line.operand(k, base + place(static_cast<size_t>(at)) * line.stride), static_cast<size_t>(fixed));
      });
    };
    switch (size) {
      case 1:
        each.template operator()<1>();
        break;
      case 2:
        each.template operator()<2>();
        break;
      case 4:
        each.template operator()<4>();
        break;
      case 8:
        each.template operator()<8>();
        break;
      default:
        each.template operator()<16>();
        break;
    }
  }
}

// All operands of a line, or what is wanted of them, in the order that `place` gives.
template <class Place>
void reorder(const Line& line, int64_t base, const Place& place) {
  const Places all[] = {{0, static_cast<size_t>(line.length)}};
  for (const Places& places : line.wanted.empty() ? std::span<const Places>(all) : line.wanted)
    reorder(line, base, static_cast<int64_t>(places.begin), static_cast<int64_t>(places.end), place);
}

// Some lines, several only where they are short, each in the order of its keys.
template <class Entry>
void sort_by_key(const Line& line, SortKey kind, bool descending, const Room<Entry>& room, const int64_t* bases,
                 size_t count) {
  size_t step = count > 1 ? Room<Entry>::columns : 1;
  for (size_t c = 0; c < count; ++c) fill(line, bases[c], kind, descending, room.entries() + c, step);
  const Entry* sorted = room.entries();
  if constexpr (std::is_same_v<Entry, Packed>) {
    if (count > 1) sort_columns(&room.entries()->word, room.count);
  }
  if (count == 1 && !line.wanted.empty())
    select_line(room.entries(), room.spare(), room.count, line.wanted);
  else if (count == 1)
    sorted = sort_line(room.entries(), room.spare(), room.count, line.sizes[0], line.share);
  for (size_t c = 0; c < count; ++c)
    reorder(line, bases[c], [&](size_t at) { return place_in(sorted[c + at * step]); });
}

// A count and as many slices, which may overlap, as places that do not.
std::vector<Places> places_of(const int64_t* numbers) {
  std::vector<Places> given, joined;
  for (int64_t i = 0; i < numbers[0]; ++i)
    given.push_back({static_cast<size_t>(numbers[2 * i + 1]), static_cast<size_t>(numbers[2 * i + 2])});
  std::ranges::sort(given, {}, &Places::begin);
  for (const Places& places : given) {
    if (!joined.empty() && places.begin <= joined.back().end)
      joined.back().end = std::max(joined.back().end, places.end);
    else
      joined.push_back(places);
  }
  return joined;
}

void sort_by_body(const Line& line, int64_t base, std::vector<int64_t>& order) {
  order_by_body(line, base, order);
  reorder(line, base, [&](size_t at) { return order[at]; });
}

}  // namespace

void sort_routine(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies, Share share) {
  int64_t lines = numbers[1] * numbers[3], inner = numbers[3];
  // Threads share the lines, or each line where those are few and long.
  bool is_short = static_cast<size_t>(numbers[2]) <= longest_column,
       apart = numbers[2] >= static_cast<int64_t>(long_line) && lines < 8;
  const std::vector<Places> wanted = places_of(numbers + 6 + numbers[0]);
  Line line{numbers, buffers, bodies, numbers[0], numbers[2], inner, numbers + 6, apart ? share : by_caller, wanted};
  auto kind = static_cast<SortKey>(numbers[4]);
  bool descending = numbers[5] != 0, packs = line.sizes[0] <= 4 && line.length <= int64_t{0xffffffff};
  // Short lines by as many as there are columns, others alone. `make` gives a thread what it sorts with.
  auto each = [&](size_t columns, int64_t cost, auto make) {
    auto wide = static_cast<int64_t>(columns);
    int64_t blocks = is_short ? lines / wide : 0, items = blocks + lines - blocks * wide;
    shared(apart ? by_caller : share, items, line.length * cost, [&](int64_t begin, int64_t end) {
      auto sort = make();
      std::vector<int64_t> bases(columns);
      for (int64_t item = begin; item < end; ++item) {
        int64_t first = item < blocks ? item * wide : item + blocks * (wide - 1), count = item < blocks ? wide : 1;
        for (int64_t c = 0; c < count; ++c)
          bases[static_cast<size_t>(c)] = (first + c) / inner * line.length * inner + (first + c) % inner;
        sort(bases.data(), static_cast<size_t>(count));
      }
    });
  };
  auto alone = [&]<class Key>(Key) {
    each(Room<Key>::columns, 1000, [&] {
      return [keys = Alone<Key>{line, kind, descending, Room<Key>(line.length)}](const int64_t* bases, size_t count) {
        keys.sort(bases, count);
      };
    });
  };
  auto by_key = [&]<class Entry>(Entry, size_t columns) {
    each(columns, 2000, [&] {
      return [&, room = Room<Entry>(line.length)](const int64_t* bases, size_t count) {
        sort_by_key(line, kind, descending, room, bases, count);
      };
    });
  };
  if (kind == SortKey::body)
    return each(1, 20000, [&] {
      return [&, order = std::vector<int64_t>(static_cast<size_t>(line.length))](const int64_t* bases, size_t) mutable {
        sort_by_body(line, bases[0], order);
      };
    });
  if (line.count == 1 && line.sizes[0] == 4) return alone(uint32_t{});
  if (line.count == 1 && line.sizes[0] == 8) return alone(uint64_t{});
  if (packs) return by_key(Packed{}, Room<Packed>::columns);
  by_key(Wide{}, 1);
}

}  // namespace weft
