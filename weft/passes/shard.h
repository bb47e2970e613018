// One program for all ranks of a mesh: values are divided among them, and collectives bring together what is used
// together.
//
// The way of GSPMD (Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs", 2021): a graph
// over whole values becomes one over a rank's parts. Shardings go forward from the parameters, one node at a time.
// Where an op has no rule for a divided dimension, its operands are brought together first: that is always right.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weft/ir/graph.h"

namespace weft {

// Ranks in a grid, numbered row by row.
struct Mesh {
  struct Axis {
    std::string name;
    int64_t extent = 1;
  };
  std::vector<Axis> axes;

  int64_t size() const;
  int64_t extent_of(std::span<const int> axes) const;
  // The ranks that differ in these axes alone, one group after the other; the last of `axes` counts fastest.
  std::vector<std::vector<int64_t>> groups_of(std::span<const int> axes) const;
};

// For each dimension of a value the axes of the mesh that divide it into equal parts, from major to minor; where there
// are none, every rank has all of it.
struct Sharding {
  std::vector<std::vector<int>> dims;

  Sharding() = default;
  explicit Sharding(int64_t rank) : dims(static_cast<size_t>(rank)) {}
  bool is_whole() const;
  // As users write it: ("data", None).
  std::string text(const Mesh& mesh) const;
  bool operator==(const Sharding&) const = default;
};

// The type of a rank's part. Error(value), label "sharding", where an extent cannot be divided, or an axis stands
// twice.
Type part_of(const Type& type, const Sharding& sharding, const Mesh& mesh);

// How a node runs on parts.
struct ShardPlan {
  std::vector<Sharding> operands;
  std::vector<Sharding> results;
  // Axes over which results are yet to be combined, and how.
  std::vector<int> partial;
  Op combine = Op::add;
};
ShardPlan shard_plan(const Node& node, std::span<const Sharding> operands, const Mesh& mesh);

struct Sharded {
  GraphPtr graph;  // flat; its parameters and outputs are parts
  std::vector<Sharding> outputs;
};
// `parameters`: one for each; `outputs`: what each must have, or as it comes. Memory that outputs share with parameters
// is divided as these are. Error(value), label "sharding", names the parameter that does not fit.
Sharded shard(const Graph& graph, const Mesh& mesh, std::span<const Sharding> parameters,
              std::span<const std::optional<Sharding>> outputs);

}  // namespace weft
