// Collectives go on beside the kernels that need none of their memory.
#include <algorithm>
#include <set>
#include <utility>

#include "weft/kernel/draft.h"

namespace weft {
namespace {

bool is_collective(const Draft& draft) { return draft.routine == "collective"; }

// What must stay in its place among others of its kind: what exchanges, or may call what the user wrote.
bool is_ordered(const Draft& draft) { return !draft.texts.empty() || !draft.blocks.empty(); }

bool writes(const Draft& draft, size_t buffer) {
  if (draft.kind == LaunchKind::kernel) return draft.kernel.memories[buffer].written;
  return draft.kind != LaunchKind::routine || buffer >= draft.operands;
}

bool conflict(const Draft& a, const Draft& b) {
  for (size_t i = 0; i < a.buffers.size(); ++i)
    for (size_t j = 0; j < b.buffers.size(); ++j)
      if (a.buffers[i] == b.buffers[j] && (writes(a, i) || writes(b, j))) return true;
  return false;
}

// Each collective behind the last draft that it needs.
void hoist(std::vector<Draft>& drafts) {
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (!is_collective(drafts[i])) continue;
    size_t to = i;
    while (to > 0 && !is_ordered(drafts[to - 1]) && !conflict(drafts[to - 1], drafts[i])) --to;
    const auto begin = drafts.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(to), begin + static_cast<std::ptrdiff_t>(i),
                begin + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

Draft end_of(const Draft& collective) {
  Draft end;
  end.kind = LaunchKind::routine;
  end.routine = "collective_end";
  end.texts = collective.texts;
  end.buffers = collective.buffers;
  end.operands = collective.operands;
  end.kernel.loc = collective.kernel.loc;
  end.ops = collective.ops;
  end.lines = collective.lines;
  return end;
}

// What some drafts read and write.
class Touched {
 public:
  void add(const Draft& draft) {
    for (size_t i = 0; i < draft.buffers.size(); ++i) (writes(draft, i) ? written_ : read_).insert(draft.buffers[i]);
  }
  bool conflicts(const Draft& draft) const {
    for (size_t i = 0; i < draft.buffers.size(); ++i)
      if (written_.contains(draft.buffers[i]) || (writes(draft, i) && read_.contains(draft.buffers[i]))) return true;
    return false;
  }

 private:
  std::set<BufferId> read_, written_;
};

// Drafts in an order in which those that need a collective that goes on come after others.
class Order {
 public:
  void add(Draft draft) {
    if (draft.setup) return result_.push_back(std::move(draft));
    const bool waits = waiting_.conflicts(draft);
    if (is_ordered(draft)) {
      if (waits || !is_collective(draft)) release();
      return emit(std::move(draft));
    }
    if (!waits) return emit(std::move(draft));
    waiting_.add(draft);
    delayed_.push_back(std::move(draft));
  }

  std::vector<Draft> finish() {
    release();
    end_first(begun_.size());
    return std::move(result_);
  }

 private:
  void emit(Draft draft) {
    size_t count = 0;
    for (size_t i = 0; i < begun_.size(); ++i)
      if (conflict(result_[begun_[i]], draft) || (is_ordered(draft) && !is_collective(draft))) count = i + 1;
    end_first(count);
    if (is_collective(draft)) {
      waiting_.add(draft);
      begun_.push_back(result_.size());
    }
    result_.push_back(std::move(draft));
  }

  // All that was delayed.
  void release() {
    for (Draft& draft : std::exchange(delayed_, {})) emit(std::move(draft));
    waiting_ = {};
    for (size_t at : begun_) waiting_.add(result_[at]);
  }

  // The first so many of those that go on.
  void end_first(size_t count) {
    const size_t size = result_.size();
    for (size_t i = 0; i < count; ++i) {
      const size_t at = begun_[i];
      if (at + begun_.size() - i == size) continue;  // nothing but collectives would go on beside it
      result_[at].routine = "collective_begin";
      result_.push_back(end_of(result_[at]));
    }
    begun_.erase(begun_.begin(), begun_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  std::vector<Draft> result_, delayed_;
  std::vector<size_t> begun_;  // places in `result_` of collectives that have not ended
  Touched waiting_;            // those and what is delayed
};

}  // namespace

void overlap_collectives(std::vector<Draft>& drafts) {
  if (std::ranges::none_of(drafts, is_collective)) return;
  hoist(drafts);
  Order order;
  for (Draft& draft : drafts) order.add(std::move(draft));
  drafts = order.finish();
}

}  // namespace weft
