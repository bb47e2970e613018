// A module's text in parts that compile side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

// At most `most` modules that have all functions of the module between them, each in one of them, in parts of about the
// same work; one where it is too little to share. Functions are hidden symbols where another part needs them; those
// that are always inlined, and constants, are in each part that does. The code of a function does not depend on the
// parts. `ir`: as emit() writes it, one line for each thing but functions. Parts of more than `most_text` of it are
// parted further, where they are not one function.
std::vector<std::string> split_module(const std::string& ir, int most, size_t most_text = SIZE_MAX);

}  // namespace weft
