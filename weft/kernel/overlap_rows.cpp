// Rows one behind the other: what divides by the sums of some rows runs beside the loop that adds up the next. A
// divider takes five times as long as an adder and needs nothing of what that loop does.
#include <algorithm>
#include <set>
#include <span>

#include "weft/kernel/cost.h"
#include "weft/kernel/draft.h"
#include "weft/kernel/schedule.h"
#include "weft/kernel/visit.h"

namespace weft {
namespace {

constexpr int64_t most_turns = 16, fewest_turns = 4, fewest_blocks = 32;
// Less, or twice that where rows are taken in pairs, is not worth the longer time to compile.
constexpr int64_t least_elements = 1 << 20;
constexpr int64_t most_kept = 32768;

class Overlap {
 public:
  Overlap(Kernel& kernel, int64_t blocks, int64_t turns)
      : kernel_(kernel),
        first_(counter_dim(".p", blocks) * Dim(turns)),
        turns_(turns),
        variables_(static_cast<int32_t>(kernel.variables.size())) {
    for (int32_t i = 0; i < variables_; ++i) kernel_.variables.push_back(kernel_.variables[static_cast<size_t>(i)]);
    for (Memory& memory : kernel_.memories) {
      length_.push_back(memory.scratch);
      memory.scratch *= 2;
    }
  }

  // Of the body up to `behind`, from where on loops divide. There is one copy of the sums: the first turn divides what
  // is left of other rows, and stores it where the next turn will store what is right.
  std::vector<Stmt> run(const std::vector<Stmt>& body, size_t behind) {
    Dim turn = counter_dim(".q", turns_);
    Row own = row(turn, mod(turn, 2), variables_), before = row(max(turn - Dim(1), 0), mod(turn + Dim(1), 2), 0);
    Row last = row(turns_ - 1, (turns_ - 1) % 2, 0);
    std::vector<Stmt> result, inside;
    for (size_t i = 0; i < behind; ++i) inside.push_back(copy(body[i], own));
    read_behind_.clear();
    std::vector<Stmt>& both = inside.back().body;
    for (size_t i = behind; i < body.size(); ++i)
      for (const Stmt& stmt : body[i].body) both.push_back(copy(stmt, before));
    for (int32_t slot : read_behind_) {
      inside.push_back(carry(slot));
      result.push_back(start(slot));
    }
    result.push_back(std::move(serial({{".q", turns_}}, std::move(inside)).front()));
    for (size_t i = behind; i < body.size(); ++i) {
      result.push_back(copy(body[i], last));
      result.back().unroll = 1;  // one row of many is worth little code
    }
    return result;
  }

 private:
  struct Row {
    std::map<std::string, Dim, std::less<>> place;
    Dim half;           // of scratch
    int32_t variables;  // how far on its own are
    std::map<ExprId, ExprId> known;
  };

  Row row(const Dim& index, const Dim& half, int32_t variables) {
    return {{{".p", first_ + index}}, half, variables, {}};
  }

  ExprId add(Expr e) {
    kernel_.exprs.push_back(std::move(e));
    return static_cast<ExprId>(kernel_.exprs.size() - 1);
  }

  // What the first turn divides by.
  Stmt start(int32_t slot) {
    Expr one;
    one.dtype = kernel_.variables[static_cast<size_t>(slot)].dtype;
    one.value = Literal::scalar(one.dtype, 1);
    return statement(StmtKind::define, slot, add(std::move(one)));
  }

  Stmt carry(int32_t slot) {
    Expr own;
    own.kind = ExprKind::variable;
    own.dtype = kernel_.variables[static_cast<size_t>(slot)].dtype;
    own.slot = slot + variables_;
    return statement(StmtKind::assign, slot, add(std::move(own)));
  }

  template <class Access>
  void move(Access& access, bool is_memory, Row& to) {
    access.index = access.index.substitute(to.place);
    if (is_memory) access.index = access.index + to.half * Dim(length_[static_cast<size_t>(access.slot)]);
    access.mask = copy(access.mask, to);
    for (auto& [from, stride] : access.dynamic) {
      from = copy(from, to);
      stride = stride.substitute(to.place);
    }
  }

  ExprId copy(ExprId id, Row& to) {
    if (id == no_expr || kernel_.exprs[static_cast<size_t>(id)].kind == ExprKind::constant) return id;
    if (auto found = to.known.find(id); found != to.known.end()) return found->second;
    Expr e = kernel_.exprs[static_cast<size_t>(id)];
    for (ExprId& arg : e.args) arg = copy(arg, to);
    move(e, e.kind == ExprKind::load, to);
    if (e.kind == ExprKind::variable) {
      read_behind_.insert(e.slot);
      e.slot += to.variables;
    }
    return to.known[id] = add(std::move(e));
  }

