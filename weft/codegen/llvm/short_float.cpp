// Chains of f16 or bf16 operations, each rounded: quicker where what is loaded shows that nothing overflows.
//
// x (2^s - 1) in f32 is x 2^s less x, rounded to 24 - s bits: an FMA that takes it off x 2^s leaves just that. So do
// two differences where x 2^s is known, by adders instead of multipliers. This gives what rounding to nearest even
// gives, but for the sign of zero, while all numbers are finite and none is subnormal. Bounds of all values follow from
// bounds of what is loaded, which each turn tests; where they do not hold it rounds as always.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/kernel/schedule.h"

namespace weft {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

struct Bound {
  double most = unknown;  // of the magnitude
  int unit = 0;           // the value is a multiple of 2^unit
};

bool rounds(Scalar op) { return op == Scalar::add || op == Scalar::subtract || op == Scalar::multiply; }

// What f32 rounds on the way and the last place of results are less than this.
constexpr double slack = 1 + 1.0 / 64;

Bound bound_of(const Expr& e, const std::vector<Bound>& known, Bound loaded, DType dtype) {
  auto arg = [&](size_t i) { return known[static_cast<size_t>(e.args[i])]; };
  auto either = [](Bound a, Bound b) { return Bound{std::max(a.most, b.most), std::min(a.unit, b.unit)}; };
  if (e.dtype != dtype) return {};
  if (e.kind == ExprKind::load) return loaded;
  if (e.kind == ExprKind::constant) {
    int exponent = 0;
    double value = std::abs(e.value.as_double(0));
    return std::isfinite(value) ? Bound{value, (std::frexp(value, &exponent), exponent - 12)} : Bound{};
  }
  if (e.kind != ExprKind::scalar) return {};
  switch (e.op) {
    case Scalar::add:
    case Scalar::subtract:
      return {(arg(0).most + arg(1).most) * slack, std::min(arg(0).unit, arg(1).unit)};
    case Scalar::multiply:
      return {arg(0).most * arg(1).most * slack, arg(0).unit + arg(1).unit};
    case Scalar::negate:
    case Scalar::abs:
      return arg(0);
    case Scalar::maximum:
    case Scalar::minimum:
      return either(arg(0), arg(1));
    case Scalar::select:
      return either(arg(1), arg(2));
    default:
      return {};
  }
}

// Whether a zero that the expression gives is always positive.
bool is_never_minus_zero(const Kernel& kernel, ExprId id) {
  const Expr& e = kernel.exprs[static_cast<size_t>(id)];
  if (e.kind == ExprKind::constant) return !std::signbit(e.value.as_double(0)) || e.value.as_double(0) != 0;
  if (e.kind != ExprKind::scalar) return false;
  if (e.op == Scalar::maximum || e.op == Scalar::minimum)
    return is_never_minus_zero(kernel, e.args[0]) && is_never_minus_zero(kernel, e.args[1]);
  return e.op == Scalar::abs;
}

// Whether the sign of a zero that is argument `i` can be seen in a result whose own sign of zero can.
bool shows_sign(const Kernel& kernel, const Expr& e, size_t i) {
  if (e.op == Scalar::add) return !is_never_minus_zero(kernel, e.args[1 - i]);
  if (e.op == Scalar::subtract) return i == 0 || !is_never_minus_zero(kernel, e.args[0]);
  return e.op != Scalar::abs;
}

bool keeps_zeros(Scalar op) {
  return rounds(op) || op == Scalar::negate || op == Scalar::abs || op == Scalar::maximum || op == Scalar::minimum ||
         op == Scalar::select;
}

}  // namespace

bool is_power_of_two(const Expr& e) {
  int exponent = 0;
  return e.kind == ExprKind::constant && std::abs(std::frexp(e.value.as_double(0), &exponent)) == 0.5;
}

