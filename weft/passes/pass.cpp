// Rebuilding graphs and applying rules.
#include "weft/passes/pass.h"

#include <algorithm>

namespace weft {
namespace {

thread_local RewriteLog* log = nullptr;

}  // namespace

RewriteLog::RewriteLog(int64_t limit) : limit(limit) { log = this; }
RewriteLog::~RewriteLog() { log = nullptr; }

bool may_rewrite(std::string_view rule, const Node& node) {
  if (!log) return true;
  if (static_cast<int64_t>(log->rewrites.size()) >= log->limit) return false;
  log->rewrites.push_back({rule, node.op, node.loc});
  return true;
}

std::vector<Value> with_regions(Builder& build, const Node& node, const std::vector<Value>& operands,
                                const std::function<GraphPtr(const Graph&)>& replace) {
  std::vector<GraphPtr> regions;
  for (const GraphPtr& region : node.regions) regions.push_back(replace(*region));
  return results_of(build.call(node.op, operands, node.attrs, std::move(regions)));
}

std::vector<Output> copy_rest(Builder& build, const Graph& body, std::vector<std::vector<Value>>& values) {
  for (const Node& node : body.nodes()) {
    if (!values[node.id()].empty()) continue;
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.push_back(values[operand.id()][operand.index()]);
    values[node.id()] = results_of(build.copy(node, std::move(operands)));
  }
  std::vector<Output> outputs;
  for (const Output& output : body.outputs())
    outputs.push_back({values[output.value.id()][output.value.index()], output.name, output.alias});
  return outputs;
}

bool names(const Dim& dim, const std::string& symbol) {
  return std::ranges::any_of(dim.symbols(), [&](const Symbol& found) { return found.name == symbol; });
}

std::optional<int64_t> slope_of(const Dim& dim, const std::string& counter) {
  int64_t slope = 0;
  for (const Dim::Term& term : dim.terms()) {
    const auto uses = [&](const auto& atom) { return names(dim_of_atom(*atom), counter); };
    if (std::ranges::none_of(term.atoms, uses)) continue;
    if (term.atoms.size() > 1 || term.atoms[0]->op != DimOp::symbol) return {};
    slope = checked_add(slope, term.coefficient);
  }
  return slope;
}

bool is_way(const Node& loop) { return loop.attrs.flag(Attr::until) && loop.attrs.dims(Attr::trips)[0].is(1); }

bool has_unit_strides(const Node& node) {
  return std::ranges::all_of(node.ints(Attr::strides), [](int64_t stride) { return stride == 1; });
}

GraphPtr rewrite(const Graph& graph, std::span<const Rule> rules) {
  return rebuild(graph, graph.level(), [&](Builder& build, const Node& node, const std::vector<Value>& operands) {
    bool applies = false;
    for (const Rule& rule : rules) applies |= rule.op == node.op;
    if (!applies || node.types.size() != 1) return std::vector<Value>{};
    // A rule may expose another: go on until the result is one that none applies to.
    Value value = build.copy(node, operands).result();
    for (bool changed = true; changed;) {
      changed = false;
      for (const Rule& rule : rules) {
        if (rule.op != value.node().op) continue;
        // Copied: the node may move while the rule adds others.
        Node at = value.node();
        if (Value better = rule.apply(build, at); better && may_rewrite(rule.name, at)) {
          value = better;
          changed = true;
          break;
        }
      }
    }
    return std::vector<Value>{value};
  });
}

}  // namespace weft
