// Attention: two products with row-by-row work between them, done in blocks of rows whose scores stay in cache.
//
// Where the left operand of a product comes from another product through element-wise ops and reduces over its rows,
// both are computed for some rows at a time, as an independent counted loop. Each element is computed as it would be
// without the loop, but that a softmax divides by its sums after the product: numerators are one at most and round as
// quotients do, and sums of them by the right operand overflow only within a factor of the row's length of where that
// does. Where a mask takes everything above the diagonal out of a softmax, a block reads the columns up to its own last
// row only (Dao et al. 2022, "FlashAttention", skip the same blocks): what is left out adds exact zeros, or, where the
// right operand holds infinities or NaN, what 0 * inf would be.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "weft/ir/builder.h"
#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// Scores of a block, and scores in all from which on blocks pay.
constexpr int64_t block_bytes = 256 * 1024, worthwhile_bytes = 1024 * 1024;
constexpr int64_t most_rows = 128, fewest_rows = 16;
// Each block reads the right operands anew: elements of them for a column of scores, at most, for a row of the block.
// Keys and values are narrow; the weights of a layer are not, and would come from memory again and again.
constexpr int64_t most_read = 32;

// A value, and what its dimensions are where it is needed.
using Part = std::pair<NodeId, Labels>;

// Whether the value is a part of, or a view on, one that has memory whoever asks for it.
bool views_memory(const Node& node) {
  const Node* at = &node;
  while (at->op == Op::slice || at->op == Op::transpose || at->op == Op::reshape) at = &at->operand(0).node();
  return at->op == Op::parameter || at->op == Op::dot_general || at->op == Op::dynamic_update_slice ||
         at->op == Op::result;
}

bool is_reduce_of(const Node& node, Op op) {
  return node.op == Op::reduce && node.operand_count() == 2 && single_op(*node.regions[0]) == op;
}

// A chain of work that ends in a product, and what it is made of.
class Chain {
 public:
  Chain(const Graph& graph, const std::vector<std::vector<NodeId>>& users, const Node& product)
      : graph_(graph), users_(users), product_(product) {}

  bool find() {
    const Value scores = product_.operand(0);
    const Ints &lb = product_.ints(Attr::lhs_batching_dimensions), &rb = product_.ints(Attr::rhs_batching_dimensions);
    batch_ = static_cast<int64_t>(lb.size());
    if (scores.type().rank() != batch_ + 2 || product_.type().rank() != batch_ + 2 ||
        product_.operand(1).type().rank() != batch_ + 2)
      return false;
    for (int64_t i = 0; i < batch_; ++i)
      if (lb[static_cast<size_t>(i)] != i || rb[static_cast<size_t>(i)] != i) return false;
    if (product_.ints(Attr::lhs_contracting_dimensions) != Ints{batch_ + 1}) return false;
    rows_ = scores.type().dims[static_cast<size_t>(batch_)];
    columns_ = scores.type().dims.back();
    Dim bytes = scores.type().count() * Dim(size_of(scores.type().dtype));
    if (bytes.opt() < worthwhile_bytes || columns_.opt() < 32 || rows_.opt() < fewest_rows) return false;
    if (!take(scores.node(), score_labels()) || first_products_ == 0) return false;
    block_rows_ =
        std::clamp(block_bytes / std::max<int64_t>(columns_.opt() * size_of(scores.type().dtype), 1) / 16 * 16,
                   fewest_rows, most_rows);
    if (rows_.is_static()) block_rows_ = std::min(block_rows_, rows_.value());
    if (read_ + product_.type().dims.back().opt() > most_read * block_rows_) return false;
    find_causal();
    find_sum();
    find_root();
    return turns().opt() > 1;
  }

  // The product, or what its elements are converted to, or that transposed, where no other chain does that in its
  // blocks.
  const Node& root() const { return *root_; }
  void end_at_product(const Chain& other) {
    if (root_ == &product_ || (!other.nodes_.contains(users_[product_.id()][0]) && !other.nodes_.contains(root_->id())))
      return;
    root_ = &product_;
    order_.clear();
  }

  Dim turns() const { return batch_count() * ceildiv(rows_, Dim(block_rows_)); }

