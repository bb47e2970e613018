// Memory for a board.
#pragma once

#include <cstddef>
#include <memory>

namespace weft {

// Error(value), label "rank".
void require_size(int rank, int size);
// Zeros of this process and, where `file` is a descriptor, of all that map it; pages come as they are first written.
std::shared_ptr<std::byte> mapped_memory(int file, size_t bytes);

}  // namespace weft
