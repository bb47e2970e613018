// Plans of Fourier transforms that are kept.
#pragma once

#include <memory>

#include "weft/library/fft_plan.h"

namespace weft {

// The plan of a length, and for the real transforms of twice that length the roots that FftEngine::split_real takes.
template <class T>
struct FftTables {
  FftPlan<T> plan;
  std::vector<T> real_roots;  // empty: not asked for
};

// What is asked for most lately is kept: of each precision at most 64 plans, with at most 64 MiB of tables besides the
// newest.
template <class T>
std::shared_ptr<const FftTables<T>> fft_tables(int64_t n, FftUse use, bool for_real);
// How many there are.
template <class T>
size_t kept_fft_tables();

}  // namespace weft
