// Stages in groups: reduces over the trailing dims, what is computed from them row by row, and maps of the same
// elements.
//
// A stage joins a group that it reads, or a map that reads what it reads, unless groups would then wait for each other
// in a circle. All searches are bounded: where one would go far the stage stays by itself.
#include "weft/kernel/group.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "weft/kernel/schedule.h"

namespace weft {
namespace {

// Groups that a search visits, and nodes.
constexpr size_t most_groups = 64, most_nodes = 4096;
// Groups that read a value and that a map looks at, the last ones.
constexpr size_t most_readers = 8;

class Grouper {
 public:
  Grouper(const Graph& graph, Fusion& fusion, const std::vector<int>& sizes)
      : graph_(graph), fusion_(fusion), sizes_(sizes), readers_(graph.size()), is_base_(graph.size()) {
    for (const Node& node : graph.nodes())
      if (is_update(node.op)) is_base_[node.operand(0).id()] = true;
  }

  void run() {
    fusion_.groups.clear();
    for (size_t s = 0; s < fusion_.stages.size(); ++s) place(s);
    order();
  }

 private:
  // Whether every use of `value` in the expression of `at` is at the row of the element itself: coordinate i of the
  // value is coordinate i of the stage, for all rows.
  bool read_by_row(const Node& at, NodeId value, size_t rows, const std::vector<int>& coordinates,
                   std::set<std::pair<NodeId, std::vector<int>>>& seen) const {
    for (size_t k = 0; k < at.operand_count(); ++k) {
      Value operand = at.operand(k);
      std::optional<std::vector<int>> mapped = operand_coordinates(at, k, coordinates);
      if (operand.id() == value) {
        if (!mapped || mapped->size() != rows) return false;
        for (size_t i = 0; i < rows; ++i)
          if (const int from = (*mapped)[i];
              from != static_cast<int>(i) && from != inner_coordinate(i) && !operand.type().dims[i].is(1))
            return false;
        continue;
      }
      if (fusion_.is_stored[operand.id()] || operand.id() < value) continue;
      if (!mapped) {
        if (may_depend_on(graph_, operand.id(), value)) return false;
        continue;
      }
      if (seen.emplace(operand.id(), *mapped).second && !read_by_row(operand.node(), value, rows, *mapped, seen))
        return false;
    }
    return true;
  }

  std::vector<int> own_coordinates(const Stage& stage) const {
    std::vector<int> at(graph_.node(stage.root).type().dims.size());
    for (size_t i = 0; i < at.size(); ++i) at[i] = static_cast<int>(i);
    return at;
  }

  struct State {
    std::optional<Rows> rows;        // of a row kernel
    std::set<int> needs, needed_by;  // other groups
    int rank = 0;                    // greater than that of each group it needs
    int size = 0;                    // of its expressions
  };

  State& state(int group) { return states_[static_cast<size_t>(group)]; }

  void place(size_t s) {
    Stage& stage = fusion_.stages[s];
    std::set<int> needed;
    for (NodeId read : stage.reads)
      if (int producer = fusion_.stage_of[read]; producer >= 0)
        needed.insert(fusion_.stages[static_cast<size_t>(producer)].group);
    // What reads an array that is written over comes before.
    if (const Node& root = graph_.node(stage.root); is_update(root.op))
      needed.insert(base_readers_[root.operand(0).id()].begin(), base_readers_[root.operand(0).id()].end());
    int joined = group_to_join(stage, sizes_[s], needed);
    if (joined < 0) {
      joined = static_cast<int>(states_.size());
      fusion_.groups.emplace_back();
      states_.emplace_back().rows = rows_of(graph_, stage);
    }
    stage.group = joined;
    fusion_.groups[static_cast<size_t>(joined)].stages.push_back(static_cast<int>(s));
    state(joined).size += sizes_[s];
    add_needs(joined, needed);
    note_reader(stage);
    for (NodeId read : stage.reads)
      if (is_base_[read]) base_readers_[read].insert(joined);
  }

  int group_to_join(const Stage& stage, int size, const std::set<int>& needed) {
    if (stage.kind != StageKind::map && stage.kind != StageKind::reduce) return -1;
    std::set<int> candidates = needed;
    if (stage.kind == StageKind::map) add_readers(stage, candidates);
    if (stage.beside >= 0) candidates.insert(fusion_.stages[static_cast<size_t>(stage.beside)].group);
    int joined = -1;
    for (int candidate : candidates) {
      const State& group = state(candidate);
      // Sharing a reduce's kernel comes first.
      if (!group.rows || group.size + size > largest_expression || (group.rows->is_map && joined >= 0)) continue;
      // Where there are no rows, results are there when the kernel ends.
      if (!group.rows->apart.empty() && needed.count(candidate)) continue;
      if (fits_rows(graph_, stage, *group.rows) && can_need(candidate, needed) &&
          reads_rows_of(stage, candidate, group.rows->rows.size()))
        joined = candidate;
    }
    return joined;
  }

  // Maps that read a value as large as what the stage gives, which the stage reads too.
  void add_readers(const Stage& stage, std::set<int>& groups) const {
    for (NodeId read : stage.reads)
      if (graph_.node(read).type().dims == graph_.node(stage.root).type().dims)
        groups.insert(readers_[read].begin(), readers_[read].end());
  }

