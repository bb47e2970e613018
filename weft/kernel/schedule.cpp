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

// An outer axis along which some index steps by one while it strides along the innermost: a transposition, which row
// by row would touch a cache line for each element.
std::optional<size_t> crossing_axis(Kernel& kernel, const std::vector<Axis>& axes) {
  std::optional<size_t> found;
  visit_indices(kernel, [&](Dim& index) {
    if (found || index.is_static()) return;
    std::optional<Dim> inner = coefficient(index, axes.back().counter);
    if (!inner || (inner->is_static() && std::abs(inner->value()) < 16)) return;
    for (size_t i = 0; i + 1 < axes.size() && !found; ++i)
      if (std::optional<Dim> step = coefficient(index, axes[i].counter); step && step->is(1)) found = i;
  });
  return found;
}

// A tile of a transposition: the cache lines of so many columns, each used whole.
constexpr int64_t tile_rows = 64, tile_columns = 32, short_row = 6;

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
  std::optional<size_t> crossing = each.is(1) ? crossing_axis(kernel, axes) : std::nullopt;
  if (crossing && axes.back().extent.opt() >= tile_rows && axes[*crossing].extent.opt() >= tile_rows) {
    Axis rows = split(kernel, axes[*crossing], tile_rows, ".row"),
         columns = split(kernel, axes.back(), tile_columns, ".i");
    kernel.body = nested({columns}, serial({rows}, std::move(kernel.body)), 1);
  } else {
    // Lanes along rows of a few elements would be few; elements of such rows are put in place one by one instead.
    if (crossing && axes.back().extent.max() <= short_row && axes[*crossing].extent.opt() >= tile_rows)
      std::rotate(axes.begin() + static_cast<std::ptrdiff_t>(*crossing),
                  axes.begin() + static_cast<std::ptrdiff_t>(*crossing) + 1, axes.end());
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
