// Long work without the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>

#include "weft/core/knobs.h"

namespace weft::py {

// Lets other threads run Python, which may set variables of the environment: knobs are read from a copy meanwhile.
class WithoutGil {
 private:
  struct Copied {
    Copied() { copy_environment(); }
  };
  Copied copied_;
  BesideEnvironment beside_;
  nanobind::gil_scoped_release release_;
};

}  // namespace weft::py
