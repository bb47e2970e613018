// The extension module: binds the parts in order.
#include "convert.h"
#include "numpy_array.h"

NB_MODULE(_core, m) {
  // Jitted functions of a module refer to it and it to them; at exit such cycles are let go unreported.
  nanobind::set_leak_warnings(false);
  m.doc() = "Weftwork's native core; the package weftwork is its public face.";
  weft::py::import_numpy();
  weft::py::bind_core(m);
  weft::py::bind_ir(m);
  weft::py::bind_interop(m);
  weft::py::bind_tensor(m);
  weft::py::bind_functions(m);
  weft::py::bind_operated(m);
  weft::py::bind_shapes(m);
  weft::py::bind_device(m);
  weft::py::bind_runtime(m);
  weft::py::bind_run(m);
  weft::py::bind_dispatch(m);
  weft::py::bind_custom(m);
  weft::py::bind_distributed(m);
  weft::py::bind_carrier(m);
}
