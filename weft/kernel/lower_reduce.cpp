// Kernels of reduces: of the same elements over any dims, and over rows with everything that is computed from them.
#include <algorithm>
#include <set>

#include "weft/ir/interpret.h"
#include "weft/kernel/cost.h"
#include "weft/kernel/sums.h"

namespace weft {
namespace {

// Values worth keeping in scratch between the loops of a row.
constexpr int worth_keeping = 8;
constexpr int64_t scratch_bytes = 65536;
// Of a row that is only read again more quickly than it is computed: two of two rows leave room in the first-level
// cache.
constexpr int64_t near_bytes = 8192;
// Sums of at most so many elements are taken in order, those of neighbouring results side by side.
constexpr int64_t short_sum = 64;

Scalar reducer(const Node& node) {
  std::optional<Op> op = single_op(*node.regions[0]);
  if (!op)
    raise({ErrorKind::unsupported, "reduce with such a body cannot be compiled; wf.simulate runs it", "unsupported_op",
           node.loc});
  return def(*op).scalar;
}

// Dims of the operand split into those kept and those reduced, with coordinates for all.
struct ReduceSpace : SumSpace {
  Dims coordinates;
  bool inner_is_reduced = true;
};

ReduceSpace reduce_space(const Lowering& lowering, const Group& group) {
  std::vector<NodeId> computed;
  const Node* node = nullptr;
  for (int s : group.stages) {
    node = &lowering.graph.node(lowering.fusion.stages[static_cast<size_t>(s)].root);
    const NodeId id = node->operand(0).id();
    if (!lowering.fusion.is_stored[id]) computed.push_back(id);
  }
  const Ints& dimensions = node->ints(Attr::dimensions);
  const std::vector<Dims> parts = expanded_dims(lowering, node->operand(0).type().dims, computed);
  ReduceSpace space;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool reduced = std::ranges::count(dimensions, static_cast<int64_t>(i)) > 0;
    const Space part = space_of(parts[i], cat(reduced ? ".r" : ".k", i, "_"));
    for (const Axis& axis : part.axes) {
      (reduced ? space.reduced : space.kept).push_back(axis);
      space.inner_is_reduced = reduced;
    }
    space.coordinates.push_back(linear_index(parts[i], part.coordinates));
    if (!reduced) space.kept_coordinates.push_back(space.coordinates.back());
  }
  return space;
}

bool is_short(const std::vector<Axis>& reduced) {
  Dim count = product_of(reduced);
  return count.is_static() && count.value() <= short_sum;
}

// Whether a row of results as lanes costs less than as many sums across lanes, in half cycles of Zen 4. A turn of the
// former: 1, 4 for a full vector of up to four side by side and 7 for a masked one, of which there are as many. Of the
// latter: 11, and 5 for a vector of four in flight or 9 for another one.
bool fills_lanes(int64_t results, int64_t turns, DType dtype) {
  const int64_t lanes = 64 / std::max<int64_t>(size_of(dtype), 4);
  int64_t side = results >= 4 * lanes ? 4 : results >= 2 * lanes ? 2 : 1;
  int64_t full = results / (side * lanes) * side, masked = results % (side * lanes) ? side : 0;
  int64_t in_flight = turns / (4 * lanes) * 4, others = (turns + lanes - 1) / lanes - in_flight;
  return turns * (1 + full * 4 + masked * 7) < results * (11 + in_flight * 5 + others * 9);
}

// Whether the lanes of a vector are results next to each other, each summed in order: sums over a short last axis.
bool sums_side_by_side(Lowering& lowering, Draft& draft, const Access& access, NodeId root, std::vector<Axis>& kept,
                       const std::vector<Axis>& reduced) {
  if (!is_short(reduced) || kept.empty()) return false;
  if (!fills_lanes(kept.back().extent.opt(), product_of(reduced).value(), lowering.graph.node(root).type().dtype))
    return false;
  return lay_along(lowering, draft, access, root, reduced, kept, true);
}

// Whether the lanes are elements of one sum although results lie next to each other: few of those, long sums.
bool sums_along(Lowering& lowering, Draft& draft, const Access& access, NodeId root, const std::vector<Axis>& kept,
                std::vector<Axis>& reduced) {
  bool few = kept.size() > 1 && kept.back().extent.is_static() && kept.back().extent.value() <= 4;
  if (!few || reduced.empty() || reduced.back().extent.opt() < short_sum) return false;
  return lay_along(lowering, draft, access, root, kept, reduced, false);
}

}  // namespace

