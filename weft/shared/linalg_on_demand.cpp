// In the library that only runs programs: linear algebra, four fifths of all code, lies in a library beside it, which is loaded
// when a program first needs it.
#include <dlfcn.h>

#include "weft/core/error.h"
#include "weft/library/routine.h"

namespace weft {

Routine find_linalg_routine(std::string_view name) {
  using Find = Routine (*)(std::string_view);
  static void* library = dlopen("libweft_linalg.so." WEFT_VERSION, RTLD_NOW | RTLD_LOCAL);
  static auto find = library ? reinterpret_cast<Find>(dlsym(library, "weft_find_linalg_routine")) : nullptr;
  if (!find) fail(ErrorKind::unsupported, "linalg_library", "'", name, "' needs libweft_linalg.so." WEFT_VERSION " beside libweft_runtime.so");
  return find(name);
}

}  // namespace weft
