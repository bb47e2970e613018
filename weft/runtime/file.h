// A compiled program as bytes: what is written to disk and read back, and trusted no further than it is checked.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "weft/core/digest.h"
#include "weft/runtime/executable.h"

namespace weft {

// A program before it is loaded.
struct Package {
  Manifest manifest;
  std::vector<std::string> objects;  // machine code, as Executable::load takes it
  // For each constant the number of the lender who has its bytes, or -1 where they are in the file.
  std::vector<int64_t> lenders;
  Digest key;  // of what it was made from, for who looks for that
};

// Writes it under a temporary name beside `path`, which then becomes `path`: readers see the whole file or none. Error(io)
// where that fails.
void write_package(const std::filesystem::path& path, const Package& package);
// Reads what was written. `lent`: the constants of lenders, by their numbers. Error(io), label "executable_file", for
// bytes that are no such file: cut short, damaged, of another version, or with constants that do not fit.
Package read_package(const std::filesystem::path& path, std::span<const Manifest::Constant> lent);

}  // namespace weft
