// The only way to make a graph.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weft/ir/graph.h"

namespace weft {

class Builder {
 public:
  explicit Builder(Level level, std::string name = "main");

  Value parameter(Type type, std::string name, Location loc = {});
  // Adds a call, inferring its types: Error (with loc) where inference rejects it. At trace level operands of
  // element-wise ops may differ in dims as NumPy allows. Returns the first result.
  Value operator()(Op op, std::vector<Value> operands, Attrs attrs = {}, std::vector<GraphPtr> regions = {});
  // The same, for calls of several results.
  const Node& call(Op op, std::vector<Value> operands, Attrs attrs = {}, std::vector<GraphPtr> regions = {});
  // A copy of a node of another graph with other operands; keeps its location; infers nothing when the operand types
  // are unchanged.
  const Node& copy(const Node& node, std::vector<Value> operands);
  // A copy with every Dims of its types, attributes and regions mapped.
  const Node& copy_substituted(const Node& node, std::vector<Value> operands,
                               const std::function<Dims(const Dims&)>& mapped);
  Value constant(Literal literal);
  // A 0-d constant of that type, or a splat broadcast to `type` (a constant and a broadcast_in_dim).
  Value scalar(DType dtype, double value);
  Value splat(const Type& type, double value);
  // An extent as an i64 scalar; one that is fixed is a constant.
  Value extent(const Dim& dim);
  // Convenience used everywhere: no node when nothing changes.
  Value convert(Value value, DType dtype);
  Value broadcast_to(Value value, const Dims& dims);  // NumPy's rule, right-aligned
  Value reshape(Value value, Dims dims);
  Value transpose(Value value, Ints permutation);

  // The nodes of a function with operands in the place of its parameters; its outputs.
  std::vector<Value> inlined(const Graph& function, const std::vector<Value>& operands);

  // The location of nodes added from here on.
  void set_loc(Location loc) { loc_ = std::move(loc); }
  const Location& loc() const { return loc_; }
  Level level() const { return graph_->level_; }
  const Graph& graph() const { return *graph_; }

  void add_function(GraphPtr function);
  // Ends building. Nodes that no output needs stay out, except parameters and impure ones.
  GraphPtr finish(std::vector<Output> outputs);

 private:
  Node& add(Op op, std::vector<Value> operands, Attrs attrs, std::vector<GraphPtr> regions);
  std::shared_ptr<Graph> graph_;
  Location loc_;
};

// The body of a composite node, on other operands: of the same types, in the graph being built. Broadcasts element-wise
// operands to the result's dims first.
std::vector<Value> expand(Builder& build, const Node& node, const std::vector<Value>& operands);

// Copies a graph node by node; `replace` returns the results that stand for the node's, or empty to copy it. It gets
// the node and its operands in the new graph; what the builder adds inherits the node's location.
GraphPtr rebuild(const Graph& graph, Level level,
                 const std::function<std::vector<Value>(Builder& build, const Node& node,
                                                        const std::vector<Value>& operands)>& replace);
// All of a call's.
std::vector<Value> results_of(const Node& node);

// A region body of one binary op over two scalars, as reduce wants it.
GraphPtr binary_body(Op op, DType dtype);

}  // namespace weft
