// A kernel that is being made, with the buffers and the launch that go with it.
#pragma once

#include <string>
#include <vector>

#include "weft/kernel/access.h"
#include "weft/kernel/schedule.h"

namespace weft {

// A buffer: a stored value of the graph, or (from graph.size() on) a temporary.
using BufferId = int64_t;

struct Temporary {
  Type type;
  bool persistent = false;  // filled by setup
};

struct Draft {
  Kernel kernel;
  std::vector<BufferId> buffers;  // of each memory that is no scratch
  Dim parallel = 1;
  Dim cost = 1;
  bool setup = false;
  std::vector<std::string> ops;
};

// What lowering reads and appends to.
struct Lowering {
  const Graph& graph;
  const Fusion& fusion;
  std::vector<Draft> drafts;
  std::vector<Temporary> temporaries;
  std::vector<bool> is_needed;  // by node: stored values that something outside their kernel reads

  BufferId add_temporary(Type type, bool persistent = false) {
    temporaries.push_back({std::move(type), persistent});
    return static_cast<BufferId>(graph.size() + temporaries.size() - 1);
  }
};

void lower_map(Lowering& lowering, const Stage& stage);
void lower_scatter(Lowering& lowering, const Stage& stage);
void lower_dot(Lowering& lowering, const Stage& stage);
// A reduce over any dims, alone in its kernel.
void lower_reduce(Lowering& lowering, const Stage& stage);
// Stages over the same rows.
void lower_rows(Lowering& lowering, const Group& group);

// Axes for these dims and the coordinates that go with them; extents of 1 have coordinate 0 and no axis.
struct Space {
  std::vector<Axis> axes;
  Dims coordinates;
};
Space space_of(const Dims& dims, const std::string& prefix);
// memory[index] = expr.
Stmt store_statement(int32_t slot, Index index, ExprId expr, ExprId mask = no_expr);
Stmt statement(StmtKind kind, int32_t slot, ExprId expr);
// Names, source and symbols; appends the draft.
void finish_draft(Lowering& lowering, Draft draft, const Access& access, const std::vector<NodeId>& roots);

}  // namespace weft