  // The loop, in the graph being built; `values`: the new values of nodes outside of the chain.
  Value rebuilt(Builder& build, const std::vector<std::vector<Value>>& values, const std::string& counter) {
    Dim turns = this->turns();
    Dim turn(Symbol{counter, 0, turns.opt() / 2, std::max<int64_t>(turns.max() - 1, 0)});
    place(turn);
    Builder body(Level::flat, "block");
    body_ = &body;
    body.set_loc(product_.loc);
    Value target = body.parameter(root().type(), "");
    for (NodeId id : captured_nodes()) inner_[id] = body.parameter(graph_.node(id).type(), "");
    Value part = body.convert(emit_product(), root().type().dtype);
    if (!order_.empty()) part = body.transpose(part, order_);
    Dims starts = starts_;
    starts.push_back(first_row_);
    starts.push_back(0);
    const Dims straight = starts;
    for (size_t i = 0; i < order_.size(); ++i) starts[i] = straight[static_cast<size_t>(order_[i])];
    Value result = body(Op::update_slice, {target, part},
                        {{Attr::start_indices, starts}, {Attr::strides, Ints(starts.size(), 1)}});
    GraphPtr region = body.finish({{result, "", -1}});
    std::vector<Value> operands{build.splat(root().type(), 0)};
    for (NodeId id : captured_) operands.push_back(values[id][0]);
    Attrs attrs{{Attr::counter, counter}, {Attr::first, Dims{Dim(0)}}, {Attr::trips, Dims{turns}},
                {Attr::step, int64_t{1}}, {Attr::carried, int64_t{1}}, {Attr::independent, grid()}};
    return with_results(build, build.call(Op::for_, std::move(operands), std::move(attrs), {region}))[0];
  }

 private:
  // What follows and keeps rows whole is stored in its place by the blocks.
  void find_root() {
    auto only_user = [&]() -> const Node* {
      const std::vector<NodeId>& users = users_[root_->id()];
      return users.size() == 1 && users[0] < graph_.size() ? &graph_.node(users[0]) : nullptr;
    };
    if (const Node* user = only_user(); user && user->op == Op::convert) root_ = user;
    const Node* user = only_user();
    if (!user || user->op != Op::transpose || user->ints(Attr::permutation).back() != batch_ + 1) return;
    root_ = user;
    order_ = user->ints(Attr::permutation);
  }

  // Of one batch. Divisors are one at least: where there are no turns nothing is divided.
  Dim blocks() const { return max(ceildiv(rows_, Dim(block_rows_)), Dim(1)); }
  // The extents that the turns go through: batches, then blocks of rows, which share their right operands.
  Dims grid() const {
    Dims extents(product_.type().dims.begin(), product_.type().dims.begin() + batch_);
    extents.push_back(blocks());
    return extents;
  }
  Dim batch_count() const {
    Dim count = 1;
    for (int64_t i = 0; i < batch_; ++i) count = count * product_.type().dims[static_cast<size_t>(i)];
    return count;
  }

  Labels score_labels() const {
    Labels labels;
    for (int64_t i = 0; i < batch_; ++i) labels.push_back(static_cast<int>(i));
    labels.push_back(row_label);
    labels.push_back(column_label);
    return labels;
  }

  // -- which nodes belong to it -----------------------------------------------------------------------------------

  // The nodes that are computed block by block, users before operands, and the leaves, which are read where they lie.
  // False where a product or reduce would be needed in two ways.
  bool take(const Node& last, const Labels& labels) {
    std::set<Part, std::greater<>> pending{{last.id(), labels}, {product_.operand(1).id(), right_labels()}};
    while (!pending.empty()) {
      Part part = *pending.begin();
      pending.erase(pending.begin());
      const auto& [id, own] = part;
      const Node& node = graph_.node(id);
      bool inner = is_inner(node, own), again = nodes_.contains(id);
      if (inner && again && (node.op == Op::dot_general || node.op == Op::reduce)) return false;
      parts_.emplace(part, inner);
      if (!inner) continue;
      nodes_.insert(id);
      if (node.op == Op::dot_general) {
        ++first_products_;
        for (int64_t c : node.ints(Attr::lhs_contracting_dimensions))
          read_ += node.operand(0).type().dims[static_cast<size_t>(c)].opt();
      }
      for (size_t i = 0; i < node.operand_count(); ++i)
        if (node.op != Op::reduce || i == 0) pending.emplace(node.operand(i).id(), operand_labels(node, own, i));
    }
    return true;
  }