std::optional<KernelEmitter::ShortFloats> KernelEmitter::short_floats(const Stmt& loop) const {
  ShortFloats found;
  std::set<ExprId>& used = found.used;
  std::vector<ExprId> pending;
  for (const Stmt& stmt : loop.body) {
    if (stmt.kind != StmtKind::store || stmt.mask != no_expr || !stmt.dynamic.empty()) return std::nullopt;
    pending.push_back(stmt.expr);
  }
  while (!pending.empty()) {
    ExprId id = pending.back();
    pending.pop_back();
    const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
    if (e.mask != no_expr || !e.dynamic.empty() || e.kind == ExprKind::variable) return std::nullopt;
    if (used.insert(id).second) pending.insert(pending.end(), e.args.begin(), e.args.end());
  }
  found.dtype = kernel_.exprs[static_cast<size_t>(loop.body[0].expr)].dtype;
  if (computes_halves(Scalar::add, found.dtype) || (found.dtype != DType::f16 && found.dtype != DType::bf16))
    return std::nullopt;
  bool is_half = found.dtype == DType::f16;
  for (ExprId id : used) {
    const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
    if (e.kind != ExprKind::load || e.dtype != found.dtype) continue;
    std::optional<Dim> step = coefficient(e.index, loop.counter);
    if (!step || !(step->is(0) || step->is(1)) || kernel_.memories[static_cast<size_t>(e.slot)].written)
      return std::nullopt;
    found.loads.push_back(id);
    found.is_large |= e.index.max() >= 1 << 20;
  }
  std::vector<Bound> bounds(kernel_.exprs.size());
  double most = is_half ? 65000 : 0x1p100;
  auto fits = [&](double largest, int least) {
    bool fine = true;
    for (ExprId id : used) {
      const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
      Bound& bound = bounds[static_cast<size_t>(id)] = bound_of(e, bounds, {largest, least - 7}, found.dtype);
      fine &= bound.most == unknown || (bound.most <= most && (is_half || bound.unit >= -126));
    }
    return fine;
  };
  while (!fits(found.largest, 0) && found.largest > 4) found.largest /= 2;
  if (!is_half)
    while (!fits(found.largest, found.least) && found.least < -8) ++found.least;
  if (!fits(found.largest, found.least)) return std::nullopt;
  auto is_bounded = [&](ExprId id) { return bounds[static_cast<size_t>(id)].most != unknown; };
  return choose_roundings(loop, used, is_bounded, found) >= 6 ? std::optional(std::move(found)) : std::nullopt;
}

// The sign of a zero is restored where it can be seen: from results back to what they are made of. How many are quick.
int KernelEmitter::choose_roundings(const Stmt& loop, const std::set<ExprId>& used,
                                    const std::function<bool(ExprId)>& is_bounded, ShortFloats& floats) const {
  std::vector<bool> shows(kernel_.exprs.size());
  std::vector<int> uses(kernel_.exprs.size());
  // A use by a store counts as many as no expression has, so that one store alone is told from all else.
  constexpr int store = 1 << 20;
  for (const Stmt& stmt : loop.body) {
    shows[static_cast<size_t>(stmt.expr)] = true;
    uses[static_cast<size_t>(stmt.expr)] += store;
  }
  floats.rounding.resize(kernel_.exprs.size());
  int quick = 0;
  for (auto id = used.rbegin(); id != used.rend(); ++id) {
    const Expr& e = kernel_.exprs[static_cast<size_t>(*id)];
    bool seen = shows[static_cast<size_t>(*id)];
    for (size_t i = 0; i < e.args.size(); ++i) {
      bool passes = keeps_zeros(e.op) ? seen && shows_sign(kernel_, e, i) : !is_comparison(e.op);
      if (passes) shows[static_cast<size_t>(e.args[i])] = true;
      ++uses[static_cast<size_t>(e.args[i])];
    }
    if (e.kind != ExprKind::scalar || e.dtype != floats.dtype || !rounds(e.op) || !is_bounded(*id)) continue;
    // What is only stored, once, is rounded by the store.
    bool is_stored = uses[static_cast<size_t>(*id)] == store && (floats.dtype == DType::f16 || module_.target.bf16);
    floats.rounding[static_cast<size_t>(*id)] = is_stored ? Rounding::at_store
                                                : seen    ? Rounding::quick_signed
                                                          : Rounding::quick;
    ++quick;
  }
  return quick;
}

// No number that the expression gives is larger, where that follows from what f16 holds.
double KernelEmitter::largest(ExprId id, int depth) const {
  const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
  if (e.dtype == DType::f16) return 65504;
  if (e.kind == ExprKind::variable && depth > 0) return largest(kernel_.body, e.slot, depth - 1);
  if (e.kind == ExprKind::constant && is_float(e.dtype))
    return std::isfinite(e.value.as_double(0)) ? std::abs(e.value.as_double(0)) : 0;
  if (e.kind != ExprKind::scalar || !is_float(kernel_.exprs[static_cast<size_t>(e.args[0])].dtype) || depth == 0)
    return unknown;
  auto arg = [&](size_t i) { return largest(e.args[i], depth - 1); };
  if (e.op == Scalar::add || e.op == Scalar::subtract) return arg(0) + arg(1);
  return e.op == Scalar::negate || e.op == Scalar::abs || e.op == Scalar::convert ? arg(0) : unknown;
}

