// Calls in the forms that have kernels: what the parts of prepare share.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "weft/ir/builder.h"
#include "weft/kernel/fuse.h"

namespace weft {

// The dimensions of an operand of a product by what they are; `order`: all of them, in this order.
struct DotDims {
  Ints batch, free, contracting;
  DotDims(int64_t rank, Ints batching, Ints contracted);
  Ints order() const;
};
// Those of both operands of a dot_general.
std::pair<DotDims, DotDims> dims_of(const Node& dot);

// A value's places from `low` to `high` along an axis.
Value slice(Builder& build, const Value& value, size_t axis, const Dim& low, const Dim& high);
// A dot_general with one contracting dimension and an element type that dot kernels know, or what stands for it.
Value dot_in_kernel_form(Builder& build, Value lhs, Value rhs, Attrs attrs);
// The results of a call; those of folds and steps as values that have memory.
std::vector<Value> with_results(Builder& build, const Node& call);

// The calls in an order in which parts of what is written over are read before that, wherever they may be.
std::vector<NodeId> reads_before_updates(const Graph& graph);

// The graph without those of its counted loops that are few turns of element-wise calls; null where it has no loops. To
// be prepared.
GraphPtr with_turns_in_line(const Graph& flat);

// The graph, prepared, with attention as loops over blocks of rows.
GraphPtr by_row_blocks(GraphPtr graph);

// The graph with products of many small matrices or vectors as sums; null where it has none.
GraphPtr with_small_products(const Graph& flat);

// A product of a strided_view by a vector, whose elements a sum reads where they lie; an empty value for others.
Value windows_by_vector(Builder& build, const Node& node, const Value& lhs, const Value& rhs);

// The graph, prepared, with sums over everything as sums of sums of rows where other sums of rows share their work.
GraphPtr with_shared_rows(GraphPtr graph);

// What a dimension of a value of attention is: a batch dimension by its number, the rows, the columns, or anything
// else.
inline constexpr int row_label = -1, column_label = -2, other_label = -3;
using Labels = std::vector<int>;
// The labels of operand `i` of a node with these labels, where there are so many columns.
Labels labels_of_operand(const Node& node, const Labels& labels, size_t i, const Dim& columns);
// The dimension of a reshape's result that each operand dimension is in, where every one of those is whole dimensions
// of the operand, one after the other; nothing where it is not.
std::optional<std::vector<size_t>> merged_into(const Node& reshape);
// The labels of an operand of a node with these labels.
using LabelsBelow = std::function<Labels(const Node&, const Labels&, size_t)>;
// Of select(mask, scores, far below), or the other way round: columns j > i + distance of row i do not count. Nothing
// where the mask says no such thing, or a row sees nothing.
std::optional<int64_t> causal_distance(const Node& masked, const Labels& labels, const LabelsBelow& below);

// A dot_general by a matrix that is computed from narrower elements (weights of four bits, say): of one row as a sum
// over them, of more by way of bytes; an empty value for others.
Value with_computed_weights(Builder& build, const Node& node, Value lhs, Value rhs);

// Which calls of a graph may be computed before a transposition: reductions along what a transposition parted, and what
// is computed from the operands of such or from convolutions whose results are transposed.
std::vector<bool> before_transpositions(const Graph& graph);
// Such a call, computed and then transposed; an empty value where an operand is not transposed like the others.
Value before_transposition(Builder& build, const Node& node, const std::vector<Value>& operands);

// Which sums over a short dimension are of values that are joined along it, or are used for what is reduced again and
// of values that are computed from much smaller ones for all pairs of something.
std::vector<bool> sums_of_components(const Graph& graph);
// Which element-wise calls are of values that are joined of few places of a dimension, and what all that is computed
// from those ends in, element by element.
std::vector<bool> results_of_components(const Graph& graph);
// Values for one place of a short dimension, without that dimension; each is computed once.
class Components {
 public:
  explicit Components(Builder& build) : build_(build) {}
  // Such a sum as a chain of its terms.
  Value sum(const Node& node, const Value& x, const Value& initial);
  // Such an element-wise call, whose result has these dims, as a call for each part, joined; an empty value where no
  // operand is joined.
  Value joined(const Node& call, const std::vector<Value>& operands, const Dims& dims);
  // A reduce of vectors with few components, whose expensive factors all components share, as a reduce for each; an
  // empty value for others.
  Value sums(const Node& node, const Value& x, const Value& initial);

 private:
  Value part_of(const Value& value, size_t axis, const Dim& low, const Dim& high);
  // Whether it is the same at all places.
  bool is_even(const Value& value, int64_t axis);
  Value component(const Value& value, int64_t axis, int64_t place);
  Value computed(const Value& value, int64_t axis, int64_t place);
  Value repeated(const Node& node, int64_t axis, int64_t place, const Dims& dims);
  Value reshaped(Value value, const Dims& dims);

  Builder& build_;
  std::map<std::tuple<NodeId, int64_t, int64_t>, Value> done_;
  std::map<std::pair<NodeId, int64_t>, bool> even_;
};

// The dot_general of a large matrix by itself, half of which is the other half; an empty value for others.
Value product_of_itself(Builder& build, const Node& node, const Value& lhs, const Value& rhs);
// A dot_general of a row by a matrix that lies in rows as the sum of parts of both; an empty value for others.
Value row_by_parts(Builder& build, const Node& node, Value lhs, Value rhs);
// Of few rows by few columns that are long, likewise.
Value few_by_parts(Builder& build, const Node& node, const Value& lhs, const Value& rhs);

// A transposition, of what was transposed too.
Value transposed(Builder& build, Value x, Ints order);
// A transposition with other dims; where dimensions of one element alone move, nothing does.
Value transposed_as(Builder& build, Value x, const Ints& order, const Dims& dims);
// A dot_general over several dimensions of a strided_view by a constant, or a strided_view of one, as the product of
// places by outputs that reads both where they lie, transposed to the order asked for; an empty value for others.
Value product_of_windows(Builder& build, const Node& node, Value lhs, Value rhs);
// Whether a call may become such a product, whose result is transposed.
bool may_read_windows(const Node& node);
// A strided_view of a transposition as one of what was transposed, with dimensions in another order: the reduced ones
// first, the others as they lie in memory. Also the permutation back; nothing where vectors of results would gain
// nothing.
std::optional<std::pair<Value, Ints>> view_before_transposition(Builder& build, Value view, const Ints& reduced);
// A convolution as the product of its windows, laid out as a matrix or where they lie, with the kernel.
Value convolution_as_dot(Builder& build, const Node& node, Value lhs, Value rhs);
// A gather whose indices run evenly within the operand as a strided_view; an empty value for others.
Value gather_as_view(Builder& build, const Node& node, Value x, Value indices);
// A gather at places 0, 0, 1, 1, …, as an image becomes larger by, as a broadcast; nothing for others.
Value gather_as_repeats(Builder& build, const Node& node, Value x, Value indices);
// A strided_view, slice or transpose as one view of what lies below, where that is a strided_view; otherwise itself.
Value strided_view_of(Builder& build, Value value);
// Whether the longest dimension of a strided_view along which neighbours are neighbours in memory is from begin to end.
bool places_lie_along(const Node& view, size_t begin, size_t end);
// A matrix of places by windows, reshaped from a strided_view, stored as windows by places where places lie along
// memory.
Value windows_by_places(Builder& build, Value operand);
// A reduce_window as a reduce of its windows, which are read where they lie.
std::vector<Value> window_as_reduce(Builder& build, const Node& node, const std::vector<Value>& operands);

}  // namespace weft
