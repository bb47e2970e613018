// Kernels of maps and scatters.
#include "weft/kernel/draft.h"

#include <algorithm>
#include <set>

#include "weft/ir/interpret.h"

namespace weft {
namespace {

void collect_ops(const Graph& graph, const Fusion& fusion, NodeId id, std::set<NodeId>& seen) {
  if (!seen.insert(id).second) return;
  for (const Value& operand : graph.node(id).operands())
    if (!fusion.is_stored[operand.id()]) collect_ops(graph, fusion, operand.id(), seen);
}

void collect_symbols(const Dim& dim, std::vector<Symbol>& symbols) {
  for (const Symbol& symbol : dim.symbols()) {
    if (symbol.name[0] == '.') continue;
    bool known = false;
    for (const Symbol& other : symbols) known |= other.name == symbol.name;
    if (!known) symbols.push_back(symbol);
  }
}

void collect_symbols(const std::vector<Stmt>& body, std::vector<Symbol>& symbols) {
  for (const Stmt& stmt : body) {
    collect_symbols(stmt.extent, symbols);
    collect_symbols(stmt.index, symbols);
    for (const auto& [id, stride] : stmt.dynamic) collect_symbols(stride, symbols);
    collect_symbols(stmt.body, symbols);
  }
}

void collect_symbols(Kernel& kernel) {
  for (const Expr& expr : kernel.exprs) {
    collect_symbols(expr.index, kernel.symbols);
    for (const auto& [id, stride] : expr.dynamic) collect_symbols(stride, kernel.symbols);
  }
  collect_symbols(kernel.body, kernel.symbols);
  if (!kernel.dot) return;
  const Dot& dot = *kernel.dot;
  for (const Dim& dim : {dot.m, dot.n, dot.k}) collect_symbols(dim, kernel.symbols);
  for (const Dim& dim : dot.batch) collect_symbols(dim, kernel.symbols);
  if (dot.windows)
    for (const std::vector<Dot::Level>* levels : {&dot.windows->k, &dot.windows->n})
      for (const Dot::Level& level : *levels)
        collect_symbols(level.extent, kernel.symbols), collect_symbols(level.stride, kernel.symbols);
  for (const Dot::Side* side : {&dot.lhs, &dot.rhs}) {
    for (const Dim& dim : {side->offset, side->outer, side->inner}) collect_symbols(dim, kernel.symbols);
    for (const Dim& dim : side->batch) collect_symbols(dim, kernel.symbols);
  }
}

std::string readable_name(const std::vector<std::string>& ops, const Type& type) {
  std::string out;
  for (size_t i = 0; i < ops.size() && i < 4; ++i) out += (i ? "_" : "") + ops[i];
  if (out.empty()) out = "copy";
  append(out, "_", is_complex(type.dtype) ? (type.dtype == DType::c64 ? "c64" : "c128") : name(type.dtype));
  for (size_t i = 0; i < type.dims.size(); ++i) {
    out += i ? "x" : "_";
    out += type.dims[i].is_static() ? cat(type.dims[i].value()) : "n";
  }
  return out;
}

}  // namespace

Space space_of(const Dims& dims, const std::string& prefix) {
  Space space;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].is(1)) {
      space.coordinates.push_back(0);
      continue;
    }
    Axis axis{prefix + std::to_string(i), dims[i]};
    space.coordinates.push_back(counter_dim(axis.counter, axis.extent));
    space.axes.push_back(std::move(axis));
  }
  return space;
}

Stmt store_statement(int32_t slot, Index index, ExprId expr, ExprId mask) {
  Stmt stmt;
  stmt.kind = StmtKind::store;
  stmt.slot = slot;
  stmt.index = std::move(index);
  stmt.expr = expr;
  stmt.mask = mask;
  return stmt;
}

Stmt statement(StmtKind kind, int32_t slot, ExprId expr) {
  Stmt stmt;
  stmt.kind = kind;
  stmt.slot = slot;
  stmt.expr = expr;
  return stmt;
}

int32_t add_variable(Kernel& kernel, DType dtype) {
  kernel.variables.push_back({"v" + std::to_string(kernel.variables.size()), dtype});
  return static_cast<int32_t>(kernel.variables.size() - 1);
}

void finish_draft(Lowering& lowering, Draft draft, const Access& access, const std::vector<NodeId>& roots) {
  take_extremes_by_patterns(draft.kernel);
  const std::vector<NodeId>& stored = access.memories();
  std::vector<BufferId> buffers(stored.begin(), stored.end());
  buffers.insert(buffers.end(), draft.buffers.begin(), draft.buffers.end());
  draft.buffers = std::move(buffers);
  std::set<NodeId> nodes;
  for (NodeId root : roots) collect_ops(lowering.graph, lowering.fusion, root, nodes);
  for (NodeId id : nodes) {
    const Node& node = lowering.graph.node(id);
    if (node.op == Op::constant || node.op == Op::parameter || node.op == Op::broadcast_in_dim ||
        node.op == Op::reshape)
      continue;
    draft.ops.emplace_back(name(node.op));
    draft.lines.push_back(node.loc);
  }
  const Node& last = lowering.graph.node(roots.back());
  draft.checks = access.checks();
  draft.kernel.loc = last.loc;
  draft.kernel.name = readable_name(draft.ops, last.type());
  collect_symbols(draft.kernel);
  lowering.drafts.push_back(std::move(draft));
}

