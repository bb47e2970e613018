// Buffers: inputs, outputs, constants, and slots of the arena.
#include "weft/kernel/plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "weft/core/hash.h"
#include "weft/kernel/cost.h"

namespace weft {
namespace {

// Rounded up to whole cache lines; of a value whose extents depend on the counters of loops, what the largest takes.
Dim bytes_of(const Type& type, const Counters& counters) {
  Dim bytes = type.count() * Dim(size_of(type.dtype));
  for (auto counter = counters.rbegin(); counter != counters.rend(); ++counter) bytes = upper_bound(bytes, *counter);
  return ceildiv(bytes, 64) * Dim(64);
}

class Planner {
 public:
  explicit Planner(Lowering& lowering) : lowering_(lowering), graph_(lowering.graph) {}

  Program run() {
    program_.name = graph_.name();
    program_.symbols.assign(graph_.symbols().begin(), graph_.symbols().end());
    for (NodeId id : graph_.parameters()) {
      place(id, Place::input, static_cast<int32_t>(program_.inputs.size()));
      program_.inputs.push_back({graph_.node(id).attrs.text(Attr::name), graph_.node(id).type()});
    }
    merge_copied();
    place_outputs();
    add_copies();
    find_lifetimes();
    place_rest();
    for (size_t i = 0; i < lowering_.drafts.size(); ++i) add_launch(lowering_.drafts[i]);
    std::ranges::stable_partition(program_.setup, [](const Launch& launch) { return !launch.later; });
    return std::move(program_);
  }

 private:
  // Values that share memory are known by the first of them.
  BufferId owner(BufferId id) const {
    BufferId last = id;
    for (auto found = owners_.find(last); found != owners_.end(); found = owners_.find(last)) last = found->second;
    // The next search is short, however long the chain.
    for (auto found = owners_.find(id); found != owners_.end(); found = owners_.find(id))
      id = std::exchange(found->second, last);
    return last;
  }

  // A copy whose source nobody reads afterwards needs none: both are one memory.
  void merge_copied() {
    std::set<BufferId> fixed;
    auto nodes = static_cast<BufferId>(graph_.size());
    for (const Output& output : graph_.outputs()) fixed.insert(output.value.id());
    std::map<BufferId, size_t> last;
    for (size_t i = 0; i < lowering_.drafts.size(); ++i)
      for (BufferId id : lowering_.drafts[i].buffers) last[id] = i;
    for (size_t i = 0; i < lowering_.drafts.size(); ++i) {
      if (!lowering_.drafts[i].copies) continue;
      auto [from, to] = *lowering_.drafts[i].copies;
      BufferId source = owner(from);
      bool is_value = source >= nodes || (graph_.node(static_cast<NodeId>(source)).op != Op::parameter &&
                                          graph_.node(static_cast<NodeId>(source)).op != Op::constant);
      const bool is_read_by_update = last[from] == i + 1 && stores_once(lowering_.drafts[i + 1], to);
      if (!is_value || fixed.count(from) || fixed.count(source) || (last[from] != i && !is_read_by_update) ||
          type_of(from).dtype != type_of(to).dtype)
        continue;
      // The result's place decides: it may be an output.
      owners_[source] = to;
    }
  }

  // The buffer of a stored value or temporary, if it has one.
  int32_t* buffer_of(BufferId id) {
    auto found = buffers_.find(owner(id));
    return found == buffers_.end() ? nullptr : &found->second;
  }

  const Type& type_of(BufferId id) const {
    auto nodes = static_cast<BufferId>(graph_.size());
    return id < nodes ? graph_.node(static_cast<NodeId>(id)).type()
                      : lowering_.temporaries[static_cast<size_t>(id - nodes)].type;
  }

