// Compiled programs, found again by what they were made of.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "weft/ir/graph.h"
#include "weft/runtime/executable.h"

namespace weft {

// A program, and what it is found by. Who finds it first compiles it; others wait for that.
struct KnownProgram {
  size_t hash = 0;
  GraphPtr graph;           // of calls
  std::vector<Type> types;  // of the arguments of a function, and how many tensors end before each of them does
  Ints lengths;
  std::atomic<int> variants = 0;  // programs of the same structure with other numbers that were compiled
  std::once_flag once;
  Executable executable;
};

// Those used last come first; the one that was not used for longest goes where there are too many. Thread-safe.
class ProgramCache {
 public:
  explicit ProgramCache(size_t most) : most_(most) {}

  // The program of this hash for which `same` holds; null where there is none.
  template <class Same>
  std::shared_ptr<KnownProgram> find(size_t hash, const Same& same) {
    std::lock_guard lock(mutex_);
    return find_locked(hash, same);
  }

  // The same, or another one that `fill` has described.
  template <class Same, class Fill>
  std::shared_ptr<KnownProgram> find(size_t hash, const Same& same, const Fill& fill) {
    std::shared_ptr<KnownProgram> unused;  // let go of when the mutex is
    std::lock_guard lock(mutex_);
    if (std::shared_ptr<KnownProgram> found = find_locked(hash, same)) return found;
    auto added = std::make_shared<KnownProgram>();
    added->hash = hash;
    fill(*added);
    programs_.push_front(added);
    if (programs_.size() > most_) {
      unused = std::move(programs_.back());
      programs_.pop_back();
    }
    return added;
  }

 private:
  template <class Same>
  std::shared_ptr<KnownProgram> find_locked(size_t hash, const Same& same) {
    for (auto at = programs_.begin(); at != programs_.end(); ++at) {
      if ((*at)->hash != hash || !same(**at)) continue;
      programs_.splice(programs_.begin(), programs_, at);
      return programs_.front();
    }
    return nullptr;
  }

  size_t most_;
  std::mutex mutex_;
  std::list<std::shared_ptr<KnownProgram>> programs_;
};

}  // namespace weft
