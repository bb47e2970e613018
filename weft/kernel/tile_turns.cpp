// Loops over stencils: a turn writes rows from rows near them, so that turns may follow each other through a few rows
// at a time and find them in cache. How far apart two turns have to be is found here, from the places that kernels read
// and write.
#include <algorithm>
#include <map>
#include <set>

#include "weft/core/pages.h"
#include "weft/kernel/lower.h"
#include "weft/kernel/plan.h"
#include "weft/kernel/schedule.h"

namespace weft {
namespace {

constexpr int64_t least_trips = 4;

int64_t floor_of(int64_t value, int64_t by) { return value >= 0 ? value / by : -((-value + by - 1) / by); }

// The largest number that a counter is divided by: items of that many lie in one row.
void find_unit(const Dim& index, const std::string& counter, int64_t& unit) {
  for (const Dim::Term& term : index.terms())
    for (const auto& atom : term.atoms) {
      if (atom->op == DimOp::symbol || !uses_counter(dim_of_atom(*atom), counter)) continue;
      bool divides = (atom->op == DimOp::floordiv || atom->op == DimOp::mod) && atom->operands[1].is_static();
      if (divides) unit = std::max(unit, atom->operands[1].value());
      for (const Dim& operand : atom->operands) find_unit(operand, counter, unit);
    }
}

class TilingFinder {
 public:
  TilingFinder(const Program& program, const Launch& loop) : program_(program), loop_(loop) {}

  // Nothing where the turns must be taken one by one.
  std::optional<Tiling> find() {
    if (loop_.independent || loop_.until || loop_.trips.opt() < least_trips || loop_.blocks[0].launches.empty())
      return std::nullopt;
    for (const Launch& launch : loop_.blocks[0].launches)
      if (!is_plain(launch)) return std::nullopt;
    for (const Launch& launch : loop_.blocks[0].launches) note_written(launch);
    if (overlap()) return std::nullopt;
    int64_t rows = 0;
    for (const Launch& launch : loop_.blocks[0].launches) {
      if (!add(launch)) return std::nullopt;
      rows = std::max(rows, tiling_.rows.back().first +
                                (launch.parallel.value() + tiling_.rows.back().unit - 1) / tiling_.rows.back().unit);
    }
    for (const auto& [region, bytes] : row_bytes_) tiling_.row_bytes += bytes;
    find_reach();
    // What a core's own cache holds from turn to turn needs no tiles; whether several threads' caches do is seen at run
    // time.
    return rows * tiling_.row_bytes > own_cache ? std::optional<Tiling>(std::move(tiling_)) : std::nullopt;
  }

 private:
  const Kernel& kernel_of(const Launch& launch) const { return program_.kernels[static_cast<size_t>(launch.kernel)]; }

  // A kernel that is one parallel loop, the same in every turn.
  bool is_plain(const Launch& launch) const {
    if (launch.kind != LaunchKind::kernel || !launch.parallel.is_static()) return false;
    const Kernel& kernel = kernel_of(launch);
    bool is_parallel = !kernel.dot && kernel.body.size() == 1 && kernel.body[0].kind == StmtKind::loop &&
                       kernel.body[0].loop == LoopKind::parallel;
    return is_parallel &&
           std::ranges::none_of(launch.symbols, [&](const Dim& value) { return uses_counter(value, loop_.counter); });
  }

  // What memory a buffer is: those that lie in one place are one.
  int32_t region(int32_t buffer) const {
    const BufferPlan& plan = program_.buffers[static_cast<size_t>(buffer)];
    for (int32_t other = 0; other < buffer; ++other) {
      const BufferPlan& before = program_.buffers[static_cast<size_t>(other)];
      if (before.place == plan.place && before.index == plan.index && before.offset == plan.offset)
        return region(other);
      if (is_aliased(program_, plan, before)) return region(other);
    }
    return buffer;
  }

  // The buffer of a memory that is no scratch.
  static int32_t buffer_of(const Kernel& kernel, const Launch& launch, int32_t slot) {
    auto scratch = std::count_if(kernel.memories.begin(), kernel.memories.begin() + slot,
                                 [](const Memory& memory) { return memory.scratch != 0; });
    return launch.buffers[static_cast<size_t>(slot - scratch)];
  }

  void note_written(const Launch& launch) {
    const Kernel& kernel = kernel_of(launch);
    for (size_t i = 0; i < kernel.memories.size(); ++i) {
      if (kernel.memories[i].scratch) continue;
      int32_t id = region(buffer_of(kernel, launch, static_cast<int32_t>(i)));
      regions_.insert(id);
      if (kernel.memories[i].written) written_.insert(id);
    }
  }

  // Whether two of them share some memory: what lies there in turn would lie there at once.
  bool overlap() const {
    for (int32_t a : regions_)
      for (int32_t b : regions_) {
        const BufferPlan &x = program_.buffers[static_cast<size_t>(a)], &y = program_.buffers[static_cast<size_t>(b)];
        bool may_share = a < b && x.place == y.place && (x.place == Place::arena || x.place == Place::turn);
        if (may_share && !known_at_most(x.offset + x.bytes, y.offset) && !known_at_most(y.offset + y.bytes, x.offset))
          return true;
      }
    return false;
  }

