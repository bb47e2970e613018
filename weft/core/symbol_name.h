// What symbolic extents may be called.
#pragma once

#include <string_view>

namespace weft {

// Error(value, "dim_name") of a name that programs as text cannot have: it must be letters, digits, "_" and ".", no more than
// 120, and begin with no digit.
void require_symbol_name(std::string_view name);

}  // namespace weft
