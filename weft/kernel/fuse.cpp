// Fusion: which values are stored, and which stages share a kernel.
//
// Every value is computed where it is used unless something forces it into memory; the reasons are all here. Then
// reduces over the trailing dims and what is computed from them row by row are gathered into one kernel.
#include "weft/kernel/fuse.h"

#include <algorithm>
#include <set>

#include "weft/core/pages.h"
#include "weft/ir/window.h"
#include "weft/kernel/cost.h"
#include "weft/kernel/group.h"
#include "weft/kernel/schedule.h"
#include "weft/kernel/shifts.h"

namespace weft {
namespace {

// What a loop of its own adds to the size of expressions.
constexpr int loop_size = 20;
constexpr size_t longest_epilogue = 64;
// Work for each element that slices at several shifts may do again, rather than that it is written and read: from a
// core's own cache, and from beyond that.
constexpr int64_t cheap_shifts = 16, cheap_shifts_beyond = 48;
// Broadcasts along rows of so many elements repeat what a loop computes once for the row.
constexpr int64_t long_row = 64;

class Fuser {
 public:
  explicit Fuser(const Graph& graph) : graph_(graph), uses_(graph.uses()) {
    fusion_.is_stored.resize(graph.size());
    users_.resize(graph.size());
    for (const Node& node : graph.nodes())
      for (const Value& operand : node.operands()) users_[operand.id()].push_back(node.id());
    is_output_.resize(graph.size());
    for (const Output& output : graph.outputs()) is_output_[output.value.id()] = true;
    inside_epilogue_.assign(graph.size(), -1);
  }

  Fusion run() {
    force_stores();
    store_shifted();
    store_repeated();
    store_overwritten();
    store_overlaid();
    find_epilogues();
    store_windowed();
    store_dot_operands();
    bound_expressions();
    for (int round = 0; round < 8; ++round) {
      make_stages();
      find_beside(graph_, fusion_);
      make_groups(graph_, fusion_, stage_sizes());
      if (!store_shared()) break;
    }
    return std::move(fusion_);
  }

 private:
  void store(NodeId id, const char* reason) {
    if (fusion_.is_stored[id] || is_inline_constant(graph_.node(id))) return;
    fusion_.is_stored[id] = true;
    fusion_.cuts.emplace_back(id, reason);
  }

  void force_stores() {
    for (const Node& node : graph_.nodes()) {
      if (node.op == Op::parameter || (node.op == Op::constant && !is_inline_constant(node)))
        fusion_.is_stored[node.id()] = true;
      if (is_fold(node) || is_step(node)) {
        store_operands(node);
        continue;
      }
      if (node.op == Op::reduce || node.op == Op::scatter || node.op == Op::result) fusion_.is_stored[node.id()] = true;
      if (is_output_[node.id()] && node.op != Op::parameter) store_output(node);
      if (node.op == Op::gather || node.op == Op::dynamic_slice)
        store(node.operand(0).id(), "is read at positions that are values");
      if (node.op == Op::dynamic_update_slice || node.op == Op::update_slice) store_update(node);
      if (has_many_parts(node)) store(node.id(), "is joined of many parts");
      if (node.op == Op::reshape && !is_output_[node.id()] && !unit_reshape(node) && interleaves(node.operand(0)))
        store(node.operand(0).id(), "is interleaved");
      if (node.op == Op::scatter)
        for (const Value& operand : node.operands()) store(operand.id(), "is an operand of scatter");
    }
  }

  // Whether neighbours are of different parts, each of which is one place of the last dimension: who is to find the
  // part of an element by a division takes longer than to write and to read it.
  static bool interleaves(const Value& value) {
    const Node& node = value.node();
    const int64_t last = value.type().rank() - 1;
    return node.op == Op::concatenate && node.attrs.integer(Attr::dimension) == last &&
           value.type().count().opt() >= small_work &&
           std::ranges::all_of(node.operands(), [](const Value& part) { return part.type().dims.back().is(1); });
  }

