// Concatenations: each part has loops of its own, over its own elements.
//
// In one loop over the result every element would be tested against the bounds of every part.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "weft/kernel/draft.h"

namespace weft {
namespace {

// Parts of so many elements or fewer share kernels, of so many expressions or fewer.
constexpr int64_t small_part = 2048;
constexpr size_t most_expressions = 400;
// Parts that are stored in one loop: each is a line of memory that the CPU has to follow.
constexpr size_t most_beside = 8;

class Joined {
 public:
  Joined(Lowering& lowering, const Stage& stage)
      : lowering_(lowering), node_(lowering.graph.node(stage.source)), target_(stage.root) {}

  void run() {
    auto axis = static_cast<size_t>(node_.attrs.integer(Attr::dimension));
    if (is_interleaved(axis)) return interleave(axis);
    Dim offset = 0;
    std::vector<Place> beside;
    Cone cone;  // of those
    for (const Value& part : node_.operands()) {
      if (!part.type().count().is(0)) {
        Cone own = cone_of(part);
        if (!beside.empty() && !shares_loop(beside, cone, part, own)) write(std::exchange(beside, {}), axis);
        own.calls += beside.empty() ? 0 : cone.calls;
        cone = std::move(own);
        beside.push_back({part, offset});
      }
      offset = offset + part.type().dims[axis];
    }
    if (!beside.empty()) write(beside, axis);
    finish();
  }

 private:
  struct Place {
    Value part;
    Dim offset;  // along the dimension that joins them
  };

  // What a part is computed by, and of what is stored and at least as large as it.
  struct Cone {
    std::set<NodeId> sources;
    size_t calls = 0;
  };

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

  Cone cone_of(const Value& part) const {
    Cone cone;
    std::set<NodeId> seen;
    std::vector<NodeId> open{part.id()};
    while (!open.empty() && cone.calls <= most_expressions) {
      const NodeId id = open.back();
      open.pop_back();
      if (!seen.insert(id).second) continue;
      const Node& node = lowering_.graph.node(id);
      if (!lowering_.fusion.is_stored[id]) {
        ++cone.calls;
        for (const Value& operand : node.operands()) open.push_back(operand.id());
      } else if (known_less(node.type().count(), part.type().count()) == false) {
        cone.sources.insert(id);
      }
    }
    return cone;
  }

  // Whether a part is computed in the loop of those before it, which reads once what they have in common.
  static bool shares_loop(const std::vector<Place>& beside, const Cone& before, const Value& part, const Cone& own) {
    if (beside.size() >= most_beside || part.type().dims != beside.front().part.type().dims || own.calls == 0 ||
        before.calls == 0 || before.calls + own.calls > most_expressions)
      return false;
    return std::ranges::any_of(own.sources, [&](NodeId id) { return before.sources.count(id) != 0; });
  }

  void write(const std::vector<Place>& beside, size_t axis) {
    const Type& type = beside.front().part.type();
    bool is_small = type.count().max() <= small_part;
    if (open_ && (!is_small || open_->draft.kernel.exprs.size() >= most_expressions)) finish();
    if (!open_) open_.emplace(lowering_);
    Kernel& kernel = open_->draft.kernel;
    const std::string prefix = cat(".i", open_->parts.size(), "_");
    std::vector<NodeId> computed;
    for (const auto& [part, offset] : beside)
      if (!lowering_.fusion.is_stored[part.id()]) computed.push_back(part.id());
    Space space = computed.empty() ? space_of(type.dims, prefix) : expanded_space(lowering_, computed, prefix);
    std::vector<Stmt> body;
    for (const auto& [part, offset] : beside) {
      Dims at = space.coordinates;
      at[axis] = at[axis] + offset;
      ExprId expr = open_->access.value(part, space.coordinates);
      body.push_back(store_statement(open_->access.memory(target_, true), linear_index(node_.type().dims, at), expr));
      open_->parts.push_back(part.id());
    }
    for (Stmt& stmt : schedule_map(kernel, space.axes, std::move(body), open_->draft.parallel))
      open_->body.push_back(std::move(stmt));
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
