// Kernels of products: strides of the operands, the epilogue, and packing of constant right operands.
#include <algorithm>
#include <ranges>

#include "weft/kernel/draft.h"

namespace weft {
namespace {

DType accumulate_type(DType dtype) {
  if (dtype == DType::f64) return DType::f64;
  if (is_float(dtype)) return DType::f32;
  return bit_width(dtype) == 64 ? DType::i64 : DType::i32;
}

// Rows of windows along one line that are a part of a work item; longer lines are products of their own.
constexpr int64_t longest_part = 512;

// Products of so few columns are computed as the transposed ones, in bytes of sums, where lhs lies along k or along
// rows. Measured with 64 to 4000 rows of all dtypes: 0.13 to 0.9 of the time; of more columns a vector of them has most
// lanes busy.
constexpr int64_t most_columns = 32, most_columns_of_lines = 96;
// Elements of rhs from which on a few rows of lhs are copied so that they lie along k as rhs does.
constexpr int64_t worth_copying_operand = 16384;

class DotKernelMaker {
 public:
  DotKernelMaker(Lowering& lowering, const Stage& stage)
      : lowering_(lowering),
        graph_(lowering.graph),
        stage_(stage),
        dot_(graph_.node(stage.source)),
        access_(graph_, lowering.fusion, draft_.kernel) {}

  void lower() {
    make_coordinates();
    Kernel& kernel = draft_.kernel;
    kernel.dot.emplace();
    Dot& dot = *kernel.dot;
    dot.accumulate = accumulate_type(dot_.type().dtype);
    StridedView lhs = view(0, lhs_at_), rhs = view(1, rhs_at_);
    dot.lhs.memory = access_.memory(lhs.stored);
    dot.rhs.memory = access_.memory(rhs.stored);
    dot.lhs_type = kernel.memories[static_cast<size_t>(dot.lhs.memory)].dtype;
    dot.rhs_type = kernel.memories[static_cast<size_t>(dot.rhs.memory)].dtype;
    dot.bits = rhs.bits;
    // The whole index stands in `offset` until axes are merged; strides are its coefficients.
    dot.lhs.offset = lhs.index;
    dot.rhs.offset = rhs.index;
    kernel.body = {epilogue()};
    dot.k = 1;
    for (const Axis& axis : contracting_) dot.k = dot.k * axis.extent;
    split_inner(dot.lhs);
    if (multiplies_windows(dot_))
      read_windows();
    else
      split_inner(dot.rhs);
    std::optional<Dim> row = part_rows();
    merge_free(lhs_free_);
    merge_free(rhs_free_);
    NodeId left = lhs.stored, right = rhs.stored;
    if (!row && is_quicker_transposed()) {
      std::swap(lhs_free_, rhs_free_);
      std::swap(dot.lhs, dot.rhs);
      std::swap(dot.lhs_type, dot.rhs_type);
      std::swap(left, right);
    }
    name_counters();
    split(dot.lhs, ".m");
    split(dot.rhs, ".n");
    if (row) dot.lhs.outer = *row;
    pack_constant(right);
    copy_lhs_along_k(left);
    finish_draft(lowering_, std::move(draft_), access_, {stage_.root});
  }

 private:
  void make_coordinates() {
    const Ints &lb = dot_.ints(Attr::lhs_batching_dimensions), &rb = dot_.ints(Attr::rhs_batching_dimensions);
    const Ints &lc = dot_.ints(Attr::lhs_contracting_dimensions), &rc = dot_.ints(Attr::rhs_contracting_dimensions);
    const Dims &l = dot_.operand(0).type().dims, &r = dot_.operand(1).type().dims;
    lhs_at_.resize(l.size());
    rhs_at_.resize(r.size());
    for (size_t i = 0; i < lb.size(); ++i) {
      const Dim& extent = l[static_cast<size_t>(lb[i])];
      Dim at = axis(batch_, ".batch" + std::to_string(i), extent);
      lhs_at_[static_cast<size_t>(lb[i])] = rhs_at_[static_cast<size_t>(rb[i])] = at;
      result_at_.push_back(at);
    }
    for (size_t i = 0; i < lc.size(); ++i)
      lhs_at_[static_cast<size_t>(lc[i])] = rhs_at_[static_cast<size_t>(rc[i])] =
          axis(contracting_, ".k" + std::to_string(i), l[static_cast<size_t>(lc[i])]);
    auto free = [&](const Dims& dims, const Ints& batching, const Ints& contracting, const char* prefix, Dims& at,
                    std::vector<Axis>& axes) {
      for (size_t i = 0; i < dims.size(); ++i) {
        auto own = static_cast<int64_t>(i);
        if (std::count(batching.begin(), batching.end(), own) ||
            std::count(contracting.begin(), contracting.end(), own))
          continue;
        at[i] = axis(axes, prefix + std::to_string(i), dims[i]);
        result_at_.push_back(at[i]);
      }
    };
    free(l, lb, lc, ".left", lhs_at_, lhs_free_);
    free(r, rb, rc, ".right", rhs_at_, rhs_free_);
  }

