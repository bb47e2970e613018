// Graph → an object file and a C header.
#pragma once

#include <string>

#include "weft/ir/graph.h"

namespace weft {

// What a C program compiles with and links.
struct ExportedProgram {
  std::string object;  // ELF, relocatable; beside it the program needs libweft_support.a, pthreads and libm
  std::string header;  // C99, and C++
};

// The program as one C function `name`, compiled for a target (weft/codegen/target.h); this CPU need not be it. Two
// programs of different names go into one binary. Error(value), label "export_name", for a name that C has no use for;
// Error(unsupported), label "export", where the program calls what the support library lacks: routines such as
// Cholesky's, sorting, custom operations, and functions that neither machine code nor libm have.
ExportedProgram export_program(const Graph& graph, const std::string& name, const std::string& target = "native");

}  // namespace weft
