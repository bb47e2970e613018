// What stencils compute again at the places around an element.
#pragma once

#include <vector>

#include "weft/ir/graph.h"

namespace weft {

// What computing an element of a node costs, from its operands.
int own_price(const Node& node);

// The work for an element of a value from stored ones, in the prices of cost.h: what is needed at several places,
// slices of one value, counts for each. Counting ends at `most`.
int64_t work_at_shifts(const Graph& graph, const Node& root, const std::vector<bool>& is_stored, int64_t most);

}  // namespace weft
