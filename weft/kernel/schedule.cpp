// Loops: merging, splitting and nesting.
#include "weft/kernel/schedule.h"

#include <algorithm>

#include "weft/core/error.h"

namespace weft {
namespace {

bool atom_uses(const DimAtom& atom, const std::string& counter) {
  if (atom.op == DimOp::symbol) return atom.symbol.name == counter;
  return std::any_of(atom.operands.begin(), atom.operands.end(),
                     [&](const Dim& d) { return uses_counter(d, counter); });
}

// Calls visit on every index of the statements and of the expressions.
template <class Visit>
void visit_statements(std::vector<Stmt>& statements, const Visit& visit) {
  for (Stmt& stmt : statements) {
    if (stmt.kind == StmtKind::loop) visit(stmt.extent);
    visit(stmt.index);
    for (auto& [expr, stride] : stmt.dynamic) visit(stride);
    visit_statements(stmt.body, visit);
  }
}

template <class Visit>
void visit_indices(Kernel& kernel, const Visit& visit) {
  for (Expr& expr : kernel.exprs) {
    visit(expr.index);
    for (auto& [id, stride] : expr.dynamic) visit(stride);
  }
  visit_statements(kernel.body, visit);
  if (!kernel.dot) return;
  for (Dot::Side* side : {&kernel.dot->lhs, &kernel.dot->rhs}) visit(side->offset);
}

bool steps_evenly(Kernel& kernel, const Axis& outer, const Axis& inner) {
  bool even = true;
  visit_indices(kernel, [&](Dim& index) {
    if (!even || index.is_static()) return;
    bool a = uses_counter(index, outer.counter), b = uses_counter(index, inner.counter);
    if (!a && !b) return;
    std::optional<Dim> outer_step = coefficient(index, outer.counter), inner_step = coefficient(index, inner.counter);
    even = outer_step && inner_step && *outer_step == *inner_step * inner.extent;
  });
  return even;
}

// Lanes that there must be at least.
constexpr int64_t least_lanes = 16;
// A tile of a transposition: the cache lines of so many columns, each used whole. What is moved in blocks lies in the
// first-level cache.
constexpr int64_t tile_rows = 64, tile_columns = 32, block_elements = 2048;

// An outer axis along which some index steps by one while it strides along the innermost: a transposition, which row
// by row would touch a cache line for each element.
std::optional<size_t> crossing_axis(Kernel& kernel, const std::vector<Axis>& axes) {
  std::optional<size_t> found;
  visit_indices(kernel, [&](Dim& index) {
    if (found || index.is_static()) return;
    std::optional<Dim> inner = coefficient(index, axes.back().counter);
    if (!inner || (inner->is_static() && std::abs(inner->value()) < 2)) return;
    bool is_near = inner->is_static() && std::abs(inner->value()) <= near_elements;
    for (size_t i = 0; i + 1 < axes.size() && !found; ++i) {
      // What lies near is loaded with the lines between, unless these are wanted too.
      if (is_near && axes[i].extent != *inner) continue;
      if (std::optional<Dim> step = coefficient(index, axes[i].counter); step && step->is(1)) found = i;
    }
  });
  return found;
}

bool is_short_row(const Kernel& kernel, const Dim& extent) {
  int64_t widest = 1;
  for (const Memory& memory : kernel.memories) widest = std::max(widest, size_of(memory.dtype));
  return extent.max() <= std::min(short_row, short_row_bytes / widest);
}

// Lanes over the outer axis `across`, and under them all of the axis `along`: blocks of both are turned in registers.
void lay_blocks(Kernel& kernel, std::vector<Axis>& axes, size_t across, size_t along) {
  Axis whole = axes[along];
  int64_t lanes = tile_rows;
  while (2 * lanes * whole.extent.opt() <= block_elements) lanes *= 2;
  Axis inside = split(kernel, axes[across], lanes, ".i");
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(along));
  kernel.body = nested({inside}, serial({whole}, std::move(kernel.body)), 1);
}

// The loops of a map that reads in another order than it writes, or whose rows are shorter than vectors, as far as
// that is known to pay.
bool lay_turned(Kernel& kernel, std::vector<Axis>& axes) {
  if (axes.size() < 2) return false;
  size_t last = axes.size() - 1;
  // Blocks of an axis, the last of which is shorter, stay as they are.
  if (std::ranges::any_of(axes, [&](const Axis& axis) { return uses_counter(axes[last].extent, axis.counter); }))
    return false;
  std::optional<size_t> crossing = crossing_axis(kernel, axes);
  auto pays = [&](size_t across, size_t along) {
    return axes[across].extent.opt() >= least_lanes && moves_in_blocks(kernel, axes[across], axes[along], !crossing);
  };
  size_t rows = crossing.value_or(last - 1);
  int64_t height = axes[rows].extent.opt(), width = axes[last].extent.opt();
  if (crossing && height >= tile_rows && width >= tile_rows) {
    Axis inside = split(kernel, axes[rows], tile_rows, ".row"), columns = split(kernel, axes[last], tile_columns, ".i");
    kernel.body = nested({columns}, serial({inside}, std::move(kernel.body)), 1);
  } else if ((crossing ? width < tile_rows : is_short_row(kernel, axes[last].extent)) && pays(rows, last)) {
    lay_blocks(kernel, axes, rows, last);
  } else if (crossing && height < tile_rows && pays(last, rows)) {
    lay_blocks(kernel, axes, last, rows);
    // Blocks of columns one after the other, each with all that lies beside its lines in cache.
    std::rotate(axes.begin(), axes.end() - 1, axes.end());
  } else {
    return false;
  }
  return true;
}

}  // namespace

