// From a program's plan to names, lines and sizes.
#include "weft/compiler/manifest.h"

#include <algorithm>
#include <map>

#include "weft/compiler/cache.h"

namespace weft {
namespace {

// An extent over the program's symbols; -1 where a loop's counter is in it.
Dim told(const Program& program, const Dim& dim) {
  auto is_known = [&](const Symbol& symbol) {
    return std::ranges::any_of(program.symbols, [&](const Symbol& known) { return known.name == symbol.name; });
  };
  auto symbols = dim.symbols();
  return std::ranges::all_of(symbols, is_known) ? dim : Dim(-1);
}

Dim flops_of(const Dot& dot) {
  if (dot.pack_rhs) return 0;
  Dim flops = Dim(2) * dot.m * dot.n * dot.k;
  for (const Dim& extent : dot.batch) flops = flops * extent;
  return flops;
}

LaunchInfo info_of(const Program& program, const Launch& launch) {
  LaunchInfo info;
  Dim read = 0, written = 0;
  size_t at = 0;
  auto count = [&](bool is_written) {
    const Type& type = program.buffers[static_cast<size_t>(launch.buffers[at++])].type;
    Dim bytes = told(program, type.count() * Dim(size_of(type.dtype)));
    Dim& sum = is_written ? written : read;
    sum = sum.is(-1) || bytes.is(-1) ? Dim(-1) : sum + bytes;
  };
  if (launch.kernel >= 0) {
    const Kernel& kernel = program.kernels[static_cast<size_t>(launch.kernel)];
    info.name = kernel.name;
    for (const Memory& memory : kernel.memories)
      if (!memory.scratch) count(memory.written);
    if (kernel.dot) info.flops = told(program, flops_of(*kernel.dot));
  } else {
    info.name = launch.routine;
    while (at < launch.buffers.size()) count(at >= launch.operands);
  }
  info.source = launch.loc.text();
  info.ops = launch.ops;
  for (const Location& line : launch.lines) info.lines.push_back(line.text());
  info.read_bytes = read;
  info.written_bytes = written;
  return info;
}

}  // namespace

Manifest manifest_of(const Program& program) {
  Manifest m;
  m.name = program.name;
  m.symbols = program.symbols;
  for (const ProgramInput& input : program.inputs) m.inputs.push_back({input.name, input.type, -1});
  for (const ProgramOutput& output : program.outputs) m.outputs.push_back({output.name, output.type, output.alias});
  for (const Literal& constant : program.constants) m.constants.push_back(constant_of(constant));
  m.arena_bytes = program.arena_bytes;
  m.persistent_bytes = program.persistent_bytes;
  for (const Kernel& kernel : program.kernels) m.kernels.push_back({kernel.name, kernel.loc.text(), {}, 0});
  for (const auto* list : {&program.run, &program.setup})
    for (const Launch* launch : plain_launches(*list)) {
      m.launches.push_back(info_of(program, *launch));
      m.launches.back().is_setup = list == &program.setup;
      m.launches.back().is_later = launch->later;
      if (launch->kernel < 0) continue;
      KernelInfo& kernel = m.kernels[static_cast<size_t>(launch->kernel)];
      if (kernel.launches++ == 0) kernel.ops = launch->ops;
    }
  m.checks = program.checks;
  for (RangeCheck& check : m.checks) check.limit = told(program, check.limit);
  for (const Cut& cut : program.cuts) m.cuts.push_back({cut.op, cut.loc.text(), cut.reason, cut.readers});
  return m;
}

}  // namespace weft
