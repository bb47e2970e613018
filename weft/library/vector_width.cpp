// How wide the vectors of routines are.
#include "weft/library/vector_width.h"

#include <string>

#include "weft/core/knobs.h"

namespace weft {
namespace {

int width_of_process() {
#if defined(__x86_64__)
  const std::string target = knob_text(Knob::target);
  if (target != "x86-64" && target != "avx2" && __builtin_cpu_supports("avx512f")) return 64;
  if (target != "x86-64" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 32;
#endif
  return 16;
}

}  // namespace

int widest_vectors() {
  static const int width = width_of_process();
  return width;
}

}  // namespace weft
