// Which check_range is which, for who tells what it found.
#pragma once

#include <vector>

#include "weft/core/range_check.h"
#include "weft/passes/pass.h"

namespace weft {

// The graph that run_pipeline() makes, with its checks numbered, and what they say by number.
struct CheckedGraph {
  GraphPtr graph;
  std::vector<RangeCheck> checks;
};
CheckedGraph run_checked_pipeline(const Graph& graph, const Seen& seen = {});

// The graph with operands in the place of checks; null where it has none.
GraphPtr without_checks(const Graph& graph);

}  // namespace weft
