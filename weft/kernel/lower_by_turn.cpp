// Counted loops, and those inside of them, whose turns each write other elements and read none that others write: turns
// are no order then but axes of one kernel, which takes vectors and threads of them.
#include <algorithm>

#include "weft/ir/interpret.h"
#include "weft/kernel/draft.h"
#include "weft/kernel/prepare.h"

namespace weft {
namespace {

class Turns {
 public:
  Turns(Lowering& lowering, const Node& loop)
      : lowering_(lowering), loop_(loop), access_(lowering.graph, lowering.fusion, draft_.kernel) {}

  // False, and nothing done, where turns depend on others.
  bool lower(GraphPtr outermost) {
    const std::vector<std::optional<NodeId>> results = results_of(lowering_.graph, loop_);
    if (!enter(loop_, std::move(outermost)) ||
        !std::ranges::all_of(results, [](const auto& id) { return id.has_value(); }))
      return false;
    while (const Node* inner = inner_loop())
      if (inner->attrs.find(Attr::independent) || inner->attrs.flag(Attr::until) || has_effect(*inner) ||
          !enter(*inner, prepare(*inner->regions[0])))
        return false;
    for (size_t i = 0; i < results.size(); ++i)
      if (!find_write(i)) return false;
    for (const Write& write : writes_)
      if (write.part.type().dims != writes_[0].part.type().dims) return false;
    const size_t before = lowering_.drafts.size();
    lower_in(results);
    if (!fits_) lowering_.drafts.resize(before);
    return fits_;
  }

 private:
  struct Level {
    const Node* loop;
    GraphPtr body;
    std::string counter() const { return loop->attrs.text(Attr::counter); }
    const Dim& trips() const { return loop->attrs.dims(Attr::trips)[0]; }
    const Dim& first() const { return loop->attrs.dims(Attr::first)[0]; }
  };

  // What the innermost turn writes to one of what is carried.
  struct Write {
    Value part;
    Dims starts;
    Dims at = {};  // of the element that is stored
  };

  // A loop as one more level; all that it carries is what the one around it carries.
  bool enter(const Node& loop, GraphPtr prepared) {
    if (loop.types.size() != loop_.types.size()) return false;
    levels_.push_back({&loop, std::move(prepared)});
    const Graph& body = *levels_.back().body;
    for (const Level& level : levels_)
      if (uses_counter(loop.attrs.dims(Attr::first)[0], level.counter()) ||
          uses_counter(loop.attrs.dims(Attr::trips)[0], level.counter()))
        return false;
    return body.size() <= largest_body && body.outputs().size() == loop.types.size();
  }

  // The loop that the innermost body consists of, as far as what is carried goes.
  const Node* inner_loop() const {
    const Graph& body = *levels_.back().body;
    const Node& first = body.outputs()[0].value.node();
    if (first.op != Op::result || first.operand(0).node().op != Op::for_) return nullptr;
    const Node& inner = first.operand(0).node();
    for (size_t i = 0; i < body.outputs().size(); ++i) {
      const Node& result = body.outputs()[i].value.node();
      if (result.op != Op::result || result.operand(0).id() != inner.id() || result.operand(0).index() != i ||
          inner.operand(i).id() != body.parameters()[i])
        return nullptr;
    }
    return &inner;
  }

  bool find_write(size_t i) {
    const Graph& body = *levels_.back().body;
    const Node& update = body.outputs()[i].value.node();
    if (update.op != Op::update_slice || update.operand(0).id() != body.parameters()[i]) return false;
    if (!std::ranges::all_of(update.ints(Attr::strides), [](int64_t stride) { return stride == 1; })) return false;
    writes_.push_back({update.operand(1), update.attrs.dims(Attr::start_indices)});
    return std::ranges::all_of(levels_, [&](const Level& level) { return is_moved(writes_.back(), level.counter()); });
  }

  // Whether each turn of a loop writes elsewhere, along one axis, which no other loop moves along, one place, and as
  // much as the others: the axes of a kernel have one extent.
  bool is_moved(const Write& write, const std::string& counter) const {
    int moved = 0;
    for (size_t d = 0; d < write.starts.size(); ++d) {
      if (uses_counter(write.part.type().dims[d], counter)) return false;
      if (!uses_counter(write.starts[d], counter)) continue;
      const std::optional<Dim> step = coefficient(write.starts[d], counter);
      const bool is_alone = std::ranges::count_if(levels_, [&](const Level& level) {
                              return uses_counter(write.starts[d], level.counter());
                            }) == 1;
      if (!step || !step->is_static() || step->is(0) || !is_alone || !write.part.type().dims[d].is(1)) return false;
      ++moved;
    }
    return moved == 1;
  }