  void note_reader(const Stage& stage) {
    const std::optional<Rows>& rows = state(stage.group).rows;
    if (!rows || !rows->is_map) return;
    for (NodeId read : stage.reads) {
      std::vector<int>& readers = readers_[read];
      if (std::ranges::find(readers, stage.group) != readers.end()) continue;
      if (readers.size() == most_readers) readers.erase(readers.begin());
      readers.push_back(stage.group);
    }
  }

  bool reads_rows_of(const Stage& stage, int group, size_t rows) const {
    for (NodeId read : stage.reads) {
      int producer = fusion_.stage_of[read];
      if (producer < 0 || fusion_.stages[static_cast<size_t>(producer)].group != group) continue;
      const Stage& source = fusion_.stages[static_cast<size_t>(producer)];
      // A stored full-space value of the same kernel is read back at the same element only.
      size_t wanted = source.kind == StageKind::reduce ? rows : graph_.node(source.root).type().dims.size();
      std::set<std::pair<NodeId, std::vector<int>>> seen;
      if (!read_by_row(graph_.node(stage.root), read, wanted, own_coordinates(stage), seen)) return false;
    }
    return true;
  }

  // Whether the group may need those too: none of them needs it.
  bool can_need(int group, const std::set<int>& others) {
    int rank = 0;
    for (int other : others) {
      if (other == group) continue;
      if (may_reach(other, group)) return false;
      rank = std::max(rank, state(other).rank + 1);
    }
    return raised(group, rank).has_value();
  }

  bool may_reach(int from, int to) {
    std::vector<int> stack{from};
    std::set<int> seen{from};
    while (!stack.empty()) {
      int at = stack.back();
      stack.pop_back();
      if (at == to) return true;
      if (state(at).rank <= state(to).rank) continue;
      for (int next : state(at).needs)
        if (seen.insert(next).second) stack.push_back(next);
      if (seen.size() > most_groups) return true;
    }
    return false;
  }

  // The ranks that change where a group gets at least this one; nothing where they are many.
  std::optional<std::map<int, int>> raised(int group, int rank) {
    std::map<int, int> ranks;
    std::vector<std::pair<int, int>> stack{{group, rank}};
    while (!stack.empty()) {
      auto [at, least] = stack.back();
      stack.pop_back();
      auto found = ranks.find(at);
      if ((found == ranks.end() ? state(at).rank : found->second) >= least) continue;
      ranks[at] = least;
      if (ranks.size() > most_groups) return std::nullopt;
      for (int next : state(at).needed_by) stack.emplace_back(next, least + 1);
    }
    return ranks;
  }

  void add_needs(int group, const std::set<int>& others) {
    int rank = 0;
    for (int other : others) {
      if (other == group) continue;
      state(group).needs.insert(other);
      state(other).needed_by.insert(group);
      rank = std::max(rank, state(other).rank + 1);
    }
    const std::optional<std::map<int, int>> ranks = raised(group, rank);
    for (auto [at, least] : *ranks) state(at).rank = least;
  }

  // In the order of the program, each behind those it needs.
  void order() {
    std::vector<int> place(states_.size(), -1);
    std::vector<Group> sorted;
    for (size_t first = 0; first < states_.size(); ++first) {
      std::vector<int> stack{static_cast<int>(first)};
      while (!stack.empty()) {
        int at = stack.back();
        if (place[static_cast<size_t>(at)] < 0) {
          size_t before = stack.size();
          for (auto next = state(at).needs.rbegin(); next != state(at).needs.rend(); ++next)
            if (place[static_cast<size_t>(*next)] < 0) stack.push_back(*next);
          if (stack.size() > before) continue;
          place[static_cast<size_t>(at)] = static_cast<int>(sorted.size());
          sorted.push_back(std::move(fusion_.groups[static_cast<size_t>(at)]));
        }
        stack.pop_back();
      }
    }
    fusion_.groups = std::move(sorted);
    for (Stage& stage : fusion_.stages) stage.group = place[static_cast<size_t>(stage.group)];
  }

  const Graph& graph_;
  Fusion& fusion_;
  const std::vector<int>& sizes_;
  std::vector<State> states_;
  std::vector<std::vector<int>> readers_;         // by node: maps that read it
  std::vector<bool> is_base_;                     // by node: whether an update writes over it
  std::map<NodeId, std::set<int>> base_readers_;  // groups that read such a value
};

}  // namespace

bool may_depend_on(const Graph& graph, NodeId id, NodeId on) {
  std::vector<NodeId> stack{id};
  std::set<NodeId> seen;
  while (!stack.empty()) {
    NodeId at = stack.back();
    stack.pop_back();
    if (at == on || seen.size() > most_nodes) return true;
    if (at < on || !seen.insert(at).second) continue;
    for (const Value& operand : graph.node(at).operands()) stack.push_back(operand.id());
  }
  return false;
}

void make_groups(const Graph& graph, Fusion& fusion, const std::vector<int>& sizes) {
  Grouper(graph, fusion, sizes).run();
}

}  // namespace weft