  static Dim axis(std::vector<Axis>& axes, const std::string& name, const Dim& extent) {
    if (extent.is(1)) return 0;
    axes.push_back({name, extent});
    return counter_dim(name, extent);
  }

  StridedView view(size_t operand, const Dims& at) {
    std::optional<StridedView> found = access_.strided(dot_.operand(operand), at);
    check(found.has_value(), "operand ", operand, " of a product has no strides");
    return *found;
  }

  // The statement that stores an element of the product, after the element-wise ops and at the place that views give
  // it.
  Stmt epilogue() {
    Kernel& kernel = draft_.kernel;
    Expr accumulator;
    accumulator.kind = ExprKind::accumulator;
    accumulator.dtype = kernel.dot->accumulate;
    kernel.exprs.push_back(accumulator);
    auto element = static_cast<ExprId>(kernel.exprs.size() - 1);
    if (dot_.type().dtype != accumulator.dtype) element = access_.scalar(Scalar::convert, dot_.type().dtype, {element});
    access_.define(dot_.id(), element);
    std::vector<const Node*> views;
    const Node* node = &graph_.node(stage_.root);
    const Node* update = node->op == Op::update_slice ? node : nullptr;
    if (update) node = &update->operand(1).node();
    while (node->id() != dot_.id() && (node->op == Op::transpose || (node->op == Op::reshape && !update))) {
      views.push_back(node);
      node = &node->operand(0).node();
    }
    ExprId result = node->id() == dot_.id() ? element : access_.compute(*node, result_at_);
    Dims at = result_at_, dims = node->type().dims;
    for (size_t i = views.size(); i-- > 0 && views[i]->op == Op::transpose;) {
      Dims moved_at, moved_dims;
      for (int64_t axis : views[i]->ints(Attr::permutation)) {
        moved_at.push_back(at[static_cast<size_t>(axis)]);
        moved_dims.push_back(dims[static_cast<size_t>(axis)]);
      }
      at = std::move(moved_at);
      dims = std::move(moved_dims);
    }
    if (update) {
      lower_copy(lowering_, update->operand(0), static_cast<BufferId>(update->id()), update->id());
      for (size_t i = 0; i < at.size(); ++i)
        at[i] = update->attrs.dims(Attr::start_indices)[i] + at[i] * Dim(update->ints(Attr::strides)[i]);
      dims = update->type().dims;
    }
    return store_statement(access_.memory(stage_.root, true), linear_index(dims, at), result);
  }

  // The stride along the last of these axes and those before it that go on evenly, of so many elements together, and
  // the stride along the axes before those.
  struct Steps {
    Dim stride, extent = 1, jump;
    bool has_parts = false;
  };
  Steps steps(const Index& index, const std::vector<Axis>& axes) {
    Steps found;
    Dim outside = 1;
    for (size_t i = axes.size(); i-- > 0;) {
      std::optional<Dim> stride = coefficient(index, axes[i].counter);
      check(stride.has_value(), "an operand of a product is not strided along ", axes[i].counter);
      if (i + 1 == axes.size()) found.stride = *stride;
      if (!found.has_parts && *stride == found.stride * found.extent) {
        found.extent = found.extent * axes[i].extent;
        continue;
      }
      if (!found.has_parts) found.jump = *stride, found.has_parts = true;
      check(*stride == found.jump * outside, "an operand of a product has parts of parts");
      outside = outside * axes[i].extent;
    }
    return found;
  }

