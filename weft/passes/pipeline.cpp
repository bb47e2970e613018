// The order of the passes.
#include "weft/passes/pass.h"

namespace weft {

std::span<const Step> pipeline() {
  static const Step steps[] = {
      {&flatten, "everything below knows flat ops only"},
      {&fold, "constants that bodies brought in become plain ones, which rules can see"},
      {&simplify, "views that cancel must be gone before fusion looks for borders"},
      {&cse, "layers repeat masks, counts and broadcasts"},
  };
  return steps;
}

GraphPtr run_pipeline(const Graph& graph) {
  GraphPtr current;
  for (const Step& step : pipeline()) {
    const Graph& from = current ? *current : graph;
    if (step.pass == &flatten && from.level() == Level::flat) continue;
    current = step.pass->run(from);
  }
  return current;
}

}  // namespace weft
