// Program → the LLVM IR of an object file that C programs link.
#pragma once

#include <string>
#include <vector>

#include "weft/codegen/target.h"
#include "weft/kernel/kernel.h"

namespace weft {

// What an object file of an exported program bears besides its code.
struct ExportPlan {
  std::string name;                       // of its function; every symbol it shows begins so
  std::string signature;                  // sixteen hexadecimal digits that the header has too
  std::vector<size_t> lined_up;           // outputs that must begin at a cache line
  std::vector<int64_t> constant_offsets;  // from the hidden symbol "NAME.constants", which the IR leaves to be defined
};

// The IR of the whole program with one function `int32_t NAME(pool, symbols…, inputs…, outputs…)`, outputs that land in
// inputs left out, and the number NAME_signature. All else is internal. It calls weft_support_run_2
// (weft/support/support.c).
std::string emit_exported(const Program& program, const Target& target, const ExportPlan& plan);

}  // namespace weft
