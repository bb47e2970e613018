// Writing a value of the graph as a scalar expression of a kernel, at given coordinates.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "weft/kernel/fuse.h"
#include "weft/kernel/kernel.h"

namespace weft {

// A strided view of a stored value: element at `coordinates` is at `index` of it, or four bits of that.
struct StridedView {
  NodeId stored;
  Index index;
  std::optional<FourBits> bits = {};
};

// Fills one kernel. Stored values become memories, everything else is computed in place; equal (value, coordinates)
// are one expression.
class Access {
 public:
  Access(const Graph& graph, const Fusion& fusion, Kernel& kernel) : graph_(graph), fusion_(fusion), kernel_(kernel) {}

  // The element of a value at these coordinates, where `mask` (if any) holds.
  ExprId value(Value value, const Dims& coordinates, ExprId mask = no_expr);
  // As value(), but computed even when the value is stored: what its own stage stores.
  ExprId compute(const Node& node, const Dims& coordinates, ExprId mask = no_expr);
  // Gives a value at all coordinates that a later value() asks for: results of reduces in the same kernel, and the
  // accumulator of a dot.
  void define(NodeId node, ExprId expr) { defined_[node] = expr; }

  // The results of a body of scalars over expressions in the place of its parameters. Error(unsupported) where it holds
  // more than element-wise ops.
  std::vector<ExprId> inlined(const Graph& body, const std::vector<ExprId>& arguments);
  // An index value of a node as i64, moved inside [0, last] unless it is known to lie there.
  ExprId start_in(const Node& node, ExprId index, const Dim& last);
  // A load from memory `slot`.
  ExprId load_from(int32_t slot, DType dtype, Index index, std::vector<std::pair<ExprId, Index>> dynamic = {},
                   ExprId mask = no_expr);

  // The memory of a stored value; made at the first call.
  int32_t memory(NodeId stored, bool written = false);
  // The stored value of each memory, in order.
  const std::vector<NodeId>& memories() const { return memory_nodes_; }
  // The number of each of the kernel's checks.
  const std::vector<int32_t>& checks() const { return checks_; }

  ExprId constant(const Literal& scalar);
  ExprId integer(int64_t value);  // an i64
  ExprId index(const Index& index, DType dtype = DType::i64);
  ExprId scalar(Scalar op, DType dtype, std::vector<ExprId> args);
  ExprId variable(int32_t slot, DType dtype);
  ExprId both(ExprId lhs, ExprId rhs);                                   // logical and; no_expr is true
  ExprId in_range(const Index& index, const Dim& low, const Dim& high);  // low <= index < high; no_expr when always
  ExprId fits(const Dims& sizes, const Dims& dims);                      // sizes <= dims; no_expr when always

  // The view, when the value is reached from a stored one by strides alone.
  std::optional<StridedView> strided(Value value, const Dims& coordinates) const;

 private:
  struct Key {
    NodeId id;
    uint32_t index;
    Dims coordinates;
    ExprId mask;
  };

  ExprId add(Expr expr);
  // The conditions of a mask that an element at `index` needs to be there. One of other counters alone does not move
  // it: the element is there wherever these stand, and a load without it is the same in all turns of their loops.
  ExprId guard(ExprId mask, const Index& index);
  ExprId load(NodeId stored, Index index, std::vector<std::pair<ExprId, Index>> dynamic, ExprId mask);
  ExprId element_wise(const Node& node, const Dims& at, ExprId mask);
  ExprId padded(const Node& node, const Dims& at, ExprId mask);
  ExprId concatenated(const Node& node, const Dims& at, ExprId mask);
  ExprId checked(const Node& node, const Dims& at, ExprId mask);
  ExprId gathered(const Node& node, const Dims& at, ExprId mask);
  ExprId sliced_at_value(const Node& node, const Dims& at, ExprId mask);
  ExprId updated_at_value(const Node& node, const Dims& at, ExprId mask);
  const Graph& graph_;
  const Fusion& fusion_;
  Kernel& kernel_;
  std::vector<NodeId> memory_nodes_;
  std::vector<int32_t> checks_;
  std::map<NodeId, ExprId> defined_;
  std::map<NodeId, std::vector<std::pair<Key, ExprId>>> known_;
  std::vector<std::pair<Literal, ExprId>> constants_;
};

// Coordinates of a reshape's operand from those of its result.
Dims reshaped_coordinates(const Dims& from, const Dims& to, const Dims& coordinates);
// Row-major position.
Index linear_index(const Dims& dims, const Dims& coordinates);
// The coordinates of a row-major position.
Dims delinearized(const Index& index, const Dims& dims);

}  // namespace weft
