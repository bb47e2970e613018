// What symbolic extents may be called.
#pragma once

#include <string_view>

#include "weft/core/dim.h"

namespace weft {

// Error(value, "dim_name") of a name that programs as text cannot have: it must be letters, digits, "_" and ".", no
// more than 120, and begin with no digit.
void require_symbol_name(std::string_view name);
// The same of its name, and Error(value, "dim_range") of a range that is negative, empty or without its `opt`.
void require_symbol(const Symbol& symbol);

}  // namespace weft
