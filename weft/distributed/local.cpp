// Ranks that are threads of this process.
#include <sys/mman.h>

#include "weft/core/error.h"
#include "weft/distributed/board.h"
#include "weft/distributed/memory.h"

namespace weft {

void require_size(int rank, int size) {
  if (size < 1 || size > max_ranks || rank < 0 || rank >= size)
    fail(ErrorKind::value, "rank", "a rank must be from 0 to size - 1 and the size from 1 to ", max_ranks,
         ", got rank ", rank, " of ", size);
}

std::shared_ptr<std::byte> mapped_memory(int file, size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
  if (memory == MAP_FAILED)
    fail(ErrorKind::runtime, "out_of_memory", "no ", bytes, " bytes of memory for ranks to share");
  return {static_cast<std::byte*>(memory), [bytes](std::byte* begin) { munmap(begin, bytes); }};
}

std::vector<std::unique_ptr<Communicator>> local_communicators(int size, double timeout) {
  require_size(0, size);
  std::shared_ptr<std::byte> memory = mapped_memory(-1, Board::bytes_for(size));
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int rank = 0; rank < size; ++rank)
    communicators.push_back(
        communicator_on(std::make_unique<Board>(memory, rank, size, timeout, [](int) { return true; }), true));
  return communicators;
}

}  // namespace weft
