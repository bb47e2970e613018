// StableHLO text, both ways, and the short human form.
#pragma once

#include <string>
#include <string_view>

#include "weft/ir/graph.h"

namespace weft {

struct PrintOptions {
  bool locations = true;         // loc("model.py":12:0) trailers
  size_t elide_elements = 0;     // constants larger than this print as dense_resource<elided>; 0: never
};
// A module with the graph as its function. At flat level this is StableHLO that any StableHLO tool reads; composites of
// trace level print as "weft.NAME"(...) in the generic form.
std::string print(const Graph& graph, const PrintOptions& options = {});
// t1 = tanh(t0)  : float32[2, 3]  # model.py:12
std::string short_text(const Graph& graph);
// Reads what print wrote, and StableHLO text in pretty or generic form. Error(value) with line and column.
GraphPtr parse(std::string_view text, std::string_view file = "<text>");

}  // namespace weft