  int32_t place(BufferId id, Place where, int32_t index, Dim offset = 0) {
    id = owner(id);
    BufferPlan buffer;
    buffer.place = where;
    buffer.index = index;
    buffer.offset = std::move(offset);
    buffer.type = type_of(id);
    buffer.bytes = bytes_of(buffer.type, lowering_.counters);
    program_.buffers.push_back(std::move(buffer));
    auto slot = static_cast<int32_t>(program_.buffers.size() - 1);
    buffers_[id] = slot;
    return slot;
  }

  // A stored value is written straight to its output; where that cannot be, a copy at the end does it.
  void place_outputs() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const Output& output = graph_.outputs()[i];
      auto index = static_cast<int32_t>(i);
      program_.outputs.push_back({output.name, output.value.type(), output.alias});
      NodeId id = output.value.id();
      bool has_kernel = lowering_.fusion.stage_of[id] >= 0;
      if (has_kernel && !buffer_of(id) && !is_read_while_written(output))
        place(id, Place::output, index);
      else
        copies_.emplace_back(id, index);
    }
  }

  // Whether writing an aliased output in place would change the parameter before its last reader is done.
  bool is_read_while_written(const Output& output) {
    if (output.alias < 0) return false;
    auto parameter = static_cast<BufferId>(graph_.parameters()[static_cast<size_t>(output.alias)]);
    auto target = static_cast<BufferId>(output.value.id());
    bool written = false;
    for (const Draft& draft : lowering_.drafts) {
      bool writes = !draft.setup && std::any_of(draft.buffers.begin(), draft.buffers.end(),
                                                [&](BufferId id) { return owner(id) == target; });
      bool reads = std::count(draft.buffers.begin(), draft.buffers.end(), parameter) > 0;
      // Which is none where both are one memory.
      if (writes && draft.copies && draft.copies->first == parameter && !written) continue;
      if (reads && written) return true;
      if (writes) {
        if (reads && !same_places(draft, parameter, target) && !stores_once(draft, target)) return true;
        written = true;
      }
    }
    // Another output may still be copied from the parameter.
    for (const Output& other : graph_.outputs())
      if (static_cast<BufferId>(other.value.id()) == parameter) return true;
    return false;
  }

  // Whether the kernel reads one buffer only where it stores the other: element by element in place.
  bool same_places(const Draft& draft, BufferId read, BufferId written) const {
    auto slot = [&](BufferId wanted) {
      auto found =
          std::find_if(draft.buffers.begin(), draft.buffers.end(), [&](BufferId id) { return owner(id) == wanted; });
      return static_cast<int32_t>(found - draft.buffers.begin());
    };
    int32_t from = slot(read), to = slot(written);
    if (draft.kernel.dot || draft.kind != LaunchKind::kernel) return false;
    std::vector<const Stmt*> stores;
    bool plain = collect_stores(draft.kernel.body, to, stores);
    if (!plain || stores.size() != 1 || !stores[0]->dynamic.empty()) return false;
    for (const Expr& expr : draft.kernel.exprs)
      if (expr.kind == ExprKind::load && expr.slot == from && (expr.index != stores[0]->index || !expr.dynamic.empty()))
        return false;
    return true;
  }

  // Whether the kernel stores one element there, when it has read all that it reads.
  bool stores_once(const Draft& draft, BufferId target) const {
    const std::vector<Stmt>& body = draft.kernel.body;
    if (draft.kind != LaunchKind::kernel || draft.kernel.dot || body.empty()) return false;
    auto is_definition = [](const Stmt& stmt) { return stmt.kind == StmtKind::define; };
    return body.back().kind == StmtKind::store && std::all_of(body.begin(), body.end() - 1, is_definition) &&
           owner(draft.buffers[static_cast<size_t>(body.back().slot)]) == owner(target);
  }

  static bool collect_stores(const std::vector<Stmt>& body, int32_t slot, std::vector<const Stmt*>& stores) {
    for (const Stmt& stmt : body) {
      if (stmt.kind == StmtKind::accumulate || stmt.kind == StmtKind::barrier_accumulate) return false;
      if (stmt.kind == StmtKind::store && stmt.slot == slot) stores.push_back(&stmt);
      if (!collect_stores(stmt.body, slot, stores)) return false;
    }
    return true;
  }