Dim counter_dim(const std::string& name, const Dim& extent) {
  int64_t top = std::max<int64_t>(extent.max() - 1, 0);
  return Dim(Symbol{name, 0, std::max<int64_t>(extent.opt() - 1, 0), top});
}

bool uses_counter(const Index& index, const std::string& counter) {
  for (const Dim::Term& term : index.terms())
    for (const auto& atom : term.atoms)
      if (atom_uses(*atom, counter)) return true;
  return false;
}

std::optional<Dim> coefficient(const Index& index, const std::string& counter) {
  Dim factor = 0;
  for (const Dim::Term& term : index.terms()) {
    int direct = 0;
    Dim rest = term.coefficient;
    for (const auto& atom : term.atoms) {
      if (atom->op == DimOp::symbol && atom->symbol.name == counter) {
        ++direct;
      } else if (atom_uses(*atom, counter)) {
        return std::nullopt;
      } else {
        rest = rest * dim_of_atom(*atom);
      }
    }
    if (direct > 1) return std::nullopt;
    if (direct == 1) factor = factor + rest;
  }
  return factor;
}

LineStep line_step(const Index& index, const std::string& across, const Axis& along) {
  if (!uses_counter(index, across)) return LineStep::steady;
  std::optional<Dim> between = coefficient(index, across), inside = coefficient(index, along.counter);
  if (!between || !inside) return LineStep::other;
  if (between->is(1)) return LineStep::across;
  bool has_blocks = along.extent.opt() >= least_line || lines_follow(index, across, along.extent);
  return inside->is(1) && has_blocks ? LineStep::along : LineStep::other;
}

bool lines_follow(const Index& index, const std::string& across, const Dim& extent) {
  std::optional<Dim> between = coefficient(index, across);
  return between && extent.is_static() && *between == extent;
}

bool loads_lanes(const Index& index, const std::string& across, const std::string& along, DType dtype) {
  std::optional<Dim> between = coefficient(index, across);
  if (!uses_counter(index, along)) return true;
  int64_t most = is_complex(dtype) ? near_elements / 2 : near_elements;
  return between && between->is_static() && between->value() > 0 && between->value() <= most;
}

bool moves_in_blocks(const Kernel& kernel, const Axis& across, const Axis& along, bool in_order) {
  auto lies_close = [&](const Index& index) {
    Dim between = *coefficient(index, across.counter);
    return between.is_static() && std::abs(between.value()) <= 2 * along.extent.opt();
  };
  auto moves = [&](const auto& access, bool is_load) {
    LineStep step = line_step(access.index, across.counter, along);
    if (access.mask != no_expr || !access.dynamic.empty()) return false;
    if (step == LineStep::across || (is_load && step == LineStep::steady)) return true;
    const Memory& memory = kernel.memories[static_cast<size_t>(access.slot)];
    if (is_load && memory.written) return false;
    if (is_load && loads_lanes(access.index, across.counter, along.counter, memory.dtype)) return true;
    return step == LineStep::along &&
           (!in_order || lies_close(access.index) || lines_follow(access.index, across.counter, along.extent));
  };
  auto all_move = [&](const auto& self, const std::vector<Stmt>& body) -> bool {
    return std::ranges::all_of(body, [&](const Stmt& stmt) {
      return stmt.kind == StmtKind::loop ? self(self, stmt.body) : stmt.kind != StmtKind::store || moves(stmt, false);
    });
  };
  return all_move(all_move, kernel.body) &&
         std::ranges::all_of(kernel.exprs, [&](const Expr& e) { return e.kind != ExprKind::load || moves(e, true); });
}

bool are_short_rows(const Kernel& kernel, const std::vector<Axis>& rows, const std::vector<Axis>& inner) {
  return !rows.empty() && inner.size() == 1 && inner[0].extent.max() < 8 && is_short_row(kernel, inner[0].extent) &&
         rows.back().extent.opt() >= least_lanes && moves_in_blocks(kernel, rows.back(), inner[0], true);
}

