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

// What the call gives with these in the place of its regions.
std::vector<Value> with_regions(Builder& build, const Node& node, const std::vector<Value>& operands,
                                const std::function<GraphPtr(const Graph& region)>& replace);
// Copies the nodes of a body that have no values yet, and gives its outputs; `values`: by node, those of parameters at
// least.
std::vector<Output> copy_rest(Builder& build, const Graph& body, std::vector<std::vector<Value>>& values);
// Whether an extent mentions a symbol.
bool names(const Dim& dim, const std::string& symbol);
// How much an extent grows with a counter, where that is the same everywhere.
std::optional<int64_t> slope_of(const Dim& dim, const std::string& counter);
// Whether a loop is a way of a condition, which is taken once or not at all.
bool is_way(const Node& loop);
// Whether a slice, or an update of one, leaves out no elements between others.
bool has_unit_strides(const Node& node);
// Applies rules in order at every node until none applies.
GraphPtr rewrite(const Graph& graph, std::span<const Rule> rules);

// One application of a rule: its sentence, the op it was applied to, and the user's line.
struct Rewrite {
  std::string_view rule;
  Op op;
  Location loc;
};

// Notes what rules do on this thread while it lives, and lets at most `limit` be applied, those that flatten needs
// aside: half of the rewrites, then a quarter and so on find the one that breaks a program. Logs do not nest.
class RewriteLog {
 public:
  explicit RewriteLog(int64_t limit = INT64_MAX);
  ~RewriteLog();
  RewriteLog(const RewriteLog&) = delete;
  RewriteLog& operator=(const RewriteLog&) = delete;

  std::vector<Rewrite> rewrites;
  int64_t limit;
};
// For passes: whether a rule that fits this node may be applied. Notes it where somebody asks.
bool may_rewrite(std::string_view rule, const Node& node);

extern const Pass flatten, prune, fold, simplify, cse, trip_counts, value_ranges, licm, scalar_replacement;
// Outside of the pipeline: for text and protos that other tools read.
extern const Pass while_loops, flatten_names, spell_out;

struct Step {
  const Pass* pass;
  std::string_view why;
};
// The order, as a table; trip_counts, value_ranges, licm and scalar_replacement come last, when the bodies of loops
// have been through all others.
std::span<const Step> pipeline();
// All of them, those of the pipeline first.
std::span<const Pass* const> all_passes();
// Passes one after another, in the bodies of loops and branches too. Error(value), label "pass_level", for a pass that
// takes flat programs on one that is not; with the knob `verify` every pass is verified: InternalError names the one
// that left an illegal graph. `seen`: told of what each left, and of "bodies" once those of loops and branches went
// through them.
using Seen = std::function<void(std::string_view pass, const GraphPtr& graph)>;
GraphPtr run_passes(const Graph& graph, std::span<const Pass* const> passes, const Seen& seen = {});
// All of the pipeline.
GraphPtr run_pipeline(const Graph& graph, const Seen& seen = {});

}  // namespace weft
