// From a kernel of the loop IR to what the dot emitter asks for.
#include "weft/codegen/llvm/dot_kernel.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "weft/core/text.h"
#include "weft/kernel/cost.h"
#include "weft/kernel/schedule.h"

namespace weft {
namespace {

// Epilogues that cost no more, in prices of kernel/cost.h, are written for all vectors of a row.
constexpr int light = 32;

// A number that divides the extent, whatever its symbols are.
int64_t factor_of(const Dim& dim) {
  int64_t factor = dim.constant();
  for (const Dim::Term& term : dim.terms()) {
    const DimAtom& atom = *term.atoms[0];
    bool chooses = term.atoms.size() == 1 && (atom.op == DimOp::min || atom.op == DimOp::max);
    factor = std::gcd(
        factor, term.coefficient * (chooses ? std::gcd(factor_of(atom.operands[0]), factor_of(atom.operands[1])) : 1));
  }
  return factor;
}

// Where the sums of a product are stored as they are, side by side along n: rows along m are `outer`.
std::optional<Dot::Side> stored_sums(const Kernel& kernel) {
  if (kernel.body.size() != 1 || kernel.dot->pack_rhs) return {};
  const Stmt& store = kernel.body[0];
  bool is_plain = store.kind == StmtKind::store && store.mask == no_expr && store.dynamic.empty();
  if (!is_plain || kernel.exprs[static_cast<size_t>(store.expr)].kind != ExprKind::accumulator) return {};
  if (kernel.memories[static_cast<size_t>(store.slot)].dtype != kernel.dot->accumulate) return {};
  std::vector<std::string> counters = {".m", ".n"};
  for (size_t i = 0; i < kernel.dot->batch.size(); ++i) counters.push_back(cat(".b", i));
  std::map<std::string, Dim, std::less<>> first;
  Dims strides;
  for (const std::string& counter : counters) {
    std::optional<Dim> stride = coefficient(store.index, counter);
    if (!stride || std::ranges::any_of(stride->symbols(), [](const Symbol& symbol) { return symbol.name[0] == '.'; }))
      return {};
    strides.push_back(*stride);
    first.emplace(counter, 0);
  }
  if (!strides[1].is(1)) return {};
  return Dot::Side{.memory = store.slot,
                   .offset = store.index.substitute(first),
                   .batch = {strides.begin() + 2, strides.end()},
                   .outer = strides[0],
                   .inner = 1};
}

}  // namespace

LoopDot::LoopDot(ModuleText& module, const Kernel& kernel)
    : kernel_(kernel), emitter_(module, kernel), epilogue_(module, kernel), sums_(stored_sums(kernel)) {}

DotKernel LoopDot::form() {
  const Dot& dot = *kernel_.dot;
  DotKernel form;
  form.name = kernel_.name;
  form.accumulate = dot.accumulate;
  form.packed_rhs = dot.packed_rhs;
  auto extent = [](const Dim& dim, const char* name) { return dim.is_static() ? cat(dim.value()) : std::string(name); };
  form.m = extent(dot.m, "%dot_m");
  form.n = extent(dot.n, "%dot_n");
  form.k = extent(dot.k, "%dot_k");
  form.n_factor = factor_of(dot.n);
  form.k_factor = factor_of(dot.k);
  for (size_t i = 0; i < dot.batch.size(); ++i) form.batch.push_back(cat("%extent_b", i));
  if (!dot.pack_rhs) form.lhs = side(dot.lhs, "lhs");
  form.rhs = side(dot.rhs, "rhs");
  form.lhs.dtype = dot.lhs_type;
  form.rhs.dtype = dot.rhs_type;
  form.rhs.bits = dot.bits;
  if (dot.packed_rhs) {
    // Zero strides tell a matrix that all batches share.
    for (size_t i = 0; i < dot.batch.size(); ++i) form.rhs.batch[i] = dot.rhs.batch[i].is(0) ? "0" : "1";
    form.matrix = "%rhs_matrix";
  }
  if (dot.windows) {
    form.rhs.is_windows = true;
    form.rhs.k_levels = levels(dot.windows->k, "k");
    form.rhs.n_levels = levels(dot.windows->n, "n");
  }
  if (dot.raw) {
    form.raw = side(*dot.raw, "raw");
    form.is_packed = "%is_packed";
  }
  form.light_epilogue = price_of(kernel_) <= light;
  if (sums_) form.result = side(*sums_, "sums");
  form.entry = [this](std::string& ir) { enter(ir); };
  form.epilogue_entry = [this](std::string& ir) {
    epilogue_.out = &ir;
    epilogue_.load_arguments(true);
  };
  form.epilogue = [this](std::string& ir, const DotVector& v) {
    epilogue_.out = &ir;
    epilogue_.emit_dot_body(v.value, v.lanes, v.m, v.n, v.batch, v.mask, v.rows);
  };
  return form;
}

DotOperand LoopDot::side(const Dot::Side& side, const std::string& name) const {
  DotOperand operand;
  operand.dtype = kernel_.memories[static_cast<size_t>(side.memory)].dtype;
  operand.pointer = cat("%", name, "_pointer");
  for (size_t i = 0; i < side.batch.size(); ++i)
    operand.batch.push_back(side.batch[i].is_static() ? cat(side.batch[i].value()) : cat("%", name, "_b", i));
  operand.outer_part = side.outer_part;
  operand.outer_jump = side.outer_jump;
  operand.inner_part = side.inner_part;
  operand.inner_jump = side.inner_jump;
  operand.outer = side.outer.is_static() ? cat(side.outer.value()) : cat("%", name, "_outer");
  operand.inner = side.inner.is_static() ? cat(side.inner.value()) : cat("%", name, "_inner");
  return operand;
}

DotOperand::Levels LoopDot::levels(const std::vector<Dot::Level>& given, const std::string& name) const {
  DotOperand::Levels found;
  for (size_t i = 0; i < given.size(); ++i) {
    const Dot::Level& level = given[i];
    found.extents.push_back(level.extent.is_static() ? cat(level.extent.value()) : cat("%window_", name, "_extent", i));
    found.strides.push_back(level.stride.is_static() ? cat(level.stride.value()) : cat("%window_", name, "_stride", i));
  }
  return found;
}

void LoopDot::enter(std::string& ir) {
  const Dot& dot = *kernel_.dot;
  emitter_.out = &ir;
  emitter_.load_arguments();
  auto name_it = [&](const std::string& name, const Dim& dim) {
    append(ir, "  ", name, " = add i64 0, ", emitter_.extent(dim), "\n");
  };
  name_it("%dot_m", dot.m);
  name_it("%dot_n", dot.n);
  name_it("%dot_k", dot.k);
  for (size_t i = 0; i < dot.batch.size(); ++i) name_it(cat("%extent_b", i), dot.batch[i]);
  auto enter_side = [&](const Dot::Side& s, const std::string& name) {
    const Memory& memory = kernel_.memories[static_cast<size_t>(s.memory)];
    for (size_t i = 0; i < s.batch.size(); ++i)
      if (!s.batch[i].is_static()) name_it(cat("%", name, "_b", i), s.batch[i]);
    if (!s.outer.is_static()) name_it(cat("%", name, "_outer"), s.outer);
    if (!s.inner.is_static()) name_it(cat("%", name, "_inner"), s.inner);
    bool packed = dot.packed_rhs && &s == &dot.rhs;
    if (packed) name_it("%rhs_matrix", s.offset);
    std::string offset = packed ? "0" : emitter_.extent(s.offset * Dim(size_of(memory.dtype)));
    append(ir, "  %", name, "_pointer = getelementptr i8, ptr ", emitter_.pointer(s.memory), ", i64 ", offset, "\n");
  };
  if (!dot.pack_rhs) enter_side(dot.lhs, "lhs");
  enter_side(dot.rhs, "rhs");
  if (sums_) enter_side(*sums_, "sums");
  auto enter_levels = [&](const std::vector<Dot::Level>& levels, const std::string& name) {
    for (size_t i = 0; i < levels.size(); ++i) {
      if (!levels[i].extent.is_static()) name_it(cat("%window_", name, "_extent", i), levels[i].extent);
      if (!levels[i].stride.is_static()) name_it(cat("%window_", name, "_stride", i), levels[i].stride);
    }
  };
  if (dot.windows) {
    enter_levels(dot.windows->k, "k");
    enter_levels(dot.windows->n, "n");
  }
  if (dot.raw) {
    enter_side(*dot.raw, "raw");
    append(ir, "  %is_packed_slot = getelementptr i64, ptr %args, i64 ", emitter_.argument_count(),
           "\n  %is_packed = load i64, ptr %is_packed_slot\n");
  }
  if (dot.pack_rhs) append(ir, "  %packed_pointer = getelementptr i8, ptr ", emitter_.pointer(dot.packed), ", i64 0\n");
}

}  // namespace weft