  // Routines and branches read memory; what a loop starts from is written where it is carried.
  void store_operands(const Node& node) {
    if (node.op == Op::while_) return;
    // Of a counted loop: what does not change from turn to turn.
    size_t first = node.op == Op::for_ ? static_cast<size_t>(node.attrs.integer(Attr::carried)) : 0;
    if (is_fold(node) && node.op != Op::select_and_scatter) return;
    for (const Value& operand : node.operands().subspan(first)) {
      store(operand.id(), "is an operand of a routine, loop, branch or selection");
      fusion_.is_stored[operand.id()] = true;
    }
  }

  void store_update(const Node& node) {
    bool feeds_update = false;
    for (NodeId user : users_[node.id()]) {
      const Node& next = graph_.node(user);
      feeds_update |=
          (is_update(next.op) && next.operand(0).id() == node.id()) || next.op == Op::while_ || next.op == Op::for_;
    }
    if (feeds_update || node.op == Op::update_slice) store(node.id(), "is written over in turn");
  }

  // A part that is read before what it is part of is written over, and used after that, is kept: else all of it would
  // be.
  void store_overwritten() {
    if (!has_updates(graph_)) return;
    std::vector<NodeId> used(graph_.size());  // the last value that is stored and computed from one
    for (NodeId id = static_cast<NodeId>(graph_.size()); id-- > 0;) {
      used[id] = id;
      for (NodeId user : users_[id]) used[id] = std::max(used[id], fusion_.is_stored[user] ? user : used[user]);
    }
    for (const Node& node : graph_.nodes()) {
      if (!is_update(node.op)) continue;
      for (NodeId user : users_[node.operand(0).id()])
        if (reads_part(graph_.node(user).op) && user < node.id() && used[user] > node.id())
          store(user, "is written over before it is used");
    }
  }

  // What is written over a part is computed there, unless it reads what the rest stays in; one element is stored when
  // all is read.
  void store_overlaid() {
    for (const Node& node : graph_.nodes()) {
      if (node.op != Op::dynamic_update_slice && node.op != Op::update_slice) continue;
      std::vector<NodeId> reads;
      std::set<NodeId> seen{node.operand(1).id()};
      collect_reads(node.operand(1).node(), reads, seen);
      const bool is_one = node.operand(1).type().count().is(1);
      bool in_place = fusion_.is_stored[node.id()] && (is_one || std::ranges::count(reads, node.operand(0).id()) == 0);
      if (!in_place) store(node.operand(1).id(), "is read at positions that are values");
    }
  }

  // A stencil over a computed value computes it again at every shift, and at every shift of that in turn: what takes
  // longer than to write and to read it is stored.
  void store_shifted() {
    for (const Node& node : graph_.nodes()) {
      bool is_plain = def(node.op).traits.elementwise;
      if (!is_plain && node.op != Op::pad && node.op != Op::concatenate && node.op != Op::dynamic_update_slice &&
          node.op != Op::gather)
        continue;
      auto is_slice = [&](NodeId user) { return graph_.node(user).op == Op::slice; };
      int64_t again = std::ranges::count_if(users_[node.id()], is_slice) - 1;
      if (again < 1) continue;
      bool is_large = is_plain && (node.type().count() * Dim(size_of(node.type().dtype))).opt() > own_cache;
      int64_t most = (is_large ? cheap_shifts_beyond : cheap_shifts) / again;
      if (work_at_shifts(graph_, node, fusion_.is_stored, most + 1) > most)
        store(node.id(), "is read at several shifts");
    }
  }

  // What costs more than a store is computed before a broadcast repeats it, except along whole rows, for which loops
  // compute it once.
  void store_repeated() {
    std::vector<int> cost(graph_.size());
    for (const Node& node : graph_.nodes()) {
      cost[node.id()] = price(node, cost);
      if (node.op != Op::broadcast_in_dim) continue;
      const Node* value = &node.operand(0).node();
      const Ints& dimensions = node.ints(Attr::dimensions);
      const Dims &from = value->type().dims, &to = node.type().dims;
      Dim before = 1, repeats = 1, along = 1;
      for (size_t i = 0, k = 0; i < to.size(); ++i) {
        bool kept = k < dimensions.size() && dimensions[k] == static_cast<int64_t>(i);
        bool repeated = !kept || (from[k].is(1) && !to[i].is(1));
        if (kept) ++k;
        if (repeated) repeats = repeats * to[i];
        along = repeated ? along * to[i] : Dim(1);
        if (!repeated) before = before * to[i];
      }
      if (along.opt() >= long_row && repeats == along) continue;
      if (repeats.opt() < 2 || (before * repeats).opt() < small_work || cost[value->id()] <= cheap) continue;
      while (cost_of(def(value->op).scalar) == 0 && value->operand_count() == 1 && !fusion_.is_stored[value->id()])
        value = &value->operand(0).node();
      store(value->id(), "is repeated by a broadcast and costs more than a store");
    }
  }

