#include "kept_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <unordered_map>

#include "weft/core/pages.h"

namespace weft::py {
namespace {

constexpr size_t most_kept = size_t{256} << 20, small_page = 4096;

struct Memory {
  std::unordered_map<void*, size_t> used;        // what was handed out, and how large it is
  std::deque<std::pair<void*, size_t>> unused;   // the longest unused first
  size_t unused_bytes = 0;
};

// Never destroyed: arrays may outlive the module.
Memory& memory() {
  static auto* all = new Memory;
  return *all;
}

size_t rounded(size_t bytes) {
  size_t page = page_for(bytes, small_page);
  return (bytes + page - 1) / page * page;
}

}  // namespace

void* take_memory(size_t bytes) {
  Memory& all = memory();
  size_t size = rounded(std::max<size_t>(bytes, 1));
  // The last one let go of is the warmest.
  for (auto at = all.unused.rbegin(); at != all.unused.rend(); ++at) {
    if (at->second != size) continue;
    void* found = at->first;
    all.unused.erase(std::next(at).base());
    all.unused_bytes -= size;
    all.used[found] = size;
    return found;
  }
  void* fresh = allocate_pages(size, small_page);
  if (!fresh) return nullptr;
  all.used[fresh] = size;
  return fresh;
}

void give_memory(void* given) {
  Memory& all = memory();
  auto found = all.used.find(given);
  if (found == all.used.end()) return std::free(given);
  size_t size = found->second;
  all.used.erase(found);
  all.unused.emplace_back(given, size);
  all.unused_bytes += size;
  while (all.unused_bytes > most_kept) {
    std::free(all.unused.front().first);
    all.unused_bytes -= all.unused.front().second;
    all.unused.pop_front();
  }
}

void* resize_memory(void* given, size_t bytes) {
  Memory& all = memory();
  auto found = all.used.find(given);
  if (found == all.used.end()) return std::realloc(given, bytes);
  void* fresh = take_memory(bytes);
  if (!fresh) return nullptr;
  std::memcpy(fresh, given, std::min(found->second, bytes));
  give_memory(given);
  return fresh;
}

}  // namespace weft::py
