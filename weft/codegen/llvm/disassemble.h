// Machine code → assembly text.
#pragma once

#include <string>
#include <vector>

namespace weft {

struct Assembly {
  std::string function;
  std::string text;  // a line for each instruction, with its offset; labels before those that are jumped to
};

// The functions of a relocatable object (ELF, x86-64), in order; names stand for what calls and addresses refer to.
// Error(io), label "object_code", on bytes that are no such object.
std::vector<Assembly> disassemble(const std::string& object);

}  // namespace weft
