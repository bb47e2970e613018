// Operations of StableHLO and CHLO that are read as others.
#pragma once

#include "weft/ir/builder.h"
#include "weft/ir/parse_call.h"

namespace weft {

// Whether the name is one of those: deprecated forms (dot, broadcast, einsum …), ops whose shapes are operands
// (dynamic_reshape, real_dynamic_slice …), and CHLO's broadcasting ops.
bool is_legacy(std::string_view name);
// Builds what the call means; its results. Error where operands that are shapes are not constants, or the op cannot run
// here.
std::vector<Value> legacy_call(Builder& build, const ParsedCall& call);

// parse_ragged.cpp. Error(unsupported) for other forms than that of (m, k) and (g, k, n).
std::vector<Value> ragged_dot(Builder& build, const ParsedCall& call);
// parse_scan.cpp: a loop over slices along a dimension.
std::vector<Value> scan(Builder& build, const ParsedCall& call);

}  // namespace weft
