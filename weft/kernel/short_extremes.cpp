// Extremes of f16 or bf16 along memory, by their patterns: nothing is widened, and twice as many lanes take part.
#include <algorithm>

#include "weft/kernel/draft.h"

namespace weft {
namespace {

// Elements that stay in the first-level cache.
constexpr int64_t longest_line = 8192;

class Extremes {
 public:
  explicit Extremes(Kernel& kernel) : kernel_(kernel) {}

  void run(std::vector<Stmt>& body) {
    for (size_t i = 0; i < body.size(); ++i) {
      run(body[i].body);
      part(body, i);
      if (body[i].loop != LoopKind::vector || body[i].body.empty() ||
          !std::ranges::all_of(body[i].body, [&](const Stmt& s) { return load_of(s, body[i].counter) != no_expr; }))
        continue;
      std::vector<Stmt> before, after, inside;
      for (const Stmt& stmt : body[i].body) replace(stmt, load_of(stmt, body[i].counter), before, inside, after);
      body[i].unroll = body[i].body.size() == 1 ? 2 : 1;
      body[i].body = std::move(inside);
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(i) + 1, after.begin(), after.end());
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(i), before.begin(), before.end());
      i += before.size() + after.size();
    }
  }

 private:
  const Expr& at(ExprId id) const { return kernel_.exprs[static_cast<size_t>(id)]; }

  // Extremes beside sums of short lines get a loop of their own: lines are read again from the first-level cache.
  void part(std::vector<Stmt>& body, size_t at) const {
    auto is_sum = [](const Stmt& stmt) { return stmt.kind == StmtKind::accumulate; };
    if (body[at].loop != LoopKind::vector || body[at].extent.max() > longest_line ||
        !std::ranges::all_of(body[at].body, is_sum))
      return;
    Stmt others = body[at];
    std::erase_if(others.body, [&](const Stmt& stmt) { return load_of(stmt, others.counter) != no_expr; });
    if (others.body.empty() || others.body.size() == body[at].body.size()) return;
    std::erase_if(body[at].body, [&](const Stmt& stmt) { return load_of(stmt, others.counter) == no_expr; });
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(others));
  }

  // The load of short floats, one after the other, of which the statement takes an extreme.
  ExprId load_of(const Stmt& stmt, const std::string& counter) const {
    if (stmt.kind != StmtKind::accumulate || (stmt.op != Scalar::maximum && stmt.op != Scalar::minimum)) return no_expr;
    ExprId id = stmt.expr;
    if (at(id).op == Scalar::convert && is_float(at(id).dtype) && size_of(at(id).dtype) > 2) id = at(id).args[0];
    const Expr& e = at(id);
    if (e.kind != ExprKind::load || (e.dtype != DType::f16 && e.dtype != DType::bf16) || e.mask != no_expr ||
        !e.dynamic.empty())
      return no_expr;
    std::optional<Dim> step = coefficient(e.index, counter);
    return step && step->is(1) ? id : no_expr;
  }

  // Patterns grow with positive numbers and shrink with negative ones; those of NaN lie beyond infinity's. So three
  // extremes tell: of the signed patterns the largest, of the unsigned ones the least and the largest.
  void replace(const Stmt& stmt, ExprId load, std::vector<Stmt>& before, std::vector<Stmt>& inside,
               std::vector<Stmt>& after) {
    DType dtype = at(load).dtype, result = at(stmt.expr).dtype;
    Expr raw = at(load);
    raw.dtype = DType::i16;
    ExprId whole = add(raw), natural = scalar(Scalar::bitcast, DType::u16, {whole});
    auto extreme = [&](DType type, Scalar op, ExprId value, int64_t first) {
      int32_t slot = add_variable(kernel_, type);
      before.push_back(statement(StmtKind::define, slot, number(type, first)));
      inside.push_back(statement(StmtKind::accumulate, slot, value));
      inside.back().op = op;
      Expr read;
      read.kind = ExprKind::variable;
      read.dtype = type;
      read.slot = slot;
      return add(read);
    };
    int64_t infinity = dtype == DType::f16 ? 0x7c00 : 0x7f80, sign = stmt.op == Scalar::maximum ? 0x8000 : 0;
    // Of nothing at all the result is an infinity.
    ExprId most = extreme(DType::i16, Scalar::maximum, whole, -0x8000),
           near = extreme(DType::u16, Scalar::minimum, natural, infinity | sign),
           far = extreme(DType::u16, Scalar::maximum, natural, 0);
    ExprId is_nan = scalar(Scalar::bit_or, DType::boolean,
                           {scalar(Scalar::gt, DType::boolean, {most, number(DType::i16, infinity)}),
                            scalar(Scalar::gt, DType::boolean, {far, number(DType::u16, infinity | 0x8000)})});
    // No number is positive, or none is negative: the least or the largest magnitude is left.
    ExprId pattern = stmt.op == Scalar::maximum
                         ? scalar(Scalar::select, DType::u16,
                                  {scalar(Scalar::ge, DType::boolean, {most, number(DType::i16, 0)}),
                                   scalar(Scalar::bitcast, DType::u16, {most}), near})
                         : scalar(Scalar::select, DType::u16,
                                  {scalar(Scalar::ge, DType::boolean, {far, number(DType::u16, 0x8000)}), far, near});
    pattern = scalar(Scalar::select, DType::u16, {is_nan, number(DType::u16, infinity | infinity >> 1), pattern});
    ExprId value = scalar(Scalar::bitcast, dtype, {pattern});
    after.push_back(stmt);
    after.back().expr = result == dtype ? value : scalar(Scalar::convert, result, {value});
  }

  ExprId add(Expr e) {
    kernel_.exprs.push_back(std::move(e));
    return static_cast<ExprId>(kernel_.exprs.size() - 1);
  }

  ExprId number(DType dtype, int64_t value) {
    Expr e;
    e.dtype = dtype;
    e.value = Literal::scalar_int(dtype, value);
    return add(std::move(e));
  }

  ExprId scalar(Scalar op, DType dtype, std::vector<ExprId> args) {
    Expr e;
    e.kind = ExprKind::scalar;
    e.dtype = dtype;
    e.op = op;
    e.args = std::move(args);
    return add(std::move(e));
  }

  Kernel& kernel_;
};

}  // namespace

void take_extremes_by_patterns(Kernel& kernel) { Extremes(kernel).run(kernel.body); }

}  // namespace weft
