// Rough prices: what decides whether a value is computed twice, kept, or shared between threads.
#pragma once

#include "weft/kernel/kernel.h"

namespace weft {

// Work for an element that may be done twice rather than stored: about the price of writing and reading it.
inline constexpr int cheap = 6;

// The price of one scalar operation, in vector additions.
int cost_of(Scalar op);

// The price of one expression without its arguments, and of all expressions of a kernel, each once.
int price_of(const Expr& expr);
int price_of(const Kernel& kernel);

// The price of one iteration of the kernel's parallel loop, or of the whole kernel where it has none, in additions of
// 32-bit elements in vectors: about 10 ps each. Extents that vary within the kernel count as their largest.
Dim work_of(const Kernel& kernel);

}  // namespace weft
