// What the attributes of a collective say.
#pragma once

#include <optional>

#include "weft/distributed/reduction.h"
#include "weft/ir/graph.h"

namespace weft {

// Ranks of a group, of groups of several sizes those of the largest; 0: all there are.
int64_t group_size_of(const Attrs& attrs);
// How communicators combine what the body does; nothing where they do not.
std::optional<ReduceOp> reduction_of(const Node& node);
// The dimension that parts are along; 0 where there are none.
int64_t axis_of(const Node& node);

}  // namespace weft