bool is_neutral(const Node& init, Scalar op) {
  if (!is_inline_constant(init)) return false;
  const Literal& value = init.attrs.literal(Attr::value);
  if (op == Scalar::add || op == Scalar::bit_or || op == Scalar::bit_xor)
    return value.as_complex(0) == std::complex<double>(0);
  if (op == Scalar::multiply) return value.as_complex(0) == std::complex<double>(1);
  return op == Scalar::maximum || op == Scalar::minimum || op == Scalar::bit_and;
}

void lower_reduces(Lowering& lowering, const Group& group) {
  Draft draft;
  Kernel& kernel = draft.kernel;
  Access access(lowering.graph, lowering.fusion, kernel);
  std::vector<Sum> sums;
  std::vector<NodeId> roots;
  ReduceSpace space = reduce_space(lowering, group);
  for (int s : group.stages) {
    const Node& node = lowering.graph.node(lowering.fusion.stages[static_cast<size_t>(s)].root);
    ExprId element = access.value(node.operand(0), space.coordinates);
    sums.push_back(
        {node.id(), node.type(), node.operand(1), reducer(node), element, add_variable(kernel, node.type().dtype)});
    roots.push_back(node.id());
  }
  Dim reduced = product_of(space.reduced);
  if (space.inner_is_reduced) {
    merge_axes(kernel, space.reduced);
    if (takes_two_steps(space, sums)) return lower_in_two_steps(lowering, draft, access, std::move(space), sums);
  }
  // Indices of all statements change with the axes.
  std::vector<Stmt>& body = kernel.body = defined(access, sums);
  const auto begin = static_cast<std::ptrdiff_t>(sums.size()), end = 2 * begin;
  append_all(body, accumulated(sums));
  for (const Sum& sum : sums)
    body.push_back(store_statement(access.memory(sum.result, true), linear_index(sum.type.dims, space.kept_coordinates),
                                   access.variable(sum.variable, sum.type.dtype)));
  space.inner_is_reduced = space.inner_is_reduced
                               ? !sums_side_by_side(lowering, draft, access, roots.back(), space.kept, space.reduced)
                               : sums_along(lowering, draft, access, roots.back(), space.kept, space.reduced);
  if (space.inner_is_reduced) {
    copy_strided(lowering, draft, access, roots.back(), joined(space.kept, space.reduced));
  } else {
    merge_axes(kernel, space.reduced);
    merge_axes(kernel, space.kept);
    if (sum_down(kernel, space.kept, space.reduced, draft.parallel))
      return finish_draft(lowering, std::move(draft), access, roots);
  }
  bool in_pieces = space.inner_is_reduced && split_long_sum(kernel, space.reduced);
  std::vector<Stmt> add(body.begin() + begin, body.begin() + end), last(body.begin() + end, body.end());
  body.resize(sums.size());
  const int in_flight = vectors_in_flight(add);
  append_all(body, in_pieces                ? nested_in_pieces(kernel, access, space.reduced, std::move(add), in_flight)
                   : space.inner_is_reduced ? nested(space.reduced, std::move(add), in_flight)
                                            : serial(space.reduced, std::move(add)));
  append_all(body, std::move(last));
  if (space.inner_is_reduced) {
    merge_axes(kernel, space.kept);
    draft.parallel = flatten_parallel(kernel, space.kept);
    std::vector<Stmt> outer;
    outer.push_back(parallel_loop(draft.parallel, std::move(body)));
    kernel.body = std::move(outer);
  } else {
    // A KiB of each row.
    kernel.body = schedule_map(kernel, space.kept, std::move(body), draft.parallel, reduced,
                               std::max<int64_t>(1024 / size_of(sums[0].type.dtype), 16));
  }
  finish_draft(lowering, std::move(draft), access, roots);
}

namespace {

class RowKernel {
 public:
  RowKernel(Lowering& lowering, const Group& group)
      : lowering_(lowering),
        graph_(lowering.graph),
        fusion_(lowering.fusion),
        group_(group),
        access_(graph_, fusion_, draft_.kernel) {}

  void lower() {
    find_space();
    find_depths();
    find_kept();
    for (int depth = 0; depth <= deepest_; ++depth) {
      add_row_stores(depth);
      add_loop(depth);
    }
    add_row_stores(deepest_ + 1);
    finish();
  }