  void split_inner(Dot::Side& side) {
    Steps inner = steps(side.offset, contracting_);
    side.inner = inner.stride;
    if (inner.has_parts) side.inner_part = inner.extent.value(), side.inner_jump = inner.jump.value();
    take_out(side.offset, contracting_);
  }

  // Rows that lie evenly in parts only (the places of windows along each line of an image) are one axis all the same
  // where the epilogue's memory allows it. Returns their stride within a part.
  std::optional<Dim> part_rows() {
    Dot::Side& side = draft_.kernel.dot->lhs;
    if (!reads_windows(dot_) || lhs_free_.size() < 2) return {};
    std::vector<Axis> rows(lhs_free_.end() - 2, lhs_free_.end());
    Steps found = steps(side.offset, rows);
    if (!found.has_parts || found.extent.value() > longest_part) return {};
    Index whole = side.offset;
    side.offset = whole.substitute({{rows[0].counter, 0}, {rows[1].counter, 0}});
    merge_axes(draft_.kernel, rows);
    if (rows.size() > 1) {
      side.offset = whole;
      return {};
    }
    side.outer_part = found.extent.value();
    side.outer_jump = found.jump.value();
    lhs_free_.pop_back();
    lhs_free_.back() = rows[0];
    return found.stride;
  }

  // What of an index these axes are, the innermost first. Those that go on evenly are one.
  static std::vector<Dot::Level> levels(const Index& index, const std::vector<Axis>& axes) {
    std::vector<Dot::Level> found;
    for (const Axis& axis : axes | std::views::reverse) {
      std::optional<Dim> stride = coefficient(index, axis.counter);
      check(stride.has_value(), "windows are not strided along ", axis.counter);
      if (!found.empty() && *stride == found.back().stride * found.back().extent)
        found.back().extent = found.back().extent * axis.extent;
      else
        found.push_back({axis.extent, *stride});
    }
    return found;
  }

  static void take_out(Index& index, const std::vector<Axis>& axes) {
    std::map<std::string, Dim, std::less<>> origin;
    for (const Axis& axis : axes) origin.emplace(axis.counter, 0);
    index = index.substitute(origin);
  }

  // The places of windows are one axis where the epilogue's memory allows it, else those of a line.
  void read_windows() {
    Dot& dot = *draft_.kernel.dot;
    const Index whole = dot.rhs.offset;
    dot.windows = {levels(whole, contracting_), {}};
    take_out(dot.rhs.offset, contracting_);
    dot.rhs.inner = dot.rhs.outer = 0;
    Kernel merged = draft_.kernel;
    std::vector<Axis> places = rhs_free_;
    take_out(merged.dot->rhs.offset, places);
    merge_axes(merged, places);
    std::vector<Axis> line(rhs_free_.end() - (rhs_free_.empty() ? 0 : 1), rhs_free_.end());
    if (places.size() <= 1) {
      line = rhs_free_;
      rhs_free_ = places;
      draft_.kernel = std::move(merged);
    }
    Dot& now = *draft_.kernel.dot;
    now.windows->n = levels(whole, line);
    take_out(now.rhs.offset, line);
  }

  // One axis where the strides allow it; the others become batch dims.
  void merge_free(std::vector<Axis>& axes) {
    merge_axes(draft_.kernel, axes);
    while (axes.size() > 1) {
      batch_.push_back(axes.front());
      axes.erase(axes.begin());
    }
  }

  // Whether vectors run along rows of lhs: of few columns most lanes would have nothing to do, and a column of rows
  // that do not lie along k is read line by line. Then the columns are the few rows.
  bool is_quicker_transposed() const {
    const Dot& dot = *draft_.kernel.dot;
    if (lhs_free_.empty() || dot.bits || dot.lhs.inner_part || dot.rhs.inner_part || reads_windows(dot_)) return false;
    const Axis& rows = lhs_free_[0];
    const Dim columns = rhs_free_.empty() ? Dim(1) : rhs_free_[0].extent;
    const bool lies_along_rows = dot.lhs.inner != Dim(1) && coefficient(dot.lhs.offset, rows.counter) == Dim(1);
    // Tiles multiply many rows of these by few columns as quickly as by a panel.
    const bool has_tiles = dot.lhs_type == DType::bf16 || (is_integer(dot.lhs_type) && size_of(dot.lhs_type) == 1);
    const int64_t most = lies_along_rows ? most_columns_of_lines / size_of(dot.accumulate)
                         : has_tiles     ? 1
                                         : most_columns / size_of(dot.accumulate);
    return rows.extent.opt() > columns.max() && columns.max() <= most;
  }

