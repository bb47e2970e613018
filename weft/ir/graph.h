// A tensor program, one call in it, and a handle on a result.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/ir/op.h"

namespace weft {

enum class Level : uint8_t { trace, flat };

using NodeId = uint32_t;

// A result of a node; valid while its graph lives. A default one is "nothing".
class Value {
 public:
  Value() = default;
  Value(const Graph* graph, NodeId id, uint32_t index = 0) : graph_(graph), id_(id), index_(index) {}
  explicit operator bool() const { return graph_ != nullptr; }
  const Graph& graph() const { return *graph_; }
  const Node& node() const;
  NodeId id() const { return id_; }
  uint32_t index() const { return index_; }
  const Type& type() const;
  bool operator==(const Value&) const = default;

 private:
  const Graph* graph_ = nullptr;
  NodeId id_ = 0;
  uint32_t index_ = 0;
};

// One call. Operands come first among ids: nodes are in an order in which every operand precedes its user.
class Node {
 public:
  Op op = Op::parameter;
  Attrs attrs;
  std::vector<Type> types;        // one a result
  std::vector<GraphPtr> regions;  // isolated: what a body uses of the outside is passed as an operand
  Location loc;

  NodeId id() const { return id_; }
  const Graph& graph() const { return *graph_; }
  size_t operand_count() const { return operands_.size(); }
  Value operand(size_t i) const { return operands_[i]; }
  std::span<const Value> operands() const { return operands_; }
  const Type& type(size_t i = 0) const { return types[i]; }
  Value result(uint32_t i = 0) const { return {graph_, id_, i}; }
  const Ints& ints(Attr attr) const { return attrs.ints(attr); }

 private:
  friend class Graph;
  friend class Builder;
  friend std::vector<Value> expand(Builder& build, const Node& node, const std::vector<Value>& operands);
  const Graph* graph_ = nullptr;
  NodeId id_ = 0;
  std::vector<Value> operands_;
};

// An output, and the parameter whose memory it must land in (-1: none): a write to a parameter, or a donation.
struct Output {
  Value value;
  std::string name;
  int alias = -1;
};

// Immutable once built (see Builder). Never moves: handles point to it.
class Graph {
 public:
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Level level() const { return level_; }
  const std::string& name() const { return name_; }
  size_t size() const { return nodes_.size(); }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const std::vector<Node>& nodes() const { return nodes_; }
  // Nodes of Op::parameter, in order; each has Attr::name.
  std::span<const NodeId> parameters() const { return parameters_; }
  std::span<const Output> outputs() const { return outputs_; }
  // The symbols of all extents, in the order in which parameters mention them.
  std::span<const Symbol> symbols() const { return symbols_; }
  // Other functions of the same module (StableHLO text with several); the graph itself is not among them.
  const std::vector<GraphPtr>& functions() const { return functions_; }

  // How many operands and outputs use each result of each node: uses()[id] counts all results together.
  std::vector<uint32_t> uses() const;

 private:
  friend class Builder;
  Graph() = default;
  Level level_ = Level::trace;
  std::string name_ = "main";
  std::vector<Node> nodes_;
  std::vector<NodeId> parameters_;
  std::vector<Output> outputs_;
  std::vector<Symbol> symbols_;
  std::vector<GraphPtr> functions_;
};

// Structural equality: ops, attributes, types, names, aliases; not locations.
bool equal(const Graph& lhs, const Graph& rhs);
// A hash that agrees with equal(); and of a node as it would be with these operands.
size_t hash(const Graph& graph);
size_t hash(const Node& node, std::span<const Value> operands);

// The graph with symbols replaced by extents in every type, attribute and region: specialisation.
GraphPtr substitute(const Graph& graph, const std::map<std::string, Dim, std::less<>>& symbols);
// Binds the symbols of the parameters' types from actual dims; Error naming parameter, extent and range.
std::map<std::string, int64_t, std::less<>> bind_symbols(const Graph& graph, std::span<const Type> arguments);

// "f: x * y" helpers for region bodies: the op when the body of a reduce is exactly one binary op of its two
// parameters, else nothing.
std::optional<Op> single_op(const Graph& body);

// Whether a call does more than to give its results: it is made wherever it stands, once, and in the order of the
// program. So are loops and branches in which one stands.
bool has_effect(const Node& node);

// Error or InternalError unless the graph is legal at its level: inferring again gives the types it has.
void verify(const Graph& graph);
// Error(value, "unknown_extent") at the line where an extent is used that neither a parameter has nor a loop around
// counts: no run would know its value.
void require_known_extents(const Graph& graph);

}  // namespace weft
