// Compiled programs as files: what is written to disk and read back, and trusted no further than it is checked.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/core/digest.h"
#include "weft/runtime/executable.h"

namespace weft {

// A program for one kind of CPU, before it is loaded.
struct Build {
  std::string target;                 // native, avx512, avx2, x86-64
  std::vector<std::string> features;  // what the CPU must have, as GCC names it: avx2, avx512f
  Manifest manifest;
  std::vector<std::string> objects;  // machine code, as Executable::load takes it
};

// What a file holds: a program for one kind of CPU or for several, and what it was made from.
struct Package {
  Digest key;        // of what it was made from, for who looks for that
  std::string text;  // StableHLO, for other CPUs; "dense_resource<c2>" in it is the third of `resources`
  std::vector<Manifest::Constant> resources;
  std::vector<Build> builds;
};

// Writes it under a temporary name beside `path`, which then becomes `path`: readers see the whole file or none.
// Constants that are used several times are written once, those that lie in memory of `lenders` not at all. Error(io)
// where that fails.
void write_package(const std::filesystem::path& path, const Package& package,
                   std::span<const Manifest::Constant> lenders = {});
// The same bytes.
std::string package_bytes(const Package& package);
// Reads what was written. `lenders`: as it was written with. Constants lie in the file's memory, which stays mapped as
// long as they are used. Error(io), label "executable_file", for bytes that are no such file: cut short, damaged, of
// another version, or with constants that do not fit.
Package read_package(const std::filesystem::path& path, std::span<const Manifest::Constant> lenders = {});
// The same out of memory, which `owner` holds as long as constants are used; `bytes` begin at a multiple of 64.
Package parse_package(std::string_view bytes, std::shared_ptr<const void> owner,
                      std::span<const Manifest::Constant> lenders = {});

// The build that asks most of the CPU, of those that ask for nothing but `features`; null where there is none.
const Build* best_build(const Package& package, std::span<const std::string> features);
// The same for this CPU. Error(unsupported), label "cpu_feature", where it lacks something for each, naming what.
const Build& best_build(const Package& package);

}  // namespace weft
