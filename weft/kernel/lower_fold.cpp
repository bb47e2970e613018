// Kernels of folds: reduces by any body and of several inputs, scans, and selections in windows.
#include <algorithm>

#include "weft/ir/window.h"
#include "weft/kernel/draft.h"

namespace weft {
namespace {

// The variables of a fold of several values, and what it combines them by.
class Folder {
 public:
  Folder(Lowering& lowering, const Node& node)
      : lowering_(lowering), node_(node), access(lowering.graph, lowering.fusion, draft.kernel) {}

  // Variables that start from operands [count, 2 count).
  std::vector<Stmt> begin(size_t count) {
    std::vector<Stmt> body;
    for (size_t k = 0; k < count; ++k) {
      Value init = node_.operand(count + k);
      totals_.push_back(add_variable(draft.kernel, init.type().dtype));
      body.push_back(statement(StmtKind::define, totals_.back(), access.value(init, {})));
    }
    return body;
  }

  // All new values are known before any variable changes.
  std::vector<Stmt> combine(const Graph& body, const std::vector<ExprId>& elements) {
    std::vector<ExprId> arguments = values();
    arguments.insert(arguments.end(), elements.begin(), elements.end());
    std::vector<ExprId> results = access.inlined(body, arguments);
    std::vector<Stmt> defines, assigns;
    for (size_t k = 0; k < totals_.size(); ++k) {
      DType dtype = draft.kernel.variables[static_cast<size_t>(totals_[k])].dtype;
      int32_t next = add_variable(draft.kernel, dtype);
      defines.push_back(statement(StmtKind::define, next, results[k]));
      assigns.push_back(statement(StmtKind::assign, totals_[k], access.variable(next, dtype)));
    }
    defines.insert(defines.end(), assigns.begin(), assigns.end());
    return defines;
  }

  // Stores the variables as the call's results at these coordinates.
  void store(std::vector<Stmt>& body, const Dims& coordinates) {
    std::vector<ExprId> last = values();
    std::vector<std::optional<NodeId>> results = results_of(lowering_.graph, node_);
    for (size_t k = 0; k < totals_.size(); ++k)
      if (results[k])
        body.push_back(
            store_statement(access.memory(*results[k], true), linear_index(node_.type(k).dims, coordinates), last[k]));
  }

  // Finishes a scan of columns along their rows, if they are many: `body` begins it, `inner` is done for each row.
  bool down(const std::vector<Axis>& kept, const Axis& rows, const std::vector<Stmt>& body,
            const std::vector<Stmt>& inner) {
    draft.kernel.body = body;
    draft.kernel.body.insert(draft.kernel.body.end(), inner.begin(), inner.end());
    bool done = scan_down(draft.kernel, kept, rows, totals_.size(), draft.parallel);
    if (done) finish_draft(lowering_, std::move(draft), access, {node_.id()});
    return done;
  }

  void finish(std::vector<Axis> kept, std::vector<Stmt> body, const Dim& each, bool by_lines = false) {
    draft.kernel.body =
        schedule_map(draft.kernel, std::move(kept), std::move(body), draft.parallel, each, by_lines ? 64 : 256);
    if (by_lines) line_by_line(draft.kernel.body);
    finish_draft(lowering_, std::move(draft), access, {node_.id()});
  }

 private:
  std::vector<ExprId> values() {
    std::vector<ExprId> exprs;
    for (int32_t slot : totals_)
      exprs.push_back(access.variable(slot, draft.kernel.variables[static_cast<size_t>(slot)].dtype));
    return exprs;
  }

  // Not just vectors across lines: each of their elements would be in another part of memory.
  static void line_by_line(std::vector<Stmt>& body) {
    for (Stmt& statement : body) {
      if (statement.kind == StmtKind::loop && statement.loop == LoopKind::vector) statement.loop = LoopKind::lines;
      line_by_line(statement.body);
    }
  }

  Lowering& lowering_;
  const Node& node_;
  std::vector<int32_t> totals_;

