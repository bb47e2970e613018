// From a flat graph to a program: fusion, kernels, then the memory plan.
#include "weft/kernel/lower.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "weft/core/hash.h"
#include "weft/ir/routine_call.h"
#include "weft/kernel/draft.h"
#include "weft/kernel/plan.h"
#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// Stored values that an output or a kernel other than their own reads.
std::vector<bool> needed_values(const Graph& graph, const Fusion& fusion) {
  std::vector<bool> needed(graph.size());
  for (const Output& output : graph.outputs()) needed[output.value.id()] = true;
  for (const Stage& stage : fusion.stages)
    for (NodeId read : stage.reads) {
      int producer = fusion.stage_of[read];
      if (producer < 0 || fusion.stages[static_cast<size_t>(producer)].group != stage.group) needed[read] = true;
    }
  return needed;
}

std::map<NodeId, std::vector<std::array<Dim, 2>>> places_read_of_sorts(const Graph& graph) {
  std::map<NodeId, std::vector<std::array<Dim, 2>>> places;
  struct Lines {
    NodeId sort;
    size_t axis;
  };
  std::map<NodeId, Lines> lines;  // values that are a sort's result, turned or not
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::sort && node.type().rank()) {
      lines[node.id()] = {node.id(), sorted_axis(node)};
      places[node.id()];
    }
    for (const Value& operand : node.operands()) {
      auto known = lines.find(operand.id());
      if (known == lines.end()) continue;
      auto [sort, axis] = known->second;
      if (node.op == Op::result) {
        lines[node.id()] = {sort, axis};
      } else if (node.op == Op::transpose) {
        const Ints& order = node.ints(Attr::permutation);
        auto turned = std::ranges::find(order, static_cast<int64_t>(axis)) - order.begin();
        lines[node.id()] = {sort, static_cast<size_t>(turned)};
      } else if (node.op == Op::slice && node.ints(Attr::strides)[axis] == 1 && places.count(sort)) {
        places[sort].push_back(
            {node.attrs.dims(Attr::start_indices)[axis], node.attrs.dims(Attr::limit_indices)[axis]});
      } else {
        places.erase(sort);
      }
    }
  }
  for (const Output& output : graph.outputs())
    if (auto known = lines.find(output.value.id()); known != lines.end()) places.erase(known->second.sort);
  return places;
}

// Whether a group is of reduces of which none reads another.
bool are_side_by_side(const Fusion& fusion, const Group& group) {
  return std::ranges::all_of(group.stages, [&](int s) {
    const Stage& stage = fusion.stages[static_cast<size_t>(s)];
    return stage.kind == StageKind::reduce && std::ranges::none_of(stage.reads, [&](NodeId read) {
             int from = fusion.stage_of[read];
             return from >= 0 && fusion.stages[static_cast<size_t>(from)].group == stage.group;
           });
  });
}

void lower_group(Lowering& lowering, const Group& group) {
  const Stage& first = lowering.fusion.stages[static_cast<size_t>(group.stages[0])];
  auto is_map = [&](int s) { return lowering.fusion.stages[static_cast<size_t>(s)].kind == StageKind::map; };
  if (group.stages.size() > 1 && std::all_of(group.stages.begin(), group.stages.end(), is_map))
    return lower_maps(lowering, group);
  if (are_side_by_side(lowering.fusion, group)) return lower_reduces(lowering, group);
  if (group.stages.size() > 1) return lower_rows(lowering, group);
  switch (first.kind) {
    case StageKind::map:
      return lower_map(lowering, first);
    case StageKind::reduce:
      return;
    case StageKind::dot:
      return lower_dot(lowering, first);
    case StageKind::scatter:
      return lower_scatter(lowering, first);
    case StageKind::update:
      return lower_update(lowering, first);
    case StageKind::joined:
      return lower_joined(lowering, first);
    case StageKind::fold:
      return lower_fold(lowering, first);
    case StageKind::step:
      return lower_step(lowering, first);
  }
}

// Why a result ends its kernel where fusion had no choice.
const char* border(StageKind kind) {
  switch (kind) {
    case StageKind::map:
      return "is read by a kernel over other elements";
    case StageKind::reduce:
      return "is a reduction, and its reader runs over other rows";
    case StageKind::dot:
      return "is a product, whose tiles are whole only when it ends";
    case StageKind::scatter:
      return "is a scatter, which may write any element until it ends";
    case StageKind::update:
      return "is written in part";
    case StageKind::joined:
      return "is joined of parts, each written by itself";
    case StageKind::fold:
      return "is the result of a scan, selection or reduction by a body";
    case StageKind::step:
      return "is the result of a routine, loop or branch";
  }
  return "";
}

void add_cuts(Program& program, const Graph& graph, Fusion& fusion) {
  std::map<NodeId, std::vector<std::string>> readers;
  for (const auto& [id, reason] : fusion.cuts) readers[id];
  for (const Stage& stage : fusion.stages)
    for (NodeId read : stage.reads) {
      int from = fusion.stage_of[read];
      if (from < 0 || fusion.stages[static_cast<size_t>(from)].group == stage.group) continue;
      if (readers.try_emplace(read).second)
        fusion.cuts.emplace_back(read, border(fusion.stages[static_cast<size_t>(from)].kind));
    }
  for (const Node& node : graph.nodes())
    for (const Value& operand : node.operands())
      if (auto found = readers.find(operand.id()); found != readers.end())
        found->second.push_back(cat(name(node.op), " (", node.loc.text(), ")"));
  for (const auto& [id, reason] : fusion.cuts) {
    const Node& node = graph.node(id);
    const Node& made = node.op == Op::result ? node.operand(0).node() : node;
    program.cuts.push_back({std::string(name(made.op)), node.loc, reason, readers[id]});
  }
}