  bool add(const Launch& launch) {
    const Kernel& kernel = kernel_of(launch);
    int64_t unit = 1;
    for (const Expr& e : kernel.exprs) find_unit(e.index, ".p", unit);
    find_unit_of_stores(kernel.body, unit);
    Dim rows = ceildiv(launch.parallel, unit);
    row_ = counter_dim(".q", rows) * Dim(unit) + counter_dim(".w", unit);
    size_t before = touches_.size();
    std::vector<std::pair<int32_t, Index>> stored;
    if (!add_stores(kernel, launch, kernel.body, stored) || stored.empty()) return false;
    int64_t first = std::ranges::min_element(touches_.begin() + static_cast<std::ptrdiff_t>(before), touches_.end(), {},
                                             &Touch::low)
                        ->low;
    for (const Expr& e : kernel.exprs) {
      if (e.kind != ExprKind::load || kernel.memories[static_cast<size_t>(e.slot)].scratch) continue;
      int32_t from = region(buffer_of(kernel, launch, e.slot));
      if (!written_.count(from)) {
        add_bytes(kernel, e, from);
        continue;
      }
      // What it writes itself it may read in the same place.
      auto is_here = [&](const auto& store) { return store.first == from; };
      bool in_place =
          std::ranges::all_of(stored, [&](const auto& store) { return !is_here(store) || store.second == e.index; });
      if (!in_place || !e.dynamic.empty() || !touch(kernel, e.slot, from, e.index, false)) return false;
    }
    for (size_t i = before; i < touches_.size(); ++i) {
      touches_[i].low -= first;
      touches_[i].high -= first;
    }
    tiling_.rows.push_back({unit, first});
    return true;
  }

  static void find_unit_of_stores(const std::vector<Stmt>& body, int64_t& unit) {
    for (const Stmt& stmt : body) {
      find_unit(stmt.index, ".p", unit);
      find_unit_of_stores(stmt.body, unit);
    }
  }

  bool add_stores(const Kernel& kernel, const Launch& launch, const std::vector<Stmt>& body,
                  std::vector<std::pair<int32_t, Index>>& stored) {
    for (const Stmt& stmt : body) {
      if (stmt.kind == StmtKind::barrier_accumulate || !add_stores(kernel, launch, stmt.body, stored)) return false;
      if (stmt.kind != StmtKind::store || kernel.memories[static_cast<size_t>(stmt.slot)].scratch) continue;
      stored.emplace_back(region(buffer_of(kernel, launch, stmt.slot)), stmt.index);
      if (!stmt.dynamic.empty() || !touch(kernel, stmt.slot, stored.back().first, stmt.index, true)) return false;
    }
    return true;
  }

  // Notes the rows of memory, counted from the kernel's row, that an index may lie in. False where they are not so many
  // for each.
  bool touch(const Kernel& kernel, int32_t slot, int32_t id, const Index& index, bool writes) {
    Index at = index.substitute({{".p", row_}});
    std::optional<Dim> pitch = coefficient(at, ".q");
    if (!pitch || !pitch->is_static() || pitch->value() <= 0) return false;
    int64_t elements = pitch->value();
    if (pitches_.emplace(id, elements).first->second != elements) return false;
    row_bytes_[id] = elements * size_of(kernel.memories[static_cast<size_t>(slot)].dtype);
    Index within = at.substitute({{".q", Dim(0)}});
    touches_.push_back({id, floor_of(within.min(), elements), floor_of(within.max(), elements), writes});
    return true;
  }

  // Two that touch one row, one of them to write it, are that far apart at most.
  void find_reach() {
    for (const Touch& a : touches_)
      for (const Touch& b : touches_)
        if (a.region == b.region && (a.writes || b.writes))
          tiling_.reach = std::max({tiling_.reach, a.high - b.low, b.high - a.low});
  }

  void add_bytes(const Kernel& kernel, const Expr& e, int32_t id) {
    std::optional<Dim> pitch = coefficient(e.index.substitute({{".p", row_}}), ".q");
    if (pitch && pitch->is_static())
      row_bytes_[id] = std::abs(pitch->value()) * size_of(kernel.memories[static_cast<size_t>(e.slot)].dtype);
  }

  // Rows of memory that a kernel's row reads or writes, counted from the first that it writes.
  struct Touch {
    int32_t region;
    int64_t low, high;
    bool writes;
  };

  const Program& program_;
  const Launch& loop_;
  Tiling tiling_;
  Dim row_;
  std::vector<Touch> touches_;
  std::set<int32_t> regions_, written_;
  std::map<int32_t, int64_t> pitches_, row_bytes_;
};

void find_tilings(const Program& program, std::vector<Launch>& launches) {
  for (Launch& launch : launches) {
    if (launch.kind == LaunchKind::count) launch.tiling = TilingFinder(program, launch).find();
    for (LaunchBlock& block : launch.blocks) find_tilings(program, block.launches);
  }
}

}  // namespace

void tile_turns(Program& program) { find_tilings(program, program.run); }

}  // namespace weft