  // What computing an element of a value costs, from stored ones; a product is stored by its kernel, or what follows it
  // is.
  int price(const Node& node, const std::vector<int>& cost) const {
    if (node.op == Op::dot_general) return 0;
    int total = own_price(node);
    for (const Value& operand : node.operands())
      if (!fusion_.is_stored[operand.id()]) total += cost[operand.id()];
    return std::min(total, 1000);
  }

  // What windows that overlap are read from, which a product may compute. Where they are reduced it is no padding of
  // whole rows: that is cheaper to tell than to store.
  void store_windowed() {
    for (const Node& node : graph_.nodes()) {
      if (node.op != Op::strided_view || !overlaps(node)) continue;
      bool reduced =
          std::ranges::all_of(users_[node.id()], [&](NodeId user) { return graph_.node(user).op == Op::reduce; });
      Value base = node.operand(0);
      if (reduced && pads_rows(base.node())) base = base.node().operand(0);
      while (base.node().op == Op::reshape && !fusion_.is_stored[base.id()]) base = base.node().operand(0);
      store(base.id(), "is read by windows that overlap");
    }
  }

  // An output that is a constant still needs a kernel that writes it.
  void store_output(const Node& node) { fusion_.is_stored[node.id()] = true; }

  // Operands of dots are read by strides: what lies below their views is stored, or the view itself where it has none.
  void store_dot_operands() {
    for (const Node& node : graph_.nodes())
      if (node.op == Op::dot_general) {
        // Four bits of a byte, by what is no byte itself.
        NodeId left = store_dot_operand(node, 0, false);
        store_dot_operand(node, 1,
                          is_float(node.operand(1).type().dtype) && size_of(graph_.node(left).type().dtype) > 1);
      }
  }

  NodeId store_dot_operand(const Node& dot, size_t i, bool takes_bits) {
    const Value& operand = dot.operand(i);
    bool in_place = operand.node().op == Op::strided_view && reads_windows(dot);
    NodeId base = in_place ? below_reshapes(operand.node().operand(0)) : strided_base(operand.id(), takes_bits);
    if (operand == dot.operand(0) && turns_first(dot)) base = operand.id();
    // What windows are multiplied by is dense.
    if (i == 0 && multiplies_windows(dot)) base = dense_base(operand);
    store(base, "is an operand of a product");
    // A splat has memory too where a product reads it.
    fusion_.is_stored[base] = true;
    return base;
  }

  // What windows are multiplied by goes on evenly along a window, which is long where dimensions before it change
  // places.
  static NodeId dense_base(Value operand) {
    while (operand.node().op == Op::broadcast_in_dim || operand.node().op == Op::transpose) {
      const Node& node = operand.node();
      if (node.op == Op::transpose) {
        const Ints& permutation = node.ints(Attr::permutation);
        for (size_t i = 3; i < permutation.size(); ++i)
          if (permutation[i] != static_cast<int64_t>(i)) return operand.id();
        if (permutation.size() < 4 || permutation[2] != 0) return operand.id();
      }
      operand = node.operand(0);
    }
    return below_reshapes(operand);
  }

