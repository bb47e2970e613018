// The Python module weftwork._core.
#include <nanobind/nanobind.h>

NB_MODULE(_core, m) { m.doc() = "The native half of weftwork; import weftwork instead."; }
