// Kernels and programs as text.
#include "weft/kernel/kernel.h"

namespace weft {
namespace {

void append_dynamic(std::string& out, const std::vector<std::pair<ExprId, Index>>& dynamic) {
  for (const auto& [expr, stride] : dynamic) append(out, " + e", expr, "*(", stride, ")");
}

std::string element_text(const Literal& value) {
  if (is_complex(value.dtype())) return cat("(", value.as_complex(0).real(), ", ", value.as_complex(0).imag(), ")");
  return is_float(value.dtype()) ? cat(value.as_double(0)) : cat(value.as_int(0));
}

void append_expr(std::string& out, size_t id, const Expr& expr) {
  append(out, "  e", id, ": ", name(expr.dtype), " = ");
  switch (expr.kind) {
    case ExprKind::constant:
      append(out, element_text(expr.value));
      break;
    case ExprKind::index:
      append(out, "index(", expr.index, ")");
      break;
    case ExprKind::load:
      append(out, "m", expr.slot, "[", expr.index);
      append_dynamic(out, expr.dynamic);
      out += "]";
      break;
    case ExprKind::variable:
      append(out, "v", expr.slot);
      break;
    case ExprKind::accumulator:
      out += "accumulator";
      break;
    case ExprKind::checked:
      append(out, "checked(e", expr.args[0], ", ", expr.index, ", c", expr.slot, ")");
      break;
    case ExprKind::scalar:
      append(out, name(expr.op), "(");
      for (size_t i = 0; i < expr.args.size(); ++i) append(out, i ? ", e" : "e", expr.args[i]);
      out += ")";
      break;
  }
  if (expr.mask != no_expr) append(out, " where e", expr.mask);
  out += '\n';
}

void append_statements(std::string& out, const std::vector<Stmt>& body, size_t indent) {
  static constexpr std::string_view kinds[] = {"for", "parallel for", "vector for", "lines for"};
  for (const Stmt& stmt : body) {
    out.append(indent, ' ');
    switch (stmt.kind) {
      case StmtKind::loop:
        append(out, kinds[static_cast<size_t>(stmt.loop)], " ", stmt.counter, " < ", stmt.extent, " unroll ",
               stmt.unroll, ":\n");
        append_statements(out, stmt.body, indent + 2);
        continue;
      case StmtKind::define:
      case StmtKind::assign:
        append(out, "v", stmt.slot, stmt.kind == StmtKind::define ? " := e" : " = e", stmt.expr);
        break;
      case StmtKind::accumulate:
        append(out, "v", stmt.slot, " ", name(stmt.op), "= e", stmt.expr);
        break;
      case StmtKind::store:
      case StmtKind::barrier_accumulate:
        append(out, "m", stmt.slot, "[", stmt.index);
        append_dynamic(out, stmt.dynamic);
        append(out, "] ", stmt.kind == StmtKind::store ? std::string_view("") : name(stmt.op), "= e", stmt.expr);
        break;
    }
    if (stmt.mask != no_expr) append(out, " where e", stmt.mask);
    out += '\n';
  }
}

void append_side(std::string& out, std::string_view label, const Dot::Side& side) {
  append(out, "  ", label, " m", side.memory, " + ", side.offset, " batch ", side.batch, " outer ", side.outer,
         " inner ", side.inner);
  if (side.outer_part) append(out, " outer by ", side.outer_part, " at ", side.outer_jump);
  if (side.inner_part) append(out, " inner by ", side.inner_part, " at ", side.inner_jump);
  out += "\n";
}

void append_levels(std::string& out, std::string_view label, const std::vector<Dot::Level>& levels) {
  append(out, "  ", label, " of windows");
  for (const Dot::Level& level : levels) append(out, " ", level.extent, " by ", level.stride);
  out += "\n";
}

void append_launch(std::string& out, const Program& program, const Launch& launch, size_t indent = 2) {
  static constexpr std::string_view kinds[] = {"", "routine ", "while ", "for ", "branch "};
  append(out, std::string(indent, ' '), kinds[static_cast<size_t>(launch.kind)],
         launch.kind == LaunchKind::kernel ? program.kernels[static_cast<size_t>(launch.kernel)].name : launch.routine,
         "(");
  for (size_t i = 0; i < launch.buffers.size(); ++i) append(out, i ? ", b" : "b", launch.buffers[i]);
  out += ")";
  if (launch.kind == LaunchKind::kernel) append(out, " x ", launch.parallel);
  if (launch.kind == LaunchKind::count)
    append(out, " ", launch.counter, " = ", launch.first, " + ", launch.step, " k, k < ", launch.trips,
           launch.until ? " until it holds" : "", launch.independent ? " independent" : "");
  if (launch.tiling) append(out, " in tiles, reach ", launch.tiling->reach);
  if (!launch.numbers.empty()) append(out, " ", launch.numbers);
  if (!launch.checks.empty()) append(out, " checks ", launch.checks);
  if (launch.later) out += " later";
  append(out, "  # ", launch.loc.text(), "\n");
  for (const LaunchBlock& block : launch.blocks) {
    append(out, std::string(indent, ' '), "{\n");
    for (const Launch& inner : block.launches) append_launch(out, program, inner, indent + 2);
    append(out, std::string(indent, ' '), "}\n");
  }
}

}  // namespace

std::string FourBits::name() const {
  return cat(is_signed ? "i4." : "u4.", low, ".", more < 0 ? "less." : "", std::abs(more));
}

std::string Kernel::text() const {
  std::string out = two_ways ? "  past caches or not\n" : "";
  for (size_t i = 0; i < memories.size(); ++i)
    append(out, "  m", i, ": ", weft::name(memories[i].dtype), memories[i].written ? " written" : "",
           memories[i].past_caches ? " past caches" : "", memories[i].flushes ? " flushes" : "",
           memories[i].scratch ? cat(" scratch ", memories[i].scratch) : std::string(), "\n");
  for (size_t i = 0; i < variables.size(); ++i) append(out, "  v", i, ": ", weft::name(variables[i].dtype), "\n");
  for (const Symbol& symbol : symbols) append(out, "  symbol ", symbol.name, " ", symbol.min, "..", symbol.max, "\n");
  if (dot) {
    append(out, dot->pack_rhs ? "  pack" : "  dot", " batch ", dot->batch, " m ", dot->m, " n ", dot->n, " k ", dot->k,
           " in ", weft::name(dot->accumulate), dot->packed_rhs ? " packed" : "", " to m", dot->packed, " of ",
           weft::name(dot->lhs_type), " ", weft::name(dot->rhs_type), dot->bits ? " " + dot->bits->name() : "", "\n");
    append_side(out, "lhs", dot->lhs);
    append_side(out, "rhs", dot->rhs);
    if (dot->windows) append_levels(out, "k", dot->windows->k), append_levels(out, "n", dot->windows->n);
    if (dot->raw) append_side(out, "until it is packed", *dot->raw);
  }
  for (size_t i = 0; i < exprs.size(); ++i) append_expr(out, i, exprs[i]);
  append_statements(out, body, 2);
  return out;
}

std::string Cut::text() const { return cat(op, " (", loc.text(), "): ", reason); }

std::string Program::text() const {
  static constexpr std::string_view places[] = {"input", "output", "constant", "arena", "turn", "persistent"};
  std::string out = cat("program ", name, "\n");
  for (size_t i = 0; i < buffers.size(); ++i) {
    const BufferPlan& b = buffers[i];
    append(out, "  b", i, ": ", b.type.short_text(), " ", places[static_cast<size_t>(b.place)]);
    if (b.index >= 0)
      append(out, " ", b.index);
    else
      append(out, " at ", b.offset);
    out += '\n';
  }
  append(out, "arena ", arena_bytes, ", persistent ", persistent_bytes, "\nsetup:\n");
  for (const Launch& launch : setup) append_launch(out, *this, launch);
  out += "run:\n";
  for (const Launch& launch : run) append_launch(out, *this, launch);
  for (const Kernel& kernel : kernels)
    append(out, "kernel ", kernel.name, ":  # ", kernel.loc.text(), "\n", kernel.text());
  return out;
}

std::vector<const Launch*> plain_launches(const std::vector<Launch>& launches) {
  std::vector<const Launch*> found;
  for (const Launch& launch : launches) {
    if (launch.kind == LaunchKind::kernel || launch.kind == LaunchKind::routine) found.push_back(&launch);
    for (const LaunchBlock& block : launch.blocks)
      for (const Launch* inner : plain_launches(block.launches)) found.push_back(inner);
  }
  return found;
}

}  // namespace weft
