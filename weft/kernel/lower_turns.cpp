// What the turns of an independent loop share: right operands of products, packed once before the loop.
//
// The turns form a grid, the last extent counting neighbours that read the same matrices (the blocks of rows of one
// head).
#include <algorithm>

#include "weft/kernel/draft.h"

namespace weft {
namespace {

// Bytes of packed copies of one operand, at most.
constexpr int64_t most_packed = 128 << 20;

class TurnPacker {
 public:
  TurnPacker(Lowering& lowering, Draft& loop, const Node& node)
      : lowering_(lowering),
        loop_(loop),
        node_(node),
        grid_(node.attrs.dims(Attr::independent)),
        block_(loop.blocks[0]) {}

  void pack_all() {
    const Dim& neighbours = grid_.back();
    if (neighbours.opt() < 2) return;
    Program& program = block_.program;
    for (Launch& launch : program.run) {
      auto same = [&](const Launch& other) { return other.kernel == launch.kernel; };
      if (launch.kind == LaunchKind::kernel && std::count_if(program.run.begin(), program.run.end(), same) == 1)
        pack(launch);
    }
  }

 private:
  void pack(Launch& launch) {
    Kernel& kernel = block_.program.kernels[static_cast<size_t>(launch.kernel)];
    if (!kernel.dot || kernel.dot->packed_rhs || kernel.dot->windows || !kernel.dot->batch.empty() ||
        !is_float(kernel.dot->accumulate))
      return;
    Dot& dot = *kernel.dot;
    const BufferPlan& plan =
        block_.program.buffers[static_cast<size_t>(launch.buffers[static_cast<size_t>(dot.rhs.memory)])];
    auto input = static_cast<size_t>(plan.index);
    if (plan.place != Place::input || input < static_cast<size_t>(node_.attrs.integer(Attr::carried))) return;
    // What the operand's place is for the first of some neighbours holds for all.
    Dim counter(counter_), first = grid_.back() * floordiv(counter, grid_.back());
    std::optional<Dim> n = whole(dot.n), k = whole(dot.k);
    if (!n || !k || dot.rhs.offset.substitute({{loop_.counter, first}}) != dot.rhs.offset) return;
    Draft pack;
    pack.kernel.dot = dot;
    Dot& packing = *pack.kernel.dot;
    packing.pack_rhs = true;
    packing.lhs = {};
    packing.m = 1;
    packing.n = *n;
    packing.k = *k;
    std::optional<Dim> matrix = spread(packing, floordiv(counter, grid_.back()));
    Dim count = 1;
    for (const Dim& extent : packing.batch) count = count * extent;
    Type packed{dot.accumulate, {packed_elements(packing, count, lowering_.multiplies_bf16)}};
    if (!matrix || (packed.count() * Dim(size_of(packed.dtype))).opt() > most_packed) return;
    auto stored = static_cast<NodeId>(block_.inputs[input]);
    Access access(lowering_.graph, lowering_.fusion, pack.kernel);
    packing.rhs.memory = access.memory(stored);
    BufferId buffer = lowering_.add_temporary(packed);
    pack.kernel.memories.push_back({"packed", dot.accumulate, true, 0});
    packing.packed = static_cast<int32_t>(pack.kernel.memories.size() - 1);
    pack.buffers.push_back(buffer);
    finish_draft(lowering_, std::move(pack), access, {stored});
    lowering_.drafts.back().kernel.name = cat("pack_", name(dot.accumulate), "_turns");
    read_packed(kernel, launch, buffer, packed);
    dot.rhs.offset = *matrix;
    dot.rhs.outer = *n;
    dot.rhs.inner = *k;
  }

