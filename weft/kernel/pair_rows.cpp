// Two rows at a time: while one waits for what its sums came to, the machine goes on with the other.
#include <algorithm>

#include "weft/core/pages.h"
#include "weft/kernel/cost.h"
#include "weft/kernel/schedule.h"
#include "weft/kernel/visit.h"

namespace weft {
namespace {

constexpr int64_t few_rows = 64, long_row = 256;
// What two rows may take of the first-level cache.
constexpr int64_t cache_bytes = 24576;

class Pairing {
 public:
  Pairing(Kernel& kernel, const Dim& pairs) : kernel_(kernel), row_(counter_dim(".p", pairs) * Dim(2)) {}

  // The body does the even row; a copy with expressions, variables and scratch of its own the odd one. What is the same
  // for both is done once.
  void run(Stmt& parallel) {
    copy_variables();
    std::vector<Expr> exprs;
    for (size_t i = 0; i < kernel_.exprs.size(); ++i) {
      Expr e = kernel_.exprs[i];
      if (is_shared(e)) {
        odd_.push_back(static_cast<ExprId>(i));
        continue;
      }
      odd_.push_back(static_cast<ExprId>(kernel_.exprs.size() + exprs.size()));
      for (ExprId& arg : e.args) arg = odd_[static_cast<size_t>(arg)];
      move(e.mask, e.index, e.dynamic);
      if (e.kind == ExprKind::load) e.slot = memory_[static_cast<size_t>(e.slot)];
      if (e.kind == ExprKind::variable) e.slot += variables_;
      exprs.push_back(std::move(e));
    }
    std::vector<Stmt> body = parallel.body;
    move(body);
    substitute_counter(kernel_, ".p", row_);
    kernel_.exprs.insert(kernel_.exprs.end(), exprs.begin(), exprs.end());
    parallel.body = joined(parallel.body, body);
  }

 private:
  void copy_variables() {
    variables_ = static_cast<int32_t>(kernel_.variables.size());
    for (int32_t i = 0; i < variables_; ++i) kernel_.variables.push_back(kernel_.variables[static_cast<size_t>(i)]);
    size_t memories = kernel_.memories.size();
    for (size_t i = 0; i < memories; ++i) {
      Memory memory = kernel_.memories[i];
      memory_.push_back(static_cast<int32_t>(memory.scratch ? kernel_.memories.size() : i));
      if (!memory.scratch) continue;
      memory.name += "odd";
      kernel_.memories.push_back(memory);
    }
  }

  bool is_shared(const Expr& e) const {
    auto is_kept = [&](ExprId id) { return id == no_expr || odd_[static_cast<size_t>(id)] == id; };
    bool has_own = e.kind == ExprKind::variable ||
                   (e.kind == ExprKind::load && kernel_.memories[static_cast<size_t>(e.slot)].written);
    return !has_own && !uses_counter(e.index, ".p") && is_kept(e.mask) &&
           std::all_of(e.args.begin(), e.args.end(), is_kept) &&
           std::all_of(e.dynamic.begin(), e.dynamic.end(),
                       [&](const auto& at) { return is_kept(at.first) && !uses_counter(at.second, ".p"); });
  }

  void move(ExprId& mask, Index& index, std::vector<std::pair<ExprId, Index>>& dynamic) {
    const std::map<std::string, Dim, std::less<>> odd{{".p", row_ + Dim(1)}};
    if (mask != no_expr) mask = odd_[static_cast<size_t>(mask)];
    index = index.substitute(odd);
    for (auto& [id, stride] : dynamic) {
      id = odd_[static_cast<size_t>(id)];
      stride = stride.substitute(odd);
    }
  }

  void move(std::vector<Stmt>& body) {
    for (Stmt& stmt : body) {
      if (stmt.expr != no_expr) stmt.expr = odd_[static_cast<size_t>(stmt.expr)];
      move(stmt.mask, stmt.index, stmt.dynamic);
      if (stmt.kind == StmtKind::store)
        stmt.slot = memory_[static_cast<size_t>(stmt.slot)];
      else if (stmt.kind != StmtKind::loop)
        stmt.slot += variables_;
      move(stmt.body);
    }
  }

  // Whether both rows need the same narrow numbers, widened, which takes more than a load.
  bool widens_for_both(const std::vector<Stmt>& body) const {
    bool widens = false;
    visit_expressions(kernel_, roots_of(body), [&](ExprId id, const Expr& e) {
      if (odd_[static_cast<size_t>(id)] != id || e.op != Scalar::convert) return;
      const Expr& from = kernel_.exprs[static_cast<size_t>(e.args[0])];
      widens |= from.kind == ExprKind::load && size_of(from.dtype) < size_of(e.dtype);
    });
    return widens;
  }

