// Functions of four bits: what a number of so few values becomes is looked up in a register, not computed. Weights of
// four bits are unpacked so.
#include <algorithm>
#include <array>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/kernel/schedule.h"
#include "weft/kernel/visit.h"

namespace weft {
namespace {

constexpr int entries = 16;  // of f32 in a vector of 64 bytes

// Operations of which the compiler's result is the machine's to the bit.
bool is_same_to_the_bit(Scalar op) {
  switch (op) {
    case Scalar::convert:
    case Scalar::add:
    case Scalar::subtract:
    case Scalar::multiply:
    case Scalar::divide:
    case Scalar::negate:
    case Scalar::bit_and:
    case Scalar::bit_or:
    case Scalar::bit_xor:
    case Scalar::shift_left:
    case Scalar::shift_right_logical:
      return true;
    default:
      return false;
  }
}

}  // namespace

// The lowest or highest four bits of an element, where the expression is nothing else.
std::optional<KernelEmitter::Digit> KernelEmitter::digit_of(const Expr& e) const {
  if (e.kind != ExprKind::scalar || !is_integer(e.dtype) || bit_width(e.dtype) > 32 || e.args.size() != 2)
    return std::nullopt;
  const Expr& by = kernel_.exprs[static_cast<size_t>(e.args[1])];
  if (by.kind != ExprKind::constant) return std::nullopt;
  int64_t number = by.value.as_int(0);
  if (e.op == Scalar::bit_and && number == entries - 1) return Digit{e.args[0], 0};
  if (e.op == Scalar::shift_right_logical && number == bit_width(e.dtype) - 4)
    return Digit{e.args[0], static_cast<int>(number)};
  return std::nullopt;
}

// The one such expression that all of this one comes from, or none.
ExprId KernelEmitter::only_digit(ExprId id, int depth) const {
  const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
  if (digit_of(e)) return id;
  if (depth == 0 || e.kind != ExprKind::scalar || !is_same_to_the_bit(e.op) || is_complex(e.dtype)) return no_expr;
  ExprId found = no_expr;
  for (ExprId arg : e.args) {
    if (kernel_.exprs[static_cast<size_t>(arg)].kind == ExprKind::constant) continue;
    ExprId digit = only_digit(arg, depth - 1);
    if (digit == no_expr || (found != no_expr && digit != found)) return no_expr;
    found = digit;
  }
  return found;
}

bool KernelEmitter::has_digits(const std::vector<Stmt>& body) const {
  bool found = false;
  for (const Stmt& stmt : body) {
    found |= has_digits(stmt.body);
    visit_expressions(kernel_, {stmt.expr}, [&](ExprId, const Expr& e) { found |= digit_of(e).has_value(); });
  }
  return found;
}

// Whether the kernel adds up long rows of bytes (sum_down.cpp) of which it needs digits: those are where registers have
// them once every fourth byte is a lane. Sums rest in that order in the kernel's own memory.
bool KernelEmitter::takes_bytes() const {
  if (!module_.target.avx512 || !has_digits(kernel_.body)) return false;
  bool has_bytes = false;
  for (const Expr& e : kernel_.exprs) {
    if (!uses_counter(e.index, ".i")) continue;
    std::optional<Dim> step = coefficient(e.index, ".i");
    if (e.kind != ExprKind::load || !e.dynamic.empty() || e.mask != no_expr || !step || !step->is(1)) return false;
    const Memory& memory = kernel_.memories[static_cast<size_t>(e.slot)];
    if (memory.scratch ? e.dtype != DType::f32 : !is_integer(e.dtype) || bit_width(e.dtype) != 8) return false;
    has_bytes |= !memory.scratch && uses_counter(e.index, ".down");
  }
  return has_bytes;
}

// Lanes in the order of memory as every fourth of them in turn, or back.
std::string KernelEmitter::by_bytes(const std::string& value, const std::string& element, bool back) {
  int groups = 4, each = lanes_.count / groups;
  return shuffled(lanes_type(element, lanes_.count), value, "poison", lanes_.count,
                  [&](int i) { return back ? i % groups * each + i / groups : i % each * groups + i / each; });
}

// The bits from `shift` on of each of the bytes that `e` loads, the lowest ones of its lane; others are above them.
std::string KernelEmitter::digits(ExprId source, int shift) {
  const Expr& e = kernel_.exprs[static_cast<size_t>(source)];
  auto has_them = [&](const Expr& other) { return digit_of(other) && digit_of(other)->source == source; };
  if (digit_of(*std::ranges::find_if(kernel_.exprs, has_them))->shift == shift) fetch_ahead(e);
  std::string words = lanes_type("i32", entries),
              place = assign(cat("getelementptr i8, ptr ", pointer(e.slot), ", i64 ", extent(e.index)));
  std::string all = assign(cat("load ", words, ", ptr ", place, ", align 1"));
  std::vector<std::string> parts;
  for (int at = shift; at < 32; at += 8)
    parts.push_back(at ? assign(cat("lshr ", words, " ", all, ", splat (i32 ", at, ")")) : all);
  return joined(std::move(parts), "i32", entries);
}

// total + what products come to, each rounded with what it is added to.
Ssa KernelEmitter::add_products(const Ssa& total, ExprId id) {
  const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
  if (e.kind == ExprKind::scalar && e.op == Scalar::add) return add_products(add_products(total, e.args[0]), e.args[1]);
  if (e.kind != ExprKind::scalar || e.op != Scalar::multiply)
    return combine(Scalar::add, e.dtype, total, {as_vector(expr(id), e.dtype), {}, true});
  std::string args[] = {as_vector(expr(e.args[0]), e.dtype), as_vector(expr(e.args[1]), e.dtype), total.re};
  return {real_scalar(Scalar::fma, e.dtype, args, lanes_.count), {}, true};
}

Element KernelEmitter::value_at(ExprId id, ExprId digit, int64_t value) const {
  const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
  if (id == digit) return Element::of_int(e.dtype, value);
  if (e.kind == ExprKind::constant)
    return is_float(e.dtype) ? Element::of_double(e.dtype, e.value.as_double(0))
                             : Element::of_int(e.dtype, e.value.as_int(0));
  std::array<Element, 4> args{};
  for (size_t i = 0; i < e.args.size(); ++i) args[i] = value_at(e.args[i], digit, value);
  return apply(e.op, e.dtype, args.data());
}

std::optional<Ssa> KernelEmitter::looked_up(ExprId id) {
  const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
  constexpr int deepest = 4;
  if (!module_.target.avx512 || e.kind != ExprKind::scalar || e.dtype != DType::f32 || lanes_.count % entries != 0)
    return std::nullopt;
  ExprId digit = only_digit(id, deepest);
  if (digit == no_expr) return std::nullopt;
  auto [source, shift] = *digit_of(kernel_.exprs[static_cast<size_t>(digit)]);
  const Expr& from_memory = kernel_.exprs[static_cast<size_t>(source)];
  bool as_they_lie =
      lanes_.by_bytes && from_memory.kind == ExprKind::load && uses_counter(from_memory.index, lanes_.counter);
  Ssa number = as_they_lie ? Ssa{{}, {}, true} : expr(source);
  if (!number.vector) return std::nullopt;
  std::string table = "<";
  for (int i = 0; i < entries; ++i)
    append(table, i ? ", float " : "float ",
           constant_text(DType::f32, Literal::scalar(DType::f32, value_at(id, digit, i).real())));
  // The lowest bits of a lane choose. They are rotated there: LLVM would shift before it widens, which takes more.
  std::string from = lanes_type(register_type(from_memory.dtype), lanes_.count), to = lanes_type("i32", lanes_.count);
  std::string places = as_they_lie  ? digits(source, shift)
                       : from == to ? number.re
                                    : assign(cat("zext ", from, " ", number.re, " to ", to));
  if (shift && !as_they_lie) {
    std::string rotate = cat("@llvm.fshr.v", lanes_.count, "i32");
    places = assign(cat("call ", to, " ", rotate, "(", to, " ", places, ", ", to, " ", places, ", ", to, " splat (i32 ",
                        shift, "))"));
    module_.declare(cat("declare ", to, " ", rotate, "(", to, ", ", to, ", ", to, ")"));
  }
  std::vector<std::string> parts;
  for (int first = 0; first < lanes_.count; first += entries)
    parts.push_back(assign(cat("call <16 x float> @llvm.x86.avx512.permvar.sf.512(<16 x float> ", table,
                               ">, <16 x i32> ", part_of(places, "i32", lanes_.count, first, entries), ")")));
  module_.declare("declare <16 x float> @llvm.x86.avx512.permvar.sf.512(<16 x float>, <16 x i32>)");
  return Ssa{joined(std::move(parts), "float", entries), {}, true};
}

}  // namespace weft
