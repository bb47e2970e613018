// The table of routines: from numbers and buffers to calls.
#include "weft/library/routine.h"

#include "weft/library/collective.h"
#include "weft/library/custom.h"
#include "weft/library/fft.h"
#include "weft/library/sort.h"

namespace weft {
namespace {

void fourier(const int64_t* numbers, void* const* buffers, const RoutineBody*) {
  fft_routine(numbers, buffers, by_caller);
}

void sort(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies) {
  sort_routine(numbers, buffers, bodies, by_caller);
}

struct Row {
  std::string_view name;
  Routine routine;
};

const Row rows[] = {{"fft", fourier},
                    {"sort", sort},
                    {"custom", custom_routine},
                    {"collective", collective_routine},
                    {"collective_begin", collective_begin_routine},
                    {"collective_end", collective_end_routine},
                    {"rank", rank_routine}};

}  // namespace

Routine find_routine(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.routine;
  return find_linalg_routine(name);
}

void run_told(std::string_view name, const char* const* texts, const int64_t* numbers, void* const* buffers) {
  if (name == "collective" || name == "collective_begin") return run_collective(texts, numbers, buffers);
  if (name == "collective_end") return;
  if (name == "rank") return run_rank(texts, numbers, buffers);
  run_custom_op(texts, numbers, buffers, false);
}

}  // namespace weft
