#include "weft/codegen/llvm/short_loops.h"

#include <algorithm>
#include <set>

#include "weft/codegen/llvm/entry.h"

namespace weft {
namespace {

// By so many turns that it pays to compile their kernels once more.
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
      if (is_count && turns >= least_turns && is_short(launch, size))
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
  static constexpr double least_turns = 256;
  static constexpr size_t largest_turn = 512;  // expressions

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

}  // namespace

void take_in_short_loops(ModuleText& module, const Program& program) {
  ShortLoops loops(module, program);
  loops.find(program.run, 1);
  loops.emit();
}

}  // namespace weft
