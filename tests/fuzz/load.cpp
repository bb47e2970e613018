// Executable files for libFuzzer: every input is read and its machine code placed and relocated, or rejected by an
// Error. Nothing of it is run: code whose digest is right is code of ours.
//
//   ./dev fuzz --files [SECONDS]
//
// Built with clang, digests let everything through, so that what is behind them is reached; the mutator keeps the
// header of one piece with the rest, and mostly changes bytes where they stand, so that the places of pieces stay
// right.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "weft/core/error.h"
#include "weft/runtime/file.h"
#include "weft/runtime/object.h"

using namespace weft;

namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

void evaluate(const Dim& dim, const std::map<std::string, int64_t, std::less<>>& symbols) {
  try {
    (void)dim.evaluate(symbols), (void)dim.text();
  } catch (const Error&) {
  }
}

void look_through(const Build& build) {
  const Manifest& m = build.manifest;
  std::map<std::string, int64_t, std::less<>> smallest, largest;
  for (const Symbol& symbol : m.symbols) smallest[symbol.name] = symbol.min, largest[symbol.name] = symbol.max;
  for (const auto* symbols : {&smallest, &largest}) {
    evaluate(m.arena_bytes, *symbols);
    for (const auto* infos : {&m.inputs, &m.outputs})
      for (const IoInfo& info : *infos)
        for (const Dim& dim : info.type.dims) evaluate(dim, *symbols);
  }
  CodeObject code(build.objects);
  (void)code.find("weft_run");
}

constexpr size_t header_bytes = 64, size_at = 16, table_at = 24;

uint64_t number_at(const uint8_t* data, size_t at) {
  uint64_t value;
  std::memcpy(&value, data + at, sizeof value);
  return value;
}

// Eight, four or one bytes, as numbers in such files lie.
void change_number(uint8_t* data, size_t size, std::minstd_rand& random) {
  size_t width = std::min<size_t>(size, random() % 3 == 0 ? 1
                                        : random() % 2    ? 4
                                                          : 8),
         at = random() % (size - width + 1);
  if (random() % 4) at -= at % width;
  uint64_t value = 0;
  std::memcpy(&value, data + at, width);
  const uint64_t choices[] = {0,         1,          ~uint64_t{0}, value + 1,
                              value - 1, value + 64, value * 2,    value ^ (uint64_t{1} << random() % 64),
                              random(),  size};
  value = choices[random() % std::size(choices)];
  std::memcpy(data + at, &value, width);
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int seed) {
  std::minstd_rand random(seed);
  if (size <= header_bytes || random() % 16 == 0) return LLVMFuzzerMutate(data, size, most);
  size_t inside = size - header_bytes, table = std::clamp<uint64_t>(number_at(data, table_at), 1, inside);
  // The table is short and has the most to say.
  size_t span = random() % 2 ? table : inside;
  for (size_t i = random() % 4 + 1; i > 0; --i) change_number(data + header_bytes, span, random);
  if (random() % 8 == 0) {
    size_t part = std::min<size_t>(span, 32), at = header_bytes + random() % (span - part + 1);
    LLVMFuzzerMutate(data + at, part, part);
  }
  if (random() % 32 == 0) size = header_bytes + 1 + random() % inside;
  std::memcpy(data + size_at, &size, sizeof size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // As files are mapped: at a page.
  std::shared_ptr<void> memory(std::aligned_alloc(64, (size + 64) / 64 * 64), Free{});
  std::memcpy(memory.get(), data, size);
  try {
    Package package = parse_package({static_cast<const char*>(memory.get()), size}, memory);
    for (const Build& build : package.builds) look_through(build);
  } catch (const Error&) {
  }
  return 0;
}
