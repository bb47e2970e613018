// Small floats: f16 where the CPU computes it, and what f32 computes and rounds.
//
// A register holds a small float as f32. With AVX512-FP16 an operation on f16 is written with a conversion before and
// after it: LLVM takes out those between two such operations, so that a chain stays in f16, twice as many lanes to a
// register.
#include <algorithm>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/kernel/visit.h"

namespace weft {
namespace {

// Whether f16 and bf16 hold each result of the operation on numbers of their own.
bool is_exact(Scalar op) {
  switch (op) {
    case Scalar::negate:
    case Scalar::abs:
    case Scalar::sign:
    case Scalar::floor:
    case Scalar::ceil:
    case Scalar::round_even:
    case Scalar::round_away:
    case Scalar::maximum:
    case Scalar::minimum:
    case Scalar::real:
    case Scalar::imag:
      return true;
    default:
      return false;
  }
}

// Whether a NaN that one instruction makes of bf16 operands has a low half of zeros: it is the quieted operand, whose
// low half is zero, or the one that the CPU makes of numbers.
bool is_instruction(Scalar op) {
  return op == Scalar::add || op == Scalar::subtract || op == Scalar::multiply || op == Scalar::divide ||
         op == Scalar::sqrt;
}

bool is_constant(const std::string& operand) {
  return operand.starts_with("0x") || operand.starts_with("splat (float 0x");
}

}  // namespace

// f32 holds twice the digits of f16 and two more, so that rounding its result once more gives what f16 gives at once.
// Quotients and roots of f16 take longer than those of f32 with the conversions.
bool KernelEmitter::computes_halves(Scalar op, DType dtype) const {
  if (dtype != DType::f16 || !module_.target.fp16) return false;
  switch (op) {
    case Scalar::add:
    case Scalar::subtract:
    case Scalar::multiply:
    case Scalar::clamp:
    case Scalar::select:
      return true;
    case Scalar::real:
    case Scalar::imag:
      return false;
    default:
      return is_exact(op) || is_comparison(op);
  }
}

std::string KernelEmitter::to_half(const std::string& value, int lanes) {
  if (is_constant(value)) return lanes == 1 ? value : cat("splat (half ", value.substr(value.find("0x")));
  return assign(cat("fptrunc ", lanes_type("float", lanes), " ", value, " to ", lanes_type("half", lanes)));
}

std::string KernelEmitter::from_half(const std::string& value, int lanes) {
  return assign(cat("fpext ", lanes_type("half", lanes), " ", value, " to ", lanes_type("float", lanes)));
}

std::string KernelEmitter::half_scalar(Scalar op, const std::string* args, int lanes) {
  std::string halves[2];
  for (size_t i = 0; i < static_cast<size_t>(arity(op)); ++i) halves[i] = to_half(args[i], lanes);
  return from_half(float_scalar(op, "half", halves, lanes), lanes);
}

std::string KernelEmitter::small_scalar(Scalar op, DType dtype, const std::string* args, int lanes) {
  std::string value = real_scalar(op, dtype, args, lanes);
  bool is_short = dtype == DType::f16 || dtype == DType::bf16;
  return is_short && is_exact(op) ? value : rounded(dtype, value, lanes, is_instruction(op));
}

// Whether a loop has no floats but f16 that the CPU computes, and keeps none from turn to turn.
bool KernelEmitter::stays_in_halves(const std::vector<Stmt>& body) const {
  bool stays =
      module_.target.fp16 && std::ranges::all_of(body, [](const Stmt& stmt) { return stmt.kind == StmtKind::store; });
  visit_expressions(kernel_, roots_of(body), [&](ExprId, const Expr& e) {
    if (is_bool(e.dtype) && e.kind != ExprKind::scalar) return;
    DType dtype = e.kind == ExprKind::scalar ? kernel_.exprs[static_cast<size_t>(e.args.back())].dtype : e.dtype;
    stays &= dtype == DType::f16 && (e.kind == ExprKind::load || e.kind == ExprKind::constant ||
                                     (e.kind == ExprKind::scalar && computes_halves(e.op, dtype)));
  });
  return stays;
}

}  // namespace weft