  Stmt copy(Stmt stmt, Row& to) {
    stmt.expr = copy(stmt.expr, to);
    move(stmt, stmt.kind == StmtKind::store, to);
    if (stmt.kind != StmtKind::store && stmt.kind != StmtKind::loop) stmt.slot += to.variables;
    for (Stmt& inner : stmt.body) inner = copy(std::move(inner), to);
    return stmt;
  }

  Kernel& kernel_;
  Dim first_;
  int64_t turns_;
  int32_t variables_;
  std::set<int32_t> read_behind_;
  std::vector<int64_t> length_;  // of scratch, by memory
};

// Whether a loop divides, and does nothing that takes even longer.
bool divides(const Kernel& kernel, const Stmt& loop) {
  bool found = false, has_functions = false;
  visit_expressions(kernel, roots_of(loop.body), [&](ExprId, const Expr& e) {
    if (e.kind != ExprKind::scalar || !is_float(e.dtype)) return;
    found |= e.op == Scalar::divide;
    has_functions |= cost_of(e.op) > cost_of(Scalar::divide);
  });
  return found && !has_functions;
}

// Whether a loop that divides, and stores where the last of the sums reads, may store too early: what it stores goes
// where that loop has read all it will, element by element, and it reads no rows but those kept in scratch.
bool may_store_early(const Kernel& kernel, const Stmt& sums, std::span<const Stmt> ends) {
  // Masks and positions that are values may read more.
  auto is_plain = [](const auto& access) { return access.mask == no_expr && access.dynamic.empty(); };
  auto is_row = [&](const Expr& e) {
    return e.kind == ExprKind::load && kernel.memories[static_cast<size_t>(e.slot)].scratch == 0 &&
           uses_counter(e.index, ".p");
  };
  bool early = true;
  std::vector<Index> stored;
  for (const Stmt& end : ends) {
    visit_expressions(kernel, roots_of(end.body), [&](ExprId, const Expr& e) { early &= is_plain(e) && !is_row(e); });
    for (const Stmt& stmt : end.body) {
      early &= is_plain(stmt);
      stored.push_back(stmt.index);
    }
  }
  visit_expressions(kernel, roots_of(sums.body), [&](ExprId, const Expr& e) {
    early &= is_plain(e) && (!is_row(e) || std::ranges::count(stored, e.index) != 0);
  });
  return early;
}

}  // namespace

void overlap_rows(Kernel& kernel, Dim& parallel, const Dim& length) {
  if (!parallel.is_static() || kernel.body.size() != 1 || (parallel * length).max() < least_elements) return;
  int64_t turns = most_turns;
  while (turns >= fewest_turns && (parallel.value() % turns != 0 || parallel.value() / turns < fewest_blocks))
    turns /= 2;
  std::vector<Stmt>& body = kernel.body.front().body;
  auto is_vector = [](const Stmt& stmt) {
    return stmt.kind == StmtKind::loop && stmt.loop == LoopKind::vector && !uses_counter(stmt.extent, ".p");
  };
  auto stores_result = [&](const Stmt& stmt) {
    return stmt.kind == StmtKind::store && kernel.memories[static_cast<size_t>(stmt.slot)].scratch == 0;
  };
  auto is_end = [&](const Stmt& stmt) {
    return is_vector(stmt) && std::ranges::all_of(stmt.body, stores_result) && divides(kernel, stmt);
  };
  auto is_begin = [&](const Stmt& stmt) {
    return stmt.kind == StmtKind::loop ? is_vector(stmt) && std::ranges::none_of(stmt.body, stores_result)
                                       : !stores_result(stmt);
  };
  size_t ends = 0;
  while (ends < body.size() && is_end(body[body.size() - 1 - ends])) ++ends;
  size_t at = body.size() - ends;  // behind the loop beside which they run
  // Where no values are worth keeping, rows wait for memory anyway, and longer for more of them at once.
  int64_t kept = 0;
  for (const Memory& memory : kernel.memories) kept = std::max(kept, memory.scratch * size_of(memory.dtype));
  bool has_both = kept > 0 && kept <= most_kept && ends > 0 && at > 0 && is_vector(body[at - 1]) &&
                  body[at - 1].extent == body[at].extent;
  if (turns < fewest_turns || !has_both || !may_store_early(kernel, body[at - 1], std::span(body).subspan(at)) ||
      !std::all_of(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(at), is_begin))
    return;
  parallel = parallel.value() / turns;
  body = Overlap(kernel, parallel.value(), turns).run(body, at);
  kernel.body.front().extent = parallel;
}

}  // namespace weft
