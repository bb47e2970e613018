// Which check_range is which, for who tells what it found.
#pragma once

#include <vector>

#include "weft/core/range_check.h"
#include "weft/ir/graph.h"

namespace weft {

// The graph with its checks numbered, and what they say by number. No graph where there are none.
struct NumberedChecks {
  GraphPtr graph;
  std::vector<RangeCheck> checks;
};
NumberedChecks number_checks(const Graph& graph);

// The graph with operands in the place of checks; null where it has none.
GraphPtr without_checks(const Graph& graph);

}  // namespace weft