  // Whether the value follows from places and constants alone: computed again wherever it is needed, though others need
  // it too, as all layers need one mask.
  bool is_of_places(const Node& node) {
    if (node.op == Op::iota || node.op == Op::constant) return true;
    if (auto known = of_places_.find(node.id()); known != of_places_.end()) return known->second;
    bool views = node.op == Op::broadcast_in_dim || (node.op == Op::reshape && unit_reshape(node));
    bool result = views || (node.operand_count() > 0 && def(node.op).traits.elementwise && node.regions.empty() &&
                            node.types.size() == 1);
    for (size_t i = 0; result && i < node.operand_count(); ++i) result = is_of_places(node.operand(i).node());
    return of_places_[node.id()] = result;
  }

  bool is_inner(const Node& node, const Labels& labels) {
    if (is_of_places(node)) return true;
    bool has_rows = std::count(labels.begin(), labels.end(), row_label) > 0;
    // Products read through these.
    if (node.op == Op::transpose || node.op == Op::broadcast_in_dim || is_widening(node)) return true;
    if (node.op == Op::reshape) return unit_reshape(node) || merges_batch(node, labels);
    if (node.op == Op::slice && views_memory(node)) return true;
    if (!has_rows) return false;
    if (node.types.size() != 1) return false;
    for (NodeId user : users_[node.id()])
      if (user != product_.id() && !nodes_.contains(user)) return false;
    switch (node.op) {
      case Op::reduce:
        return node.operand_count() == 2 && single_op(*node.regions[0]) && node.operand(1).node().op == Op::constant;
      case Op::dot_general:
        return is_first_product(node, labels);
      default:
        return def(node.op).traits.elementwise && node.regions.empty();
    }
  }

  // Whether dimensions become one only where a block has one element of that: groups of heads that share keys, say.
  static bool merges_batch(const Node& reshape, const Labels& labels) {
    std::optional<std::vector<size_t>> places = merged_into(reshape);
    const Dims &from = reshape.operand(0).type().dims, &to = reshape.type().dims;
    for (size_t i = 0; places && i < from.size(); ++i)
      if (!from[i].is(1) && !(from[i] == to[(*places)[i]]) && labels[(*places)[i]] < 0) return false;
    return places.has_value();
  }

  bool is_first_product(const Node& node, const Labels& labels) const {
    if (static_cast<int64_t>(labels.size()) != batch_ + 2 || labels[static_cast<size_t>(batch_)] != row_label ||
        labels.back() != column_label)
      return false;
    return static_cast<int64_t>(node.ints(Attr::lhs_batching_dimensions).size()) == batch_ &&
           node.operand(0).type().rank() == batch_ + 2 && node.operand(1).type().rank() == batch_ + 2;
  }

  Labels operand_labels(const Node& node, const Labels& labels, size_t i) const {
    return labels_of_operand(node, labels, i, columns_);
  }

  // -- masks above the diagonal --------------------------------------------------------------------------------------

  // Columns j > i + distance of row i do not count: they are far below the maximum of every row, and exp makes them
  // zero.
  void find_causal() {
    const Node* exp = nullptr;
    for (const auto& [part, inner] : parts_) {
      const Node& node = graph_.node(part.first);
      if (!inner) continue;
      if (node.op == Op::exponential) {
        if (exp) return;
        exp = &node;
      }
    }
    if (!exp || exp->operand(0).node().op != Op::subtract) return;
    const Value masked = exp->operand(0).node().operand(0);
    for (const auto& [part, inner] : parts_) {
      const Node& node = graph_.node(part.first);
      if (node.op != Op::reduce || !inner) continue;
      bool of_scores = is_reduce_of(node, Op::maximum) && node.operand(0) == masked;
      bool of_weights = is_reduce_of(node, Op::add) && node.operand(0).node().id() == exp->id();
      if (!of_scores && !of_weights) return;
    }
    if (!reaches_only_by_scaling(*exp) || !is_row_maximum(exp->operand(0).node().operand(1))) return;
    causal_ = causal_distance(masked.node(), score_labels(), [this](const Node& node, const Labels& labels, size_t i) {
      return operand_labels(node, labels, i);
    });
  }

  // From exp to the product nothing but division by the sum, or multiplication by its inverse: zeros stay zeros.
  bool reaches_only_by_scaling(const Node& exp) const {
    const Node* at = &product_.operand(0).node();
    while (at->id() != exp.id()) {
      if (at->op != Op::divide && at->op != Op::multiply && at->op != Op::convert) return false;
      at = &at->operand(0).node();
    }
    return true;
  }

  bool is_row_maximum(Value value) const {
    const Node* node = &value.node();
    while (node->op == Op::broadcast_in_dim || node->op == Op::reshape) node = &node->operand(0).node();
    return is_reduce_of(*node, Op::maximum);
  }

