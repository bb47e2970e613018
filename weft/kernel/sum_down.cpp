// Sums down the columns of what does not fit the caches: some rows at a time are read from end to end of a piece of columns, side by
// side, while the sums rest in the first-level cache. A strip of columns from the first row to the last touches a line or two of
// each row, which the CPU does not foresee.
#include <algorithm>

#include "weft/kernel/draft.h"

namespace weft {
namespace {

// Rows side by side: as many streams of memory as the CPU follows.
constexpr int64_t rows_at_once = 8;
constexpr int64_t large = 1 << 21, least_piece = 512, most_piece = 4096, pieces_wanted = 8;

Stmt vector_over(const Axis& columns, std::vector<Stmt> body) { return std::move(nested({columns}, std::move(body), 1)[0]); }

}  // namespace

// The kernel's statements: sums are defined, all of them, then added to, and stored. Each has its elements in the order of the rows,
// as without pieces.
bool sum_down(Kernel& kernel, std::vector<Axis> kept, std::vector<Axis> reduced, Dim& parallel) {
  const size_t sums = kernel.body.size() / 3;
  auto dtype = [&](size_t i) { return kernel.variables[static_cast<size_t>(kernel.body[i].slot)].dtype; };
  int64_t bytes = 0;  // of a column
  for (size_t i = 0; i < sums; ++i) {
    if (size_of(dtype(i)) < 4 || is_complex(dtype(i))) return false;
    bytes += size_of(dtype(i));
  }
  if (kept.empty() || reduced.empty()) return false;
  Axis columns = kept.back(), rows = reduced.back();
  if (columns.extent.opt() < 2 * least_piece || rows.extent.opt() < 4 * rows_at_once) return false;
  int64_t elements = columns.extent.opt();
  for (const Axis& axis : reduced) elements *= axis.extent.opt();
  if (elements < large) return false;
  kept.pop_back();
  int64_t size = std::clamp((columns.extent.opt() / pieces_wanted + least_piece - 1) / least_piece * least_piece, least_piece, most_piece / ((bytes + 7) / 8));
  Dim pieces = ceildiv(columns.extent, size), piece = counter_dim(".c", pieces), rest = columns.extent - piece * Dim(size);
  substitute_counter(kernel, columns.counter, piece * Dim(size) + counter_dim(".i", size));
  kept.push_back({".c", pieces});
  columns = {".i", min(rest, size)};
  Axis inside = split(kernel, rows, rows_at_once, ".down");
  reduced.back() = rows;
  std::vector<Stmt> first, block, add, store, last;
  for (size_t i = 0; i < sums; ++i) {
    Expr load;
    load.kind = ExprKind::load;
    load.dtype = dtype(i);
    load.slot = static_cast<int32_t>(kernel.memories.size());
    load.index = counter_dim(".i", size);
    kernel.memories.push_back({cat("sums", i), load.dtype, true, size});
    Stmt define = kernel.body[i], end = kernel.body[2 * sums + i];
    first.push_back(store_statement(load.slot, load.index, define.expr));
    store.push_back(store_statement(load.slot, load.index, end.expr));
    kernel.exprs.push_back(std::move(load));
    define.expr = end.expr = static_cast<ExprId>(kernel.exprs.size() - 1);
    block.push_back(std::move(define));
    add.push_back(kernel.body[sums + i]);
    last.push_back(std::move(end));
  }
  for (Stmt& loop : serial({inside}, std::move(add))) block.push_back(std::move(loop));
  block.insert(block.end(), store.begin(), store.end());
  std::vector<Stmt> loops{vector_over(columns, std::move(first))};
  for (Stmt& loop : serial(reduced, {vector_over(columns, std::move(block))})) loops.push_back(std::move(loop));
  loops.push_back(vector_over(columns, std::move(last)));
  kernel.body = std::move(loops);
  parallel = flatten_parallel(kernel, kept);
  std::vector<Stmt> result_body;
  result_body.push_back(parallel_loop(parallel, std::move(kernel.body)));
  kernel.body = std::move(result_body);
  return true;
}

}  // namespace weft
