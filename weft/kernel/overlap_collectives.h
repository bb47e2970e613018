// Launches between the begin of a collective and its end.
#pragma once

#include <vector>

#include "weft/kernel/draft.h"

namespace weft {

// Divides each collective that kernels can run beside into a launch that begins it and one that waits for its end,
// which stands before the first launch that needs the result or writes what the collective reads. Kernels that depend
// on nothing in between are moved there from behind. All collectives begin in the order in which they stood.
void overlap_collectives(std::vector<Draft>& drafts);

}  // namespace weft