double KernelEmitter::largest(const std::vector<Stmt>& body, int32_t slot, int depth) const {
  double most = 0;
  for (const Stmt& stmt : body) {
    bool keeps = stmt.kind == StmtKind::define || stmt.op == Scalar::maximum || stmt.op == Scalar::minimum;
    if (stmt.kind == StmtKind::loop)
      most = std::max(most, largest(stmt.body, slot, depth));
    else if (stmt.kind != StmtKind::store && stmt.slot == slot)
      most = std::max(most, keeps ? largest(stmt.expr, depth) : unknown);
  }
  return most;
}

// Whether all that is loaded by some of the loads lies within the bounds.
std::string KernelEmitter::is_within(const ShortFloats& floats, const std::vector<ExprId>& loads) {
  int bits = floats.dtype == DType::f16 ? 10 : 7, bias = floats.dtype == DType::f16 ? 15 : 127;
  int lanes = std::min(lanes_.count, module_.target.vector_bytes / 2);
  auto pattern = [&](int exponent) { return (exponent + bias) << bits; };
  std::string type = lanes_type("i16", lanes), most, least;
  auto extreme = [&](const char* name, const std::string& a, const std::string& b) {
    if (a.empty()) return b;
    std::string function = cat("@llvm.", name, ".v", lanes, "i16");
    module_.declare(cat("declare ", type, " ", function, "(", type, ", ", type, ")"));
    return assign(cat("call ", type, " ", function, "(", type, " ", a, ", ", type, " ", b, ")"));
  };
  for (ExprId id : loads) {
    const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
    bool is_one = !uses_counter(e.index, lanes_.counter);
    std::string first = extent(e.index);
    for (int at = 0; at < (is_one ? 1 : lanes_.count); at += lanes) {
      std::string place = assign(cat("getelementptr i16, ptr ", pointer(e.slot), ", i64 ", add(first, cat(at))));
      std::string raw = assign(cat("load ", is_one ? std::string("i16") : type, ", ptr ", place, ", align 2"));
      if (is_one) raw = splat("i16", raw, lanes);
      std::string magnitude = assign(cat("and ", type, " ", raw, ", splat (i16 32767)"));
      most = extreme("umax", most, magnitude);
      // Zero, less one, is the largest number.
      if (floats.dtype == DType::bf16)
        least = extreme("umin", least, assign(cat("add ", type, " ", magnitude, ", splat (i16 -1)")));
    }
  }
  std::string mask = lanes_type("i1", lanes);
  std::string out_of =
      assign(cat("icmp ugt ", type, " ", most, ", splat (i16 ", pattern(std::ilogb(floats.largest)), ")"));
  if (!least.empty()) {
    std::string below = assign(cat("icmp ult ", type, " ", least, ", splat (i16 ", pattern(floats.least) - 1, ")"));
    out_of = assign(cat("or ", mask, " ", out_of, ", ", below));
  }
  return assign(cat("icmp eq i", lanes, " ", assign(cat("bitcast ", mask, " ", out_of, " to i", lanes)), ", 0"));
}

// What every row of a large chain computes alike, kept as f32 before the first: values, and whether what they come from
// is within the bounds.
void KernelEmitter::keep_steady(const Stmt& rows) {
  constexpr int64_t most = 4096;
  if (kernel_.body.size() != 1 || rows.body.size() != 1 || rows.body[0].kind != StmtKind::loop ||
      rows.body[0].loop != LoopKind::vector)
    return;
  const Stmt& loop = rows.body[0];
  if (!loop.extent.is_static() || vectors_at_once(loop.body) != 8) return;
  std::optional<ShortFloats> floats = short_floats(loop);
  auto is_steady = [&](ExprId id) { return depends_[static_cast<size_t>(id)] == std::set<std::string>{loop.counter}; };
  auto reads_written = [&](ExprId id) {
    const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
    return e.kind == ExprKind::load && kernel_.memories[static_cast<size_t>(e.slot)].written;
  };
  if (!floats || !floats->is_large || std::ranges::all_of(floats->loads, is_steady) ||
      std::ranges::any_of(floats->used, reads_written))
    return;
  std::set<ExprId> kept;
  for (ExprId id : floats->used)
    for (ExprId arg : kernel_.exprs[static_cast<size_t>(id)].args)
      if (!is_steady(id) && is_steady(arg) && kernel_.exprs[static_cast<size_t>(arg)].dtype == floats->dtype)
        kept.insert(arg);
  int lanes = module_.target.vector_bytes / 4;
  if (kept.empty() || loop.extent.value() * std::ssize(kept) > most || loop.extent.value() % lanes != 0) return;
  std::vector<ExprId> loads;
  std::ranges::copy_if(floats->loads, std::back_inserter(loads), is_steady);
  std::string row = cat("[", loop.extent.value(), " x float]"), fine = assign("alloca i1"),
              type = lanes_type("float", lanes);
  for (ExprId id : kept) steady_[id] = assign(cat("alloca ", row, ", align 64"));
  line(cat("store i1 true, ptr ", fine));
  serial_loop(loop, "0", extent(loop.extent), lanes, [&] {
    lanes_ = {lanes, loop.counter, {}};
    for (ExprId id : kept)
      line(cat("store ", type, " ", as_vector(expr(id), DType::f32), ", ptr ", steady_place(id), ", align 64"));
    if (!loads.empty())
      line(cat("store i1 ", assign(cat("and i1 ", assign(cat("load i1, ptr ", fine)), ", ", is_within(*floats, loads))),
               ", ptr ", fine));
    lanes_ = {};
  });
  steady_loads_ = std::move(loads);
  steady_fine_ = assign(cat("load i1, ptr ", fine));
}

