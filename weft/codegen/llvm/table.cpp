// Functions of four bits: what a number of so few values becomes is looked up in a register, not computed. Weights of four bits
// are unpacked so.
#include <array>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/kernel/visit.h"

namespace weft {
namespace {

constexpr int entries = 16;  // of f32 in a vector of 64 bytes

// Operations of which the compiler's result is the machine's to the bit.
bool is_exact(Scalar op) {
  switch (op) {
    case Scalar::convert: case Scalar::add: case Scalar::subtract: case Scalar::multiply: case Scalar::divide: case Scalar::negate:
    case Scalar::bit_and: case Scalar::bit_or: case Scalar::bit_xor: case Scalar::shift_left: case Scalar::shift_right_logical: return true;
    default: return false;
  }
}

}  // namespace

// The lowest or highest four bits of an element, where the expression is nothing else.
std::optional<KernelEmitter::Digit> KernelEmitter::digit_of(const Expr& e) const {
  if (e.kind != ExprKind::scalar || !is_integer(e.dtype) || bit_width(e.dtype) > 32 || e.args.size() != 2) return std::nullopt;
  const Expr& by = kernel_.exprs[static_cast<size_t>(e.args[1])];
  if (by.kind != ExprKind::constant) return std::nullopt;
  int64_t number = by.value.as_int(0);
  if (e.op == Scalar::bit_and && number == entries - 1) return Digit{e.args[0], 0};
  if (e.op == Scalar::shift_right_logical && number == bit_width(e.dtype) - 4) return Digit{e.args[0], static_cast<int>(number)};
  return std::nullopt;
}

// The one such expression that all of this one comes from, or none.
ExprId KernelEmitter::only_digit(ExprId id, int depth) const {
  const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
  if (digit_of(e)) return id;
  if (depth == 0 || e.kind != ExprKind::scalar || !is_exact(e.op) || is_complex(e.dtype)) return no_expr;
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

Element KernelEmitter::value_at(ExprId id, ExprId digit, int64_t value) const {
  const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
  if (id == digit) return Element::of_int(e.dtype, value);
  if (e.kind == ExprKind::constant) return is_float(e.dtype) ? Element::of_double(e.dtype, e.value.as_double(0)) : Element::of_int(e.dtype, e.value.as_int(0));
  std::array<Element, 4> args{};
  for (size_t i = 0; i < e.args.size(); ++i) args[i] = value_at(e.args[i], digit, value);
  return apply(e.op, e.dtype, args.data());
}

std::optional<Ssa> KernelEmitter::looked_up(ExprId id) {
  const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
  constexpr int deepest = 4;
  if (!module_.target.avx512 || e.kind != ExprKind::scalar || e.dtype != DType::f32 || lanes_.count % entries != 0) return std::nullopt;
  ExprId digit = only_digit(id, deepest);
  if (digit == no_expr) return std::nullopt;
  auto [source, shift] = *digit_of(kernel_.exprs[static_cast<size_t>(digit)]);
  Ssa number = expr(source);
  if (!number.vector) return std::nullopt;
  std::string table = "<";
  for (int i = 0; i < entries; ++i)
    append(table, i ? ", float " : "float ", constant_text(DType::f32, Literal::scalar(DType::f32, value_at(id, digit, i).real())));
  // The lowest bits of a lane choose. They are rotated there: LLVM would shift before it widens, which takes more.
  std::string from = lanes_type(register_type(kernel_.exprs[static_cast<size_t>(source)].dtype), lanes_.count), to = lanes_type("i32", lanes_.count);
  std::string places = from == to ? number.re : assign(cat("zext ", from, " ", number.re, " to ", to));
  if (shift) {
    std::string rotate = cat("@llvm.fshr.v", lanes_.count, "i32");
    places = assign(cat("call ", to, " ", rotate, "(", to, " ", places, ", ", to, " ", places, ", ", to, " splat (i32 ", shift, "))"));
    module_.declare(cat("declare ", to, " ", rotate, "(", to, ", ", to, ", ", to, ")"));
  }
  std::vector<std::string> parts;
  for (int first = 0; first < lanes_.count; first += entries)
    parts.push_back(assign(cat("call <16 x float> @llvm.x86.avx512.permvar.sf.512(<16 x float> ", table, ">, <16 x i32> ",
                               part_of(places, "i32", lanes_.count, first, entries), ")")));
  module_.declare("declare <16 x float> @llvm.x86.avx512.permvar.sf.512(<16 x float>, <16 x i32>)");
  return Ssa{joined(std::move(parts), "float", entries), {}, true};
}

}  // namespace weft