  // Results go to memory a row after the other: two streams at once take longer, but for what they share.
  bool writes(const std::vector<Stmt>& body) const {
    return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) {
      return (stmt.kind == StmtKind::store && kernel_.memories[static_cast<size_t>(stmt.slot)].scratch == 0) ||
             writes(stmt.body);
    });
  }

  std::vector<Stmt> joined(const std::vector<Stmt>& even, const std::vector<Stmt>& odd) {
    std::vector<Stmt> both;
    for (size_t i = 0; i < even.size(); ++i) {
      both.push_back(even[i]);
      if (even[i].kind == StmtKind::loop && (!writes(even[i].body) || widens_for_both(even[i].body)))
        both.back().body = joined(even[i].body, odd[i].body);
      else
        both.push_back(odd[i]);
    }
    return both;
  }

  Kernel& kernel_;
  Dim row_;
  int32_t variables_ = 0;
  // Of the odd row, by those of the even one.
  std::vector<int32_t> memory_;
  std::vector<ExprId> odd_;
};

bool is_even(const std::vector<Stmt>& body) {
  return std::all_of(body.begin(), body.end(), [](const Stmt& stmt) {
    return stmt.kind != StmtKind::barrier_accumulate &&
           (stmt.kind != StmtKind::loop || !uses_counter(stmt.extent, ".p")) && is_even(stmt.body);
  });
}

bool stores_to(const std::vector<Stmt>& body, int32_t slot) {
  return std::ranges::any_of(body, [&](const Stmt& stmt) {
    return (stmt.kind == StmtKind::store && stmt.slot == slot) || stores_to(stmt.body, slot);
  });
}

// Whether what the memory gets is one value of each row.
bool takes_one(const Kernel& kernel, int32_t slot) {
  return std::ranges::none_of(kernel.body.front().body, [&](const Stmt& stmt) { return stores_to(stmt.body, slot); });
}

// Of what a pair reads, the next pair's that is fetched meanwhile, and what it writes. Values by row alone count in
// full. Results that go past the caches (stream.cpp) do not, where values worth keeping are computed: others wait for
// memory anyway.
int64_t bytes_of_pair(const Kernel& kernel, int64_t rows, int64_t length, bool writes_results) {
  std::map<int32_t, int64_t> read;
  for (const Expr& e : kernel.exprs)
    if (e.kind == ExprKind::load) read[e.slot] = std::max<int64_t>(read[e.slot], uses_counter(e.index, ".p") ? 4 : 1);
  int64_t bytes = 0, written = 0, all = 0;
  bool keeps = std::ranges::any_of(kernel.memories, [](const Memory& memory) { return memory.scratch > 0; });
  for (size_t i = 0; i < kernel.memories.size(); ++i) {
    const Memory& memory = kernel.memories[i];
    if (memory.written && takes_one(kernel, static_cast<int32_t>(i))) continue;
    int64_t row = length * size_of(memory.dtype), count = memory.written ? 2 : read[static_cast<int32_t>(i)];
    (memory.written && !memory.scratch ? written : bytes) += count * row;
    if (!memory.scratch && count > 1) all += rows * row;
  }
  return bytes + (writes_results && keeps && all >= beyond_caches ? 0 : written);
}

// Functions of long rows of narrow numbers keep the machine busy row by row: what they take is computed ahead of them
// (loop.cpp), for which a pair would leave too few registers.
bool runs_ahead(const Kernel& kernel, const Dim& length) {
  bool has_functions = false, is_narrow = length.max() >= long_row;
  for (const Stmt& loop : kernel.body.front().body)
    visit_expressions(kernel, roots_of(loop.body), [&](ExprId, const Expr& e) {
      has_functions |= is_float(e.dtype) && cost_of(e.op) > cost_of(Scalar::divide);
      is_narrow &= e.kind != ExprKind::load || kernel.memories[static_cast<size_t>(e.slot)].scratch != 0 ||
                   size_of(e.dtype) == 2;
    });
  return has_functions && is_narrow;
}

}  // namespace

void pair_rows(Kernel& kernel, Dim& parallel, const Dim& length, bool writes_results) {
  bool is_paired =
      parallel.is_static() && parallel.value() >= few_rows && parallel.value() % 2 == 0 && length.max() <= cache_bytes;
  if (!is_paired || kernel.body.size() != 1 || runs_ahead(kernel, length) || !is_even(kernel.body.front().body) ||
      bytes_of_pair(kernel, parallel.value(), length.max(), writes_results) > cache_bytes)
    return;
  Dim pairs = parallel.value() / 2;
  Pairing(kernel, pairs).run(kernel.body.front());
  kernel.body.front().extent = parallel = pairs;
}

}  // namespace weft