  // A copy of lhs whose rows lie along k, where those of rhs do.
  void copy_lhs_along_k(NodeId stored) {
    Dot& dot = *draft_.kernel.dot;
    const bool differs = !dot.lhs.inner.is(1) && dot.rhs.inner.is(1) && !dot.packed_rhs && dot.batch.empty();
    if (!differs || dot.m.is(1) || dot.m.max() > most_columns / size_of(dot.accumulate) ||
        (dot.n * dot.k).opt() < worth_copying_operand)
      return;
    const Dims dims{dot.m, dot.k}, at{counter_dim(".r", dot.m), counter_dim(".c", dot.k)};
    const Index from = dot.lhs.offset + at[0] * dot.lhs.outer + at[1] * dot.lhs.inner;
    dot.lhs.memory = add_copy(lowering_, draft_, dot_.id(), stored, {dot.lhs_type, dims}, from,
                              {{".r", dot.m}, {".c", dot.k}}, linear_index(dims, at));
    dot.lhs.offset = 0;
    dot.lhs.outer = dot.k;
    dot.lhs.inner = 1;
  }

  void name_counters() {
    Kernel& kernel = draft_.kernel;
    auto take = [&](std::vector<Axis>& axes, const std::string& name) {
      if (axes.empty()) return Dim(1);
      substitute_counter(kernel, axes[0].counter, counter_dim(name, axes[0].extent));
      return axes[0].extent;
    };
    kernel.dot->m = take(lhs_free_, ".m");
    kernel.dot->n = take(rhs_free_, ".n");
    merge_axes(kernel, batch_);
    if (batch_.size() > 4)
      raise({ErrorKind::unsupported,
             cat("a product over ", batch_.size(), " batch dimensions of unrelated strides cannot be compiled"),
             "unsupported_op", dot_.loc});
    for (size_t i = 0; i < batch_.size(); ++i) {
      substitute_counter(kernel, batch_[i].counter, counter_dim(".b" + std::to_string(i), batch_[i].extent));
      kernel.dot->batch.push_back(batch_[i].extent);
    }
  }

  void split(Dot::Side& side, const std::string& outer) {
    auto step = [&](const std::string& counter) {
      std::optional<Dim> stride = coefficient(side.offset, counter);
      check(stride.has_value(), "an operand of a product is not strided along ", counter);
      return *stride;
    };
    side.outer = step(outer);
    for (size_t i = 0; i < draft_.kernel.dot->batch.size(); ++i) side.batch.push_back(step(".b" + std::to_string(i)));
    std::map<std::string, Dim, std::less<>> origin{{outer, 0}};
    for (size_t i = 0; i < side.batch.size(); ++i) origin.emplace(".b" + std::to_string(i), 0);
    side.offset = side.offset.substitute(origin);
  }

  // Rows of lhs from which on packed memory is read faster than rhs as it lies. Few rows gain where packing does not
  // widen elements, a single one where those of bfloat16 would be interleaved anew each time.
  int64_t fewest_rows(const Dot& dot) const {
    bool is_narrow = dot.rhs_type == DType::bf16 && lowering_.multiplies_bf16;
    bool is_large = dot.n.value() * dot.k.value() >= 65536;
    if (!is_large || dot.lhs_type != dot.rhs_type || (size_of(dot.rhs_type) < 4 && !is_narrow)) return 8;
    return is_narrow && dot.rhs.outer.is(1) ? 1 : 2;
  }

