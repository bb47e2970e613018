// HLO out: the module around the computations.
#include "weft/interop/hlo.h"

#include "weft/interop/hlo_writer.h"

namespace weft {
namespace {

constexpr int64_t must_alias = 2;

// xla.HloInputOutputAliasProto: outputs that land in the memory of a parameter.
Message alias_message(const Graph& graph) {
  Message aliases;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (graph.outputs()[i].alias < 0) continue;
    Message entry;
    if (graph.outputs().size() > 1) entry.numbers(1, Ints{static_cast<int64_t>(i)});
    entry.number(2, graph.outputs()[i].alias);
    entry.number(4, must_alias);
    aliases.message(1, entry);
  }
  return aliases;
}

// xla.FrontendAttributes: the names of the outputs, for which a program shape has no place.
Message result_names(const Graph& graph) {
  Message attributes;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    Message entry;
    entry.text(1, cat("weft.result.", i));
    entry.text(2, graph.outputs()[i].name);
    attributes.message(1, entry);
  }
  return attributes;
}

}  // namespace

std::string hlo_proto(const Graph& graph) {
  if (graph.level() != Level::flat)
    fail(ErrorKind::value, "hlo_level", "HLO is written from a flat graph, '", graph.name(), "' is a trace");
  HloModule computations;
  HloCallee entry = computations.add(graph, graph.name());
  Message module;
  module.text(1, entry.name);
  module.text(2, entry.name);
  for (const Message& computation : computations.computations()) module.message(3, computation);
  module.message(4, entry.program_shape);
  module.number(6, entry.id);
  module.message(8, alias_message(graph));
  module.message(17, computations.frames().index());
  module.message(19, result_names(graph));
  return module.bytes();
}

}  // namespace weft
