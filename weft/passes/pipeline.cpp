// The order of the passes.
#include <algorithm>

#include "weft/core/knobs.h"
#include "weft/core/span.h"
#include "weft/passes/pass.h"

namespace weft {

std::span<const Step> pipeline() {
  static const Step steps[] = {
      {&flatten, "everything below knows flat ops only"},
      {&prune, "what loops carry for nobody need not be improved"},
      {&fold, "constants that bodies brought in become plain ones, which rules can see"},
      {&simplify, "views that cancel must be gone before fusion looks for borders"},
      {&cse, "layers repeat masks, counts and broadcasts"},
  };
  return steps;
}

namespace {

void verify_after(const Pass& pass, const Graph& graph) {
  check(graph.level() == pass.to, "the pass ", pass.name, " left a graph of another level");
  try {
    verify(graph);
  } catch (const std::exception& error) {
    fail_check(cat("after the pass ", pass.name, ": ", error.what()), std::source_location::current());
  }
}

bool has_body(const Node& node) { return family(node.op) == Family::control && !node.regions.empty(); }

// The bodies of loops and branches are programs of their own.
GraphPtr with_bodies(const Graph& graph, std::span<const Pass* const> passes) {
  return rebuild(graph, graph.level(), [&](Builder& build, const Node& node, const std::vector<Value>& operands) {
    if (!has_body(node)) return std::vector<Value>();
    return with_regions(build, node, operands, [&](const Graph& body) { return run_passes(body, passes); });
  });
}

}  // namespace

std::span<const Pass* const> all_passes() {
  static const std::vector<const Pass*> passes = [] {
    std::vector<const Pass*> found;
    for (const Step& step : pipeline()) found.push_back(step.pass);
    found.insert(found.end(),
                 {&trip_counts, &value_ranges, &licm, &scalar_replacement, &flatten_names, &while_loops, &spell_out});
    return found;
  }();
  return passes;
}

GraphPtr run_passes(const Graph& graph, std::span<const Pass* const> passes, const Seen& seen) {
  check(!passes.empty(), "no pass to run");
  GraphPtr current;
  bool verifies = knob_flag(Knob::verify);
  for (const Pass* pass : passes) {
    const Graph& before = current ? *current : graph;
    if (pass->from == Level::flat && before.level() != Level::flat)
      fail(ErrorKind::value, "pass_level", "the pass '", pass->name,
           "' takes a flat program: 'flatten' must stand before it");
    Span span("pass", pass->name);
    current = pass->run(before);
    if (verifies) verify_after(*pass, *current);
    if (seen) seen(pass->name, current);
  }
  if (std::ranges::none_of(current->nodes(), has_body)) return current;
  current = with_bodies(*current, passes);
  if (seen) seen("bodies", current);
  return current;
}

GraphPtr run_pipeline(const Graph& graph, const Seen& seen) {
  // The first passes are the pipeline.
  GraphPtr current = run_passes(graph, all_passes().first(pipeline().size()), seen);
  if (std::ranges::none_of(current->nodes(), has_body)) return current;
  const auto after = [&](const Pass& pass, const Graph& before) {
    GraphPtr result = pass.run(before);
    if (knob_flag(Knob::verify)) verify_after(pass, *result);
    if (seen) seen(pass.name, result);
    return result;
  };
  // Counts bound what counters make, and what is known of that leaves conditions that are counts.
  const GraphPtr known = after(trip_counts, *after(value_ranges, *after(trip_counts, *current)));
  // What is known now leaves rules more to do.
  if (!equal(*known, *current)) current = run_passes(*known, all_passes().subspan(1, pipeline().size() - 1), seen);
  return after(scalar_replacement, *after(licm, *current));
}

}  // namespace weft
