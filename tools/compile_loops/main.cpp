// Writes the library of compiled loops to a file: for each target, function after function, the target's number, the
// lengths of name and object, and both.
#include <cstdint>
#include <fstream>
#include <iostream>

#include "weft/codegen/llvm/dot.h"
#include "weft/codegen/llvm/object.h"

int main(int count, char** arguments) {
  std::ofstream file(count == 2 ? arguments[1] : "", std::ios::binary);
  uint32_t number = 0;
  for (const weft::Target& target : weft::library_targets()) {
    for (const auto& [name, module] : weft::DotEmitter::library(target)) {
      std::string object = weft::compile_to_object(module, target).bytes;
      const uint32_t head[] = {number, static_cast<uint32_t>(name.size()), static_cast<uint32_t>(object.size())};
      file.write(reinterpret_cast<const char*>(head), sizeof head);
      file << name << object;
    }
    ++number;
  }
  file.close();
  if (!file) std::cerr << "usage: compile_loops FILE, in a folder where files can be written\n";
  return file ? 0 : 1;
}
