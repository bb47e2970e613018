// How many lanes a vector loop has, and how many vectors are computed side by side.
#include <algorithm>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/codegen/llvm/math.h"
#include "weft/kernel/cost.h"
#include "weft/kernel/visit.h"

namespace weft {
namespace {

int64_t register_bytes(DType dtype) {
  if (is_bool(dtype)) return 1;
  if (is_float(dtype) && size_of(dtype) < 4) return 4;
  return size_of(real_type(dtype));
}

// How many values the loops inside carry from turn to turn, where there is one loop and none inside of it.
std::optional<int> totals_of(const std::vector<Stmt>& body) {
  int loops = 0, totals = 0;
  bool is_plain = true;
  for (const Stmt& stmt : body) {
    if (stmt.kind != StmtKind::loop) continue;
    ++loops;
    for (const Stmt& inner : stmt.body) {
      is_plain &= inner.kind != StmtKind::loop;
      totals += inner.kind == StmtKind::accumulate || inner.kind == StmtKind::assign;
    }
  }
  return loops == 1 && is_plain ? std::optional(totals) : std::nullopt;
}

}  // namespace

// Of one turn.
int64_t KernelEmitter::price_of(const std::vector<Stmt>& body) const {
  int64_t price = 0;
  visit_expressions(kernel_, roots_of(body), [&](ExprId, const Expr& e) { price += weft::price_of(e); });
  return price;
}

// Operations that wait for each other, from which on one vector leaves the machine idle.
constexpr int long_chain = 16;

int KernelEmitter::vectors_at_once(const std::vector<Stmt>& body) const {
  int rounds = 0, calls = 0, steps = 0, loads = 0;
  bool is_large = false;
  std::map<ExprId, int>
      depth;  // how many float operations wait for each other up to an expression; operands have lower numbers
  visit_expressions(kernel_, roots_of(body), [&](ExprId id, const Expr& e) {
    depth[id] = e.kind == ExprKind::scalar && is_float(e.dtype) ? 1 : 0;
    loads += e.kind == ExprKind::load;
    is_large |= e.kind == ExprKind::load && e.index.max() >= 1 << 20;
    if (e.kind != ExprKind::scalar || !is_float(e.dtype)) return;
    ++steps;
    calls += is_inline_function(weft::name(e.op), module_.target);
    bool is_rounded =
        e.op == Scalar::add || e.op == Scalar::subtract || e.op == Scalar::multiply || e.op == Scalar::convert;
    rounds += is_rounded && size_of(e.dtype) < 4 && !computes_halves(e.op, e.dtype);
  });
  int deepest = 0;
  for (auto& [id, above] : depth) {
    int below = 0;
    for (ExprId arg : kernel_.exprs[static_cast<size_t>(id)].args) below = std::max(below, depth[arg]);
    deepest = std::max(deepest, above += below);
  }
  if (!module_.target.fma) return 1;
  // As many vectors as registers hold with what they load and compute.
  int side_by_side = deepest < long_chain ? 1 : 8;
  while (side_by_side > 1 && side_by_side * (loads + 2) > module_.target.vector_registers) side_by_side /= 2;
  // Twice as many take longer to compile and need registers: one function of much.
  return calls == 1 && steps <= 16 && is_large && module_.target.avx512 ? 8
         : calls                                                        ? 4
         : rounds >= 8                                                  ? 8
                                                                        : side_by_side;
}

// How often a vector is doubled where turns take lanes from what they were and from what stays the same: a turn waits
// for the one before, so there are as many vectors side by side as registers hold. Nothing where there is no such loop
// inside.
std::optional<int> KernelEmitter::doublings_of_turns(const Stmt& loop) const {
  int most = 3, registers = 2;
  bool is_steady = true, has_turns = false;
  for (const Stmt& turns : loop.body) {
    if (turns.kind != StmtKind::loop) continue;
    auto changed = std::ranges::count_if(turns.body, [](const Stmt& stmt) { return stmt.kind == StmtKind::assign; });
    has_turns |= changed > 0, registers += static_cast<int>(changed);
    visit_expressions(kernel_, roots_of(turns.body), [&](ExprId id, const Expr& e) {
      if (e.kind == ExprKind::scalar && is_float(e.dtype) && is_inline_function(weft::name(e.op), module_.target))
        most = 1;
      const std::set<std::string>& counters = depends_[static_cast<size_t>(id)];
      if (e.kind != ExprKind::load || !counters.count(loop.counter)) return;
      ++registers, is_steady &= !counters.count(turns.counter);
    });
  }
  if (!has_turns || !is_steady) return std::nullopt;
  while (most > 0 && registers << most > module_.target.vector_registers) --most;
  return most;
}

// How often the vectors of a loop around other loops are doubled, as far as there are elements.
int KernelEmitter::doublings_over_rows(const Stmt& loop) const {
  if (std::optional<int> of_turns = doublings_of_turns(loop)) return *of_turns;
  if (vectors_at_once(loop.body) > 1) return 1;
  std::optional<int> totals = totals_of(loop.body);
  // The vectors of one total, or of many, may take half of the registers.
  if (std::ranges::all_of(loop.body, [&](const Stmt& s) { return s.kind != StmtKind::loop || is_short(s); })) return 2;
  if (totals != 1) return totals.value_or(0) * 8 > module_.target.vector_registers ? 1 : 2;
  return module_.target.vector_registers == 32 && !has_digits(loop.body) ? 4 : 3;
}

// Loops of a few short turns for each vector: the machine would find their end too late, and each turn would wait for
// the one before.
bool KernelEmitter::is_short(const Stmt& loop) const {
  constexpr int64_t most_turns = 8, most_work = 64;
  bool has_loops = std::ranges::any_of(loop.body, [](const Stmt& stmt) { return stmt.kind == StmtKind::loop; });
  if (has_loops || !loop.extent.is_static() || loop.extent.value() > most_turns) return false;
  return loop.extent.value() * price_of(loop.body) <= most_work;
}

void KernelEmitter::written_out(const Stmt& loop) {
  hoist(loop.body, loop.counter);
  for (int64_t turn = 0; turn < loop.extent.value(); ++turn) {
    scopes_.emplace_back();
    counters_[loop.counter] = cat(turn);
    statements(loop.body);
    scopes_.pop_back();
  }
  counters_.erase(loop.counter);
}

int KernelEmitter::lanes_for(const std::vector<Stmt>& body) const {
  if (stays_in_halves(body)) return module_.target.vector_bytes / static_cast<int>(size_of(DType::f16));
  // The widest element that is loaded, stored or summed decides; indices only where there is nothing else.
  int64_t widest = 0;
  std::vector<const std::vector<Stmt>*> stack{&body};
  auto consider = [&](ExprId root) {
    visit_expressions(kernel_, {root}, [&](ExprId, const Expr& e) {
      if (e.kind == ExprKind::load || is_float(e.dtype) || is_complex(e.dtype))
        widest = std::max(widest, register_bytes(e.dtype));
    });
  };
  while (!stack.empty()) {
    const std::vector<Stmt>* level = stack.back();
    stack.pop_back();
    for (const Stmt& stmt : *level) {
      stack.push_back(&stmt.body);
      if (stmt.kind == StmtKind::loop) continue;
      consider(stmt.expr);
      if (stmt.kind == StmtKind::store)
        widest = std::max(widest, register_bytes(kernel_.memories[static_cast<size_t>(stmt.slot)].dtype));
    }
  }
  if (widest == 0) widest = 8;
  return static_cast<int>(std::clamp<int64_t>(module_.target.vector_bytes / widest, 2, 32));
}

}  // namespace weft
