// The functions that generated code may call.
#pragma once

#include <string_view>

namespace weft {

// The address, or null for a name that is not in the table.
void* runtime_symbol(std::string_view name);

}  // namespace weft
