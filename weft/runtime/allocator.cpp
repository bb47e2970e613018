// What is let go of waits, by its size, for the next who wants as much: fresh pages cost more than most kernels.
#include "weft/runtime/allocator.h"

#include <algorithm>

#include "weft/core/dim.h"
#include "weft/core/error.h"
#include "weft/core/pages.h"

namespace weft {
namespace {

// Smaller blocks go back at once: the system hands them out as quickly, and joins what lies side by side, where ours of
// ten thousand sizes would stay ten thousand.
constexpr int64_t least_kept = 64 << 10;

int64_t rounded(int64_t bytes) {
  if (bytes <= 0) return static_cast<int64_t>(cache_line);
  auto unit = static_cast<int64_t>(page_for(static_cast<size_t>(bytes)));
  return checked_add(bytes, unit - 1) / unit * unit;
}

}  // namespace

void* Allocator::take(int64_t bytes) {
  int64_t size = rounded(bytes);
  std::lock_guard lock(mutex_);
  ++stats_.allocations;
  auto fail_for = [&](const char* why) {
    fail(ErrorKind::runtime, "out_of_memory", "no memory for ", bytes, " bytes: ", stats_.in_use, " are in use", why);
  };
  if (stats_.limit && size > stats_.limit - stats_.in_use) fail_for(cat(" of ", stats_.limit, " that may be").c_str());
  void* found = take_kept(size);
  if (!found) {
    if (stats_.limit) shrink(stats_.limit - stats_.in_use - size);
    found = memory_->allocate(size);
    if (!found && !kept_.empty()) {
      shrink(0);
      found = memory_->allocate(size);
    }
    if (!found) fail_for(", and the system has no more");
  }
  stats_.in_use += size;
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  return found;
}

void* Allocator::take_kept(int64_t bytes) {
  // The last one let go of is the warmest.
  auto at = by_size_.upper_bound(bytes);
  if (at == by_size_.begin() || (--at)->first != bytes) return nullptr;
  Kept::iterator block = at->second;
  by_size_.erase(at);
  void* memory = block->memory;
  kept_.erase(block);
  stats_.kept -= bytes;
  return memory;
}

void Allocator::give(void* memory, int64_t bytes) noexcept {
  if (!memory) return;
  int64_t size = rounded(bytes);
  std::lock_guard lock(mutex_);
  stats_.in_use -= size;
  if (size < least_kept) return memory_->release(memory, size);
  try {
    Kept one{{memory, size}};
    by_size_.emplace(size, one.begin());
    kept_.splice(kept_.end(), one);
    stats_.kept += size;
    shrink(most_kept_);
  } catch (const std::bad_alloc&) {
    memory_->release(memory, size);
  }
}

void Allocator::shrink(int64_t most) noexcept {
  while (stats_.kept > std::max<int64_t>(most, 0)) {
    Block oldest = kept_.front();
    by_size_.erase(by_size_.lower_bound(oldest.bytes));
    kept_.pop_front();
    stats_.kept -= oldest.bytes;
    memory_->release(oldest.memory, oldest.bytes);
  }
}

MemoryStats Allocator::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void Allocator::set_limit(int64_t bytes) {
  if (bytes < 0)
    fail(ErrorKind::value, "memory_limit", "a limit of memory must be 0 (none) or more bytes, got ", bytes);
  std::lock_guard lock(mutex_);
  stats_.limit = bytes;
}

void Allocator::release_unused() noexcept {
  std::lock_guard lock(mutex_);
  shrink(0);
}

}  // namespace weft