  NodeId strided_base(NodeId id, bool takes_bits) const {
    const Node* node = &graph_.node(id);
    bool reshaped = false;
    // What is widened is stored narrow.
    for (; !fusion_.is_stored[id] && is_widening(*node); id = node->id()) node = &node->operand(0).node();
    while (!fusion_.is_stored[node->id()]) {
      if (std::optional<BitsOf> found = takes_bits && !reshaped ? four_bits(*node) : std::nullopt) {
        node = &found->byte.node();
        takes_bits = false;
        continue;
      }
      bool strided = node->op == Op::transpose || node->op == Op::broadcast_in_dim || node->op == Op::slice;
      if (node->op != Op::reshape && !strided && !is_widening(*node)) return node->id();
      // A reshape of what was transposed, sliced or broadcast before may have no strides.
      if (reshaped && strided) return id;
      reshaped |= node->op == Op::reshape && !unit_reshape(*node);
      node = &node->operand(0).node();
    }
    return node->id();
  }

  // The element-wise ops after a dot that need nothing but its elements at the same place run in its kernel.
  void find_epilogues() {
    makes_checks_.resize(graph_.size());
    for (const Node& node : graph_.nodes()) {
      bool makes = node.op == Op::check_range;
      for (const Value& operand : node.operands())
        makes |= !fusion_.is_stored[operand.id()] && makes_checks_[operand.id()];
      makes_checks_[node.id()] = makes;
    }
    for (const Node& node : graph_.nodes()) {
      if (node.op != Op::dot_general) continue;
      NodeId root = epilogue_of(node);
      fusion_.is_stored[root] = true;
      epilogue_root_.emplace_back(node.id(), root);
    }
  }

  NodeId epilogue_of(const Node& dot) {
    std::set<NodeId> inside{dot.id()};
    std::vector<NodeId> order{dot.id()};
    size_t best = 1;
    NodeId best_root = dot.id();
    // Users come later in the graph: growing by the smallest next user keeps topological order.
    std::set<NodeId> next(users_[dot.id()].begin(), users_[dot.id()].end());
    while (!is_output_[dot.id()] && !next.empty() && order.size() < longest_epilogue) {
      NodeId id = *next.begin();
      next.erase(next.begin());
      if (!fits_epilogue(graph_.node(id), dot, inside)) break;
      inside.insert(id);
      order.push_back(id);
      for (NodeId user : users_[id]) next.insert(user);
      bool is_narrow = is_output_[id] || !is_widening(graph_.node(id));
      if (is_narrow && escapes(inside) == 1 && escapes_only(inside, id)) {
        best = order.size();
        best_root = id;
      }
      if (is_output_[id]) break;
    }
    for (size_t i = 0; i < best; ++i) inside_epilogue_[order[i]] = static_cast<int>(dot.id());
    NodeId whole = best_root;
    auto turns = [&](const Node& user) {
      return user.op == Op::transpose && user.ints(Attr::permutation).back() == user.type().rank() - 1;
    };
    while (!is_output_[whole] && !fusion_.is_stored[whole] && users_[whole].size() == 1 &&
           turns(graph_.node(users_[whole][0])))
      whole = users_[whole][0];
    if (NodeId update = update_by(whole, dot)) return update;
    return stored_view_of(best_root, dot);
  }

  // The update of a part in place that is all that reads the value, and of which the product reads nothing; 0 where
  // there is none.
  NodeId update_by(NodeId id, const Node& dot) {
    if (is_output_[id] || fusion_.is_stored[id] || users_[id].size() != 1) return 0;
    const Node& user = graph_.node(users_[id][0]);
    if (user.op != Op::update_slice || user.operand(1).id() != id || user.operand(0).node().op != Op::parameter)
      return 0;
    inside_epilogue_[user.id()] = static_cast<int>(dot.id());
    return user.id();
  }

  // Transposes that keep rows whole, then reshapes, only move where the result is stored.
  NodeId stored_view_of(NodeId id, const Node& dot) {
    bool reshaped = false;
    while (!is_output_[id] && users_[id].size() == 1) {
      const Node& user = graph_.node(users_[id][0]);
      if (fusion_.is_stored[user.id()] && !is_output_[user.id()]) break;
      bool moves =
          user.op == Op::transpose && !reshaped && user.ints(Attr::permutation).back() == user.type().rank() - 1;
      if (!moves && user.op != Op::reshape) break;
      reshaped |= user.op == Op::reshape;
      id = user.id();
      inside_epilogue_[id] = static_cast<int>(dot.id());
    }
    return id;
  }