 private:
  const Stage& stage(int s) const { return fusion_.stages[static_cast<size_t>(s)]; }
  const Node& node(int s) const { return graph_.node(stage(s).root); }
  bool is_reduce(int s) const { return stage(s).kind == StageKind::reduce; }
  bool is_full(int s) const {
    return !is_reduce(s) && node(s).type().dims.size() == rows_.size() + inner_.size() && !is_row_sized(s);
  }
  bool is_row_sized(int s) const { return !is_reduce(s) && node(s).type().dims == rows_; }

  void find_space() {
    for (int s : group_.stages) {
      if (!is_reduce(s)) continue;
      const Dims& dims = node(s).operand(0).type().dims;
      auto split = dims.begin() + static_cast<std::ptrdiff_t>(*kept_rows(node(s)));
      rows_.assign(dims.begin(), split);
      inner_.assign(split, dims.end());
    }
    row_space_ = space_of(rows_, ".k");
    inner_space_ = space_of(inner_, ".r");
    full_ = row_space_.coordinates;
    full_.insert(full_.end(), inner_space_.coordinates.begin(), inner_space_.coordinates.end());
  }

  // A stage's loop comes after those whose reduces it reads.
  void find_depths() {
    for (int s : group_.stages) {
      int depth = 0;
      for (NodeId read : stage(s).reads) {
        int producer = fusion_.stage_of[read];
        if (producer < 0 || stage(producer).group != stage(s).group) continue;
        int own = depth_.at(producer);
        // The loop that stores a full-space value is done before rows read it.
        bool after = is_reduce(producer) || (is_full(producer) && is_row_sized(s));
        depth = std::max(depth, own + (after ? 1 : 0));
      }
      depth_[s] = depth;
      if (is_reduce(s) || is_full(s)) deepest_ = std::max(deepest_, depth);
    }
  }

  // Full-space values that loops of several depths need and that are expensive: kept in scratch by the first stage that
  // needs them in the first of these loops.
  void find_kept() {
    Dim length = 1;
    for (const Dim& dim : inner_) length = length * dim;
    std::map<NodeId, std::map<int, int>> depths;  // the first stage of each depth
    for (int s : group_.stages)
      if (is_reduce(s) || is_full(s)) mark(node(s), s, depths);
    Dims full = rows_;
    full.insert(full.end(), inner_.begin(), inner_.end());
    for (const auto& [id, where] : depths) {
      const Node& n = graph_.node(id);
      int64_t room = cost_of(def(n.op).scalar) >= worth_keeping ? scratch_bytes : widens(n) ? near_bytes : 0;
      const bool is_read_again = where.size() > 1 && !moved_.contains(id);
      if (is_read_again && n.type().dims == full && length.max() <= room / size_of(n.type().dtype))
        kept_[id] = where.begin()->second;
    }
  }

  // Whether it is computed from narrower numbers, which every loop would widen again.
  static bool widens(const Node& n) {
    return std::ranges::any_of(n.operands(), [](Value operand) {
      const Node& from = operand.node();
      return from.op == Op::convert && size_of(from.operand(0).type().dtype) < size_of(from.type().dtype);
    });
  }

  static bool reads_in_place(const Node& n) {
    return scalar_of(n) != Scalar::none || n.op == Op::reduce || n.op == Op::bitcast_convert;
  }

  // The depths that need a value for a stage, and, as moved, values that some read elsewhere than where they are in the
  // row.
  void mark(const Node& n, int s, std::map<NodeId, std::map<int, int>>& depths) {
    for (const Value& operand : n.operands()) {
      if (fusion_.is_stored[operand.id()]) continue;
      bool is_new = depths[operand.id()].try_emplace(depth_.at(s), s).second;
      if (moved_.contains(n.id()) || !reads_in_place(n)) is_new |= moved_.insert(operand.id()).second;
      if (is_new) mark(operand.node(), s, depths);
    }
  }

  void add_row_stores(int depth) {
    for (int s : group_.stages) {
      if (is_reduce(s) && depth_[s] == depth - 1) finish_reduce(s);
      if (is_row_sized(s) && row_depth(s) == depth) {
        ExprId expr = access_.compute(node(s), row_space_.coordinates);
        body_.push_back(
            store_statement(access_.memory(stage(s).root, true), linear_index(rows_, row_space_.coordinates), expr));
        access_.define(stage(s).root, expr);
      }
    }
  }

