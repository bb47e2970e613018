// HLO protos out.
#pragma once

#include <string>

#include "weft/ir/graph.h"

namespace weft {

// A serialised xla.HloModuleProto of a flat graph of static types, with names, aliasing and source metadata.
// Error where an op has no HLO form.
std::string hlo_proto(const Graph& graph);

}  // namespace weft
