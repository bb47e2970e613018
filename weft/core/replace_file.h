// Files that appear whole or not at all.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "weft/core/text.h"

namespace weft {

// What write(stream) puts out, under another name first, which then becomes `path`: readers see the whole file or the one
// before. Gives what went wrong, if anything, and leaves nothing then.
template <class F>
std::error_code replace_file(const std::filesystem::path& path, F write) {
  static std::atomic<uint64_t> number{0};
  std::filesystem::path draft = path;
  draft += cat(".", getpid(), ".", number++, ".tmp");
  std::ofstream out(draft, std::ios::binary);
  write(out);
  out.close();
  std::error_code problem;
  if (out) std::filesystem::rename(draft, path, problem);
  else problem = std::make_error_code(std::errc::io_error);
  std::error_code ignored;
  if (problem) std::filesystem::remove(draft, ignored);
  return problem;
}

}  // namespace weft