  int row_depth(int s) const { return std::min(depth_.at(s), deepest_ + 1); }

  void finish_reduce(int s) {
    NodeId root = stage(s).root;
    ExprId result = access_.variable(variables_.at(s), node(s).type().dtype);
    access_.define(root, result);
    if (lowering_.is_needed[root])
      body_.push_back(store_statement(access_.memory(root, true),
                                      linear_index(node(s).type().dims, row_space_.coordinates), result));
  }

  void add_loop(int depth) {
    std::vector<Stmt> statements;
    for (int s : group_.stages) {
      if (!is_reduce(s) || depth_[s] != depth) continue;
      variables_[s] = add_variable(draft_.kernel, node(s).type().dtype);
      body_.push_back(statement(StmtKind::define, variables_[s], access_.value(node(s).operand(1), {})));
    }
    for (int s : group_.stages) {
      if (depth_[s] != depth) continue;
      for (const auto& [id, first] : kept_)
        if (first == s) keep(id, statements);
      if (is_reduce(s)) {
        ExprId element = access_.value(node(s).operand(0), full_);
        statements.push_back(accumulate(variables_[s], reducer(node(s)), element));
      } else if (is_full(s)) {
        Dims at = full_;
        ExprId expr = access_.compute(node(s), at);
        statements.push_back(
            store_statement(access_.memory(stage(s).root, true), linear_index(node(s).type().dims, at), expr));
        access_.define(stage(s).root, expr);
        stored_here_.push_back(stage(s).root);
      }
    }
    if (statements.empty()) return;
    loops_.push_back({body_.size(), std::move(statements)});
    body_.emplace_back();
    // Later loops read what this one kept or stored.
    for (const auto& [id, first] : kept_)
      if (depth_.at(first) == depth) access_.define(id, scratch_load(id));
    bool is_read = std::ranges::any_of(group_.stages, [&](int s) { return depth_.at(s) > depth; });
    for (NodeId id : stored_here_)
      if (is_read) access_.define(id, stored_load(id));
    stored_here_.clear();
  }

  Index inner_index() const { return linear_index(inner_, inner_space_.coordinates); }

  void keep(NodeId id, std::vector<Stmt>& statements) {
    Dim length = 1;
    for (const Dim& dim : inner_) length = length * dim;
    const Node& n = graph_.node(id);
    ExprId expr = access_.value(n.result(), full_);
    scratch_[id] = static_cast<int32_t>(scratches_.size());
    scratches_.push_back(
        {"scratch" + std::to_string(scratches_.size()), n.type().dtype, true, std::max<int64_t>(length.max(), 1)});
    Stmt store = store_statement(-1 - scratch_[id], inner_index(), expr);
    statements.push_back(std::move(store));
    access_.define(id, expr);
  }

  ExprId scratch_load(NodeId id) { return raw_load(-1 - scratch_[id], graph_.node(id).type().dtype, inner_index()); }
  ExprId stored_load(NodeId id) {
    return raw_load(access_.memory(id), graph_.node(id).type().dtype, linear_index(graph_.node(id).type().dims, full_));
  }

  ExprId raw_load(int32_t slot, DType dtype, Index index) {
    Expr expr;
    expr.kind = ExprKind::load;
    expr.dtype = dtype;
    expr.slot = slot;
    expr.index = std::move(index);
    draft_.kernel.exprs.push_back(std::move(expr));
    return static_cast<ExprId>(draft_.kernel.exprs.size() - 1);
  }

  // Whether what its loops store are results of the program that nothing else reads.
  bool writes_results() const {
    auto is_read = [&](NodeId id) {
      return std::ranges::any_of(fusion_.stages, [&](const Stage& s) { return std::ranges::count(s.reads, id) > 0; });
    };
    auto is_result = [&](NodeId id) {
      return std::ranges::any_of(graph_.outputs(),
                                 [&](const Output& output) { return output.value.id() == id && output.alias < 0; });
    };
    return std::ranges::all_of(
        group_.stages, [&](int s) { return !is_full(s) || (is_result(stage(s).root) && !is_read(stage(s).root)); });
  }

