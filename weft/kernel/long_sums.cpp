// Sums of many floats in pieces: each lane adds up a piece, then pieces are added up, so that the error grows with the
// length of a piece and the number of pieces, not with their product. Products in order and extremes lose nothing, and
// stay as they are.
#include "weft/kernel/draft.h"

namespace weft {
namespace {

constexpr int64_t piece = 4 * chunk, long_sum = 4 * piece;

}  // namespace

bool split_long_sum(Kernel& kernel, std::vector<Axis>& axes) {
  // An extent that may be long is one: what is typical decides about speed, never about rounding.
  if (axes.empty() || axes.back().extent.max() <= long_sum) return false;
  axes.push_back(split(kernel, axes.back(), piece, ".i"));
  return true;
}

std::vector<Stmt> nested_in_pieces(Kernel& kernel, Access& access, const std::vector<Axis>& axes,
                                   std::vector<Stmt> body, int unroll) {
  std::vector<Stmt> pieces, after;
  for (Stmt& stmt : body) {
    DType dtype =
        stmt.kind == StmtKind::accumulate ? kernel.variables[static_cast<size_t>(stmt.slot)].dtype : DType::boolean;
    if (stmt.kind != StmtKind::accumulate || stmt.op != Scalar::add || is_integer(dtype) || is_bool(dtype)) continue;
    int32_t part = add_variable(kernel, dtype);
    pieces.push_back(statement(StmtKind::define, part, access.constant(Literal(Type{dtype, {}}))));
    after.push_back(stmt);
    stmt.slot = part;
    after.back().expr = access.variable(part, dtype);
  }
  for (Stmt& loop : nested({axes.back()}, std::move(body), unroll)) pieces.push_back(std::move(loop));
  pieces.insert(pieces.end(), after.begin(), after.end());
  return serial({axes.begin(), axes.end() - 1}, std::move(pieces));
}

}  // namespace weft