  // Where a softmax ends in a quotient of exp by its sums over the row.
  void find_sum() {
    auto without = [](Value value, std::initializer_list<Op> ops) {
      while (std::ranges::count(ops, value.node().op)) value = value.node().operand(0);
      return value;
    };
    // A conversion to another kind of number, or one of few bits, means something else before the division.
    auto keeps = [](DType dtype) {
      return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32 || dtype == DType::f64;
    };
    Value weights = product_.operand(0);
    for (; weights.node().op == Op::convert; weights = weights.node().operand(0))
      if (!keeps(weights.type().dtype)) return;
    const Node& quotient = weights.node();
    if (!keeps(product_.type().dtype) || quotient.op != Op::divide || !nodes_.contains(quotient.id())) return;
    const Value exp = without(quotient.operand(0), {Op::convert}), below = quotient.operand(1);
    if (exp.node().op != Op::exponential || exp.node().operand(0).node().op != Op::subtract ||
        below.node().op != Op::broadcast_in_dim)
      return;
    const Node& difference = exp.node().operand(0).node();
    const auto views = {Op::broadcast_in_dim, Op::reshape, Op::convert};
    const Node &maximum = without(difference.operand(1), views).node(), &sum = without(below, views).node();
    if (!is_reduce_of(maximum, Op::maximum) ||
        without(maximum.operand(0), {Op::convert}) != without(difference.operand(0), {Op::convert}))
      return;
    if (!is_reduce_of(sum, Op::add) || without(sum.operand(0), {Op::convert}) != exp) return;
    const Ints& places = below.node().ints(Attr::dimensions);
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i] == batch_ + 1 && !below.node().operand(0).type().dims[i].is(1)) return;
    quotient_ = &quotient;
  }

  // -- the body of the loop ------------------------------------------------------------------------------------------

  // The quotient, and what it is converted to, before the division.
  Value emit_undivided(const Node& node) {
    if (&node == quotient_) return emit(node.operand(0).id(), score_labels());
    return body_->convert(emit_undivided(node.operand(0).node()), node.type().dtype);
  }

  Value emit_product() {
    Builder& build = *body_;
    Value right = emit(product_.operand(1).id(), right_labels());
    if (!quotient_)
      return build(Op::dot_general, {emit(product_.operand(0).id(), score_labels()), right}, product_.attrs);
    const Node& below = quotient_->operand(1).node();
    Value weights = emit_undivided(product_.operand(0).node());
    DType wide = product_.type().dtype == DType::f64 ? DType::f64 : DType::f32;
    Attrs attrs = product_.attrs;
    attrs.set(Attr::type, wide);
    Value product = build(Op::dot_general, {weights, right}, attrs);
    Value sums = build.convert(emit(below.operand(0).id(), operand_labels(below, score_labels(), 0)), wide);
    attrs = below.attrs;
    attrs.set(Attr::dims, product.type().dims);
    return build.convert(build(Op::divide, {product, build(Op::broadcast_in_dim, {sums}, attrs)}),
                         product_.type().dtype);
  }

  void place(const Dim& turn) {
    Dim block = mod(turn, blocks()), rest = floordiv(turn, blocks());
    starts_.resize(static_cast<size_t>(batch_));
    for (int64_t i = batch_; i-- > 0;) {
      Dim extent = max(product_.type().dims[static_cast<size_t>(i)], Dim(1));
      starts_[static_cast<size_t>(i)] = i == 0 ? rest : mod(rest, extent);
      rest = floordiv(rest, extent);
    }
    first_row_ = block * Dim(block_rows_);
    bool even = rows_.is_static() && rows_.value() % block_rows_ == 0;
    row_count_ = even ? Dim(block_rows_) : min(Dim(block_rows_), rows_ - first_row_);
    column_count_ = columns_;
    if (causal_) column_count_ = max(min(columns_, first_row_ + Dim(block_rows_ + *causal_)), min(columns_, Dim(1)));
  }

  Dim start_of(int label) const {
    return label >= 0 ? starts_[static_cast<size_t>(label)] : label == row_label ? first_row_ : Dim(0);
  }
  Dim extent_of(int label, const Dim& whole) const {
    return label >= 0 ? Dim(1) : label == row_label ? row_count_ : label == column_label ? column_count_ : whole;
  }
  Dims extents(const Labels& labels, const Dims& whole) const {
    Dims result;
    for (size_t i = 0; i < labels.size(); ++i) result.push_back(extent_of(labels[i], whole[i]));
    return result;
  }

  Labels right_labels() const {
    Labels labels;
    for (int64_t i = 0; i < batch_; ++i) labels.push_back(static_cast<int>(i));
    bool contracts_first = product_.ints(Attr::rhs_contracting_dimensions)[0] == batch_;
    labels.push_back(contracts_first ? column_label : other_label);
    labels.push_back(contracts_first ? other_label : column_label);
    return labels;
  }

  // Values of the surroundings that the body reads, in the order of their parameters.
  const std::vector<NodeId>& captured_nodes() {
    std::set<NodeId> found;
    for (const auto& [part, inner] : parts_)
      if (!inner) found.insert(part.first);
    captured_.assign(found.begin(), found.end());
    return captured_;
  }

  // The part of a value of the surroundings that the block needs.
  Value sliced(Value outer, const Labels& labels) {
    const Dims& dims = outer.type().dims;
    Dims starts, limits, sizes = extents(labels, dims);
    bool whole = true;
    for (size_t i = 0; i < labels.size(); ++i) {
      starts.push_back(start_of(labels[i]));
      limits.push_back(starts.back() + sizes[i]);
      whole &= starts.back().is(0) && sizes[i] == dims[i];
    }
    Value value = inner_.at(outer.node().id());
    if (whole) return value;
    return (*body_)(
        Op::slice, {value},
        {{Attr::start_indices, starts}, {Attr::limit_indices, limits}, {Attr::strides, Ints(starts.size(), 1)}});
  }

  Value emit(NodeId id, const Labels& labels) {
    Part part{id, labels};
    if (auto known = done_.find(part); known != done_.end()) return known->second;
    const Node& node = graph_.node(id);
    body_->set_loc(node.loc);
    Value value = parts_.at(part) ? emit_inner(node, labels) : sliced(node.result(), labels);
    return done_[part] = value;
  }

  Value emit_inner(const Node& node, const Labels& labels) {
    Builder& build = *body_;
    Dims dims = extents(labels, node.type().dims);
    Attrs attrs = node.attrs;
    switch (node.op) {
      case Op::constant:
        return emit_constant(node, labels);
      case Op::iota:
        return emit_iota(node, labels, dims);
      case Op::reduce:
        return build(Op::reduce,
                     {emit(node.operand(0).id(), operand_labels(node, labels, 0)),
                      build.constant(node.operand(1).node().attrs.literal(Attr::value))},
                     attrs, node.regions);
      case Op::slice:
        return emit_slice(node, labels);
      case Op::reshape:
        return build.reshape(unit_reshape(node) ? emit(node.operand(0).id(), operand_labels(node, labels, 0))
                                                : emit_merged(node, labels),
                             dims);
      case Op::broadcast_in_dim:
        attrs.set(Attr::dims, dims);
        break;
      default:
        break;
    }
    std::vector<Value> operands;
    for (size_t i = 0; i < node.operand_count(); ++i)
      operands.push_back(emit(node.operand(i).id(), operand_labels(node, labels, i)));
    return build(node.op, std::move(operands), std::move(attrs));
  }

  // Where a dimension is cut, the operand is whole, and the block's part of it is counted from the cut.
  Value emit_slice(const Node& node, const Labels& labels) {
    Labels below = operand_labels(node, labels, 0);
    Dims starts, limits, sizes = extents(labels, node.type().dims);
    Ints steps;
    for (size_t d = 0; d < labels.size(); ++d) {
      bool whole = below[d] == labels[d] && node.operand(0).type().dims[d] == node.type().dims[d];
      steps.push_back(whole ? 1 : node.ints(Attr::strides)[d]);
      starts.push_back(whole ? Dim(0) : node.attrs.dims(Attr::start_indices)[d] + start_of(labels[d]) * Dim(steps[d]));
      limits.push_back(starts[d] + (sizes[d] - Dim(1)) * Dim(steps[d]) + Dim(1));
    }
    return (*body_)(Op::slice, {emit(node.operand(0).id(), below)},
                    {{Attr::start_indices, starts}, {Attr::limit_indices, limits}, {Attr::strides, steps}});
  }

  // The one element that a block has of dimensions which become one.
  Value emit_merged(const Node& node, const Labels& labels) {
    const Dims &from = node.operand(0).type().dims, &to = node.type().dims;
    std::vector<size_t> places = *merged_into(node);
    Value operand = emit(node.operand(0).id(), operand_labels(node, labels, 0));
    Dims starts(from.size()), limits = operand.type().dims;
    Dim inner = 1;
    for (size_t i = from.size(); i-- > 0;) {
      if (i + 1 == from.size() || places[i + 1] != places[i]) inner = 1;
      if (!from[i].is(1) && !(from[i] == to[places[i]])) {
        starts[i] = mod(floordiv(start_of(labels[places[i]]), inner), from[i]);
        limits[i] = starts[i] + Dim(1);
      }
      inner = inner * from[i];
    }
    return (*body_)(
        Op::slice, {operand},
        {{Attr::start_indices, starts}, {Attr::limit_indices, limits}, {Attr::strides, Ints(from.size(), 1)}});
  }

  Value emit_constant(const Node& node, const Labels& labels) {
    Value value = body_->constant(node.attrs.literal(Attr::value));
    inner_[node.id()] = value;
    return sliced(node.result(), labels);
  }

  Value emit_iota(const Node& node, const Labels& labels, const Dims& dims) {
    Builder& build = *body_;
    int64_t axis = node.attrs.integer(Attr::dimension);
    DType dtype = node.type().dtype;
    Value value = build(Op::iota, {}, {{Attr::type, dtype}, {Attr::dims, dims}, {Attr::dimension, axis}});
    Dim start = start_of(labels[static_cast<size_t>(axis)]);
    if (start.is(0)) return value;
    Value first = build.convert(build.extent(start), dtype);
    return build(Op::add, {value, build.broadcast_to(first, dims)});
  }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>>& users_;
  const Node& product_;
  const Node* root_ = &product_;
  const Node* quotient_ = nullptr;  // exp by its sums, where the product is divided instead
  Ints order_;                      // of the result's dimensions, where the root is transposed
  int64_t batch_ = 0, block_rows_ = 0, first_products_ = 0, read_ = 0;  // read_: the depth of the first products
  Dim rows_, columns_;
  std::optional<int64_t> causal_;
  std::map<Part, bool> parts_;  // whether it is computed in the block
  std::map<NodeId, bool> of_places_;
  std::set<NodeId> nodes_;  // those that are computed in it
  std::vector<NodeId> captured_;
  Dims starts_;
  Dim first_row_, row_count_, column_count_;
  Builder* body_ = nullptr;
  std::map<NodeId, Value> inner_;
  std::map<Part, Value> done_;
};

}  // namespace

