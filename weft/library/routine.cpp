// The table of routines: from numbers and buffers to calls.
#include "weft/library/routine.h"

#include "weft/library/custom.h"
#include "weft/library/fft.h"
#include "weft/library/sort.h"

namespace weft {
namespace {

void fourier(const int64_t* n, void* const* b, const RoutineBody*) {
  fft(static_cast<DType>(n[0]), static_cast<FftKind>(n[2]), n[1], {n + 4, static_cast<size_t>(n[3])}, b[0], b[1]);
}

struct Row {
  std::string_view name;
  Routine routine;
};

const Row rows[] = {{"fft", fourier}, {"sort", sort_routine}, {"custom", custom_routine}};

}  // namespace

Routine find_routine(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.routine;
  return find_linalg_routine(name);
}

}  // namespace weft
