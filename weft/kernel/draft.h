// A kernel that is being made, with the buffers and the launch that go with it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weft/kernel/access.h"
#include "weft/kernel/lower.h"
#include "weft/kernel/schedule.h"

namespace weft {

// A buffer: a stored value of the graph, or (from graph.size() on) a temporary.
using BufferId = int64_t;

struct Temporary {
  Type type;
  bool persistent = false;  // filled by setup
};

// A block of a loop or branch: a program of its own, whose inputs and outputs are buffers here.
struct DraftBlock {
  Program program;
  std::vector<BufferId> inputs, outputs;
};

struct Draft {
  LaunchKind kind = LaunchKind::kernel;
  Kernel kernel;
  std::string routine;
  Dims numbers;
  std::vector<Kernel> bodies;
  std::vector<std::string> texts;
  std::vector<DraftBlock> blocks;
  std::string counter;
  Dim first, trips;
  int64_t step = 1;
  bool until = false, independent = false;
  // A copy of one buffer to another as a whole: left out where both are the same memory.
  std::optional<std::pair<BufferId, BufferId>> copies;
  std::vector<BufferId> buffers;  // of each memory that is no scratch
  Dim parallel = 1;
  bool setup = false, later = false;  // see Launch
  std::vector<int32_t> checks;        // likewise
  std::vector<std::string> ops;
  std::vector<Location> lines;
  size_t operands = 0;
};

// What lowering reads and appends to.
struct Lowering {
  const Graph& graph;
  const Fusion& fusion;
  Counters counters;
  std::vector<Draft> drafts;
  std::vector<Temporary> temporaries;
  std::vector<bool> is_needed;  // by node: stored values that something outside their kernel reads
  bool multiplies_bf16 = false, packs_later = false, rows_alone = false;
  // Of sorts of which only slices are read: where those begin and end.
  std::map<NodeId, std::vector<std::array<Dim, 2>>> places_read = {};
  int64_t joined = 0;  // as the program has it

