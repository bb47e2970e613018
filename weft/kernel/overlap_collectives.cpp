#include "weft/kernel/overlap_collectives.h"

#include <algorithm>
#include <set>

#include "weft/library/collective.h"

namespace weft {
namespace {

bool is_collective(const Draft& draft) {
  return draft.kind == LaunchKind::routine && draft.routine == "collective" && !draft.setup;
}

// The buffers that a launch reads and those that it writes; of what is not known to read only, all are both.
struct Uses {
  std::set<BufferId> read, written;

  void add(const Draft& draft) {
    size_t next = 0;
    if (draft.kind == LaunchKind::kernel) {
      for (const Memory& memory : draft.kernel.memories)
        if (memory.scratch == 0) add(draft.buffers[next++], memory.written);
    } else {
      for (BufferId id : draft.buffers)
        add(id, draft.kind != LaunchKind::routine || !is_collective(draft) || next++ >= draft.operands);
    }
  }
  void add(BufferId id, bool is_written) {
    read.insert(id);
    if (is_written) written.insert(id);
  }
  bool conflicts(const Uses& other) const {
    auto meet = [](const std::set<BufferId>& a, const std::set<BufferId>& b) {
      return std::ranges::any_of(a, [&](BufferId id) { return b.contains(id); });
    };
    return meet(written, other.read) || meet(read, other.written);
  }
};

Uses uses_of(const Draft& draft) {
  Uses uses;
  uses.add(draft);
  return uses;
}

bool is_kernel(const Draft& draft) {
  return draft.kind == LaunchKind::kernel && !draft.setup && !draft.copies && draft.checks.empty();
}

}  // namespace

void overlap_collectives(std::vector<Draft>& drafts) {
  for (size_t begin = 0; begin < drafts.size(); ++begin) {
    if (!is_collective(drafts[begin]) || !drafts[begin].numbers.back().is(ProgramCollective::at_once)) continue;
    const Uses exchanged = uses_of(drafts[begin]);
    // What has to stay behind the end, and where that is.
    Uses behind = exchanged;
    size_t end = begin + 1;
    bool has_ended = false;
    for (size_t i = end; i < drafts.size(); ++i) {
      Uses own = uses_of(drafts[i]);
      bool is_free = !own.conflicts(behind);
      if (is_free && !has_ended && !drafts[i].setup) {
        ++end;
      } else if (is_free && is_kernel(drafts[i])) {
        auto at = drafts.begin() + static_cast<std::ptrdiff_t>(i);
        std::rotate(drafts.begin() + static_cast<std::ptrdiff_t>(end), at, at + 1);
        ++end;
      } else {
        has_ended = true;
        behind.add(drafts[i]);
      }
    }
    auto first = drafts.begin() + static_cast<std::ptrdiff_t>(begin);
    if (std::none_of(first + 1, drafts.begin() + static_cast<std::ptrdiff_t>(end), is_kernel)) continue;
    Draft wait = *first;
    first->numbers.back() = ProgramCollective::begins;
    wait.numbers.back() = ProgramCollective::ends;
    drafts.insert(drafts.begin() + static_cast<std::ptrdiff_t>(end), std::move(wait));
  }
}

}  // namespace weft