  // Takes several rows at a time where that pays.
  void join_rows(Kernel& kernel, const Dim& length) {
    if (lowering_.rows_alone) return;
    size_t before = kernel.exprs.size();
    pair_rows(kernel, draft_.parallel, length, writes_results());
    overlap_rows(kernel, draft_.parallel, length);
    lowering_.joined += static_cast<int64_t>(kernel.exprs.size() - before);
  }

  // Scratch comes after all buffers; until their number is known it is counted from -1 down.
  void place_scratch(std::vector<Stmt>& statements, int32_t first) {
    for (Stmt& stmt : statements) {
      if (stmt.kind == StmtKind::store && stmt.slot < 0) stmt.slot = first + (-1 - stmt.slot);
      place_scratch(stmt.body, first);
    }
  }

  void finish() {
    Kernel& kernel = draft_.kernel;
    auto first = static_cast<int32_t>(kernel.memories.size());
    for (Memory& memory : scratches_) kernel.memories.push_back(memory);
    for (Expr& expr : kernel.exprs)
      if (expr.kind == ExprKind::load && expr.slot < 0) expr.slot = first + (-1 - expr.slot);
    // All loops share the counters of the inner dims: one merge serves them all.
    for (auto& [place, statements] : loops_) {
      Stmt holder;
      holder.kind = StmtKind::loop;
      holder.extent = 1;
      holder.body = std::move(statements);
      body_[place] = std::move(holder);
    }
    kernel.body = std::move(body_);
    place_scratch(kernel.body, first);
    std::vector<Axis> inner = inner_space_.axes;
    merge_axes(kernel, inner);
    bool stores_inside = std::any_of(group_.stages.begin(), group_.stages.end(), [&](int s) { return is_full(s); });
    if (stores_inside) merge_axes(kernel, row_space_.axes);
    bool side_by_side = scratches_.empty() &&
                        (stores_inside ? are_short_rows(kernel, row_space_.axes, inner)
                                       : sums_side_by_side(lowering_, draft_, access_, stage(group_.stages.back()).root,
                                                           row_space_.axes, inner));
    if (!side_by_side && scratches_.empty())
      copy_strided(lowering_, draft_, access_, stage(group_.stages.back()).root, joined(row_space_.axes, inner));
    if (!side_by_side) merge_axes(kernel, row_space_.axes);
    Dim length = product_of(inner);
    bool in_pieces = !side_by_side && split_long_sum(kernel, inner);
    std::vector<Stmt> placed;
    for (Stmt& stmt : kernel.body) {
      if (stmt.kind != StmtKind::loop) {
        placed.push_back(std::move(stmt));
        continue;
      }
      const int in_flight = vectors_in_flight(stmt.body);
      std::vector<Stmt> loops = in_pieces ? nested_in_pieces(kernel, access_, inner, std::move(stmt.body), in_flight)
                                : side_by_side ? serial(inner, std::move(stmt.body))
                                               : nested(inner, std::move(stmt.body), in_flight);
      for (Stmt& each : loops) placed.push_back(std::move(each));
    }
    kernel.body = std::move(placed);
    if (side_by_side) {
      kernel.body = schedule_map(kernel, row_space_.axes, std::move(kernel.body), draft_.parallel, length);
    } else {
      draft_.parallel = flatten_parallel(kernel, row_space_.axes);
      std::vector<Stmt> outer;
      outer.push_back(parallel_loop(draft_.parallel, std::move(kernel.body)));
      kernel.body = std::move(outer);
      if (!in_pieces) join_rows(kernel, length);
    }
    std::vector<NodeId> roots;
    for (int s : group_.stages) roots.push_back(stage(s).root);
    finish_draft(lowering_, std::move(draft_), access_, roots);
  }

  Lowering& lowering_;
  const Graph& graph_;
  const Fusion& fusion_;
  const Group& group_;
  Draft draft_;
  Access access_;
  Dims rows_, inner_, full_;
  Space row_space_, inner_space_;
  std::map<int, int> depth_;
  std::map<int, int32_t> variables_;
  std::map<NodeId, int> kept_;  // by which stage
  std::set<NodeId> moved_;
  std::map<NodeId, int32_t> scratch_;
  std::vector<Memory> scratches_;
  std::vector<NodeId> stored_here_;
  int deepest_ = 0;
  std::vector<Stmt> body_;
  std::vector<std::pair<size_t, std::vector<Stmt>>> loops_;
};

}  // namespace

void lower_rows(Lowering& lowering, const Group& group) { RowKernel(lowering, group).lower(); }

}  // namespace weft
