// How values are divided among ranks, and how programs say so.
//
// In text it is Shardy's (https://openxla.org/shardy): attributes sdy.sharding of parameters and results and calls of
// sdy.sharding_constraint. In a graph all of them are composites of that name, which are gone once it is flat.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/ir/builder.h"

namespace weft {

// Ranks in a grid, numbered row by row.
struct Mesh {
  struct Axis {
    std::string name;
    int64_t extent = 1;
    bool operator==(const Axis&) const = default;
  };
  std::vector<Axis> axes;

  int64_t size() const;
  int64_t extent_of(std::span<const int> axes) const;
  // The ranks that differ in these axes alone, one group after the other; the last of `axes` counts fastest.
  std::vector<std::vector<int64_t>> groups_of(std::span<const int> axes) const;
  bool operator==(const Mesh&) const = default;
};

// For each dimension of a value the axes of the mesh that divide it into equal parts, from major to minor; where there
// are none, every rank has all of it.
struct Sharding {
  std::vector<std::vector<int>> dims;

  Sharding() = default;
  explicit Sharding(int64_t rank) : dims(static_cast<size_t>(rank)) {}
  bool is_whole() const;
  // As users write it: ('data', None).
  std::string text(const Mesh& mesh) const;
  bool operator==(const Sharding&) const = default;
};

// The type of a rank's part. Error(value), label "sharding", where an extent cannot be divided, or an axis stands
// twice.
Type part_of(const Type& type, const Sharding& sharding, const Mesh& mesh);

struct MeshSharding {
  Mesh mesh;
  Sharding sharding;
};
// Reads `mesh<["x"=2]>, [{"x"}, {?}]`, with quotes or without, as Shardy writes what is between < and >. Priorities and
// open dimensions say nothing here. Error(value), label "sharding_text"; Error(unsupported) for parts of axes and
// values that are summands.
MeshSharding read_sharding(std::string_view text);

// The value, with a sharding that it is to have in such text, which is read once values are divided.
Value with_sharding(Builder& build, Value value, const std::string& text);
// The text of what with_sharding made; nothing for other nodes.
std::optional<std::string> sharding_text(const Node& node);

}  // namespace weft