GraphPtr by_row_blocks(GraphPtr graph) {
  std::vector<std::vector<NodeId>> users(graph->size());
  bool any = false;
  for (const Node& node : graph->nodes()) {
    any |= node.op == Op::dot_general;
    for (const Value& operand : node.operands()) users[operand.id()].push_back(node.id());
  }
  for (const Output& output : graph->outputs()) users[output.value.id()].push_back(static_cast<NodeId>(graph->size()));
  if (!any) return graph;
  std::vector<Chain> found;
  for (const Node& node : graph->nodes()) {
    if (node.op != Op::dot_general || !is_float(node.type().dtype)) continue;
    Chain chain(*graph, users, node);
    if (chain.find()) found.push_back(std::move(chain));
  }
  if (found.empty()) return graph;
  std::map<NodeId, Chain*> chains;
  for (Chain& chain : found) {
    for (const Chain& other : found) chain.end_at_product(other);
    chains.emplace(chain.root().id(), &chain);
  }
  // Loops of equally many turns share a counter: equal layers have equal kernels then.
  std::vector<Dim> counters;
  Builder build(Level::flat, graph->name());
  std::vector<std::vector<Value>> values(graph->size());
  for (const Node& node : graph->nodes()) {
    build.set_loc(node.loc);
    if (auto chain = chains.find(node.id()); chain != chains.end()) {
      auto counter = std::find(counters.begin(), counters.end(), chain->second->turns());
      std::string name = cat("block", counter - counters.begin());
      if (counter == counters.end()) counters.push_back(chain->second->turns());
      values[node.id()] = {chain->second->rebuilt(build, values, name)};
      continue;
    }
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.push_back(values[operand.id()][operand.index()]);
    const Node copy = build.copy(node, std::move(operands));
    for (uint32_t i = 0; i < copy.types.size(); ++i) values[node.id()].push_back(copy.result(i));
  }
  std::vector<Output> outputs;
  for (const Output& output : graph->outputs())
    outputs.push_back({values[output.value.id()][output.value.index()], output.name, output.alias});
  return build.finish(std::move(outputs));
}

}  // namespace weft