  bool fits_epilogue(const Node& node, const Node& dot, const std::set<NodeId>& inside) const {
    // Checks are made by loops alone.
    if (makes_checks_[node.id()]) return false;
    if (fusion_.is_stored[node.id()] && !is_output_[node.id()]) return false;
    if (!def(node.op).traits.elementwise || node.type().dims != dot.type().dims || inside_epilogue_[node.id()] >= 0)
      return false;
    for (const Value& operand : node.operands())
      if (!inside.count(operand.id()) && may_depend_on(graph_, operand.id(), dot.id())) return false;
    return true;
  }

  bool leaves(NodeId id, const std::set<NodeId>& inside) const {
    if (is_output_[id]) return true;
    return std::any_of(users_[id].begin(), users_[id].end(), [&](NodeId user) { return !inside.count(user); });
  }
  size_t escapes(const std::set<NodeId>& inside) const {
    return static_cast<size_t>(
        std::count_if(inside.begin(), inside.end(), [&](NodeId id) { return leaves(id, inside); }));
  }
  bool escapes_only(const std::set<NodeId>& inside, NodeId id) const { return leaves(id, inside); }

  // Cuts expressions that have grown too large. Written once is what is read at the same coordinates; below a view it
  // may be read at others and counts again.
  void bound_expressions() {
    size_.assign(graph_.size(), 0);
    for (const Node& node : graph_.nodes()) {
      int64_t total = 1;
      for (const Value& operand : node.operands()) total += fusion_.is_stored[operand.id()] ? 1 : size_[operand.id()];
      // What is read at two places, by a concatenate or pad of it with itself, is computed twice.
      if (total > largest_expression && def(node.op).traits.elementwise) total = distinct_size(node);
      size_[node.id()] = static_cast<int>(std::min<int64_t>(total, largest_expression + 1));
      if (is_fold(node) || is_step(node)) {
        for (const Value& operand : node.operands())
          if (total > largest_expression) store(operand.id(), "the expression is too large to go on");
        size_[node.id()] = 1;
      } else if (total > largest_expression && inside_epilogue_[node.id()] < 0) {
        store(node.id(), "the expression is too large to go on");
      }
    }
  }

  int64_t distinct_size(const Node& root) const {
    std::vector<NodeId> stack{root.id()};
    std::set<NodeId> seen;
    int64_t total = 0;
    while (!stack.empty() && total <= largest_expression) {
      NodeId id = stack.back();
      stack.pop_back();
      if (!seen.insert(id).second) continue;
      bool is_stored = fusion_.is_stored[id] && id != root.id();
      bool is_in_place = def(graph_.node(id).op).traits.elementwise || graph_.node(id).op == Op::reshape;
      bool enters = !is_stored && (id == root.id() || is_in_place);
      total += is_stored || enters ? 1 : size_[id];
      if (enters)
        for (const Value& operand : graph_.node(id).operands()) stack.push_back(operand.id());
    }
    return total;
  }

  void make_stages() {
    fusion_.stages.clear();
    fusion_.stage_of.assign(graph_.size(), -1);
    std::optional<NodeId> last_effect;
    for (const Node& node : graph_.nodes()) {
      bool opaque = is_fold(node) || is_step(node);
      if (node.op == Op::result) {
        fusion_.stage_of[node.id()] = fusion_.stage_of[node.operand(0).id()];
        continue;
      }
      if ((!fusion_.is_stored[node.id()] && !opaque) || node.op == Op::parameter) continue;
      if (node.op == Op::constant && !is_output_[node.id()]) continue;
      if (node.op == Op::constant && !is_inline_constant(node)) continue;
      Stage stage;
      stage.root = stage.source = node.id();
      for (const auto& [dot, root] : epilogue_root_)
        if (root == node.id()) {
          stage.kind = StageKind::dot;
          stage.source = dot;
        }
      if (stage.kind != StageKind::dot && node.op == Op::reduce) stage.kind = StageKind::reduce;
      if (node.op == Op::scatter) stage.kind = StageKind::scatter;
      if (const Node& below = below_own_reshapes(fusion_, node);
          stage.kind != StageKind::dot && below.op == Op::concatenate) {
        stage.kind = StageKind::joined;
        stage.source = below.id();
      }
      if (stage.kind != StageKind::dot && (node.op == Op::dynamic_update_slice || node.op == Op::update_slice))
        stage.kind = StageKind::update;
      if (is_fold(node)) stage.kind = StageKind::fold;
      if (is_step(node)) stage.kind = StageKind::step;
      std::set<NodeId> seen;
      collect_reads(node, stage.reads, seen);
      if (has_effect(node)) {
        // Behind the one before, which it need not read.
        if (last_effect) stage.reads.push_back(*last_effect);
        last_effect = node.id();
      }
      fusion_.stage_of[node.id()] = static_cast<int>(fusion_.stages.size());
      fusion_.stages.push_back(std::move(stage));
    }
  }

