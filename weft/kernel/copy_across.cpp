// Copies of small operands in the order in which a kernel reads them.
#include <algorithm>

#include "weft/kernel/draft.h"

namespace weft {
namespace {

// How often an element is read at least before a copy is made for it.
constexpr int64_t worth_copying = 8;
constexpr int64_t worth_launching = 16384;
// Up to so many strided loads for each result cost less than sums across lanes.
constexpr int64_t few_loads = 4;
// Elements of the last axis whose copies lie together: they stay in the first cache while other axes turn, and rows of
// results are as long as that allows.
constexpr int64_t least_block = 64, most_block = 4096, cached_bytes = 8192;

// The axes by which a load moves, in order; nothing unless it moves by a fixed stride along each.
std::optional<std::vector<Axis>> moving_axes(const Expr& load, const std::vector<Axis>& axes) {
  std::vector<Axis> moving;
  for (const Axis& axis : axes) {
    if (!uses_counter(load.index, axis.counter)) continue;
    std::optional<Dim> step = coefficient(load.index, axis.counter);
    if (!step || !step->is_static()) return std::nullopt;
    moving.push_back(axis);
  }
  return moving;
}

struct Copy {
  size_t load;
  std::vector<Axis> moving;
};

// How many elements of the last axis lie together. `each`: elements of the other axes that are read with one of it.
int64_t block_of(const Kernel& kernel, const std::vector<Copy>& copies, int64_t each) {
  int64_t bytes = 0, block = least_block;
  for (const Copy& copy : copies) bytes += each * size_of(kernel.exprs[copy.load].dtype);
  while (block < most_block && 2 * block * bytes <= cached_bytes) block *= 2;
  return block;
}

// Replaces a load by one from a copy that `moving` counts through, the last axis innermost.
void copy_for(Lowering& lowering, Draft& draft, const Access& access, NodeId reader, Expr& load,
              const std::vector<Axis>& moving) {
  NodeId source = access.memories()[static_cast<size_t>(load.slot)];
  Dims dims, at;
  for (const Axis& axis : moving) {
    dims.push_back(axis.extent.is_static() || &axis != &moving.back() ? axis.extent : Dim(axis.extent.max()));
    at.push_back(counter_dim(axis.counter, axis.extent));
  }
  const Index place = linear_index(dims, at);
  load.slot = add_copy(lowering, draft, reader, source, {load.dtype, dims}, load.index, moving, place);
  load.index = place;
}

// Whether a load moves along the last axis, other than to the next element.
bool is_strided(const Expr& e, const std::vector<Axis>& axes) {
  if (e.kind != ExprKind::load || !uses_counter(e.index, axes.back().counter)) return false;
  std::optional<Dim> step = coefficient(e.index, axes.back().counter);
  return !step || !step->is(1);
}

// Whether a copy that `moving` counts through pays for a load that loops over `axes` read.
bool pays(const Kernel& kernel, const Access& access, const Expr& load, const std::vector<Axis>& moving,
          const std::vector<Axis>& axes) {
  Dim total = 1, size = worth_copying;
  for (const Axis& axis : axes) total = total * axis.extent;
  for (const Axis& axis : moving) size = size * axis.extent;
  auto slot = static_cast<size_t>(load.slot);
  bool plain = load.mask == no_expr && slot < access.memories().size() && !kernel.memories[slot].written;
  return plain && total.opt() >= worth_launching && size.opt() <= total.opt();
}

// The loads to copy for so that all step by one along the last axis or stand still; nothing where that is not to be
// had.
std::optional<std::vector<Copy>> copies_for(const Kernel& kernel, const Access& access, const std::vector<Axis>& axes,
                                            int64_t each) {
  std::vector<Copy> copies;
  for (size_t i = 0; i < kernel.exprs.size(); ++i) {
    const Expr& e = kernel.exprs[i];
    if (!is_strided(e, axes)) continue;
    std::optional<std::vector<Axis>> moving = moving_axes(e, axes);
    if (!moving || !e.dynamic.empty()) return std::nullopt;
    if (pays(kernel, access, e, *moving, axes))
      copies.push_back({i, std::move(*moving)});
    else if (each > few_loads || size_of(e.dtype) < 4 || is_complex(e.dtype))
      return std::nullopt;
  }
  return copies;
}

}  // namespace

int32_t add_copy(Lowering& lowering, Draft& draft, NodeId reader, NodeId source, const Type& type, const Index& from,
                 const std::vector<Axis>& axes, const Index& place) {
  BufferId target = lowering.add_temporary(type);
  Draft copy;
  Access reads(lowering.graph, lowering.fusion, copy.kernel);
  ExprId element = reads.load_from(reads.memory(source), type.dtype, from);
  copy.kernel.memories.push_back({"copy", type.dtype, true, 0});
  copy.kernel.body = schedule_map(copy.kernel, axes, {store_statement(1, place, element)}, copy.parallel);
  copy.buffers.push_back(target);
  finish_draft(lowering, std::move(copy), reads, {source});
  lowering.drafts.back().kernel.loc = lowering.graph.node(reader).loc;
  draft.kernel.memories.push_back({"copy", type.dtype, false, 0});
  draft.buffers.push_back(target);
  return static_cast<int32_t>(draft.kernel.memories.size()) - 1;
}

std::vector<Axis> joined(std::vector<Axis> outer, const std::vector<Axis>& inner) {
  outer.insert(outer.end(), inner.begin(), inner.end());
  return outer;
}

void copy_strided(Lowering& lowering, Draft& draft, const Access& access, NodeId reader,
                  const std::vector<Axis>& axes) {
  if (axes.empty()) return;
  for (Expr& e : draft.kernel.exprs) {
    if (!is_strided(e, axes) || !e.dynamic.empty()) continue;
    std::optional<std::vector<Axis>> moving = moving_axes(e, axes);
    if (moving && pays(draft.kernel, access, e, *moving, axes)) copy_for(lowering, draft, access, reader, e, *moving);
  }
}

bool lay_along(Lowering& lowering, Draft& draft, const Access& access, NodeId reader, const std::vector<Axis>& outer,
               std::vector<Axis>& inner, bool by_blocks) {
  Kernel& kernel = draft.kernel;
  Dim each = 1;
  for (const Axis& axis : outer) each = each * axis.extent;
  std::optional<std::vector<Copy>> copies =
      copies_for(kernel, access, joined(outer, inner), by_blocks ? each.max() : few_loads + 1);
  if (!copies) return false;
  int64_t block = block_of(kernel, *copies, each.max());
  if (by_blocks && !copies->empty() && inner.back().extent.opt() > 2 * block) {
    Axis inside = split(kernel, inner.back(), block, ".v");
    std::rotate(inner.begin(), inner.end() - 1, inner.end());
    std::vector<Axis> axes = joined({inner[0]}, outer);
    axes.insert(axes.end(), inner.begin() + 1, inner.end());
    axes.push_back(inside);
    inner.push_back(std::move(inside));
    for (Copy& copy : *copies) copy.moving = *moving_axes(kernel.exprs[copy.load], axes);
  }
  for (const Copy& copy : *copies) copy_for(lowering, draft, access, reader, kernel.exprs[copy.load], copy.moving);
  return true;
}

}  // namespace weft
