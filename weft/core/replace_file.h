// Files that appear whole or not at all.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "weft/core/text.h"

namespace weft {

// What write(stream) puts out, under another name first, which then becomes `path`: readers see the whole file or the one
// before. Gives what went wrong, if anything, and leaves nothing then. A link goes on to name the same file; a device or a
// pipe is written where it is, as a file in its place would take it from everyone.
template <class F>
std::error_code replace_file(const std::filesystem::path& path, F write) {
  static std::atomic<uint64_t> number{0};
  std::error_code problem, ignored;
  std::filesystem::file_status before = std::filesystem::status(path, ignored);
  bool in_place = is_other(before);
  std::filesystem::path target = is_regular_file(before) ? std::filesystem::canonical(path, ignored) : path;
  if (target.empty()) target = path;
  std::filesystem::path draft = target;
  if (!in_place) draft += cat(".", getpid(), ".", number++, ".tmp");
  errno = 0;
  std::ofstream out(draft, std::ios::binary);
  if (out) write(out);
  out.close();
  if (!out) problem = std::error_code(errno ? errno : EIO, std::generic_category());
  else if (!in_place) std::filesystem::rename(draft, target, problem);
  if (problem && !in_place) std::filesystem::remove(draft, ignored);
  return problem;
}

}  // namespace weft
