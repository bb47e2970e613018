#include "weft/kernel/cost.h"

#include <algorithm>

namespace weft {

int cost_of(Scalar op) {
  switch (op) {
    case Scalar::none:
      return 0;
    case Scalar::add:
    case Scalar::subtract:
    case Scalar::multiply:
    case Scalar::maximum:
    case Scalar::minimum:
    case Scalar::fma:
    case Scalar::negate:
    case Scalar::abs:
    case Scalar::convert:
    case Scalar::bitcast:
    case Scalar::select:
    case Scalar::clamp:
    case Scalar::eq:
    case Scalar::ne:
    case Scalar::lt:
    case Scalar::le:
    case Scalar::gt:
    case Scalar::ge:
    case Scalar::bit_and:
    case Scalar::bit_or:
    case Scalar::bit_xor:
    case Scalar::bit_not:
    case Scalar::is_finite:
    case Scalar::shift_left:
    case Scalar::shift_right_arithmetic:
    case Scalar::shift_right_logical:
    case Scalar::real:
    case Scalar::imag:
    case Scalar::complex:
      return 1;
    case Scalar::divide:
    case Scalar::sqrt:
    case Scalar::rsqrt:
    case Scalar::floor:
    case Scalar::ceil:
    case Scalar::sign:
    case Scalar::round_away:
    case Scalar::round_even:
      return 3;
    default:
      return 16;
  }
}

namespace {

class Work {
 public:
  explicit Work(const Kernel& kernel) : kernel_(kernel), counted_(kernel.exprs.size()) {}

  Dim of(const std::vector<Stmt>& body) {
    Dim total;
    for (const Stmt& stmt : body) total = total + of(stmt);
    return total;
  }

 private:
  Dim of(const Stmt& stmt) {
    if (stmt.kind == StmtKind::loop) {
      Dim each = of(stmt.body) + Dim(1);
      return stmt.loop == LoopKind::parallel ? each : extent(stmt.extent) * each;
    }
    int64_t total = 1 + of(stmt.expr) + of(stmt.mask);
    for (const auto& [expr, stride] : stmt.dynamic) total += of(expr);
    return Dim(total);
  }

  int64_t of(ExprId id) {
    if (id == no_expr || counted_[static_cast<size_t>(id)]) return 0;
    counted_[static_cast<size_t>(id)] = true;
    const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
    int64_t words = std::max<int64_t>(size_of(expr.dtype) / 4, 1), total = of(expr.mask);
    if (expr.kind == ExprKind::scalar) total += cost_of(expr.op) * words;
    if (expr.kind == ExprKind::checked) total += words;
    if (expr.kind == ExprKind::load) total += (expr.dynamic.empty() ? 1 : 4) * words;
    for (ExprId arg : expr.args) total += of(arg);
    for (const auto& [index, stride] : expr.dynamic) total += of(index);
    return total;
  }

  static Dim extent(const Dim& extent) {
    for (const Symbol& symbol : extent.symbols())
      if (symbol.name.starts_with(".")) return Dim(extent.max());
    return extent;
  }

  const Kernel& kernel_;
  std::vector<bool> counted_;
};

}  // namespace

int price_of(const Expr& expr) { return expr.kind == ExprKind::scalar ? cost_of(expr.op) : 1; }

int price_of(const Kernel& kernel) {
  int price = 0;
  for (const Expr& expr : kernel.exprs) price += price_of(expr);
  return price;
}

Dim work_of(const Kernel& kernel) { return Work(kernel).of(kernel.body); }

}  // namespace weft
