// The functions that were compiled when Weftwork was built.
#pragma once

#include "weft/codegen/emit.h"

namespace weft {

// Those that code for this target may call; none where no target of the library serves it.
Library library_for(const Target& target);

}  // namespace weft
