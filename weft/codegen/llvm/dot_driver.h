// The loops around the micro-kernel, as text of which words are to be filled in.
#pragma once

#include <string_view>

namespace weft {

extern const std::string_view driver_text;

}  // namespace weft
