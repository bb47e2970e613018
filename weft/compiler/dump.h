// WEFT_DUMP: the text of every stage of a compilation, numbered, to be read, compared and run again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/ir/graph.h"
#include "weft/kernel/kernel.h"

namespace weft {

// How long each stage took, in order.
struct StageTime {
  std::string stage;
  double milliseconds = 0;
};

// A folder for one compiled function; the second of a name in a process is NAME-2.
class Dump {
 public:
  // Nothing where the knob is not set. Error(io) where the folder cannot be made.
  explicit Dump(const Graph& graph);
  Dump() = default;
  explicit operator bool() const { return !folder_.empty(); }

  // 00-trace.mlir, and a number more for each pass that follows: StableHLO syntax that `parse` reads.
  void graph(std::string_view name, const Graph& graph);
  void text(const std::string& file, std::string_view text) const;
  // report.json: the program's name and target, the times, and for each .mlir how many nodes it has; kernels, launches,
  // cuts and memory.
  void report(const Program& program, const std::string& target, const std::vector<StageTime>& times) const;

 private:
  struct Stage {
    std::string file;
    size_t nodes;
  };
  std::string folder_;
  std::vector<Stage> stages_;
};

}  // namespace weft
