// Sums and scans down the columns of what does not fit the caches: rows are read from end to end of a piece of columns,
// those of sums some at a time, side by side, while the totals rest in the first-level cache. A strip of columns from
// the first row to the last touches a line or two of each row, which the CPU does not foresee.
#include <algorithm>

#include "weft/kernel/draft.h"

namespace weft {
namespace {

// Rows side by side: as many streams of memory as the CPU follows.
constexpr int64_t rows_at_once = 8;
constexpr int64_t large = 1 << 21, least_piece = 512, most_piece = 4096, pieces_wanted = 8;
// Scans write as much as they read: shorter pieces of rows take longer, even where one thread has them all.
constexpr int64_t least_piece_of_scan = 1024, least_scanned = 8, line_of_columns = 64;

Stmt vector_over(const Axis& columns, std::vector<Stmt> body) {
  return std::move(nested({columns}, std::move(body), 1)[0]);
}

// Splits the last of `kept` into pieces of `size` columns. What is left to go over is the columns of a piece.
Axis in_pieces(Kernel& kernel, std::vector<Axis>& kept, int64_t size) {
  Axis columns = kept.back();
  kept.pop_back();
  Dim pieces = ceildiv(columns.extent, size), piece = counter_dim(".c", pieces),
      rest = columns.extent - piece * Dim(size);
  substitute_counter(kernel, columns.counter, piece * Dim(size) + counter_dim(".i", size));
  kept.push_back({".c", pieces});
  return {".i", min(rest, size)};
}

// A total of each column of a piece, in memory of its own, from which statements of the kernel load it.
Expr total_in_memory(Kernel& kernel, const std::string& name, DType dtype, int64_t size) {
  Expr load;
  load.kind = ExprKind::load;
  load.dtype = dtype;
  load.slot = static_cast<int32_t>(kernel.memories.size());
  load.index = counter_dim(".i", size);
  kernel.memories.push_back({name, dtype, true, size});
  return load;
}

Dim over_pieces(Kernel& kernel, const std::vector<Axis>& kept, std::vector<Stmt> body) {
  kernel.body = std::move(body);
  Dim parallel = flatten_parallel(kernel, kept);
  std::vector<Stmt> loop;
  loop.push_back(parallel_loop(parallel, std::move(kernel.body)));
  kernel.body = std::move(loop);
  return parallel;
}

}  // namespace

// The kernel's statements: sums are defined, all of them, then added to, and stored. Each has its elements in the order
// of the rows, as without pieces.
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
  int64_t size = std::clamp((columns.extent.opt() / pieces_wanted + least_piece - 1) / least_piece * least_piece,
                            least_piece, most_piece / ((bytes + 7) / 8));
  columns = in_pieces(kernel, kept, size);
  Axis inside = split(kernel, rows, rows_at_once, ".down");
  reduced.back() = rows;
  std::vector<Stmt> first, block, add, store, last;
  for (size_t i = 0; i < sums; ++i) {
    Expr load = total_in_memory(kernel, cat("sums", i), dtype(i), size);
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
  parallel = over_pieces(kernel, kept, std::move(loops));
  return true;
}

bool scan_down(Kernel& kernel, std::vector<Axis> kept, const Axis& rows, size_t count, Dim& parallel) {
  int64_t columns = kept.back().extent.opt(), elements = rows.extent.opt();
  for (const Axis& axis : kept) elements *= axis.extent.opt();
  if (columns < least_scanned || rows.extent.opt() < rows_at_once || elements < large) return false;
  int64_t pieces = std::max<int64_t>(1, columns / least_piece_of_scan),
          size = std::max((columns + pieces - 1) / pieces, least_piece_of_scan);
  size = (size + line_of_columns - 1) / line_of_columns * line_of_columns;
  Axis inside = in_pieces(kernel, kept, size);
  std::vector<Stmt> first, row, store;
  for (size_t i = 0; i < count; ++i) {
    Stmt define = kernel.body[i];
    DType dtype = kernel.variables[static_cast<size_t>(define.slot)].dtype;
    Expr load = total_in_memory(kernel, cat("totals", i), dtype, size), total;
    first.push_back(store_statement(load.slot, load.index, define.expr));
    total.kind = ExprKind::variable;
    total.dtype = dtype;
    total.slot = define.slot;
    kernel.exprs.push_back(load);
    define.expr = static_cast<ExprId>(kernel.exprs.size() - 1);
    row.push_back(std::move(define));
    kernel.exprs.push_back(std::move(total));
    store.push_back(store_statement(load.slot, load.index, static_cast<ExprId>(kernel.exprs.size() - 1)));
  }
  row.insert(row.end(), kernel.body.begin() + static_cast<std::ptrdiff_t>(count), kernel.body.end());
  row.insert(row.end(), store.begin(), store.end());
  std::vector<Stmt> loops{vector_over(inside, std::move(first))};
  for (Stmt& loop : serial({rows}, {vector_over(inside, std::move(row))})) loops.push_back(std::move(loop));
  parallel = over_pieces(kernel, kept, std::move(loops));
  return true;
}

}  // namespace weft
