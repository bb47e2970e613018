// Stencils along a line: loads a few elements apart, of which most cross cache lines and take twice as long. A vector
// of elements and the next hold what lies between them too: each is loaded once, and the others are put together from
// both.
#include <algorithm>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/kernel/schedule.h"
#include "weft/kernel/visit.h"

namespace weft {

// The loads of a loop in groups less than a vector apart, by their distance from the first of the group.
std::vector<KernelEmitter::Shifted> KernelEmitter::shifted_loads(const Stmt& loop, int lanes) const {
  if (!module_.target.avx512) return {};
  // Of one memory and index but for a constant: that, and the loads.
  struct Line {
    int32_t slot;
    Index index;
    std::vector<std::pair<int64_t, ExprId>> loads;
  };
  std::vector<Line> lines;
  visit_expressions(kernel_, roots_of(loop.body), [&](ExprId id, const Expr& e) {
    if (e.kind != ExprKind::load || e.mask != no_expr || !e.dynamic.empty() || size_of(e.dtype) * lanes != 64 ||
        is_complex(e.dtype))
      return;
    const Memory& memory = kernel_.memories[static_cast<size_t>(e.slot)];
    std::optional<Dim> step = coefficient(e.index, loop.counter);
    if (memory.written || memory.scratch || memory.dtype != e.dtype || !step || !step->is(1)) return;
    Index index = e.index - Dim(e.index.constant());
    auto line =
        std::ranges::find_if(lines, [&](const Line& other) { return other.slot == e.slot && other.index == index; });
    if (line == lines.end()) line = lines.insert(line, {e.slot, index, {}});
    line->loads.emplace_back(e.index.constant(), id);
  });
  std::vector<Shifted> groups;
  for (Line& line : lines) {
    std::ranges::sort(line.loads);
    for (size_t from = 0, to = 0; from < line.loads.size(); from = to) {
      auto [first, id] = line.loads[from];
      Shifted group{id, {}, {}};
      for (; to < line.loads.size() && line.loads[to].first - first < lanes; ++to)
        group.others.emplace_back(line.loads[to].second, line.loads[to].first - first);
      if (group.others.size() > 1) groups.push_back(std::move(group));
    }
  }
  return groups;
}

// The loop, where it has such loads, up to its last vector before `middle`, which must not load what comes behind it.
// Gives where it ends.
std::string KernelEmitter::shifted_part(const Stmt& loop, const std::string& middle, int lanes,
                                        std::map<int32_t, Ssa>& sums) {
  std::vector<Shifted> groups = shifted_loads(loop, lanes);
  if (groups.empty() || module_.takes_less(price_of(loop.body))) return "0";
  std::string some = label("some"), done = label("done"), before = assign(cat("sub i64 ", middle, ", ", lanes)),
              end = fresh("end");
  std::string is_some = assign(cat("icmp sgt i64 ", before, ", 0"));
  line(cat(end, " = select i1 ", is_some, ", i64 ", before, ", i64 0"));
  line(cat("br i1 ", is_some, ", label %", some, ", label %", done));
  append(*out, some, ":\n");
  in_block([&] { shifted_ = std::move(groups), vector_part(loop, "0", end, 1, false, lanes, sums); });
  append(*out, "  br label %", done, "\n", done, ":\n");
  return end;
}

// What the first turn begins with.
void KernelEmitter::open_shifted(std::vector<Shifted>& groups, const Lanes& lanes, const std::string& begin) {
  for (Shifted& group : groups) group.now = lanes_at(group.first, lanes, begin);
}

// In the head of the loop: the lanes of this turn, which the one before loaded.
void KernelEmitter::carry_shifted(std::vector<Shifted>& groups, int lanes, const std::string& before,
                                  const std::string& latch) {
  for (Shifted& group : groups) {
    std::string type = lanes_type(register_type(kernel_.exprs[static_cast<size_t>(group.first)].dtype), lanes),
                now = fresh("shifted");
    line(cat(now, " = phi ", type, " [", group.now, ", %", before, "], [", now, ".next, %", latch, "]"));
    group.now = now;
  }
}

// In the loop's body, in a scope of its own: loads the lanes that follow, from `next` on, and gives all of the group.
void KernelEmitter::take_shifted(const std::vector<Shifted>& groups, const Lanes& lanes, const std::string& next) {
  for (const Shifted& group : groups) {
    std::string type = lanes_type(register_type(kernel_.exprs[static_cast<size_t>(group.first)].dtype), lanes.count);
    std::string after = lanes_at(group.first, lanes, next);
    line(cat(group.now, ".next = select i1 true, ", type, " ", after, ", ", type, " ", after));
    for (const auto& [id, by] : group.others) {
      std::string value = group.now;
      if (by) value = shuffled(type, group.now, after, lanes.count, [by = by](int i) { return by + i; });
      scopes_.back().values[id] = {{value, {}, true}, {}};
    }
  }
}

}  // namespace weft
