// How many lanes a vector loop has, how many vectors are computed side by side, and how sums of them become one.
#include <algorithm>
#include <utility>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/codegen/llvm/math.h"
#include "weft/core/extreme.h"
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
    has_turns |= changed > 0;
    registers += static_cast<int>(changed);
    visit_expressions(kernel_, roots_of(turns.body), [&](ExprId id, const Expr& e) {
      if (e.kind == ExprKind::scalar && is_float(e.dtype) && is_inline_function(weft::name(e.op), module_.target))
        most = 1;
      const std::set<std::string>& counters = depends_[static_cast<size_t>(id)];
      if (e.kind != ExprKind::load || !counters.count(loop.counter)) return;
      ++registers;
      is_steady &= !counters.count(turns.counter);
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

Ssa KernelEmitter::neutral(Scalar op, DType dtype, int lanes) {
  Literal value(Type{dtype, {}});
  bool whole = is_integer(dtype);
  switch (op) {
    case Scalar::multiply:
      value = Literal::scalar(dtype, 1);
      break;
    case Scalar::maximum:
    case Scalar::minimum: {
      bool low = op == Scalar::maximum;
      if (is_bool(dtype))
        value = Literal::scalar(dtype, low ? 0 : 1);
      else if (whole && is_unsigned(dtype))
        value = low ? Literal::scalar_int(dtype, 0) : Literal::scalar_int(dtype, -1);
      else if (whole)
        value = Literal::scalar_int(dtype, low ? int64_t{-1} << (bit_width(dtype) - 1)
                                               : static_cast<int64_t>(~(~uint64_t{0} << (bit_width(dtype) - 1))));
      else
        value = Literal::scalar(dtype, extreme_number(dtype, low));
      break;
    }
    case Scalar::bit_and:
      value = is_bool(dtype) ? Literal::scalar(dtype, 1) : Literal::scalar_int(dtype, -1);
      break;
    default:
      break;
  }
  std::string element = register_type(dtype);
  Ssa result{constant_text(dtype, value), is_complex(dtype) ? constant_text(dtype, value, true) : std::string(), false};
  if (lanes == 1) return result;
  result.re = splat(element, result.re, lanes);
  if (is_complex(dtype)) result.im = splat(element, result.im, lanes);
  result.vector = true;
  return result;
}

Ssa KernelEmitter::combine(Scalar op, DType dtype, const Ssa& a, const Ssa& b) {
  Expr e;
  e.kind = ExprKind::scalar;
  e.op = op;
  e.dtype = dtype;
  bool vector = a.vector || b.vector;
  if (is_complex(dtype)) return complex_scalar(e, {a, b}, vector ? lanes_.count : 1);
  int lanes = vector ? lanes_.count : 1;
  std::string args[2] = {a.re, b.re};
  std::string value = is_float(dtype) ? small_scalar(op, dtype, args, lanes) : integer_scalar(op, dtype, args, lanes);
  return {value, {}, vector};
}

// Halves the lanes until `left` are left: a tree that depends on their number only.
Ssa KernelEmitter::across(Scalar op, DType dtype, Ssa value, int lanes, int left) {
  int saved = lanes_.count;
  std::string element = register_type(dtype);
  if ((op == Scalar::maximum || op == Scalar::minimum) && is_integer(dtype) && bit_width(dtype) == 16 && left == 1) {
    std::string type = lanes_type(element, lanes);
    std::string name = cat("@llvm.vector.reduce.", is_unsigned(dtype) ? "u" : "s",
                           op == Scalar::maximum ? "max" : "min", ".v", lanes, element);
    module_.declare(cat("declare ", element, " ", name, "(", type, ")"));
    return {assign(cat("call ", element, " ", name, "(", type, " ", value.re, ")")), {}, false};
  }
  auto half = [&](const std::string& v, int from, bool upper) {
    return part_of(v, element, from, upper ? from / 2 : 0, from / 2);
  };
  for (int n = lanes; n > left; n /= 2) {
    if (n == 2) {
      auto pick = [&](const std::string& v, int i) {
        return assign(cat("extractelement <2 x ", element, "> ", v, ", i64 ", i));
      };
      Ssa low{pick(value.re, 0), is_complex(dtype) ? pick(value.im, 0) : std::string(), false};
      Ssa high{pick(value.re, 1), is_complex(dtype) ? pick(value.im, 1) : std::string(), false};
      lanes_.count = 1;
      value = combine(op, dtype, low, high);
      break;
    }
    Ssa low{half(value.re, n, false), is_complex(dtype) ? half(value.im, n, false) : std::string(), true};
    Ssa high{half(value.re, n, true), is_complex(dtype) ? half(value.im, n, true) : std::string(), true};
    lanes_.count = n / 2;
    value = combine(op, dtype, low, high);
  }
  lanes_.count = saved;
  value.vector = left > 1;
  return value;
}

// The first `count` lanes, one after the other.
Ssa KernelEmitter::in_order(Scalar op, DType dtype, const Ssa& value, int lanes, int64_t count) {
  int saved = std::exchange(lanes_.count, 1);
  std::string type = lanes_type(register_type(dtype), lanes);
  auto lane = [&](const std::string& v, int64_t i) {
    return v.empty() ? v : assign(cat("extractelement ", type, " ", v, ", i64 ", i));
  };
  Ssa total{lane(value.re, 0), lane(value.im, 0), false};
  for (int64_t i = 1; i < count; ++i) total = combine(op, dtype, total, {lane(value.re, i), lane(value.im, i), false});
  lanes_.count = saved;
  return total;
}

// NumPy adds up to seven floats one after the other, and four complex numbers in pairs (its pairwise sum).
bool KernelEmitter::is_in_order(Scalar op, DType dtype, const Dim& count) {
  if ((op != Scalar::add && op != Scalar::multiply) || !count.is_static() || count.value() < 1) return false;
  return is_complex(dtype) ? count.value() < 4 : is_float(dtype) && count.value() < 8;
}

// The sum of the lanes is added to what the variable was before the loop.
void KernelEmitter::take_total(int32_t slot, Scalar op, const Ssa& lanes, int count, const Dim& elements) {
  DType dtype = kernel_.variables[static_cast<size_t>(slot)].dtype;
  Ssa total = is_in_order(op, dtype, elements) ? in_order(op, dtype, lanes, count, elements.value())
                                               : across(op, dtype, lanes, count, 1);
  variables_[slot] = combine(op, dtype, variables_.at(slot), total);
}

}  // namespace weft