  // The kernel reads the buffer in place of its right operand.
  void read_packed(Kernel& kernel, Launch& launch, BufferId buffer, const Type& type) {
    Program& program = block_.program;
    BufferPlan plan;
    plan.place = Place::input;
    plan.index = static_cast<int32_t>(program.inputs.size());
    plan.type = type;
    program.inputs.push_back({"", type});
    program.buffers.push_back(std::move(plan));
    launch.buffers.push_back(static_cast<int32_t>(program.buffers.size() - 1));
    block_.inputs.push_back(buffer);
    loop_.buffers.push_back(buffer);
    kernel.name.resize(kernel.name.rfind('_'));  // the mark of its text, which changes
    kernel.memories.push_back({"packed", type.dtype, false, 0});
    kernel.dot->packed_rhs = true;
    kernel.dot->rhs.memory = static_cast<int32_t>(kernel.memories.size() - 1);
  }

  // The largest that an extent is in any turn.
  std::optional<Dim> whole(const Dim& extent) const {
    if (!uses_counter(extent, loop_.counter)) return extent;
    std::vector<Symbol> symbols = extent.symbols();
    return symbols.size() == 1 ? std::optional<Dim>(extent.max()) : std::nullopt;
  }

  // The place of the operand for the first turn of neighbours, over counters of these dimensions of the grid.
  Dim place_over(const Dims& batch, const Dim& offset) const {
    Dim turn = 0;
    for (size_t i = 0; i < batch.size(); ++i) turn = turn * batch[i] + counter_dim(cat(".grid", i), batch[i]);
    return offset.substitute({{loop_.counter, turn * grid_.back()}});
  }

  // The dimensions of the grid; where groups of one share a matrix, the groups and what is in one.
  Dims dimensions(const Dim& offset) const {
    Dims batch(grid_.begin(), grid_.end() - 1);
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!batch[i].is_static() || coefficient(place_over(batch, offset), cat(".grid", i))) continue;
      for (int64_t part = 2, all = batch[i].value(); part < all; ++part) {
        if (all % part) continue;
        Dims parted = batch;
        parted[i] = part;
        parted.insert(parted.begin() + static_cast<std::ptrdiff_t>(i), Dim(all / part));
        Dim place = place_over(parted, offset);
        if (!coefficient(place, cat(".grid", i)) || !coefficient(place, cat(".grid", i + 1))) continue;
        batch = std::move(parted);
        break;
      }
    }
    return batch;
  }

  // Gives the packing a batch dimension for each dimension of the grid along which the operand moves. Returns the
  // number of the matrix that turns at `place` of the grid read.
  std::optional<Dim> spread(Dot& packing, const Dim& place) const {
    Dims batch = dimensions(packing.rhs.offset), places(batch.size());
    Dim offset = place_over(batch, packing.rhs.offset), matrix = 0, rest = place;
    packing.batch.clear();
    packing.rhs.batch.clear();
    for (size_t i = batch.size(); i-- > 0; rest = floordiv(rest, batch[i]))
      places[i] = i == 0 ? rest : mod(rest, batch[i]);
    for (size_t i = 0; i < batch.size(); ++i) {
      std::optional<Dim> stride = coefficient(offset, cat(".grid", i));
      if (!stride) return std::nullopt;
      offset = offset.substitute({{cat(".grid", i), Dim(0)}});
      if (stride->is(0)) continue;
      matrix = matrix * batch[i] + places[i];
      packing.batch.push_back(batch[i]);
      packing.rhs.batch.push_back(*stride);
    }
    packing.rhs.offset = offset;
    return packing.batch.size() <= 4 ? std::optional<Dim>(matrix) : std::nullopt;
  }

  Lowering& lowering_;
  Draft& loop_;
  const Node& node_;
  const Dims& grid_;
  DraftBlock& block_;
  Symbol counter_{loop_.counter, 0, (loop_.trips.opt()) / 2, std::max<int64_t>(loop_.trips.max() - 1, 0)};
};

}  // namespace

void pack_for_turns(Lowering& lowering, Draft& loop, const Node& node) { TurnPacker(lowering, loop, node).pack_all(); }

}  // namespace weft
