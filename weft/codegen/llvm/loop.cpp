// Statements: loops, lanes, sums and stores.
#include <algorithm>
#include <bit>
#include <utility>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/codegen/llvm/math.h"
#include "weft/core/error.h"
#include "weft/core/pages.h"
#include "weft/kernel/schedule.h"
#include "weft/kernel/visit.h"

namespace weft {
namespace {

void collect_changed(const std::vector<Stmt>& body, std::set<int32_t>& changed) {
  for (const Stmt& stmt : body) {
    if (stmt.kind == StmtKind::define || stmt.kind == StmtKind::accumulate || stmt.kind == StmtKind::assign)
      changed.insert(stmt.slot);
    collect_changed(stmt.body, changed);
  }
}

void collect_defined(const std::vector<Stmt>& body, std::set<int32_t>& defined) {
  for (const Stmt& stmt : body) {
    if (stmt.kind == StmtKind::define) defined.insert(stmt.slot);
    collect_defined(stmt.body, defined);
  }
}

// Variables that a loop changes and that live outside of it, with the operation.
void collect_sums(const std::vector<Stmt>& body, const std::set<int32_t>& inside, std::map<int32_t, Scalar>& sums) {
  for (const Stmt& stmt : body) {
    if (stmt.kind == StmtKind::accumulate && !inside.count(stmt.slot)) sums[stmt.slot] = stmt.op;
    if (stmt.kind == StmtKind::assign && !inside.count(stmt.slot)) sums[stmt.slot] = Scalar::none;
    collect_sums(stmt.body, inside, sums);
  }
}

}  // namespace

void KernelEmitter::statements(const std::vector<Stmt>& body) {
  for (const Stmt& stmt : body) statement(stmt);
}

void KernelEmitter::statement(const Stmt& stmt) {
  auto in_lanes = [&] {
    Ssa value = expr(stmt.expr);
    DType dtype = kernel_.variables[static_cast<size_t>(stmt.slot)].dtype;
    return lanes_.count == 1 || value.vector
               ? value
               : Ssa{as_vector(value, dtype), is_complex(dtype) ? as_vector(value, dtype, true) : "", true};
  };
  switch (stmt.kind) {
    case StmtKind::loop:
      if (stmt.loop == LoopKind::parallel) {
        keep_steady(stmt);
        return serial_loop(stmt, "%begin", "%end");
      }
      if (stmt.loop == LoopKind::vector) return vector_loop(stmt);
      if (stmt.loop == LoopKind::lines) return lines_loop(stmt);
      if (lanes_.count > 1 && lanes_.mask.empty())
        if (std::optional<Lines> lines = lines_of(stmt, lanes_.counter); lines && lines->has_blocks())
          return block_loop(stmt, *lines);
      return lanes_.count > 1 && is_short(stmt) && !module_.takes_less(price_of(stmt.body))
                 ? written_out(stmt)
                 : serial_loop(stmt, "0", extent(stmt.extent));
    case StmtKind::define:
    case StmtKind::assign:
      variables_[stmt.slot] = in_lanes();
      return;
    case StmtKind::accumulate: {
      DType dtype = kernel_.variables[static_cast<size_t>(stmt.slot)].dtype;
      if (by_bytes_ && stmt.op == Scalar::add) {
        variables_[stmt.slot] = add_products(variables_.at(stmt.slot), stmt.expr);
        return;
      }
      Ssa value = in_lanes();
      // A maximum looks for NaN in its first operand: what is new there keeps the test off the path from turn to turn.
      bool is_extreme = stmt.op == Scalar::maximum || stmt.op == Scalar::minimum;
      const Ssa& total = variables_.at(stmt.slot);
      variables_[stmt.slot] =
          is_extreme ? combine(stmt.op, dtype, value, total) : combine(stmt.op, dtype, total, value);
      return;
    }
    case StmtKind::store:
    case StmtKind::barrier_accumulate:
      return store(stmt);
  }
}

// Emits what the loop needs but does not change before it.
void KernelEmitter::hoist(const std::vector<Stmt>& body, const std::string& counter) {
  std::set<int32_t> changed;
  collect_changed(body, changed);
  std::set<ExprId> seen;
  std::vector<const std::vector<Stmt>*> stack{&body};
  while (!stack.empty()) {
    const std::vector<Stmt>* level = stack.back();
    stack.pop_back();
    for (const Stmt& stmt : *level) {
      stack.push_back(&stmt.body);
      std::vector<ExprId> roots{stmt.expr, stmt.mask};
      for (const auto& [id, stride] : stmt.dynamic) roots.push_back(id);
      for (ExprId id : roots) hoist(id, counter, changed, seen);
    }
  }
}

void KernelEmitter::hoist(ExprId id, const std::string& counter, const std::set<int32_t>& changed,
                          std::set<ExprId>& seen) {
  if (id == no_expr || !seen.insert(id).second) return;
  const auto& counters = depends_[static_cast<size_t>(id)];
  const auto& read = reads_variables_[static_cast<size_t>(id)];
  bool bound = std::all_of(counters.begin(), counters.end(),
                           [&](const std::string& name) { return name != counter && counters_.count(name); });
  bool steady = std::none_of(read.begin(), read.end(),
                             [&](int32_t slot) { return changed.count(slot) || !variables_.count(slot); });
  const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
  // Memory that the kernel writes may change inside the loop.
  bool reads_written = e.kind == ExprKind::load && kernel_.memories[static_cast<size_t>(e.slot)].written;
  if (bound && steady && !reads_written) {
    bool clean = true;
    std::vector<ExprId> stack{id};
    std::set<ExprId> inside;
    while (!stack.empty() && clean) {
      ExprId next = stack.back();
      stack.pop_back();
      if (!inside.insert(next).second) continue;
      const Expr& at = kernel_.exprs[static_cast<size_t>(next)];
      if (at.kind == ExprKind::load && kernel_.memories[static_cast<size_t>(at.slot)].written) clean = false;
      for (ExprId arg : at.args) stack.push_back(arg);
      for (const auto& [d, stride] : at.dynamic) stack.push_back(d);
      if (at.mask != no_expr) stack.push_back(at.mask);
    }
    if (clean) {
      expr(id);
      return;
    }
  }
  for (ExprId arg : e.args) hoist(arg, counter, changed, seen);
  for (const auto& [d, stride] : e.dynamic) hoist(d, counter, changed, seen);
  hoist(e.mask, counter, changed, seen);
}

void KernelEmitter::serial_loop(const Stmt& loop, const std::string& begin, const std::string& end, int step,
                                const std::function<void()>& turns) {
  hoist(loop.body, loop.counter);
  std::set<int32_t> inside;
  collect_defined(loop.body, inside);
  std::map<int32_t, Scalar> sums;
  collect_sums(loop.body, inside, sums);
  std::string before = label("before"), head = label("head"), body = label("body"), done = label("done"),
              latch = label("latch");
  line(cat("br label %", before));
  append(*out, before, ":\n");
  line(cat("br label %", head));
  append(*out, head, ":\n");
  std::string i = fresh("i"), next = fresh("next");
  line(cat(i, " = phi i64 [", begin, ", %", before, "], [", next, ", %", latch, "]"));
  std::map<int32_t, Ssa> phis;
  for (const auto& [slot, op] : sums) {
    DType dtype = kernel_.variables[static_cast<size_t>(slot)].dtype;
    Ssa first = variables_.at(slot);
    std::string type = lanes_type(register_type(dtype), first.vector ? lanes_.count : 1);
    Ssa phi{fresh("sum"), is_complex(dtype) ? fresh("sum") : std::string(), first.vector};
    line(cat(phi.re, " = phi ", type, " [", first.re, ", %", before, "], [", phi.re, ".next, %", latch, "]"));
    if (is_complex(dtype))
      line(cat(phi.im, " = phi ", type, " [", first.im, ", %", before, "], [", phi.im, ".next, %", latch, "]"));
    phis[slot] = variables_[slot] = phi;
  }
  std::string more = assign(cat("icmp slt i64 ", i, ", ", end));
  line(cat("br i1 ", more, ", label %", body, ", label %", done));
  append(*out, body, ":\n");
  scopes_.emplace_back();
  auto outer = counters_.find(loop.counter) == counters_.end() ? std::string() : counters_[loop.counter];
  counters_[loop.counter] = i;
  auto goes_past = [&](const Stmt& s) {
    return s.kind == StmtKind::store && kernel_.memories[static_cast<size_t>(s.slot)].past_caches;
  };
  if (lanes_.count > 1 && std::ranges::any_of(loop.body, goes_past)) down_ = loop.counter;
  turns ? turns() : statements(loop.body);
  down_.clear();
  line(cat("br label %", latch));
  append(*out, latch, ":\n");
  for (const auto& [slot, phi] : phis) {
    DType dtype = kernel_.variables[static_cast<size_t>(slot)].dtype;
    const Ssa& last = variables_.at(slot);
    std::string type = lanes_type(register_type(dtype), phi.vector ? lanes_.count : 1);
    line(cat(phi.re, ".next = select i1 true, ", type, " ", last.re, ", ", type, " ", last.re));
    if (is_complex(dtype)) line(cat(phi.im, ".next = select i1 true, ", type, " ", last.im, ", ", type, " ", last.im));
  }
  line(cat(next, " = add nsw i64 ", i, ", ", step));
  line(cat("br label %", head));
  append(*out, done, ":\n");
  scopes_.pop_back();
  if (outer.empty())
    counters_.erase(loop.counter);
  else
    counters_[loop.counter] = outer;
  for (const auto& [slot, phi] : phis) variables_[slot] = phi;
}

// Elementary functions and small floats, rounded at each step, are long chains of dependent steps: several vectors at a
// time keep the machine busy, and one for what is left. The others have sums of their own.
KernelEmitter::InFlight KernelEmitter::vectors_in_flight(const Stmt& loop, const std::map<int32_t, Scalar>& sums,
                                                         int lanes, bool has_rows) {
  int at_once = has_rows ? 1 : vectors_at_once(loop.body);
  int unroll = sums.empty() ? 1 : loop.unroll;
  if (!sums.empty()) {
    // Whole numbers add up to the same in any order.
    bool is_whole = std::ranges::all_of(
        sums, [&](const auto& sum) { return is_integer(kernel_.variables[static_cast<size_t>(sum.first)].dtype); });
    if (is_whole && unroll > 1 && module_.takes_less((unroll - 1) * price_of(loop.body))) unroll = 1;
    at_once = std::min(at_once, unroll);
    return {at_once, unroll / at_once};
  }
  while (at_once > 1 && loop.extent.opt() < 2 * lanes * at_once) at_once /= 2;
  if (at_once > 1 && module_.takes_less((at_once - 1) * price_of(loop.body))) at_once = 1;
  if (at_once == 8) {
    chain_ = short_floats(loop);
    // Twice as many where that pays for compiling them.
    if (chain_ && chain_->is_large && loop.extent.opt() % (2 * lanes * at_once) == 0) at_once *= 2;
  }
  return {at_once, unroll};
}

void KernelEmitter::vector_loop(const Stmt& loop) {
  ++loops_;
  int lanes = by_bytes_ ? 64 : lanes_for(loop.body);
  // Rows under columns: each row is read several vectors wide, which hides the latency of the sums and keeps to a page.
  bool has_rows =
      std::any_of(loop.body.begin(), loop.body.end(), [](const Stmt& s) { return s.kind == StmtKind::loop; });
  // Blocks of lines are as wide as a vector, or as two that keep each other's functions company.
  int doublings = 0;
  if (has_rows && !by_bytes_)
    doublings = moves_blocks(loop) ? static_cast<int>(vectors_at_once(loop.body) > 1) : doublings_over_rows(loop);
  for (; doublings > 0 && loop.extent.opt() >= 2 * lanes; --doublings) lanes *= 2;
  hoist(loop.body, loop.counter);
  std::set<int32_t> inside;
  collect_defined(loop.body, inside);
  std::map<int32_t, Scalar> sums;
  collect_sums(loop.body, inside, sums);
  auto adds_in_order = [&](const auto& sum) {
    return is_in_order(sum.second, kernel_.variables[static_cast<size_t>(sum.first)].dtype, loop.extent);
  };
  if (std::ranges::any_of(sums, adds_in_order))
    lanes = std::max(lanes, static_cast<int>(std::bit_ceil(static_cast<uint64_t>(loop.extent.value()))));
  int rest = lanes;
  auto [at_once, unroll] = vectors_in_flight(loop, sums, lanes, has_rows);
  lanes *= at_once;
  streams_.clear();
  row_ = loop.extent;
  if (loops_ == 1 && !has_rows && sums.empty()) find_streams();
  int64_t step = static_cast<int64_t>(lanes) * unroll;
  if (at_once <= 4 && !has_rows && unroll == 1 && loop.extent.is_static() && loop.extent.value() >= 2 * step)
    ahead_ = argument_of_function(loop);
  std::string end = extent(loop.extent);
  std::map<int32_t, Ssa> totals;
  for (const auto& [slot, op] : sums)
    totals[slot] = neutral(op, kernel_.variables[static_cast<size_t>(slot)].dtype, lanes);
  std::string middle = "0";
  bool is_static = loop.extent.is_static();
  if (!is_static || loop.extent.value() >= step) {
    if (is_static) {
      middle = cat(loop.extent.value() / step * step);
    } else {
      std::string rest = assign(cat("and i64 ", end, ", ", step - 1));
      middle = assign(cat("sub i64 ", end, ", ", rest));
    }
    bool may_shift = at_once == 1 && !has_rows && sums.empty() && ahead_ == no_expr && loop.extent.opt() >= 4 * step;
    vector_part(loop, may_shift ? shifted_part(loop, middle, lanes, totals) : "0", middle, unroll, false, lanes,
                totals);
  }
  for (auto& [slot, total] : totals)
    total = across(sums.at(slot), kernel_.variables[static_cast<size_t>(slot)].dtype, total, lanes, rest);
  if (!is_static || loop.extent.value() % step != 0) vector_part(loop, middle, end, 1, true, rest, totals);
  for (const auto& [slot, op] : sums) take_total(slot, op, totals[slot], rest, loop.extent);
}

// <lanes x i64>: the counter of each lane.
std::string KernelEmitter::steps() {
  int lanes = lanes_.count;
  std::string ramp = "<";
  for (int k = 0; k < lanes; ++k) append(ramp, k ? ", i64 " : "i64 ", k);
  return assign(
      cat("add ", lanes_type("i64", lanes), " ", splat("i64", counters_.at(lanes_.counter), lanes), ", ", ramp, ">"));
}

// What the only elementary function of a loop takes, if it changes with the loop's counter and with nothing else of the
// loop.
ExprId KernelEmitter::argument_of_function(const Stmt& loop) const {
  std::set<int32_t> changed;
  collect_changed(loop.body, changed);
  std::vector<ExprId> found;
  visit_expressions(kernel_, roots_of(loop.body), [&](ExprId, const Expr& e) {
    if (e.kind == ExprKind::scalar && is_float(e.dtype) && is_inline_function(weft::name(e.op), module_.target))
      found.push_back(e.args[0]);
  });
  // More than one, or of fewer registers, would not leave enough of them. The machine loads ahead by itself.
  if (found.size() != 1 || module_.target.vector_registers < 32) return no_expr;
  auto at = static_cast<size_t>(found[0]);
  bool is_loaded = kernel_.exprs[at].kind == ExprKind::load && size_of(kernel_.exprs[at].dtype) >= 4;
  bool is_changed = std::ranges::any_of(reads_variables_[at], [&](int32_t slot) { return changed.count(slot) != 0; });
  return is_loaded || is_changed || !depends_[at].count(loop.counter) ? no_expr : found[0];
}

// The lanes of an expression from `at` on, known to nothing else.
std::string KernelEmitter::lanes_at(ExprId id, const Lanes& lanes, const std::string& at) {
  Lanes outside = std::exchange(lanes_, lanes);
  std::string value;
  in_block([&] {
    counters_[lanes.counter] = at;
    value = as_vector(expr(id), kernel_.exprs[static_cast<size_t>(id)].dtype);
  });
  counters_.erase(lanes.counter);
  lanes_ = outside;
  return value;
}

// Makes `now`.next the lanes from `at` on, if there is such a turn, in a block of its own: there it stays ahead of what
// follows.
void KernelEmitter::lanes_ahead(ExprId id, const Lanes& lanes, const std::string& at, const std::string& end,
                                const std::string& now) {
  std::string here = label("here"), fetch = label("fetch"), fetched = label("fetched"), on = label("on");
  append(*out, "  br label %", here, "\n", here, ":\n");
  line(cat("br i1 ", assign(cat("icmp slt i64 ", at, ", ", end)), ", label %", fetch, ", label %", on));
  append(*out, fetch, ":\n");
  std::string value = lanes_at(id, lanes, at),
              type = lanes_type(register_type(kernel_.exprs[static_cast<size_t>(id)].dtype), lanes.count);
  append(*out, "  br label %", fetched, "\n", fetched, ":\n  br label %", on, "\n", on, ":\n");
  line(cat(now, ".next = phi ", type, " [", value, ", %", fetched, "], [", now, ", %", here, "]"));
}

// One loop over vectors: full ones, `unroll` at a time, or masked ones for what is left.
void KernelEmitter::vector_part(const Stmt& loop, const std::string& begin, const std::string& end, int unroll,
                                bool masked, int lanes, std::map<int32_t, Ssa>& sums) {
  std::optional<ShortFloats> chain = std::exchange(chain_, std::nullopt);
  ExprId ahead = std::exchange(ahead_, no_expr);
  std::vector<Shifted> shifted = std::exchange(shifted_, {});
  Lanes all{lanes, loop.counter, {}};
  open_shifted(shifted, all, begin);
  std::string first = ahead == no_expr ? "" : lanes_at(ahead, all, begin), now = fresh("ahead");
  std::string before = label("before"), head = label("head"), body = label("body"), done = label("done"),
              latch = label("latch");
  line(cat("br label %", before));
  append(*out, before, ":\n");
  // Sums of the other vectors in flight begin with the neutral element.
  std::vector<std::map<int32_t, Ssa>> starts(static_cast<size_t>(unroll), sums);
  std::map<int32_t, Scalar> ops;
  std::set<int32_t> inside;
  collect_defined(loop.body, inside);
  collect_sums(loop.body, inside, ops);
  for (size_t u = 1; u < starts.size(); ++u)
    for (auto& [slot, value] : starts[u])
      value = neutral(ops[slot], kernel_.variables[static_cast<size_t>(slot)].dtype, lanes);
  line(cat("br label %", head));
  append(*out, head, ":\n");
  std::string i = fresh("i"), next = fresh("next");
  line(cat(i, " = phi i64 [", begin, ", %", before, "], [", next, ", %", latch, "]"));
  std::vector<std::map<int32_t, Ssa>> phis(starts.size());
  for (size_t u = 0; u < starts.size(); ++u)
    for (const auto& [slot, first] : starts[u]) {
      DType dtype = kernel_.variables[static_cast<size_t>(slot)].dtype;
      std::string type = lanes_type(register_type(dtype), lanes);
      Ssa phi{fresh("sum"), is_complex(dtype) ? fresh("sum") : std::string(), true};
      line(cat(phi.re, " = phi ", type, " [", first.re, ", %", before, "], [", phi.re, ".next, %", latch, "]"));
      if (is_complex(dtype))
        line(cat(phi.im, " = phi ", type, " [", first.im, ", %", before, "], [", phi.im, ".next, %", latch, "]"));
      phis[u][slot] = phi;
    }
  if (ahead != no_expr)
    line(cat(now, " = phi ", lanes_type(register_type(kernel_.exprs[static_cast<size_t>(ahead)].dtype), lanes), " [",
             first, ", %", before, "], [", now, ".next, %", latch, "]"));
  carry_shifted(shifted, lanes, before, latch);
  std::string more = assign(cat("icmp slt i64 ", i, ", ", end));
  line(cat("br i1 ", more, ", label %", body, ", label %", done));
  append(*out, body, ":\n");
  if (ahead != no_expr) lanes_ahead(ahead, all, assign(cat("add nsw i64 ", i, ", ", lanes)), end, now);
  std::map<int32_t, Ssa> saved = variables_;
  std::vector<std::map<int32_t, Ssa>> results(starts.size());
  std::string steps_type = lanes_type("i64", lanes);
  for (int u = 0; u < unroll; ++u) {
    scopes_.emplace_back();
    if (!shifted.empty()) take_shifted(shifted, all, assign(cat("add nsw i64 ", i, ", ", lanes)));
    std::string base = u ? assign(cat("add nsw i64 ", i, ", ", u * lanes)) : i;
    counters_[loop.counter] = base;
    lanes_ = {lanes, loop.counter, {}, by_bytes_ && !masked};
    if (masked) {
      std::string limit = splat("i64", end, lanes);
      lanes_.mask = assign(cat("icmp slt ", steps_type, " ", steps(), ", ", limit));
    }
    if (ahead != no_expr) scopes_.back().values[ahead] = {{now, {}, true}, registers_read(ahead)};
    for (const auto& [slot, phi] : phis[static_cast<size_t>(u)]) variables_[slot] = phi;
    chain ? short_turn(loop, *chain, base) : statements(loop.body);
    for (const auto& [slot, phi] : phis[static_cast<size_t>(u)]) {
      DType dtype = kernel_.variables[static_cast<size_t>(slot)].dtype;
      Ssa value = variables_.at(slot);
      std::string type = lanes_type(register_type(dtype), lanes);
      if (masked) {
        std::string mask_type = lanes_type("i1", lanes);
        value.re =
            assign(cat("select ", mask_type, " ", lanes_.mask, ", ", type, " ", value.re, ", ", type, " ", phi.re));
        if (is_complex(dtype))
          value.im =
              assign(cat("select ", mask_type, " ", lanes_.mask, ", ", type, " ", value.im, ", ", type, " ", phi.im));
      }
      results[static_cast<size_t>(u)][slot] = value;
    }
    scopes_.pop_back();
  }
  lanes_ = {};
  counters_.erase(loop.counter);
  line(cat("br label %", latch));
  append(*out, latch, ":\n");
  for (size_t u = 0; u < phis.size(); ++u)
    for (const auto& [slot, phi] : phis[u]) {
      DType dtype = kernel_.variables[static_cast<size_t>(slot)].dtype;
      std::string type = lanes_type(register_type(dtype), lanes);
      const Ssa& value = results[u].at(slot);
      line(cat(phi.re, ".next = select i1 true, ", type, " ", value.re, ", ", type, " ", value.re));
      if (is_complex(dtype))
        line(cat(phi.im, ".next = select i1 true, ", type, " ", value.im, ", ", type, " ", value.im));
    }
  line(cat(next, " = add nsw i64 ", i, ", ", static_cast<int64_t>(lanes) * unroll));
  line(cat("br label %", head));
  append(*out, done, ":\n");
  variables_ = saved;
  // The vectors in flight combine pairwise.
  int keep = lanes_.count;
  lanes_.count = lanes;
  for (auto& [slot, total] : sums) {
    std::vector<Ssa> parts;
    for (const auto& phi : phis) parts.push_back(phi.at(slot));
    DType dtype = kernel_.variables[static_cast<size_t>(slot)].dtype;
    while (parts.size() > 1) {
      std::vector<Ssa> halves;
      for (size_t k = 0; k + 1 < parts.size(); k += 2)
        halves.push_back(combine(ops[slot], dtype, parts[k], parts[k + 1]));
      if (parts.size() % 2) halves.push_back(parts.back());
      parts = std::move(halves);
    }
    total = parts[0];
  }
  lanes_.count = keep;
}

// Whether elements along `counter`, from a multiple of their number on, begin at a cache line of memory that is written
// past the caches, or at an equal part of one. `by_lanes`: so do those of all lanes, one after the other.
bool KernelEmitter::keeps_to_lines(const Stmt& stmt, const std::string& counter, bool by_lanes) const {
  const Memory& memory = kernel_.memories[static_cast<size_t>(stmt.slot)];
  if (!memory.past_caches || is_complex(memory.dtype) || stmt.mask != no_expr || !stmt.dynamic.empty()) return false;
  std::optional<Dim> along = coefficient(stmt.index, counter);
  if (!along || !along->is(1)) return false;
  auto begins_line = [&](int64_t elements) {
    return elements * size_of(memory.dtype) % static_cast<int64_t>(cache_line) == 0;
  };
  Dim rest = stmt.index.substitute({{counter, Dim(0)}});
  if (by_lanes) rest = rest.substitute({{lanes_.counter, Dim(0)}});
  return begins_line(rest.constant()) && std::ranges::all_of(rest.terms(), begins_line, &Dim::Term::coefficient);
}

std::string KernelEmitter::past_caches(int64_t bytes) {
  writes_past_caches_ = true;
  return cat(", align ", std::min(bytes, static_cast<int64_t>(cache_line)), ", !nontemporal !1");
}

void KernelEmitter::store(const Stmt& stmt) {
  const Memory& memory = kernel_.memories[static_cast<size_t>(stmt.slot)];
  const Expr& e = kernel_.exprs[static_cast<size_t>(stmt.expr)];
  bool is_bf16 = memory.dtype == DType::bf16,
       is_bounded = is_bf16 && short_ && short_->rounding[static_cast<size_t>(stmt.expr)] == Rounding::at_store;
  bool narrows = is_bf16 && module_.target.bf16 && lanes_.count % 16 == 0 && e.op == Scalar::convert &&
                 kernel_.exprs[static_cast<size_t>(e.args[0])].dtype == DType::f32;
  Ssa value = expr(narrows ? e.args[0] : stmt.expr);
  const std::string& base = pointer(stmt.slot);
  bool vector_mask = false;
  std::string mask = combined_mask(stmt.mask, vector_mask);
  if (stmt.kind == StmtKind::barrier_accumulate) {
    check(lanes_.count == 1, "accumulating stores are serial");
    std::string skip = label("skip");
    if (!mask.empty()) {
      std::string go = label("go");
      line(cat("br i1 ", mask, ", label %", go, ", label %", skip));
      append(*out, go, ":\n");
    }
    Ssa old{
        load_part(base, memory.dtype, stmt.index, stmt.dynamic, is_complex(memory.dtype) ? 2 : 1, 0, {}).re, {}, false};
    if (is_complex(memory.dtype)) old.im = load_part(base, memory.dtype, stmt.index, stmt.dynamic, 2, 1, {}).re;
    Ssa sum = combine(stmt.op, memory.dtype, old, value);
    int64_t scale = is_complex(memory.dtype) ? 2 : 1;
    store_part(base, memory.dtype, stmt.index, stmt.dynamic, scale, 0, {}, sum.re, false);
    if (is_complex(memory.dtype)) store_part(base, memory.dtype, stmt.index, stmt.dynamic, 2, 1, {}, sum.im, false);
    if (!mask.empty()) {
      line(cat("br label %", skip));
      append(*out, skip, ":\n");
    }
    return;
  }
  at_store_ = is_bounded || (narrows && memory.flushes && !short_) ? AtStore::bounded
              : narrows                                            ? AtStore::any
                                                                   : AtStore::kept;
  past_caches_ = lanes_.count > 1 && lanes_.mask.empty() && keeps_to_lines(stmt, lanes_.counter);
  fetch_target(stmt);
  if (lanes_.by_bytes && !memory.scratch && value.vector)
    value.re = by_bytes(value.re, register_type(memory.dtype), true);
  if (!is_complex(memory.dtype))
    return store_part(base, memory.dtype, stmt.index, stmt.dynamic, 1, 0, mask, value.re, value.vector);
  if (store_pairs(base, memory.dtype, stmt, value)) return;
  store_part(base, memory.dtype, stmt.index, stmt.dynamic, 2, 0, mask, value.re, value.vector);
  store_part(base, memory.dtype, stmt.index, stmt.dynamic, 2, 1, mask, value.im, value.vector);
}

}  // namespace weft
