// What the turns of a loop add to a number that it carries, where it does not matter in which order.
#include <algorithm>

#include "weft/kernel/sums.h"
#include "weft/kernel/visit.h"

namespace weft {
namespace {

bool is_in_any_order(Scalar op, DType dtype) {
  switch (op) {
    case Scalar::add:
    case Scalar::multiply:
    case Scalar::maximum:
    case Scalar::minimum:
      return is_integer(dtype);
    case Scalar::bit_and:
    case Scalar::bit_or:
    case Scalar::bit_xor:
      return is_integer(dtype) || is_bool(dtype);
    default:
      return false;
  }
}

// What such an operation changes nothing with.
Literal neutral(Scalar op, DType dtype) {
  const int64_t high = is_signed(dtype) ? static_cast<int64_t>((uint64_t{1} << (bit_width(dtype) - 1)) - 1) : -1;
  const int64_t values = op == Scalar::multiply  ? 1
                         : op == Scalar::bit_and ? (is_bool(dtype) ? 1 : -1)
                         : op == Scalar::minimum ? high
                         : op == Scalar::maximum ? (is_signed(dtype) ? -high - 1 : 0)
                                                 : 0;
  return Literal::scalar_int(dtype, values);
}

class TurnSums {
 public:
  TurnSums(Access& access, const Kernel& kernel, int32_t slot) : access_(access), kernel_(kernel), slot_(slot) {}

  std::optional<TurnPart> part(ExprId id) {
    const Expr e = expr(id);
    if (is_sum(id)) return TurnPart{};
    if (e.kind != ExprKind::scalar) return std::nullopt;
    if (e.op == Scalar::select) return is_integer(e.dtype) && extreme(e) ? extreme(e) : chosen(e);
    if (e.op == Scalar::subtract && is_integer(e.dtype)) {
      if (reads(e.args[1])) return std::nullopt;
      const ExprId zero = access_.constant(neutral(Scalar::add, e.dtype));
      return added(e.args[0], Scalar::add, access_.scalar(Scalar::subtract, e.dtype, {zero, e.args[1]}), e.dtype);
    }
    if (!is_in_any_order(e.op, e.dtype)) return std::nullopt;
    for (size_t side : {0, 1})
      if (reads(e.args[side]) && !reads(e.args[1 - side])) return added(e.args[side], e.op, e.args[1 - side], e.dtype);
    return std::nullopt;
  }

 private:
  const Expr& expr(ExprId id) const { return kernel_.exprs[static_cast<size_t>(id)]; }

  bool is_sum(ExprId id) const { return expr(id).kind == ExprKind::variable && expr(id).slot == slot_; }

  // Whether an expression has another value in each turn as something carried has.
  bool reads(ExprId id) const {
    bool found = false;
    visit_expressions(kernel_, {id}, [&](ExprId, const Expr& e) { found |= e.kind == ExprKind::variable; });
    return found;
  }

  std::optional<TurnPart> added(ExprId sum, Scalar op, ExprId element, DType dtype) {
    const std::optional<TurnPart> before = part(sum);
    if (!before || (before->op != Scalar::none && before->op != op)) return std::nullopt;
    return TurnPart{op, before->op == op ? access_.scalar(op, dtype, {before->element, element}) : element};
  }

  std::optional<TurnPart> chosen(const Expr& e) {
    if (reads(e.args[0])) return std::nullopt;
    const std::optional<TurnPart> first = part(e.args[1]), second = part(e.args[2]);
    if (!first || !second) return std::nullopt;
    const Scalar op = first->op == Scalar::none ? second->op : first->op;
    if (op == Scalar::none) return first;
    auto element = [&](const TurnPart& part) {
      return part.op == Scalar::none ? access_.constant(neutral(op, e.dtype)) : part.element;
    };
    if (second->op != Scalar::none && second->op != op) return std::nullopt;
    return TurnPart{op, access_.scalar(Scalar::select, e.dtype, {e.args[0], element(*first), element(*second)})};
  }

  // x > sum ? x : sum, and its like.
  std::optional<TurnPart> extreme(const Expr& e) const {
    ExprId first = e.args[1], second = e.args[2];
    const Expr* condition = &expr(e.args[0]);
    for (; condition->op == Scalar::bit_not; condition = &expr(condition->args[0])) std::swap(first, second);
    const bool is_greater = condition->op == Scalar::gt || condition->op == Scalar::ge,
               is_less = condition->op == Scalar::lt || condition->op == Scalar::le;
    if (condition->kind != ExprKind::scalar || (!is_greater && !is_less)) return std::nullopt;
    const bool is_same = condition->args[0] == first && condition->args[1] == second,
               is_other = condition->args[0] == second && condition->args[1] == first;
    const ExprId element = is_sum(first) ? second : first;
    if ((!is_same && !is_other) || is_sum(first) == is_sum(second) || reads(element)) return std::nullopt;
    return TurnPart{is_greater == is_same ? Scalar::maximum : Scalar::minimum, element};
  }

  Access& access_;
  const Kernel& kernel_;
  int32_t slot_;
};

}  // namespace

std::optional<TurnPart> turn_part(Access& access, const Kernel& kernel, int32_t slot, ExprId next) {
  return TurnSums(access, kernel, slot).part(next);
}

}  // namespace weft