  void add_copies() {
    // A parameter that another copy writes over is read first.
    for (auto& [source, index] : copies_) {
      bool overwritten = false;
      for (const auto& [other, at] : copies_) {
        int alias = program_.outputs[static_cast<size_t>(at)].alias;
        overwritten |= at != index && alias >= 0 && graph_.parameters()[static_cast<size_t>(alias)] == source;
      }
      if (!overwritten) continue;
      BufferId kept = lowering_.add_temporary(graph_.node(static_cast<NodeId>(source)).type());
      add_copy(source, kept);
      source = kept;
    }
    for (const auto& [source, index] : copies_) {
      BufferId target = lowering_.add_temporary(type_of(source));
      place(target, Place::output, index);
      add_copy(source, target);
    }
  }

  void add_copy(BufferId source, BufferId target) {
    const Type& type = type_of(source);
    Draft draft;
    Kernel& kernel = draft.kernel;
    kernel.memories = {{"from", type.dtype, false, 0}, {"to", type.dtype, true, 0}};
    Dim total = type.count();
    Expr load;
    load.kind = ExprKind::load;
    load.dtype = type.dtype;
    load.slot = 0;
    Space space = space_of({total}, ".i");
    load.index = space.coordinates[0];
    kernel.exprs.push_back(load);
    std::vector<Stmt> body{store_statement(1, load.index, 0)};
    kernel.body = schedule_map(kernel, space.axes, std::move(body), draft.parallel);
    for (const Symbol& symbol : total.symbols()) kernel.symbols.push_back(symbol);
    kernel.name = cat("copy_", is_complex(type.dtype) ? "complex" : name(type.dtype));
    draft.buffers = {source, target};
    draft.copies = {source, target};
    lowering_.drafts.push_back(std::move(draft));
  }

  void find_lifetimes() {
    for (size_t i = 0; i < lowering_.drafts.size(); ++i)
      for (BufferId used : lowering_.drafts[i].buffers) {
        BufferId id = owner(used);
        auto [at, is_new] = lifetimes_.try_emplace(id, std::pair<size_t, size_t>{i, i});
        if (!is_new) at->second.second = i;
      }
  }

  // Slots of the arena, first fit by the launch at which they fall free; a slot is as large as its largest tenant.
  struct Slot {
    Dim bytes;
    size_t free_after;
    std::vector<int32_t> tenants;
  };

  void place_rest() {
    std::vector<std::pair<size_t, BufferId>> order;
    for (const auto& [id, life] : lifetimes_)
      if (!buffer_of(id)) order.emplace_back(life.first, id);
    std::sort(order.begin(), order.end());
    std::vector<Slot> slots;
    Dim persistent = 0;
    auto nodes = static_cast<BufferId>(graph_.size());
    for (const auto& [start, id] : order) {
      // A splat that is a result is a constant too, but a kernel writes it.
      bool is_made = id < nodes && lowering_.fusion.stage_of[static_cast<NodeId>(id)] >= 0;
      if (id < nodes && !is_made && graph_.node(static_cast<NodeId>(id)).op == Op::constant) {
        place(id, Place::constant, static_cast<int32_t>(program_.constants.size()));
        program_.constants.push_back(graph_.node(static_cast<NodeId>(id)).attrs.literal(Attr::value));
      } else if (id >= nodes && lowering_.temporaries[static_cast<size_t>(id - nodes)].persistent) {
        place(id, Place::persistent, -1, persistent);
        persistent = persistent + bytes_of(type_of(id), lowering_.counters);
      } else {
        tenant(slots, id, lifetimes_.at(id));
      }
    }
    Dim offset = 0;
    for (const Slot& slot : slots) {
      for (int32_t buffer : slot.tenants) program_.buffers[static_cast<size_t>(buffer)].offset = offset;
      offset = offset + slot.bytes;
    }
    program_.arena_bytes = offset;
    program_.persistent_bytes = persistent;
  }

