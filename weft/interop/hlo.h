// HLO out: the module that XLA and the compilers that speak its protocol buffers read.
#pragma once

#include <string>

#include "weft/ir/graph.h"

namespace weft {

// A serialized xla.HloModuleProto of a flat graph: one output is the root itself, several are a tuple. Parameters and
// outputs keep their names (program shape, OpMetadata.op_name, the frontend attributes "weft.result.0" …), an output
// that lands in a parameter is an alias of it, and each instruction names the user's function, file, line and callers
// in its metadata. Ops that HLO lacks (chlo's inverse trigonometric functions, lgamma …) become HLO arithmetic.
// Constants whose memory may change are written with the bytes they have at this time. Error(value) for a graph at
// trace level and for symbolic extents (specialise by substitute() first), Error(unsupported) naming the op or element
// type that HLO cannot spell.
std::string hlo_proto(const Graph& graph);

}  // namespace weft
