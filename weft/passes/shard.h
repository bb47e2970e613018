// One program for all ranks of a mesh: values are divided among them, and collectives bring together what is used
// together.
//
// The way of GSPMD (Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs", 2021): a graph
// over whole values becomes one over a rank's parts. Shardings go forward from the parameters, one node at a time; what
// is said of results goes back to operands first, and divides what nothing else has divided.
// Where an op has no rule for a divided dimension, its operands are brought together first: that is always right.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "weft/ir/sharding.h"

namespace weft {

// How a node runs on parts.
struct ShardPlan {
  std::vector<Sharding> operands;
  std::vector<Sharding> results;
  // Axes over which results are yet to be combined, and how.
  std::vector<int> partial;
  Op combine = Op::add;
};
ShardPlan shard_plan(const Node& node, std::span<const Sharding> operands, const Mesh& mesh);

// How operands must be divided so that the node gives results that are divided so, where nothing else is combined.
std::vector<Sharding> operands_for(const Node& node, const Sharding& result, const Mesh& mesh);
// What a node of a flat program says that its operand is to be divided like; nothing for other nodes, and other meshes.
std::optional<Sharding> wish_of(const Node& node, const Mesh& mesh);
// For each node how its results had best be divided, by what is said of values that are made of them.
std::vector<Sharding> wished_results(const Graph& graph, const Mesh& mesh,
                                     std::span<const std::optional<Sharding>> outputs);

struct Sharded {
  GraphPtr graph;  // flat; its parameters and outputs are parts
  std::vector<Sharding> outputs;
};
// `parameters`: one for each; `outputs`: what each must have, or as it comes. Memory that outputs share with parameters
// is divided as these are, and values as with_sharding says. Error(value), label "sharding", names what does not fit.
Sharded shard(const Graph& graph, const Mesh& mesh, std::span<const Sharding> parameters,
              std::span<const std::optional<Sharding>> outputs);

// By what the program itself says, of parameters too, as text of Shardy does. Error(value), label "sharding", where it
// says nothing.
Sharded shard(const Graph& graph);

}  // namespace weft