  void tenant(std::vector<Slot>& slots, BufferId id, std::pair<size_t, size_t> life) {
    Dim bytes = bytes_of(type_of(id), lowering_.counters);
    Slot* best = nullptr;
    int64_t wanted = bytes.opt(), best_waste = 0;
    for (Slot& slot : slots) {
      if (slot.free_after >= life.first) continue;
      int64_t size = slot.bytes.opt(), waste = size > wanted ? size - wanted : wanted - size;
      if (!best || waste < best_waste) {
        best = &slot;
        best_waste = waste;
      }
    }
    if (!best) best = &slots.emplace_back(Slot{0, 0, {}});
    best->bytes = max(best->bytes, bytes);
    best->free_after = life.second;
    best->tenants.push_back(place(id, Place::arena, -1));
  }

  // Loops of no trips alone: what they would read may have no memory.
  static bool does_nothing(const Kernel& kernel) {
    auto is_empty = [](const Stmt& stmt) { return stmt.kind == StmtKind::loop && stmt.extent == Dim(0); };
    return !kernel.dot && std::all_of(kernel.body.begin(), kernel.body.end(), is_empty);
  }

  void add_launch(Draft& draft) {
    if (draft.kind == LaunchKind::kernel && does_nothing(draft.kernel)) return;
    if (draft.copies && is_same_memory(*buffer_of(draft.copies->first), *buffer_of(draft.copies->second))) return;
    Launch launch;
    launch.kind = draft.kind;
    for (BufferId id : draft.buffers) launch.buffers.push_back(*buffer_of(id));
    for (const Symbol& symbol : draft.kernel.symbols) launch.symbols.push_back(Dim(symbol));
    launch.parallel = draft.parallel;
    if (!draft.kernel.dot) launch.cost = work_of(draft.kernel);
    launch.loc = draft.kernel.loc;
    launch.ops = std::move(draft.ops);
    launch.checks = std::move(draft.checks);
    launch.lines = std::move(draft.lines);
    launch.operands = draft.operands;
    launch.routine = std::move(draft.routine);
    launch.numbers = std::move(draft.numbers);
    launch.texts = std::move(draft.texts);
    launch.counter = std::move(draft.counter);
    launch.first = draft.first;
    launch.trips = draft.trips;
    launch.step = draft.step;
    for (Kernel& body : draft.bodies) launch.bodies.push_back(add_kernel(std::move(body)));
    launch.until = draft.until;
    launch.independent = draft.independent;
    if (draft.independent) launch.turn_bytes = draft.blocks[0].program.arena_bytes;
    std::optional<int32_t> memory;
    if (!draft.independent && !draft.blocks.empty()) memory = launch.buffers.back();
    for (DraftBlock& block : draft.blocks) launch.blocks.push_back(merge_block(block, memory));
    if (launch.kind == LaunchKind::kernel) launch.kernel = add_kernel(std::move(draft.kernel));
    launch.later = draft.later;
    (draft.setup ? program_.setup : program_.run).push_back(std::move(launch));
  }

  bool is_same_memory(int32_t a, int32_t b) const {
    if (a == b) return true;
    return is_aliased(program_, program_.buffers[static_cast<size_t>(a)], program_.buffers[static_cast<size_t>(b)]);
  }

