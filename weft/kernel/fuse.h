// Which values get memory, which are computed where they are used, and which stages share a kernel.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "weft/ir/graph.h"
#include "weft/kernel/kernel.h"

namespace weft {

enum class StageKind : uint8_t {
  map,     // every element by itself
  reduce,  // a reduce of one op
  dot,     // a product with the element-wise ops that follow it
  scatter,
  update,  // a dynamic_update_slice: its window stored over its operand
  joined,  // a concatenate
  fold,    // a reduce, scan or selection by a body, of any number of results
  step,    // a routine, loop or branch
};

// A value that is stored, and how it is computed from stored ones.
struct Stage {
  StageKind kind = StageKind::map;
  NodeId root = 0;    // the value stored
  NodeId source = 0;  // dot: the dot_general whose epilogue ends at root; otherwise root
  int group = -1;
  int beside = -1;            // reduce: an earlier one, of the same elements, that needs some of the same values
  std::vector<NodeId> reads;  // stored values (parameters and constants too) that it reads, each once
};

// Stages of one kernel, in order. More than one, or a reduce over trailing dims: all run over the same rows.
struct Group {
  std::vector<int> stages;
};

struct Fusion {
  std::vector<Stage> stages;
  std::vector<Group> groups;    // in an order in which every group follows those it reads
  std::vector<bool> is_stored;  // by node: has memory (parameters, constants of more than one value, stage roots)
  std::vector<int> stage_of;    // by node: the stage whose root it is, or -1
  std::vector<std::pair<NodeId, const char*>>
      cuts;  // stored values that could have been computed in place, and why they are not
};

// `graph` is flat; its dots are as prepare leaves them.
Fusion fuse(const Graph& graph);

// The graph with dots in the form that fuse wants: element types that dot kernels know (others become multiply and
// reduce) and one contracting dimension, or those of windows that are read where they lie and of a constant kernel.
GraphPtr prepare(const Graph& flat);

// Calls whose results are values of their own (Op::result): folds and steps.
bool is_fold(const Node& node);
bool is_step(const Node& node);
// Calls that write a part of their first operand over, and those that read a part of theirs.
bool is_update(Op op);
bool has_updates(const Graph& graph);
bool reads_part(Op op);
// The dimension along which a sort of rank 1 and more sorts, from 0.
size_t sorted_axis(const Node& sort);
// Whether a concatenate is better stored, each part by loops of its own.
bool has_many_parts(const Node& node);
// The results of such a call by number; nothing where one is not used.
std::vector<std::optional<NodeId>> results_of(const Graph& graph, const Node& node);

// What a stage iterates over when it shares a kernel: leading dims (rows) and the rest. Maps of the same dims share one
// too, as rows of one element. Other reduces have no rows: they share a kernel with those of the same elements alone,
// over the dims `apart`.
struct Rows {
  Dims rows, inner;
  bool is_map = false;
  Ints apart;
  bool operator==(const Rows&) const = default;
};
std::optional<Rows> rows_of(const Graph& graph, const Stage& stage);
// Whether a stage can run in the kernel of these rows.
bool fits_rows(const Graph& graph, const Stage& stage, const Rows& rows);
// Finds the reduces to run beside each other.
void find_beside(const Graph& graph, Fusion& fusion);

// Expressions larger than this are cut, so that kernels stay compilable whatever the program.
inline constexpr int largest_expression = 400;

// The rows of a reduce over trailing dims: how many leading dims are kept. Nothing when other dims are reduced.
std::optional<size_t> kept_rows(const Node& reduce);
// Whether to combine an initial value more than once changes nothing: it is the neutral element.
bool is_neutral(const Node& init, Scalar op);
// Whether it is a single row, so long that it would keep one thread busy: by itself it is added up by all of them.
bool is_long_row(const Node& reduce, size_t kept);
// Whether a convert keeps every value, so that products read its operand and widen it on the way.
bool is_widening(const Node& node);
// A byte of which an integer is four bits: products read that in its place.
struct BitsOf {
  Value byte;
  FourBits bits;
};
std::optional<BitsOf> four_bits(const Node& node);
// Whether the operands of a prepared dot_general are strided views that it reads where they lie: windows and their
// kernel.
bool reads_windows(const Node& dot);
// Whether its right operand is them, beside a dense left one.
bool multiplies_windows(const Node& dot);
// Whether elements are in several places of a strided view: each one and a half times, or more.
bool overlaps(const Node& view);
// What a value is before its reshapes.
NodeId below_reshapes(Value value);
// Whether a node pads with whole rows.
bool pads_rows(const Node& node);
// Whether its left operand is transposed, so large that rows of it in place would come from far down the caches: it is
// stored.
bool turns_first(const Node& dot);
// Which coordinates of a stage are those of operand `k`, from those of the node (-1: none); nothing where it is no
// plain selection.
std::optional<std::vector<int>> operand_coordinates(const Node& node, size_t k, const std::vector<int>& at);
// Of what a reduce adds up, not of its result.
inline int inner_coordinate(size_t i) { return static_cast<int>(1000 + i); }
// Whether the value is a constant of one repeated element, which is written into expressions.
bool is_inline_constant(const Node& node);
// What a value is before reshapes that its kernel makes.
const Node& below_own_reshapes(const Fusion& fusion, const Node& node);
// Where dimensions of extent 1 come and go in a reshape: for each operand dimension the result's, or -1; nothing where
// it does more.
std::optional<Ints> unit_reshape(const Node& node);

}  // namespace weft
