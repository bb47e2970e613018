// A compiled program as Python holds it, and one call of it with NumPy arrays.
#pragma once

#include <vector>

#include "convert.h"
#include "weft/compiler/compile.h"

namespace weft::py {

struct PyExecutable {
  Compiled compiled;
  // Captured arrays and anything else that must live as long as the code.
  nb::object keep;
  // What it was compiled from, or the file that it was loaded from.
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Package> package;
};

// Runs with arrays in the order of the program's inputs; returns a new array for each output, and the input itself
// (written in place) for an aliased one. Every input must be an ndarray of the right dtype, or, on the host, a Python
// float in the place of a float64 without dimensions; arrays that are not dense are copied first, and written back
// after.
std::vector<nb::object> run(const Executable& executable, std::vector<nb::object>& inputs);
// The same for a program whose memory is none of the host's: copies the arrays there and the results back.
std::vector<nb::object> run_elsewhere(const Executable& executable, const std::vector<nb::object>& inputs);

}  // namespace weft::py
