// Concatenations: each part has loops of its own, over its own elements.
//
// In one loop over the result every element would be tested against the bounds of every part.
#include <algorithm>
#include <optional>

#include "weft/kernel/draft.h"

namespace weft {
namespace {

// Parts of so many elements or fewer share kernels, of so many expressions or fewer.
constexpr int64_t small_part = 2048;
constexpr size_t most_expressions = 400;

class Joined {
 public:
  Joined(Lowering& lowering, const Stage& stage)
      : lowering_(lowering), node_(lowering.graph.node(stage.source)), target_(stage.root) {}

  void run() {
    auto axis = static_cast<size_t>(node_.attrs.integer(Attr::dimension));
    if (is_interleaved(axis)) return interleave(axis);
    Dim offset = 0;
    for (const Value& part : node_.operands()) {
      const Dim& extent = part.type().dims[axis];
      if (!part.type().count().is(0)) write(part, axis, offset);
      offset = offset + extent;
    }
    finish();
  }

 private:
  // A kernel that is being filled.
  struct Open {
    Open(const Lowering& lowering) : access(lowering.graph, lowering.fusion, draft.kernel) {}
    Draft draft;
    Access access;
    std::vector<Stmt> body;
    std::vector<NodeId> parts;
  };

  // Whether elements of the parts take turns: `np.stack(arrays, -1)`.
  bool is_interleaved(size_t axis) const {
    const Dims& dims = node_.type().dims;
    auto count = static_cast<int64_t>(node_.operands().size());
    auto is_one = [](const Dim& extent) { return extent.is(1); };
    return axis > 0 && std::all_of(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims.end(), is_one) &&
           count > 1 && count <= std::min(short_row, short_row_bytes / size_of(node_.type().dtype)) &&
           node_.type().count().max() > small_part &&
           std::ranges::all_of(node_.operands(), [&](const Value& part) { return is_one(part.type().dims[axis]); });
  }

  // One loop over the places, in which each turn of an inner one takes its part.
  void interleave(size_t axis) {
    open_.emplace(lowering_);
    Access& access = open_->access;
    std::vector<NodeId> computed;
    for (const Value& part : node_.operands()) {
      open_->parts.push_back(part.id());
      if (!lowering_.fusion.is_stored[part.id()]) computed.push_back(part.id());
    }
    const Dims& dims = node_.operand(0).type().dims;
    Space space = computed.empty() ? space_of(dims, ".i") : expanded_space(lowering_, computed, ".i");
    const Axis turns{".t", node_.type().dims[axis]};
    const Dim turn = counter_dim(turns.counter, turns.extent);
    ExprId element = no_expr, which = access.index(turn);
    for (size_t k = node_.operands().size(); k-- > 0;) {
      ExprId part = access.value(node_.operand(k), space.coordinates);
      ExprId is_this = access.scalar(Scalar::eq, DType::boolean, {which, access.integer(static_cast<int64_t>(k))});
      element = element == no_expr ? part : access.scalar(Scalar::select, node_.type().dtype, {is_this, part, element});
    }
    Dims at = space.coordinates;
    at[axis] = turn;
    std::vector<Axis> axes = joined(space.axes, {turns});
    open_->body =
        schedule_map(open_->draft.kernel, std::move(axes),
                     {store_statement(access.memory(target_, true), linear_index(node_.type().dims, at), element)},
                     open_->draft.parallel);
    finish();
  }

  void write(const Value& part, size_t axis, const Dim& offset) {
    bool is_small = part.type().count().max() <= small_part;
    if (open_ && (!is_small || open_->draft.kernel.exprs.size() >= most_expressions)) finish();
    if (!open_) open_.emplace(lowering_);
    Kernel& kernel = open_->draft.kernel;
    const std::string prefix = cat(".i", open_->parts.size(), "_");
    Space space = lowering_.fusion.is_stored[part.id()] ? space_of(part.type().dims, prefix)
                                                        : expanded_space(lowering_, {part.id()}, prefix);
    Dims at = space.coordinates;
    at[axis] = at[axis] + offset;
    ExprId expr = open_->access.value(part, space.coordinates);
    std::vector<Stmt> body{
        store_statement(open_->access.memory(target_, true), linear_index(node_.type().dims, at), expr)};
    for (Stmt& stmt : schedule_map(kernel, space.axes, std::move(body), open_->draft.parallel))
      open_->body.push_back(std::move(stmt));
    open_->parts.push_back(part.id());
    if (!is_small) finish();
  }

  void finish() {
    if (!open_) return;
    open_->draft.kernel.body = std::move(open_->body);
    finish_draft(lowering_, std::move(open_->draft), open_->access, open_->parts);
    open_.reset();
  }

  Lowering& lowering_;
  const Node& node_;
  const NodeId target_;  // the concatenate, or a reshape of it
  std::optional<Open> open_;
};

}  // namespace

void lower_joined(Lowering& lowering, const Stage& stage) { Joined(lowering, stage).run(); }

}  // namespace weft
