// Results that no cache would hold until they are read: written past the caches, no line is read before it is
// overwritten.
#include "weft/kernel/lower.h"

#include <algorithm>

#include "weft/core/pages.h"

namespace weft {
namespace {

// Kernels that cost no more for a byte, in the prices of cost.h, wait for memory.
constexpr int64_t waits = 4;

void visit_launches(const std::vector<Launch>& launches, bool outermost, auto& visit) {
  for (const Launch& launch : launches) {
    visit(launch, outermost);
    for (const LaunchBlock& block : launch.blocks) visit_launches(block.launches, false, visit);
  }
}

}  // namespace

void write_past_caches(Program& program) {
  // Memories of kernels that some launch has a reason to keep in cache, or may not write so: only results are known to
  // begin at a cache line.
  std::vector<std::vector<bool>> keeps(program.kernels.size());
  for (size_t k = 0; k < keeps.size(); ++k) {
    const Kernel& kernel = program.kernels[k];
    for (const Memory& memory : kernel.memories)
      keeps[k].push_back(!memory.written || memory.scratch || kernel.dot.has_value());
    for (const Expr& e : kernel.exprs)
      if (e.kind == ExprKind::load) keeps[k][static_cast<size_t>(e.slot)] = true;
  }
  // What another launch reads may still lie in the last-level cache then.
  std::vector<int> uses(program.buffers.size());
  auto count = [&](const Launch& launch, bool) {
    for (int32_t buffer : launch.buffers) ++uses[static_cast<size_t>(buffer)];
  };
  visit_launches(program.run, true, count);
  std::vector<bool> launched(program.kernels.size()), may_fit(program.kernels.size());
  auto visit = [&](const Launch& launch, bool outermost) {
    for (int32_t body : launch.bodies)
      keeps[static_cast<size_t>(body)].assign(keeps[static_cast<size_t>(body)].size(), true);
    if (launch.kind != LaunchKind::kernel) return;
    auto k = static_cast<size_t>(launch.kernel);
    launched[k] = true;
    std::vector<int32_t> distinct = launch.buffers;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    int64_t bytes = 0;
    for (int32_t buffer : distinct) bytes += program.buffers[static_cast<size_t>(buffer)].bytes.opt();
    if (bytes < 2 * beyond_caches && (launch.cost * launch.parallel).opt() <= waits * bytes) may_fit[k] = true;
    size_t next = 0;
    for (size_t i = 0; i < keeps[k].size(); ++i) {
      if (program.kernels[k].memories[i].scratch) continue;
      auto b = static_cast<size_t>(launch.buffers[next++]);
      bool is_result = outermost && bytes >= beyond_caches && program.buffers[b].place == Place::output && uses[b] == 1;
      const ProgramOutput* output =
          is_result ? &program.outputs[static_cast<size_t>(program.buffers[b].index)] : nullptr;
      if (!output || output->alias >= 0 || !is_lined_up(output->type)) keeps[k][i] = true;
    }
  };
  visit_launches(program.setup, false, visit);
  visit_launches(program.run, true, visit);
  for (size_t k = 0; k < keeps.size(); ++k) {
    if (!launched[k]) continue;
    Kernel& kernel = program.kernels[k];
    for (size_t i = 0; i < keeps[k].size(); ++i) kernel.memories[i].past_caches = !keeps[k][i];
    kernel.two_ways = may_fit[k] && std::ranges::any_of(kernel.memories, &Memory::past_caches);
  }
}

}  // namespace weft
