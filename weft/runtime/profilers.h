// Code made at run time, as `perf` is told of it.
#pragma once

#include <span>

#include "weft/runtime/executable.h"
#include "weft/runtime/object.h"

namespace weft {

// Names them in /tmp/perf-PID.map, which `perf report` reads, and with code and the kernels' lines in
// /tmp/jit-PID.dump, which `perf inject --jit` reads (the format is Linux's
// tools/perf/Documentation/jitdump-specification.txt). Where these cannot be written nothing happens.
void name_for_profilers(std::span<const CodeFunction> functions, const Manifest& manifest);

}  // namespace weft
