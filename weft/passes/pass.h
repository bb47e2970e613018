// A named step from graph to graph, and the two ways most of them work.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "weft/ir/builder.h"
#include "weft/ir/graph.h"

namespace weft {

struct Pass {
  std::string_view name;
  std::string_view doc;
  Level from, to;
  GraphPtr (*run)(const Graph& graph);
};

// A local rewrite: the value that replaces the node's first result, or nothing. Its name is a sentence that is true.
struct Rule {
  std::string_view name;
  Op op;
  Value (*apply)(Builder& build, const Node& node);
};

// Copies a graph node by node; `replace` returns the results that stand for the node's, or empty to copy it. It gets
// the node and its operands in the new graph; what the builder adds inherits the node's location.
GraphPtr rebuild(const Graph& graph, Level level,
                 const std::function<std::vector<Value>(Builder& build, const Node& node,
                                                        const std::vector<Value>& operands)>& replace);
// Applies rules in order at every node until none applies.
GraphPtr rewrite(const Graph& graph, std::span<const Rule> rules);

extern const Pass flatten, prune, fold, simplify, cse;
// Outside of the pipeline: for text and protos that other tools read.
extern const Pass while_loops, flatten_names, spell_out;

struct Step {
  const Pass* pass;
  std::string_view why;
};
// The order, as a table.
std::span<const Step> pipeline();
// All of it; with the knob `verify` every pass is verified: InternalError names the one that left
// an illegal graph.
GraphPtr run_pipeline(const Graph& graph);

}  // namespace weft