void lower_map(Lowering& lowering, const Stage& stage) {
  // A reshape moves nothing: what it is of is computed and written as it lies.
  const Node& node = below_own_reshapes(lowering.fusion, lowering.graph.node(stage.root));
  Draft draft;
  Access access(lowering.graph, lowering.fusion, draft.kernel);
  Space space = expanded_space(lowering, {node.id()}, ".i");
  ExprId expr = access.compute(node, space.coordinates);
  std::vector<Stmt> body{
      store_statement(access.memory(stage.root, true), linear_index(node.type().dims, space.coordinates), expr)};
  draft.kernel.body = schedule_map(draft.kernel, space.axes, std::move(body), draft.parallel);
  const NodeId from = node.op == Op::reshape ? node.operand(0).id() : stage.root;
  if (lowering.graph.node(from).op != Op::constant && from != stage.root)
    draft.copies = {static_cast<BufferId>(from), static_cast<BufferId>(stage.root)};
  finish_draft(lowering, std::move(draft), access, {stage.root});
}

void lower_maps(Lowering& lowering, const Group& group) {
  Draft draft;
  Access access(lowering.graph, lowering.fusion, draft.kernel);
  std::vector<Stmt> body;
  std::vector<NodeId> roots;
  std::vector<ExprId> values;
  for (int s : group.stages) roots.push_back(lowering.fusion.stages[static_cast<size_t>(s)].root);
  const Space space = expanded_space(lowering, roots, ".i");
  for (NodeId root : roots) {
    const Node& node = lowering.graph.node(root);
    int32_t slot = add_variable(draft.kernel, node.type().dtype);
    body.push_back(statement(StmtKind::define, slot, access.compute(node, space.coordinates)));
    values.push_back(access.variable(slot, node.type().dtype));
    access.define(node.id(), values.back());
  }
  // Stores come last: one of them may write over an input in place.
  for (size_t i = 0; i < roots.size(); ++i)
    if (lowering.is_needed[roots[i]])
      body.push_back(store_statement(access.memory(roots[i], true),
                                     linear_index(lowering.graph.node(roots[i]).type().dims, space.coordinates),
                                     values[i]));
  draft.kernel.body = schedule_map(draft.kernel, space.axes, std::move(body), draft.parallel);
  finish_draft(lowering, std::move(draft), access, roots);
}

void lower_copy(Lowering& lowering, Value from, BufferId target, NodeId root) {
  const Type& type = from.type();
  Draft copy;
  Access access(lowering.graph, lowering.fusion, copy.kernel);
  Space space = space_of(type.dims, ".i");
  ExprId expr = access.value(from, space.coordinates);
  copy.kernel.memories.push_back({"to", type.dtype, true, 0});
  auto slot = static_cast<int32_t>(copy.kernel.memories.size() - 1);
  std::vector<Stmt> body{store_statement(slot, linear_index(type.dims, space.coordinates), expr)};
  copy.kernel.body = schedule_map(copy.kernel, space.axes, std::move(body), copy.parallel);
  if (lowering.fusion.is_stored[from.id()] && from.node().op != Op::constant)
    copy.copies = {static_cast<BufferId>(from.id()), target};
  copy.buffers = {target};
  finish_draft(lowering, std::move(copy), access, {root});
}

// The operand, then the window over it where the start values say.
void lower_update(Lowering& lowering, const Stage& stage) {
  const Node& node = lowering.graph.node(stage.root);
  const Dims &dims = node.type().dims, &sizes = node.operand(1).type().dims;
  lower_copy(lowering, node.operand(0), static_cast<BufferId>(stage.root), stage.root);
  Draft draft;
  Access access(lowering.graph, lowering.fusion, draft.kernel);
  Space space = space_of(sizes, ".i");
  Dims strides = row_major_strides(dims);
  bool fixed = node.op == Op::update_slice;
  Dims at = space.coordinates;
  std::vector<std::pair<ExprId, Index>> dynamic;
  for (size_t i = 0; i < at.size(); ++i) {
    if (fixed) {
      at[i] = node.attrs.dims(Attr::start_indices)[i] + at[i] * Dim(node.ints(Attr::strides)[i]);
      continue;
    }
    const Value start = node.operand(i + 2);
    Dim last = dims[i] - sizes[i];
    bool is_known = is_inline_constant(start.node()) && start.type().dtype != DType::u64 && last.is_static();
    if (is_known)
      at[i] = at[i] + Dim(std::clamp<int64_t>(start.node().attrs.literal(Attr::value).as_int(0), 0, last.value()));
    else if (!last.is(0))
      dynamic.emplace_back(access.start_in(node, access.value(start, {}), last), strides[i]);
  }
  Stmt put = store_statement(access.memory(stage.root, true), linear_index(dims, at),
                             access.value(node.operand(1), space.coordinates));
  if (!fixed) put.mask = access.fits(sizes, dims);
  put.dynamic = std::move(dynamic);
  draft.kernel.body = schedule_map(draft.kernel, space.axes, {std::move(put)}, draft.parallel);
  finish_draft(lowering, std::move(draft), access, {stage.root});
}

