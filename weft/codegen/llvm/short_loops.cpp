#include "weft/codegen/llvm/short_loops.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "weft/codegen/llvm/entry.h"
#include "weft/core/turns.h"

namespace weft {
namespace {

class ShortLoops {
 public:
  ShortLoops(ModuleText& module, const Program& program) : module_(module), program_(program) {}

  // `around`: turns of the loops around these launches. What turns of an independent loop have of their own memory has
  // no address outside of it.
  void find(const std::vector<Launch>& launches, double around) {
    for (const Launch& launch : launches) {
      const bool is_count = launch.kind == LaunchKind::count;
      const double turns = is_count ? around * static_cast<double>(launch.trips.opt()) : around;
      size_t size = 0;
      if (is_count && turns >= least_short_turns && is_short(launch, size))
        add(launch);
      else if (!launch.independent)
        for (const LaunchBlock& block : launch.blocks) find(block.launches, turns);
    }
  }

  void emit() {
    for (int32_t kernel : kernels_)
      KernelEmitter(module_, program_.kernels[static_cast<size_t>(kernel)]).emit_loop_kernel(inlined_way);
  }

 private:
  static constexpr size_t largest_turn = 2048;  // expressions

  bool is_short(const Launch& loop, size_t& size) const {
    if (loop.independent || loop.tiling) return false;
    return std::ranges::all_of(loop.blocks[0].launches, [&](const Launch& launch) {
      if (launch.kind == LaunchKind::count) return is_short(launch, size);
      if (launch.kind != LaunchKind::kernel) return false;
      const Kernel& kernel = program_.kernels[static_cast<size_t>(launch.kernel)];
      size += kernel.exprs.size();
      const bool is_small = launch.parallel.is(1) || (launch.parallel * max(launch.cost, Dim(1))).max() < small_launch;
      return is_small && !kernel.dot && size <= largest_turn &&
             std::ranges::none_of(kernel.memories,
                                  [](const Memory& memory) { return memory.scratch || memory.past_caches; });
    });
  }

  void add(const Launch& loop) {
    module_.short_loops.insert(&loop);
    for (const Launch& launch : loop.blocks[0].launches)
      launch.kind == LaunchKind::count ? add(launch) : void(kernels_.insert(launch.kernel));
  }

  ModuleText& module_;
  const Program& program_;
  std::set<int32_t> kernels_;
};

// Buffers that kernels of a loop read and write; what inner loops have for their own is memory of those.
void find_used(const Launch& loop, std::set<int32_t>& used) {
  used.insert(loop.buffers.begin(), loop.buffers.end() - (loop.kind == LaunchKind::count ? 1 : 0));
  for (const LaunchBlock& block : loop.blocks)
    for (const Launch& launch : block.launches) find_used(launch, used);
}

bool is_scalar(const Program& program, const BufferPlan& buffer) {
  const bool own = buffer.place == Place::arena ||
                   (buffer.place == Place::output && program.outputs[static_cast<size_t>(buffer.index)].alias < 0);
  return own && buffer.type.count().is(1) && buffer.offset.is_static();
}

// Whether two buffers may share memory, but for the same bytes of two scalars.
bool may_overlap(const BufferPlan& scalar, const BufferPlan& other) {
  if (scalar.place != other.place || scalar.index != other.index) return false;
  return other.offset.min() < scalar.offset.value() + size_of(scalar.type.dtype) &&
         scalar.offset.value() - other.offset.max() < other.bytes.max();
}

}  // namespace

LoopScalars::LoopScalars(const Program& program, const Launch& loop) {
  std::set<int32_t> used;
  find_used(loop, used);
  auto plan = [&](int32_t buffer) -> const BufferPlan& { return program.buffers[static_cast<size_t>(buffer)]; };
  using Bytes = std::tuple<Place, int32_t, int64_t, int64_t>;
  std::map<Bytes, std::string> memories;
  const std::set<int32_t> given(loop.buffers.begin(), loop.buffers.end() - 1);
  for (int32_t buffer : used) {
    const BufferPlan& scalar = plan(buffer);
    if (!is_scalar(program, scalar) || std::ranges::any_of(used, [&](int32_t other) {
          return !is_scalar(program, plan(other)) && may_overlap(scalar, plan(other));
        }))
      continue;
    const int64_t bytes = size_of(scalar.type.dtype);
    auto [memory, is_new] = memories.try_emplace({scalar.place, scalar.index, scalar.offset.value(), bytes},
                                                 cat("%scalar", memories.size()));
    names[buffer] = memory->second;
    if (is_new) append(room, "  ", memory->second, " = alloca [", bytes, " x i8], align 64\n");
    if (given.count(buffer) != 0) carried.push_back(buffer);
  }
}

void take_in_short_loops(ModuleText& module, const Program& program) {
  ShortLoops loops(module, program);
  loops.find(program.run, 1);
  loops.emit();
}

}  // namespace weft