  // A constant right operand is packed once, in setup. Few rows read it in place. A large one is read so until it is
  // packed, unless rows or columns go on evenly in parts only.
  void pack_constant(NodeId stored) {
    Kernel& kernel = draft_.kernel;
    Dot& dot = *kernel.dot;
    const Node& node = graph_.node(stored);
    // A matrix shared by all batches is packed once.
    bool shared = std::ranges::all_of(dot.rhs.batch, [](const Dim& step) { return step.is(0); });
    bool is_static = dot.n.is_static() && dot.k.is_static() && dot.rhs.offset.is_static() &&
                     (shared || std::ranges::all_of(dot.batch, &Dim::is_static));
    if (dot.windows || node.op != Op::constant || node.attrs.literal(Attr::value).is_live() || !is_static) return;
    if (dot.n.value() == 0 || dot.k.value() == 0 || (dot.m.max() < fewest_rows(dot) && !reads_windows(dot_))) return;
    Draft pack;
    pack.setup = true;
    pack.kernel.dot = dot;
    Dot& packing = *pack.kernel.dot;
    packing.pack_rhs = true;
    packing.lhs = {};
    packing.m = 1;
    Access access(graph_, lowering_.fusion, pack.kernel);
    packing.rhs.memory = access.memory(stored);
    Dim batch = 1;
    if (shared) packing.batch.clear(), packing.rhs.batch.clear();
    for (const Dim& extent : packing.batch) batch = batch * extent;
    bool later = lowering_.packs_later && !reads_windows(dot_) && !dot.lhs.outer_part && !dot.lhs.inner_part &&
                 !dot.rhs.inner_part;
    BufferId buffer = -1;
    if (Draft* existing = existing_pack(pack, stored)) {
      buffer = existing->buffers.back();
      existing->later &= later;
    } else {
      pack.later = later;
      buffer =
          lowering_.add_temporary({dot.accumulate, {packed_elements(dot, batch, lowering_.multiplies_bf16)}}, true);
      pack.kernel.memories.push_back({"packed", dot.accumulate, true, 0});
      packing.packed = static_cast<int32_t>(pack.kernel.memories.size() - 1);
      pack.buffers.push_back(buffer);
      finish_draft(lowering_, std::move(pack), access, {stored});
      lowering_.drafts.back().kernel.name = cat("pack_", name(dot.accumulate), "_", dot.k.value(), "x", dot.n.value());
    }
    if (later) dot.raw = dot.rhs;
    dot.packed_rhs = true;
    dot.rhs.offset = 0;
    dot.rhs.outer = dot.n;
    dot.rhs.inner = dot.k;
    kernel.memories.push_back({"packed", dot.accumulate, false, 0});
    dot.rhs.memory = static_cast<int32_t>(kernel.memories.size() - 1);
    draft_.buffers.push_back(buffer);
  }

  // An equal packing of the same constant, or null. Its last buffer is the packed one.
  Draft* existing_pack(const Draft& wanted, NodeId stored) const {
    for (Draft& draft : lowering_.drafts) {
      if (!draft.setup || draft.buffers.empty() || draft.buffers[0] != static_cast<BufferId>(stored)) continue;
      const Dot &a = *draft.kernel.dot, &b = *wanted.kernel.dot;
      if (a.n == b.n && a.k == b.k && a.batch == b.batch && a.rhs.outer == b.rhs.outer && a.rhs.inner == b.rhs.inner &&
          a.rhs.inner_part == b.rhs.inner_part && a.rhs.inner_jump == b.rhs.inner_jump &&
          a.rhs.offset == b.rhs.offset && a.rhs.batch == b.rhs.batch && a.accumulate == b.accumulate &&
          a.bits == b.bits && a.lhs_type == b.lhs_type)
        return &draft;
    }
    return nullptr;
  }

  Lowering& lowering_;
  const Graph& graph_;
  const Stage& stage_;
  const Node& dot_;
  Draft draft_;
  Access access_;
  std::vector<Axis> batch_, lhs_free_, rhs_free_, contracting_;
  Dims lhs_at_, rhs_at_, result_at_;
};

}  // namespace

Dim packed_elements(const Dot& dot, const Dim& batch, bool multiplies_bf16) {
  bool in_pairs =
      multiplies_bf16 && dot.accumulate == DType::f32 && dot.lhs_type == DType::bf16 && dot.rhs_type == DType::bf16;
  // The widest panel of any target: 64 elements. Bytes have a row of sums in front.
  return batch * (ceildiv(dot.n, 64) * Dim(64)) * ((in_pairs ? ceildiv(dot.k, 2) : dot.k) + Dim(1));
}

void lower_dot(Lowering& lowering, const Stage& stage) { DotKernelMaker(lowering, stage).lower(); }

}  // namespace weft