void substitute_counter(Kernel& kernel, const std::string& counter, const Dim& value) {
  std::map<std::string, Dim, std::less<>> one{{counter, value}};
  visit_indices(kernel, [&](Dim& index) {
    if (!index.is_static() && uses_counter(index, counter)) index = index.substitute(one);
  });
}

void merge_axes(Kernel& kernel, std::vector<Axis>& axes) {
  axes.erase(std::remove_if(axes.begin(), axes.end(), [](const Axis& axis) { return axis.extent.is(1); }), axes.end());
  for (size_t i = axes.size(); i-- > 1;) {
    if (!steps_evenly(kernel, axes[i - 1], axes[i])) continue;
    Dim extent = axes[i - 1].extent * axes[i].extent;
    substitute_counter(kernel, axes[i - 1].counter, 0);
    substitute_counter(kernel, axes[i].counter, counter_dim(axes[i - 1].counter, extent));
    axes[i - 1].extent = extent;
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

Axis split(Kernel& kernel, Axis& axis, int64_t size, const std::string& inside) {
  Dim blocks = ceildiv(axis.extent, size), block = counter_dim(axis.counter + "b", blocks);
  substitute_counter(kernel, axis.counter, block * Dim(size) + counter_dim(inside, size));
  Axis inner{inside, min(axis.extent - block * Dim(size), size)};
  axis = {axis.counter + "b", blocks};
  return inner;
}

std::vector<Stmt> serial(const std::vector<Axis>& axes, std::vector<Stmt> body) {
  for (size_t i = axes.size(); i-- > 0;) {
    Stmt loop;
    loop.kind = StmtKind::loop;
    loop.counter = axes[i].counter;
    loop.extent = axes[i].extent;
    loop.body = std::move(body);
    body.clear();
    body.push_back(std::move(loop));
  }
  return body;
}

Stmt parallel_loop(const Dim& extent, std::vector<Stmt> body) {
  Stmt loop;
  loop.kind = StmtKind::loop;
  loop.loop = LoopKind::parallel;
  loop.counter = ".p";
  loop.extent = extent;
  loop.body = std::move(body);
  return loop;
}

std::vector<Stmt> nested(const std::vector<Axis>& axes, std::vector<Stmt> body, int unroll) {
  if (axes.empty()) return body;
  std::vector<Stmt> innermost = serial({axes.back()}, std::move(body));
  innermost[0].loop = LoopKind::vector;
  innermost[0].unroll = unroll;
  return serial({axes.begin(), axes.end() - 1}, std::move(innermost));
}

Dim flatten_parallel(Kernel& kernel, const std::vector<Axis>& axes) {
  Dim extent = 1;
  for (const Axis& axis : axes) extent = extent * axis.extent;
  Dim p = counter_dim(".p", extent);
  Dim stride = extent;
  for (size_t i = 0; i < axes.size(); ++i) {
    stride = 1;
    for (size_t j = i + 1; j < axes.size(); ++j) stride = stride * axes[j].extent;
    Dim value = floordiv(p, stride);
    if (i > 0) value = mod(value, axes[i].extent);
    substitute_counter(kernel, axes[i].counter, value);
  }
  return extent;
}

std::vector<Stmt> schedule_map(Kernel& kernel, std::vector<Axis> axes, std::vector<Stmt> body, Dim& parallel,
                               const Dim& each, int64_t least) {
  kernel.body = std::move(body);
  merge_axes(kernel, axes);
  Dim total = 1;
  for (const Axis& axis : axes) total = total * axis.extent;
  bool small = (total * each).max() <= 2048;
  if (axes.empty() || small) {
    parallel = 1;
    return nested(axes, std::move(kernel.body), 1);
  }
  if (!each.is(1) || !lay_turned(kernel, axes)) {
    Axis inner = axes.back();
    axes.pop_back();
    Dim outer = 1;
    for (const Axis& axis : axes) outer = outer * axis.extent;
    int64_t piece_size = std::max<int64_t>(chunk / std::max<int64_t>(each.opt(), 1), least);
    if (inner.extent.max() > 2 * piece_size && outer.opt() < 64) {
      // Pieces of the innermost axis: the counter of a piece is the last of the parallel ones.
      Dim pieces = ceildiv(inner.extent, piece_size);
      Dim piece = counter_dim(".c", pieces), rest = inner.extent - piece * Dim(piece_size);
      substitute_counter(kernel, inner.counter, piece * Dim(piece_size) + counter_dim(".i", piece_size));
      axes.push_back({".c", pieces});
      inner = {".i", min(rest, piece_size)};
    }
    kernel.body = nested({inner}, std::move(kernel.body), 1);
  }
  parallel = flatten_parallel(kernel, axes);
  std::vector<Stmt> result;
  result.push_back(parallel_loop(parallel, std::move(kernel.body)));
  return result;
}

}  // namespace weft
