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

// How many were begun in this process: each has a name of its own.
inline std::atomic<uint64_t> drafts{0};

// What write(stream) puts out, under another name first, which then becomes `path`: readers see the whole file or the
// one before, which gives its permissions. Gives what went wrong, if anything, and leaves nothing then. A link goes on
// to name the same file, and names it now if there was none; a device or a pipe is written where it is, as a file in
// its place would take it from everyone.
template <class F>
std::error_code replace_file(const std::filesystem::path& path, F write) {
  std::error_code problem, ignored;
  std::filesystem::file_status before = std::filesystem::status(path, ignored);
  bool in_place = is_other(before);
  std::filesystem::path target = path;
  for (int links = 0;
       links < 40 && !in_place && std::filesystem::is_symlink(std::filesystem::symlink_status(target, ignored));
       ++links)
    target = target.parent_path() / std::filesystem::read_symlink(target, ignored);
  std::filesystem::path draft = target;
  if (!in_place) draft += cat(".", getpid(), ".", drafts++, ".tmp");
  errno = 0;
  std::ofstream out(draft, std::ios::binary);
  if (out && !in_place && is_regular_file(before)) std::filesystem::permissions(draft, before.permissions(), ignored);
  if (out) write(out);
  out.close();
  if (!out)
    problem = std::error_code(errno ? errno : EIO, std::generic_category());
  else if (!in_place)
    std::filesystem::rename(draft, target, problem);
  if (problem && !in_place) std::filesystem::remove(draft, ignored);
  return problem;
}

}  // namespace weft
