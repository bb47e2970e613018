// Reads and writes at indices that are extents.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weft/ir/builder.h"

namespace weft {

// A scalar that is one.
std::optional<Dim> extent_of(const Value& value);
// What has the numbers at a place of index vectors; all of them where they are not joined of such.
Value component_of(const Value& indices, size_t place, size_t vector_dim);
// By axis of the operand: how far an update reaches.
Dims update_window_of(const Node& scatter);
// The slice, or update of one, that a gather, a scatter, a dynamic slice or an update of one is whose indices all lie
// inside and are extents; nothing where they are not, or where it might be moved to where they do not lie inside: out
// of the loop with this counter.
Value slice_at_extents(Builder& build, const Node& node, const std::vector<Value>& operands,
                       const std::string& counter);

}  // namespace weft