 public:
  Draft draft;
  Access access;
};

void fold_reduce(Lowering& lowering, const Node& node) {
  size_t count = node.operand_count() / 2;
  const Dims& dims = node.operand(0).type().dims;
  const Ints& dimensions = node.ints(Attr::dimensions);
  std::vector<Axis> kept, reduced;
  Dims coordinates, kept_coordinates;
  Dim each = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    bool is_reduced = std::find(dimensions.begin(), dimensions.end(), static_cast<int64_t>(i)) != dimensions.end();
    Dim at = 0;
    if (!dims[i].is(1)) {
      Axis axis{(is_reduced ? ".r" : ".k") + std::to_string(i), dims[i]};
      at = counter_dim(axis.counter, axis.extent);
      if (is_reduced) each = each * dims[i];
      (is_reduced ? reduced : kept).push_back(std::move(axis));
    }
    coordinates.push_back(at);
    if (!is_reduced) kept_coordinates.push_back(at);
  }
  Folder fold(lowering, node);
  std::vector<Stmt> body = fold.begin(count);
  std::vector<ExprId> elements;
  for (size_t k = 0; k < count; ++k) elements.push_back(fold.access.value(node.operand(k), coordinates));
  std::vector<Stmt> inner = fold.combine(*node.regions[0], elements);
  for (Stmt& loop : serial(reduced, std::move(inner))) body.push_back(std::move(loop));
  fold.store(body, kept_coordinates);
  fold.finish(std::move(kept), std::move(body), each);
}

void fold_scan(Lowering& lowering, const Node& node, const Scan& scan) {
  size_t count = node.operand_count() / 2;
  const Dims& dims = node.operand(0).type().dims;
  std::vector<Axis> kept;
  Dims coordinates;
  Dim along = counter_dim(".r", dims[scan.axis]);
  for (size_t i = 0; i < dims.size(); ++i) {
    Dim at = 0;
    if (i == scan.axis) {
      at = scan.reversed ? dims[i] - Dim(1) - along : along;
    } else if (!dims[i].is(1)) {
      Axis axis{".k" + std::to_string(i), dims[i]};
      at = counter_dim(axis.counter, axis.extent);
      kept.push_back(std::move(axis));
    }
    coordinates.push_back(at);
  }
  Folder fold(lowering, node);
  std::vector<Stmt> body = fold.begin(count);
  std::vector<ExprId> elements;
  for (size_t k = 0; k < count; ++k) elements.push_back(fold.access.value(node.operand(k), coordinates));
  std::vector<Stmt> inner = fold.combine(*node.regions[0], elements);
  fold.store(inner, coordinates);
  Axis rows{".r", dims[scan.axis]};
  bool contiguous = std::all_of(dims.begin() + static_cast<std::ptrdiff_t>(scan.axis) + 1, dims.end(),
                                [](const Dim& dim) { return dim.is(1); });
  if (!contiguous && fold.down(kept, rows, body, inner)) return;
  for (Stmt& loop : serial({rows}, std::move(inner))) body.push_back(std::move(loop));
  fold.finish(std::move(kept), std::move(body), dims[scan.axis], contiguous);
}

// For each place: the element that the selection prefers, then the source combined into it. Windows may overlap, so
// places come one after the other.
class Selection {
 public:
  Selection(Lowering& lowering, const Node& node, NodeId result)
      : lowering_(lowering),
        node_(node),
        result_(result),
        access_(lowering.graph, lowering.fusion, draft_.kernel),
        windows_(windows_of(node.operand(0).type().dims, node.attrs)) {}

