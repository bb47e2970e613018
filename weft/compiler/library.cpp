// A file that the build made (tools/compile_loops), part of our own constants.
#include "weft/compiler/library.h"

#include <cstdint>
#include <cstring>

asm(".section .rodata\n"
    "weft_library_begin:\n"
    ".incbin \"" WEFT_LIBRARY_FILE
    "\"\n"
    "weft_library_end:\n"
    ".previous\n");
extern "C" const char weft_library_begin[], weft_library_end[];

namespace weft {

Library library_for(const Target& target) {
  Library library;
  std::vector<Target> targets = library_targets();
  size_t best = 0;
  while (best < targets.size() && !serves(targets[best], target)) ++best;
  std::string_view left(weft_library_begin, static_cast<size_t>(weft_library_end - weft_library_begin));
  while (!left.empty()) {
    uint32_t number, name_size, object_size;
    uint32_t* head[] = {&number, &name_size, &object_size};
    for (uint32_t* value : head) {
      std::memcpy(value, left.data(), sizeof *value);
      left.remove_prefix(sizeof *value);
    }
    // With AMX the rest is that of the next one.
    if (number == best || (target.amx && number == best + 1))
      library.emplace(left.substr(0, name_size), left.substr(name_size, object_size));
    left.remove_prefix(name_size + object_size);
  }
  return library;
}

}  // namespace weft
