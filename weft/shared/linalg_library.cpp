// What the library of linear algebra shows.
#include "weft/core/api.h"
#include "weft/library/routine.h"

extern "C" WEFT_API weft::Routine weft_find_linalg_routine(std::string_view name) {
  return weft::find_linalg_routine(name);
}
