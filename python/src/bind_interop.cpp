// Programs in the formats of others.
#include <nanobind/stl/shared_ptr.h>

#include "convert.h"
#include "weft/interop/hlo.h"
#include "weft/passes/pass.h"

namespace weft::py {

void bind_interop(nb::module_& m) {
  m.def(
      "hlo_proto",
      [](const std::shared_ptr<Graph>& graph) {
        std::string proto = hlo_proto(*flatten.run(*spell_out.run(*while_loops.run(*flatten.run(*graph)))));
        return nb::bytes(proto.data(), proto.size());
      },
      nb::arg("graph"), "A serialized xla.HloModuleProto.");
}

}  // namespace weft::py