std::string KernelEmitter::steady_place(ExprId id) {
  return assign(cat("getelementptr float, ptr ", steady_.at(id), ", i64 ", counters_.at(lanes_.counter)));
}

// The statements for each vector of the lanes, two lines later than for the one before: the machine looks ahead at what
// one vector computes with multipliers and another with adders.
void KernelEmitter::staggered(const Stmt& loop, const std::string& begin) {
  struct Line {
    size_t time;
    std::string_view text;
  };
  Lanes all = lanes_;
  Scope scope = std::move(scopes_.back());
  std::string* whole = out;
  lanes_.count = module_.target.vector_bytes / 4;
  std::vector<std::string> bodies(static_cast<size_t>(all.count / lanes_.count));
  std::vector<Line> lines;
  for (size_t v = 0; v < bodies.size(); ++v) {
    scopes_.back() = {};
    out = &bodies[v];
    counters_[loop.counter] = add(begin, cat(static_cast<int>(v) * lanes_.count));
    statements(loop.body);
    std::string_view text = bodies[v];
    size_t behind = text.find(":\n") == text.npos ? 2 : text.size();
    for (size_t time = v * behind; !text.empty(); ++time) {
      size_t length = text.find('\n') + 1;
      lines.push_back({time, text.substr(0, length)});
      text.remove_prefix(length);
    }
  }
  std::ranges::stable_sort(lines, {}, &Line::time);
  out = whole;
  for (const Line& l : lines) *out += l.text;
  scopes_.back() = std::move(scope);
  lanes_ = all;
}

// The statements of a vector loop at the present lanes, from `begin` on: quickly, or as always by fewer lanes.
void KernelEmitter::short_turn(const Stmt& loop, const ShortFloats& floats, const std::string& begin) {
  std::string quick = label("quick"), plain = label("plain"), joined = label("joined");
  std::vector<ExprId> loads;
  std::ranges::copy_if(floats.loads, std::back_inserter(loads),
                       [&](ExprId id) { return std::ranges::find(steady_loads_, id) == steady_loads_.end(); });
  std::string fine = is_within(floats, loads);
  if (!steady_loads_.empty()) fine = assign(cat("and i1 ", fine, ", ", steady_fine_));
  line(cat("br i1 ", fine, ", label %", quick, ", label %", plain));
  append(*out, quick, ":\n");
  short_ = &floats;
  staggered(loop, begin);
  short_ = nullptr;
  line(cat("br label %", joined));
  append(*out, plain, ":\n");
  Scope scope = std::exchange(scopes_.back(), {});
  Lanes lanes = lanes_;
  auto counters = counters_;
  std::map<int32_t, Ssa> no_sums;
  vector_part(loop, begin, add(begin, cat(lanes.count)), 1, false, module_.target.vector_bytes / 2, no_sums);
  lanes_ = lanes;
  counters_ = counters;
  scopes_.back() = std::move(scope);
  line(cat("br label %", joined));
  append(*out, joined, ":\n");
}

// The one of larger magnitude, with the sign of the first: one vector of AVX-512.
std::string KernelEmitter::larger_magnitude(const std::string& a, const std::string& b) {
  std::string type = "<16 x float>", name = "@llvm.x86.avx512.mask.range.ps.512";
  module_.declare(cat("declare ", type, " ", name, "(", type, ", ", type, ", i32, ", type, ", i16, i32)"));
  return assign(cat("call ", type, " ", name, "(", type, " ", a, ", ", type, " ", b, ", i32 3, ", type,
                    " zeroinitializer, i16 -1, i32 4)"));
}