// Whether packing its constants takes longer than the rest of a first run.
bool has_large_constants(const Graph& graph) {
  constexpr int64_t large = 4 << 20;
  int64_t bytes = 0;
  for (const Node& node : graph.nodes())
    if (node.op == Op::constant) bytes += static_cast<int64_t>(node.attrs.literal(Attr::value).bytes().size());
  return bytes >= large;
}

// The greatest value of an atom that uses the counter.
Dim atom_bound(const DimAtom& atom, const Counter& counter) {
  auto bound = [&](size_t i) { return upper_bound(atom.operands[i], counter); };
  bool divides = (atom.op == DimOp::floordiv || atom.op == DimOp::mod) &&
                 !uses_counter(atom.operands[1], counter.name) && atom.operands[1].min() > 0;
  switch (atom.op) {
    case DimOp::symbol:
      return counter.high;
    case DimOp::min:
      return min(bound(0), bound(1));
    case DimOp::max:
      return max(bound(0), bound(1));
    case DimOp::floordiv:
      return divides ? floordiv(bound(0), atom.operands[1]) : Dim(atom.high);
    case DimOp::mod:
      return divides ? atom.operands[1] - Dim(1) : Dim(atom.high);
  }
  return atom.high;
}

// Term by term, where at most one factor of each may be negative: the greatest of what adds, the least of what takes
// away.
std::optional<Dim> bound_by_terms(const Dim& extent, const Counter& counter) {
  Dim total = extent.constant();
  for (const Dim::Term& term : extent.terms()) {
    bool uses = false;
    int negative = term.coefficient < 0;
    // Only the one that counts: the least of many factors may be more than 64 bits hold.
    Dim bound = term.coefficient, itself = term.coefficient;
    for (const auto& atom : term.atoms) {
      Dim value = dim_of_atom(*atom);
      bool varies = uses_counter(value, counter.name);
      uses |= varies;
      negative += value.min() < 0;
      itself = itself * value;
      bound = bound * (term.coefficient > 0 ? max(varies ? atom_bound(*atom, counter) : value, Dim(0)) : value.min());
    }
    if (uses && negative > 1) return std::nullopt;
    total = total + (uses ? bound : itself);
  }
  return total;
}

// Finds what is written as bfloat16 for products of pairs alone.
void find_flushed(Lowering& lowering) {
  std::map<BufferId, bool> only_pairs;
  for (const Output& output : lowering.graph.outputs()) only_pairs[output.value.id()] = false;
  for (const Draft& draft : lowering.drafts) {
    const Kernel& kernel = draft.kernel;
    bool is_pairs = draft.kind == LaunchKind::kernel && kernel.dot && kernel.dot->accumulate == DType::f32 &&
                    kernel.dot->lhs_type == DType::bf16 && kernel.dot->rhs_type == DType::bf16;
    for (size_t i = 0; i < draft.buffers.size(); ++i) {
      bool& only = only_pairs.try_emplace(draft.buffers[i], draft.buffers[i] >= 0 && !draft.copies).first->second;
      if (draft.kind != LaunchKind::kernel)
        only = false;
      else if (!kernel.memories[i].written)
        only &= is_pairs;
      for (const Expr& e : kernel.exprs) only &= e.kind != ExprKind::load || e.slot != static_cast<int32_t>(i);
    }
  }
  for (Draft& draft : lowering.drafts)
    for (size_t i = 0; draft.kind == LaunchKind::kernel && i < draft.buffers.size(); ++i) {
      Memory& memory = draft.kernel.memories[i];
      memory.flushes = memory.written && memory.dtype == DType::bf16 && only_pairs[draft.buffers[i]];
    }
}

}  // namespace

// Linear in the counter: at one end of the range. Otherwise whatever its bounds say.
Dim upper_bound(const Dim& extent, const Counter& counter) {
  if (!uses_counter(extent, counter.name)) return extent;
  std::optional<Dim> slope = coefficient(extent, counter.name);
  if (slope && slope->min() >= 0) return extent.substitute({{counter.name, counter.high}});
  if (slope && slope->max() <= 0) return extent.substitute({{counter.name, counter.low}});
  return bound_by_terms(extent, counter).value_or(extent.max());
}

Program lower(const Graph& flat, const Counters& counters, bool multiplies_bf16, bool packs_later, bool rows_alone) {
  for (const Node& node : flat.nodes())
    if (node.types.empty() && node.op == Op::custom_call) {
      const char* why = is_expectation(node) ? "gives nothing: only the interpreter runs it"
                                             : "gives nothing, and no implementation is known";
      raise({ErrorKind::unsupported, cat("custom_call of '", node.attrs.text(Attr::call_target_name), "' ", why),
             "custom_call_target", node.loc});
    }
  GraphPtr turned = with_turns_in_line(flat);
  GraphPtr prepared = with_shared_rows(by_row_blocks(prepare(turned ? *turned : flat)));
  const Graph& graph = *prepared;
  Fusion fusion = fuse(graph);
  Lowering lowering{graph,
                    fusion,
                    counters,
                    {},
                    {},
                    needed_values(graph, fusion),
                    multiplies_bf16,
                    packs_later && has_large_constants(graph),
                    rows_alone,
                    places_read_of_sorts(graph)};
  for (const Group& group : fusion.groups) lower_group(lowering, group);
  if (multiplies_bf16) find_flushed(lowering);
  overlap_collectives(lowering.drafts);
  Program program = plan(lowering);
  program.joined = lowering.joined;
  add_cuts(program, graph, fusion);
  return program;
}

}  // namespace weft