namespace {

// What a store can combine with the element that is there.
bool accumulates(Scalar op) {
  return op == Scalar::add || op == Scalar::multiply || op == Scalar::maximum || op == Scalar::minimum ||
         op == Scalar::bit_and || op == Scalar::bit_or || op == Scalar::bit_xor;
}

// Stores what a body makes of the element that is there and the new one.
void combine(Stmt& put, const Graph& body, DType dtype, Access& access) {
  if (body.outputs()[0].value.id() == body.parameters()[1]) return;
  std::optional<Op> op = single_op(body);
  if (op && accumulates(def(*op).scalar) && !is_complex(dtype)) {
    put.kind = StmtKind::barrier_accumulate;
    put.op = def(*op).scalar;
  } else {
    ExprId present = access.load_from(put.slot, dtype, put.index, put.dynamic, put.mask);
    put.expr = access.inlined(body, {present, put.expr})[0];
  }
}

}  // namespace

void lower_scatter(Lowering& lowering, const Stage& stage) {
  const Node& node = lowering.graph.node(stage.root);
  const Type& type = node.type();
  lower_copy(lowering, node.operand(0), static_cast<BufferId>(stage.root), stage.root);
  const Attrs& a = node.attrs;
  const Ints &window = a.ints(Attr::update_window_dims), &inserted = a.ints(Attr::inserted_window_dims),
             &batching = a.ints(Attr::input_batching_dims), &map = a.ints(Attr::scatter_dims_to_operand_dims),
             &index_batching = a.ints(Attr::scatter_indices_batching_dims);
  auto has = [](const Ints& list, size_t i) {
    return std::find(list.begin(), list.end(), static_cast<int64_t>(i)) != list.end();
  };
  Draft draft;
  Access access(lowering.graph, lowering.fusion, draft.kernel);
  Value indices = node.operand(1), updates = node.operand(2);
  Space space = space_of(updates.type().dims, ".u");
  Dims batch, inner, extents;
  for (size_t i = 0; i < space.coordinates.size(); ++i) {
    (has(window, i) ? inner : batch).push_back(space.coordinates[i]);
    if (has(window, i)) extents.push_back(updates.type().dims[i]);
  }
  auto vector_dim = static_cast<size_t>(a.integer(Attr::index_vector_dim));
  bool has_vector = vector_dim < indices.type().dims.size();
  Dims strides = row_major_strides(type.dims), fixed(type.dims.size(), Dim(0));
  size_t next = 0;
  ExprId mask = no_expr;
  for (size_t i = 0; i < fixed.size(); ++i)
    if (!has(inserted, i) && !has(batching, i)) {
      bool may_stick_out = known_less(type.dims[i], extents[next]) != false;
      fixed[i] = inner[next++];
      if (may_stick_out) mask = access.both(mask, access.in_range(fixed[i], 0, type.dims[i]));
    } else if (has(inserted, i) && !has(map, i)) {
      mask = access.both(mask, access.fits({1}, {type.dims[i]}));
    }
  for (size_t i = 0; i < batching.size(); ++i) {
    auto source = static_cast<size_t>(index_batching[i]);
    if (has_vector && source > vector_dim) --source;
    fixed[static_cast<size_t>(batching[i])] = batch[source];
  }
  Stmt put = statement(StmtKind::store, access.memory(stage.root, true), access.value(updates, space.coordinates));
  put.index = linear_index(type.dims, fixed);
  put.mask = mask;
  for (size_t k = 0; k < map.size(); ++k) {
    Dims where = batch;
    if (has_vector) where.insert(where.begin() + static_cast<std::ptrdiff_t>(vector_dim), Dim(static_cast<int64_t>(k)));
    auto axis = static_cast<size_t>(map[k]);
    ExprId start = access.value(indices, where);
    if (indices.type().dtype != DType::i64) start = access.scalar(Scalar::convert, DType::i64, {start});
    put.dynamic.emplace_back(start, strides[axis]);
    if (a.flag(Attr::in_bounds)) continue;
    ExprId at = access.scalar(Scalar::add, DType::i64, {start, access.index(fixed[axis])});
    put.mask = access.both(put.mask, access.scalar(Scalar::ge, DType::boolean, {at, access.integer(0)}));
    put.mask = access.both(put.mask, access.scalar(Scalar::lt, DType::boolean, {at, access.index(type.dims[axis])}));
  }
  combine(put, *node.regions[0], type.dtype, access);
  draft.kernel.body = serial(space.axes, {std::move(put)});
  finish_draft(lowering, std::move(draft), access, {stage.root});
}

}  // namespace weft