  void lower() {
    fill();
    Value x = node_.operand(0), source = node_.operand(1);
    DType dtype = x.type().dtype;
    Space places = space_of(source.type().dims, ".k");
    Dims sizes;
    for (const WindowDim& window : windows_) sizes.push_back(window.size);
    Space window = space_of(sizes, ".w");
    int32_t best = add_variable(draft_.kernel, dtype), chosen = add_variable(draft_.kernel, DType::i64),
            takes = add_variable(draft_.kernel, DType::boolean), value = add_variable(draft_.kernel, dtype);
    std::vector<Stmt> body{statement(StmtKind::define, best, access_.constant(Literal(Type{dtype, {}}))),
                           statement(StmtKind::define, chosen, access_.integer(-1))};
    Dims at;
    ExprId inside = no_expr;
    for (size_t i = 0; i < windows_.size(); ++i) {
      at.push_back(places.coordinates[i] * Dim(windows_[i].stride) + window.coordinates[i] - windows_[i].low);
      inside = access_.both(inside, access_.in_range(at[i], 0, windows_[i].extent));
    }
    ExprId element = access_.value(x, at, inside);
    ExprId is_first =
        access_.scalar(Scalar::lt, DType::boolean, {access_.variable(chosen, DType::i64), access_.integer(0)});
    ExprId keeps =
        access_.inlined(*node_.regions[0], {access_.variable(best, dtype), access_.variable(value, dtype)})[0];
    ExprId better = access_.scalar(Scalar::bit_or, DType::boolean,
                                   {is_first, access_.scalar(Scalar::bit_not, DType::boolean, {keeps})});
    auto chosen_now = [&](ExprId now, int32_t slot, DType type) {
      return statement(StmtKind::assign, slot,
                       access_.scalar(Scalar::select, type,
                                      {access_.variable(takes, DType::boolean), now, access_.variable(slot, type)}));
    };
    std::vector<Stmt> inner{statement(StmtKind::define, value, element),
                            statement(StmtKind::define, takes, access_.both(inside, better)),
                            chosen_now(access_.variable(value, dtype), best, dtype),
                            chosen_now(access_.index(linear_index(x.type().dims, at)), chosen, DType::i64)};
    for (Stmt& loop : serial(window.axes, std::move(inner))) body.push_back(std::move(loop));
    body.push_back(put(source, places, chosen));
    draft_.kernel.body = serial(places.axes, std::move(body));
    finish_draft(lowering_, std::move(draft_), access_, {node_.id()});
  }

 private:
  // The initial value everywhere.
  void fill() {
    Draft fill;
    Access access(lowering_.graph, lowering_.fusion, fill.kernel);
    Space space = space_of(node_.type().dims, ".i");
    std::vector<Stmt> body{store_statement(access.memory(result_, true),
                                           linear_index(node_.type().dims, space.coordinates),
                                           access.value(node_.operand(2), {}))};
    fill.kernel.body = schedule_map(fill.kernel, space.axes, std::move(body), fill.parallel);
    finish_draft(lowering_, std::move(fill), access, {result_});
  }

  Stmt put(Value source, const Space& places, int32_t chosen) {
    Stmt stmt;
    stmt.kind = StmtKind::store;
    stmt.slot = access_.memory(result_, true);
    stmt.index = 0;
    stmt.dynamic = {{access_.variable(chosen, DType::i64), Dim(1)}};
    stmt.mask = access_.scalar(Scalar::ge, DType::boolean, {access_.variable(chosen, DType::i64), access_.integer(0)});
    ExprId present = access_.load_from(stmt.slot, node_.type().dtype, stmt.index, stmt.dynamic, stmt.mask);
    stmt.expr = access_.inlined(*node_.regions[1], {present, access_.value(source, places.coordinates)})[0];
    return stmt;
  }

  Lowering& lowering_;
  const Node& node_;
  NodeId result_;
  Draft draft_;
  Access access_;
  std::vector<WindowDim> windows_;
};

}  // namespace

void lower_fold(Lowering& lowering, const Stage& stage) {
  const Node& node = lowering.graph.node(stage.root);
  if (node.op == Op::reduce) return fold_reduce(lowering, node);
  if (std::optional<Scan> scan = scan_of(node)) return fold_scan(lowering, node, *scan);
  if (std::optional<NodeId> result = results_of(lowering.graph, node)[0]) Selection(lowering, node, *result).lower();
}

}  // namespace weft