  // Whether the loops write each element of one of what is carried.
  bool writes_all(size_t i) const {
    const Dims& dims = loop_.type(i).dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      const Dim& start = writes_[i].starts[d];
      const auto level =
          std::ranges::find_if(levels_, [&](const Level& l) { return uses_counter(start, l.counter()); });
      const bool is_whole = level == levels_.end()
                                ? start.is(0) && writes_[i].part.type().dims[d] == dims[d]
                                : coefficient(start, level->counter()) == Dim(1) &&
                                      start.substitute({{level->counter(), Dim(0)}}).is(0) && level->first().is(0) &&
                                      level->loop->attrs.integer(Attr::step) == 1 && level->trips() == dims[d];
      if (!is_whole) return false;
    }
    return true;
  }

  void lower_in(const std::vector<std::optional<NodeId>>& results) {
    Dims extents;
    for (const Level& level : levels_) extents.push_back(level.trips());
    const Dims& part = writes_[0].part.type().dims;
    extents.insert(extents.end(), part.begin(), part.end());
    const Space space = space_of(extents, ".i");
    const Dims within(space.coordinates.begin() + static_cast<std::ptrdiff_t>(levels_.size()), space.coordinates.end());
    for (Write& write : writes_)
      for (size_t d = 0; d < within.size(); ++d) write.at.push_back(write.starts[d] + within[d]);
    std::vector<Stmt> body;
    std::vector<ExprId> stored;
    results_ = results;
    for (size_t i = 0; i < writes_.size() && fits_; ++i) {
      const DType dtype = loop_.type(i).dtype;
      const int32_t slot = add_variable(draft_.kernel, dtype);
      body.push_back(statement(StmtKind::define, slot, value(levels_.size() - 1, writes_[i].part, within)));
      stored.push_back(access_.variable(slot, dtype));
    }
    if (!fits_) return;
    std::map<std::string, Dim, std::less<>> places;
    for (size_t k = 0; k < levels_.size(); ++k)
      places[levels_[k].counter()] =
          levels_[k].first() + space.coordinates[k] * Dim(levels_[k].loop->attrs.integer(Attr::step));
    for (const auto& [counter, place] : places) substitute_counter(draft_.kernel, counter, place);
    for (size_t i = 0; i < writes_.size(); ++i) {
      const Dims& dims = loop_.type(i).dims;
      body.push_back(store_statement(access_.memory(*results[i], true),
                                     linear_index(dims, writes_[i].at).substitute(places), stored[i],
                                     access_.fits(part, dims)));
      if (!writes_all(i) || is_read_[i])
        lower_copy(lowering_, loop_.operand(static_cast<uint32_t>(i)), static_cast<BufferId>(*results[i]), loop_.id());
    }
    draft_.kernel.body = schedule_map(draft_.kernel, space.axes, std::move(body), draft_.parallel);
    for (const Level& level : levels_) tell_body(draft_, *level.body);
    finish_draft(lowering_, std::move(draft_), access_, {loop_.id()});
  }

  // An element of a value of a body.
  ExprId value(size_t level, const Value& v, const Dims& at) {
    auto& known = known_[{level, v.id()}];
    for (const auto& [place, id] : known)
      if (place == at) return id;
    const ExprId id = compute(level, v, at);
    known_[{level, v.id()}].emplace_back(at, id);
    return id;
  }

  ExprId compute(size_t level, const Value& v, const Dims& at) {
    const Node& node = v.node();
    if (!fits_ || node.types.size() != 1) return fits_ = false, no_expr;
    if (node.op == Op::parameter) return given(level, node, at);
    const ExprId id =
        element_of_body(access_, node, at, [&](const Value& each, const Dims& c) { return value(level, each, c); });
    fits_ &= id != no_expr;
    return id;
  }

  // What a body is given: an element that this turn writes, as it was before, or of what no turn writes any.
  ExprId given(size_t level, const Node& parameter, const Dims& at) {
    const std::span<const NodeId> all = levels_[level].body->parameters();
    const auto i = static_cast<size_t>(std::ranges::find(all, parameter.id()) - all.begin());
    if (i >= writes_.size()) {
      const Value operand = levels_[level].loop->operand(static_cast<uint32_t>(i));
      return level == 0 ? access_.value(operand, at) : value(level - 1, operand, at);
    }
    if (at != writes_[i].at) return fits_ = false, no_expr;
    is_read_[i] = true;
    return access_.load_from(access_.memory(*results_[i], true), loop_.type(i).dtype,
                             linear_index(loop_.type(i).dims, at));
  }

  Lowering& lowering_;
  const Node& loop_;
  Draft draft_;
  Access access_;
  std::vector<Level> levels_;
  std::vector<Write> writes_;
  std::vector<std::optional<NodeId>> results_;
  std::map<size_t, bool> is_read_;
  std::map<std::pair<size_t, NodeId>, std::vector<std::pair<Dims, ExprId>>> known_;
  bool fits_ = true;
};

}  // namespace

bool lower_by_turn(Lowering& lowering, const Node& loop, GraphPtr body) {
  return Turns(lowering, loop).lower(std::move(body));
}

}  // namespace weft
