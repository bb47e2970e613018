// Which stages share a kernel.
#pragma once

#include <vector>

#include "weft/kernel/fuse.h"

namespace weft {

// Fills `fusion.groups` and the group of each stage; `sizes`: the number of expressions of each stage.
void make_groups(const Graph& graph, Fusion& fusion, const std::vector<int>& sizes);

// Whether node `id` may depend on `on`; true where that would take long to find out.
bool may_depend_on(const Graph& graph, NodeId id, NodeId on);

}  // namespace weft