  // Takes over the kernels, constants and buffers of a block's program; its arena lies in buffer `memory`, or is that
  // of a turn.
  LaunchBlock merge_block(DraftBlock& block, std::optional<int32_t> memory) {
    Program& inner = block.program;
    std::vector<int32_t> kernels, buffers;
    for (Kernel& kernel : inner.kernels) kernels.push_back(add_kernel(std::move(kernel)));
    for (const BufferPlan& plan : inner.buffers) {
      BufferPlan moved = plan;
      auto index = static_cast<size_t>(std::max(plan.index, 0));
      switch (plan.place) {
        case Place::input:
          buffers.push_back(*buffer_of(block.inputs[index]));
          continue;
        case Place::output:
          buffers.push_back(*buffer_of(block.outputs[index]));
          continue;
        case Place::constant:
          moved.index += static_cast<int32_t>(program_.constants.size());
          break;
        case Place::arena:
          if (memory)
            moved.offset = plan.offset + program_.buffers[static_cast<size_t>(*memory)].offset;
          else
            moved.place = Place::turn;
          break;
        case Place::turn:
          check(memory.has_value(), "an independent loop inside another");
          break;
        case Place::persistent:
          moved.offset = plan.offset + program_.persistent_bytes;
          break;
      }
      program_.buffers.push_back(std::move(moved));
      buffers.push_back(static_cast<int32_t>(program_.buffers.size() - 1));
    }
    program_.constants.insert(program_.constants.end(), inner.constants.begin(), inner.constants.end());
    program_.persistent_bytes = program_.persistent_bytes + inner.persistent_bytes;
    program_.cuts.insert(program_.cuts.end(), inner.cuts.begin(), inner.cuts.end());
    for (Launch& launch : inner.setup) program_.setup.push_back(moved_launch(launch, kernels, buffers));
    LaunchBlock moved;
    for (Launch& launch : inner.run) moved.launches.push_back(moved_launch(launch, kernels, buffers));
    return moved;
  }

  static Launch moved_launch(Launch launch, const std::vector<int32_t>& kernels, const std::vector<int32_t>& buffers) {
    if (launch.kernel >= 0) launch.kernel = kernels[static_cast<size_t>(launch.kernel)];
    for (int32_t& body : launch.bodies) body = kernels[static_cast<size_t>(body)];
    for (int32_t& buffer : launch.buffers) buffer = buffers[static_cast<size_t>(buffer)];
    for (LaunchBlock& block : launch.blocks)
      for (Launch& inner : block.launches) inner = moved_launch(std::move(inner), kernels, buffers);
    return launch;
  }

  int32_t add_kernel(Kernel kernel) {
    std::string text = kernel.text();
    size_t key = std::hash<std::string>{}(text);
    auto [begin, end] = kernels_.equal_range(key);
    for (auto at = begin; at != end; ++at)
      if (program_.kernels[static_cast<size_t>(at->second)].text() == text) return at->second;
    char digits[9];
    for (int i = 0; i < 8; ++i) digits[i] = "0123456789abcdef"[(hash_combine(key, 0) >> (4 * i)) & 15];
    digits[8] = 0;
    if (!kernel.name.ends_with(digits)) append(kernel.name, "_", digits);
    // Of tens of thousands of kernels two may have the same digits.
    if (!names_.insert(kernel.name).second) append(kernel.name, "_", program_.kernels.size());
    program_.kernels.push_back(std::move(kernel));
    auto index = static_cast<int32_t>(program_.kernels.size() - 1);
    kernels_.emplace(key, index);
    return index;
  }

  Lowering& lowering_;
  const Graph& graph_;
  Program program_;
  std::map<BufferId, int32_t> buffers_;
  std::map<BufferId, std::pair<size_t, size_t>> lifetimes_;
  std::vector<std::pair<BufferId, int32_t>> copies_;
  mutable std::map<BufferId, BufferId> owners_;
  std::unordered_multimap<size_t, int32_t> kernels_;
  std::unordered_set<std::string> names_;
};

}  // namespace

bool is_aliased(const Program& program, const BufferPlan& a, const BufferPlan& b) {
  if (a.place == Place::input) return b.place == Place::output && is_aliased(program, b, a);
  return a.place == Place::output && b.place == Place::input &&
         program.outputs[static_cast<size_t>(a.index)].alias == b.index;
}

Program plan(Lowering& lowering) { return Planner(lowering).run(); }

}  // namespace weft
