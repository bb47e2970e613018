#include "weft/kernel/sums.h"

#include <algorithm>

namespace weft {
namespace {

// The second step: every piece took the initial value, the neutral element, and so does their combination.
void combine_pieces(Lowering& lowering, const Sum& sum, const Dim& pieces, const Dims& partial_dims, BufferId partial) {
  const DType dtype = sum.type.dtype;
  Draft second;
  Access combine(lowering.graph, lowering.fusion, second.kernel);
  Space rows = space_of(sum.type.dims, ".k");
  int32_t total = add_variable(second.kernel, dtype);
  int32_t target = combine.memory(sum.result, true);
  ExprId init = combine.value(sum.init, {});
  auto partial_slot = static_cast<int32_t>(second.kernel.memories.size());
  Expr load;
  load.kind = ExprKind::load;
  load.dtype = dtype;
  Dims where = rows.coordinates;
  where.push_back(counter_dim(".c", pieces));
  load.index = linear_index(partial_dims, where);
  load.slot = partial_slot;
  second.kernel.memories.push_back({"partial", dtype, false, 0});
  second.kernel.exprs.push_back(std::move(load));
  auto part = static_cast<ExprId>(second.kernel.exprs.size() - 1);
  std::vector<Stmt> rest{statement(StmtKind::define, total, init)};
  append_all(rest, nested({{".c", pieces}}, {accumulate(total, sum.op, part)}, 1));
  rest.push_back(
      store_statement(target, linear_index(sum.type.dims, rows.coordinates), combine.variable(total, dtype)));
  second.kernel.body = serial(rows.axes, std::move(rest));
  second.buffers.push_back(partial);
  finish_draft(lowering, std::move(second), combine, {sum.result});
}

}  // namespace

int vectors_in_flight(const std::vector<Stmt>& body) {
  auto sums = std::ranges::count_if(body, [](const Stmt& stmt) { return stmt.kind == StmtKind::accumulate; });
  return sums <= 2 ? 4 : sums <= 4 ? 2 : 1;
}

Stmt accumulate(int32_t slot, Scalar op, ExprId expr) {
  Stmt stmt = statement(StmtKind::accumulate, slot, expr);
  stmt.op = op;
  return stmt;
}

Dim product_of(const std::vector<Axis>& axes) {
  Dim total = 1;
  for (const Axis& axis : axes) total = total * axis.extent;
  return total;
}

void append_all(std::vector<Stmt>& body, std::vector<Stmt> more) {
  body.insert(body.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Stmt> defined(Access& access, const std::vector<Sum>& sums) {
  std::vector<Stmt> body;
  for (const Sum& sum : sums) body.push_back(statement(StmtKind::define, sum.variable, access.value(sum.init, {})));
  return body;
}

std::vector<Stmt> accumulated(const std::vector<Sum>& sums) {
  std::vector<Stmt> body;
  for (const Sum& sum : sums) body.push_back(accumulate(sum.variable, sum.op, sum.element));
  return body;
}

bool takes_two_steps(const SumSpace& space, const std::vector<Sum>& sums) {
  // Of more there is no array: as many as the turn of a loop says of which nobody knows how many turns it has. No
  // memory would hold the sums of their parts.
  constexpr int64_t most = int64_t{1} << 40;
  const int64_t length = space.reduced.empty() ? 0 : product_of(space.reduced).max();
  return length > 4 * chunk && length <= most && product_of(space.kept).opt() < 16 &&
         std::ranges::all_of(sums, [](const Sum& sum) { return is_neutral(sum.init.node(), sum.op); });
}

void lower_in_two_steps(Lowering& lowering, Draft& draft, Access& access, SumSpace space,
                        const std::vector<Sum>& sums) {
  Kernel& kernel = draft.kernel;
  std::vector<Axis> inner = space.reduced, row(inner.begin() + 1, inner.end());
  Dim pieces = inner[0].extent;
  if (const Dim width = product_of(row); width.max() <= near_elements) {
    // Rows of a few elements go many to a piece, whose lanes are rows.
    const int64_t rows = chunk / std::max<int64_t>(width.max(), 1);
    pieces = ceildiv(inner[0].extent, rows);
    Dim piece = counter_dim(".c", pieces), rest = inner[0].extent - piece * Dim(rows);
    substitute_counter(kernel, inner[0].counter, piece * Dim(rows) + counter_dim(".i", rows));
    inner = row;
    inner.push_back({".i", min(rest, rows)});
  } else {
    substitute_counter(kernel, inner[0].counter, counter_dim(".c", pieces));
    inner.erase(inner.begin());
  }
  Dims partial_dims = sums[0].type.dims, at = space.kept_coordinates;
  partial_dims.push_back(pieces);
  at.push_back(counter_dim(".c", pieces));
  std::vector<Stmt> body = defined(access, sums);
  std::vector<Stmt> add = accumulated(sums);
  const int in_flight = vectors_in_flight(add);
  append_all(body, nested(inner, std::move(add), in_flight));
  std::vector<BufferId> partials;
  for (const Sum& sum : sums) {
    auto slot = static_cast<int32_t>(kernel.memories.size());
    kernel.memories.push_back({cat("partial", sums.size() > 1 ? cat(slot) : ""), sum.type.dtype, true, 0});
    body.push_back(
        store_statement(slot, linear_index(partial_dims, at), access.variable(sum.variable, sum.type.dtype)));
    partials.push_back(lowering.add_temporary({sum.type.dtype, partial_dims}));
  }
  draft.buffers = partials;
  kernel.body = std::move(body);
  std::vector<Axis> outer = space.kept;
  outer.push_back({".c", pieces});
  draft.parallel = flatten_parallel(kernel, outer);
  std::vector<Stmt> loops;
  loops.push_back(parallel_loop(draft.parallel, std::move(kernel.body)));
  kernel.body = std::move(loops);
  std::vector<NodeId> roots;
  for (const Sum& sum : sums) roots.push_back(sum.result);
  finish_draft(lowering, std::move(draft), access, roots);
  for (size_t i = 0; i < sums.size(); ++i) combine_pieces(lowering, sums[i], pieces, partial_dims, partials[i]);
}

}  // namespace weft
