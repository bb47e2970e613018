// The table of routines: from numbers and buffers to calls.
#include "weft/library/routine.h"

#include "weft/library/custom.h"
#include "weft/library/fft.h"
#include "weft/library/sort.h"

namespace weft {
namespace {

void fourier(const int64_t* numbers, void* const* buffers, const RoutineBody*) { fft_routine(numbers, buffers, by_caller); }

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