  void collect_reads(const Node& node, std::vector<NodeId>& reads, std::set<NodeId>& seen) {
    // Expressions may be as deep as a program is long: no recursion.
    std::vector<std::pair<NodeId, size_t>> stack{{node.id(), 0}};
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      if (next == graph_.node(id).operand_count()) {
        stack.pop_back();
        continue;
      }
      NodeId operand = graph_.node(id).operand(next++).id();
      if (!seen.insert(operand).second) continue;
      if (fusion_.is_stored[operand])
        reads.push_back(operand);
      else
        stack.emplace_back(operand, 0);
    }
  }

  // The expressions of each stage, and the loops of its own.
  std::vector<int> stage_sizes() const {
    std::vector<int> sizes;
    for (const Stage& stage : fusion_.stages) {
      int size = size_[stage.root] > 64 ? static_cast<int>(distinct_size(graph_.node(stage.root))) : size_[stage.root];
      sizes.push_back(size + (stage.kind == StageKind::reduce ? loop_size : 0));
    }
    return sizes;
  }

  // Expensive values that several kernels would compute again are stored. Returns whether there were any.
  bool store_shared() {
    std::vector<std::set<int>> groups(graph_.size());
    for (const Stage& stage : fusion_.stages) mark(graph_.node(stage.root), stage.group, groups);
    std::vector<int> cost(graph_.size());
    bool changed = false;
    for (const Node& node : graph_.nodes()) {
      int total = cost[node.id()] = price(node, cost);
      bool view = cost_of(def(node.op).scalar) == 0 && node.op != Op::gather;
      if (fusion_.is_stored[node.id()] || view || groups[node.id()].size() < 2 || total <= cheap) continue;
      if (inside_epilogue_[node.id()] >= 0 || is_step_to(node, groups)) continue;
      store(node.id(), "several kernels need it and it costs more than a store");
      changed = true;
    }
    return changed;
  }

  // Whether one value alone is computed from it, of as many bytes at most, which the same kernels need: that is stored
  // instead.
  bool is_step_to(const Node& node, const std::vector<std::set<int>>& groups) const {
    if (users_[node.id()].size() != 1) return false;
    const Node& user = graph_.node(users_[node.id()][0]);
    bool may_store =
        def(user.op).traits.elementwise && !fusion_.is_stored[user.id()] && inside_epilogue_[user.id()] < 0;
    return may_store && user.type().dims == node.type().dims &&
           size_of(user.type().dtype) <= size_of(node.type().dtype) && groups[user.id()] == groups[node.id()];
  }

  void mark(const Node& node, int group, std::vector<std::set<int>>& groups) const {
    for (const Value& operand : node.operands())
      if (!fusion_.is_stored[operand.id()] && groups[operand.id()].insert(group).second)
        mark(operand.node(), group, groups);
  }

  const Graph& graph_;
  std::vector<uint32_t> uses_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<bool> is_output_;
  std::vector<int> inside_epilogue_;
  std::vector<bool> makes_checks_;  // computing it from stored values does
  std::vector<int> size_;           // of expressions, by node
  std::vector<std::pair<NodeId, NodeId>> epilogue_root_;
  Fusion fusion_;
};

}  // namespace

Fusion fuse(const Graph& graph) { return Fuser(graph).run(); }

}  // namespace weft