  BufferId add_temporary(Type type, bool persistent = false) {
    temporaries.push_back({std::move(type), persistent});
    return static_cast<BufferId>(graph.size() + temporaries.size() - 1);
  }
};

void lower_map(Lowering& lowering, const Stage& stage);
// Maps over the same elements, each of which is read where it is made.
void lower_maps(Lowering& lowering, const Group& group);
void lower_update(Lowering& lowering, const Stage& stage);
void lower_joined(Lowering& lowering, const Stage& stage);
// Reduces, scans and selections by a body.
void lower_fold(Lowering& lowering, const Stage& stage);
// Packs the right operands that neighbouring turns of an independent loop share, before the loop.
void pack_for_turns(Lowering& lowering, Draft& loop, const Node& node);
// A counted loop whose elements depend on no others, all turns in one kernel; `body`: the loop's,
// prepared. False, and nothing done, for other loops.
bool lower_by_element(Lowering& lowering, const Node& loop, const Graph& body);
// A counted loop, with those inside of it, whose turns write elements of their own, as a kernel over all turns.
// Likewise.
bool lower_by_turn(Lowering& lowering, const Node& loop, GraphPtr body);
// Larger bodies of loops ask for more registers than there are, computed element by element.
inline constexpr size_t largest_body = 256;
// An element of an element-wise call, view or constant in the body of a loop; `element` gives those of its operands.
// no_expr for other calls.
ExprId element_of_body(Access& access, const Node& node, const Dims& at,
                       const std::function<ExprId(const Value&, const Dims&)>& element);
// Notes the element-wise calls of a loop's body as what a draft does.
void tell_body(Draft& draft, const Graph& body);
// Routines, loops and branches.
void lower_step(Lowering& lowering, const Stage& stage);
// The operand of a scatter or update, or what a loop starts from, written to `target`.
void lower_copy(Lowering& lowering, Value from, BufferId target, NodeId root);
void lower_scatter(Lowering& lowering, const Stage& stage);
void lower_dot(Lowering& lowering, const Stage& stage);
// Reduces of the same elements over any dims, none of which reads another.
void lower_reduces(Lowering& lowering, const Group& group);
// The axes of loops around others.
std::vector<Axis> joined(std::vector<Axis> outer, const std::vector<Axis>& inner);
// Reads from copies what loops over `axes` read again and again at strides along the last of them.
void copy_strided(Lowering& lowering, Draft& draft, const Access& access, NodeId reader, const std::vector<Axis>& axes);
// Whether the loads of a draft whose loops are `outer` and `inner` step by one along the last of `inner`, or stand
// still. Small operands that do not are read from copies, made for `reader`, in which they do. `by_blocks`: for vectors
// of results, each of which turns through `outer`; where that is few turns other loads may stay, and the last axis may
// become blocks, then the first of `inner`, and what is inside of one. All memories of `access` must be known.
bool lay_along(Lowering& lowering, Draft& draft, const Access& access, NodeId reader, const std::vector<Axis>& outer,
               std::vector<Axis>& inner, bool by_blocks);
// Memory of a draft with a copy that a kernel makes before it, for `reader`: what stands at `from` in the memory of
// `source` stands at `place` then, for all places of the axes. The draft's kernel asks `access` for no more memories
// afterwards.
int32_t add_copy(Lowering& lowering, Draft& draft, NodeId reader, NodeId source, const Type& type, const Index& from,
                 const std::vector<Axis>& axes, const Index& place);
// Schedules sums of elements that lie under each other, if they are many. The kernel's statements define all, add an
// element to each, and store all.
bool sum_down(Kernel& kernel, std::vector<Axis> kept, std::vector<Axis> reduced, Dim& parallel);
// Schedules scans along `rows` that lie under each other, if they are many. The kernel's statements define so many
// totals, then combine the element of a row into them and store.
bool scan_down(Kernel& kernel, std::vector<Axis> kept, const Axis& rows, size_t count, Dim& parallel);
// Splits the last axis of a long sum into pieces; rewrites the kernel. False, and nothing done, where it is not long.
bool split_long_sum(Kernel& kernel, std::vector<Axis>& axes);
// nested() over axes so split: sums of floats are those of each piece, added up.
std::vector<Stmt> nested_in_pieces(Kernel& kernel, Access& access, const std::vector<Axis>& axes,
                                   std::vector<Stmt> body, int unroll);
// Stages over the same rows.
void lower_rows(Lowering& lowering, const Group& group);

// Begins collectives as early as their operands are there, and waits for them where something touches their memory.
void overlap_collectives(std::vector<Draft>& drafts);

int32_t add_variable(Kernel& kernel, DType dtype);

// Axes for these dims and the coordinates that go with them; extents of 1 have coordinate 0 and no axis.
struct Space {
  std::vector<Axis> axes;
  Dims coordinates;
};
Space space_of(const Dims& dims, const std::string& prefix);
// For each of these dims the dims that a reshape joins to it below values of them that a kernel computes, where what
// lies there is read without divisions then; else the dim itself.
std::vector<Dims> expanded_dims(const Lowering& lowering, const Dims& dims, const std::vector<NodeId>& computed);
// Axes for those; the coordinates are the values'.
Space expanded_space(const Lowering& lowering, const std::vector<NodeId>& computed, const std::string& prefix);
// memory[index] = expr.
Stmt store_statement(int32_t slot, Index index, ExprId expr, ExprId mask = no_expr);
Stmt statement(StmtKind kind, int32_t slot, ExprId expr);
// Extremes of short floats along a vector loop become three extremes of their patterns each (short_extremes.cpp).
void take_extremes_by_patterns(Kernel& kernel);
// Names, source and symbols; appends the draft.
void finish_draft(Lowering& lowering, Draft draft, const Access& access, const std::vector<NodeId>& roots);

}  // namespace weft