std::string KernelEmitter::short_scalar(const Expr& e, Rounding rounding, const std::vector<Ssa>& args,
                                        const std::string* operands, int lanes) {
  std::string type = lanes_type("float", lanes), whole = lanes_type("i32", lanes);
  auto number = [&](double value) { return splat("float", float_text(value), lanes); };
  auto two = [&](const char* op, const std::string& a, const std::string& b) {
    return assign(cat(op, " ", type, " ", a, ", ", b));
  };
  auto fma = [&](const std::string& a, const std::string& b, const std::string& c) {
    std::string list[3] = {a, b, c};
    return real_scalar(Scalar::fma, DType::f32, list, lanes);
  };
  auto as = [&](const std::string& from, const std::string& value, const std::string& to) {
    return assign(cat("bitcast ", from, " ", value, " to ", to));
  };
  bool is_half = e.dtype == DType::f16, is_product = e.op == Scalar::multiply;
  std::string exact = real_scalar(e.op, DType::f32, operands, lanes), result;
  if (rounding == Rounding::at_store) return exact;
  double scale = is_half ? 0x1p13 : 0x1p16;
  auto constant =
      std::ranges::find_if(e.args, [&](ExprId id) { return is_power_of_two(kernel_.exprs[static_cast<size_t>(id)]); });
  auto uniform = std::ranges::find(args, false, &Ssa::vector);
  auto times = [&](size_t at, double factor) {
    return splat("float", assign(cat("fmul float ", args[at].re, ", ", float_text(factor))), lanes);
  };
  // Times the scale, by its exponent; of zero it makes a number so small that nothing is left of it.
  auto raised = [&](const std::string& value) {
    return as(whole,
              assign(cat("add ", whole, " ", as(type, value, whole), ", ",
                         splat("i32", cat((is_half ? 13 : 16) << 23), lanes))),
              type);
  };
  if (is_product && constant != e.args.end()) {
    if (!is_half) return exact;
    // Subnormal results have the last place of 3/4 in f32, all others lose nothing by the sum.
    result = two("fsub", fma(operands[0], operands[1], number(0.75)), number(0.75));
  } else if (is_product && is_half && module_.target.avx512) {
    // x 2^13, or 3/4 where that is more: taken off it, x loses what f16 has no room for, subnormal numbers too.
    if (uniform != args.end()) {
      auto at = static_cast<size_t>(uniform - args.begin());
      std::string scaled = larger_magnitude(two("fmul", operands[1 - at], times(at, scale)), number(0.75));
      result = two("fsub", scaled, fma(assign(cat("fneg ", type, " ", operands[1 - at])), operands[at], scaled));
    } else {
      std::string scaled = larger_magnitude(raised(exact), number(0.75));
      result = two("fsub", scaled, two("fsub", scaled, exact));
    }
  } else if (is_product && is_half) {
    // Added to 3/2 of its own power of two, times 2^13, a number loses what f16 has no room for, subnormal numbers too.
    std::string power =
                    assign(cat("and ", whole, " ", as(type, exact, whole), ", ", splat("i32", "2139095040", lanes))),
                name = cat("@llvm.umax.v", lanes, "i32");
    module_.declare(cat("declare ", whole, " ", name, "(", whole, ", ", whole, ")"));
    power = as(whole,
               assign(cat("call ", whole, " ", name, "(", whole, " ", power, ", ", whole, " ",
                          splat("i32", "947912704", lanes), ")")),
               type);
    result = fma(power, number(-1.5 * scale), fma(power, number(1.5 * scale), exact));
  } else if (is_product && uniform != args.end()) {
    auto at = static_cast<size_t>(uniform - args.begin());
    std::string less = assign(cat("fneg ", type, " ", two("fmul", operands[1 - at], times(at, scale - 1))));
    result = fma(operands[1 - at], times(at, scale), less);
  } else if (is_product) {
    // The multipliers have enough to do: the adders round.
    std::string scaled = raised(exact);
    result = two("fsub", scaled, two("fsub", scaled, exact));
  } else {
    std::string less = assign(cat("fneg ", type, " ", two("fmul", exact, number(scale - 1))));
    result = fma(exact, number(scale), less);
  }
  if (rounding == Rounding::quick) return result;
  std::string sign = assign(cat("and ", whole, " ", as(type, exact, whole), ", ", splat("i32", "-2147483648", lanes)));
  return as(whole, assign(cat("or ", whole, " ", as(type, result, whole), ", ", sign)), type);
}

}  // namespace weft
