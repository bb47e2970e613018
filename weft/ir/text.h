// StableHLO text, both ways, and the short human form.
#pragma once

#include <string>
#include <string_view>

#include "weft/ir/graph.h"

namespace weft {

struct PrintOptions {
  bool locations = true;  // loc("model.py":12:0) trailers
  // Where it is given, constants of more than 16 elements and live ones are put there, and print as dense_resource<c0>
  // for the first of them.
  std::vector<Literal>* resources = nullptr;
};
// A module with the graph as its function. At flat level this is StableHLO that any StableHLO tool reads; composites of
// trace level print as "weft.NAME"(...) in the generic form.
std::string print(const Graph& graph, const PrintOptions& options = {});
// t1 = tanh(t0)  : float32[2, 3]  # model.py:12
std::string short_text(const Graph& graph);
// Reads what print wrote, and StableHLO text in pretty or generic form. `resources`: what dense_resource<c0> and the
// like stand for. Error(value) with line and column.
GraphPtr parse(std::string_view text, std::string_view file = "<text>", std::span<const Literal> resources = {});

}  // namespace weft
