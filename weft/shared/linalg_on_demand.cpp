// In the library that only runs programs: linear algebra, four fifths of all code, lies in a library beside it, which
// is loaded when a program first needs it.
#include <dlfcn.h>

#include <string>

#include "weft/core/error.h"
#include "weft/library/routine.h"

namespace weft {
namespace {

using Find = Routine (*)(std::string_view);
constexpr const char* name = "libweft_linalg.so." WEFT_VERSION;

// By the folder of this library: the search path of its own is not asked where something stands between it and dlopen,
// as AddressSanitizer does.
void* open_beside() {
  Dl_info self;
  std::string path = dladdr(reinterpret_cast<void*>(&find_linalg_routine), &self) ? self.dli_fname : "";
  path.resize(path.rfind('/') + 1);
  void* found = dlopen((path + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  return found ? found : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

struct Library {
  void* handle = open_beside();
  std::string reason = handle ? "" : dlerror();
  Find find = handle ? reinterpret_cast<Find>(dlsym(handle, "weft_find_linalg_routine")) : nullptr;
};

}  // namespace

Routine find_linalg_routine(std::string_view name) {
  static Library library;
  if (!library.find)
    fail(ErrorKind::unsupported, "linalg_library", "'", name,
         "' needs libweft_linalg.so." WEFT_VERSION " beside libweft_runtime.so: ", library.reason);
  return library.find(name);
}

}  // namespace weft
