// Graph → Executable.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weft/compiler/dump.h"
#include "weft/core/knobs.h"
#include "weft/ir/graph.h"
#include "weft/ir/text.h"
#include "weft/kernel/kernel.h"
#include "weft/runtime/file.h"

namespace weft {

struct CompileOptions {
  std::string target = knob_text(Knob::target);  // native, avx512, avx2, x86-64
  Device device{};                               // where it will run
  // Code that is compiled quickly runs until better code is compiled beside it, where the program does little: for one
  // that runs at once.
  bool tiered = false;
  // Runs end in an error where a check_range finds something; else there is none.
  bool checks = true;
};

struct Compiled {
  Executable executable;
  std::vector<StageTime> times;  // "cache" instead of those of the compiler where it had been compiled before
  std::function<std::shared_ptr<const Build>()>
      build;  // waits until its best code is compiled; none for what a device compiled
};

// Compiles a graph of either level. Error where something is not supported, naming op, dtype and the user's line.
Compiled compile(const Graph& graph, const CompileOptions& options = {});
// What a file of it holds; `graph`: what it was compiled from. With `targets` it is compiled for these kinds of CPU, of
// which this need be none; without, the file holds what was compiled.
Package package_of(const Graph& graph, const Compiled& compiled, const std::vector<std::string>& targets = {});
// What a file of the program alone holds: no machine code.
Package package_of(const Graph& graph);
// The program that a file holds as text.
GraphPtr graph_of(const Package& package);
// The best build in it that such a target can run; where there is none, its text is compiled.
Compiled load(const Package& package, const CompileOptions& options = {});
// The program as StableHLO that other tools read.
std::string stablehlo_text(const Graph& graph, const PrintOptions& options = {});
// The first half: passes, fusion, lowering and the memory plan; the kernel interpreter runs the result without LLVM.
Program lower_to_program(const Graph& graph);

}  // namespace weft
