// Programs as files: what is read back is what was written, and nothing else is.
#include "weft/runtime/file.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "weft/core/cpu.h"
#include "weft/core/error.h"

using namespace weft;

namespace {

const std::string numbers = "eight bytes, and eight more";

Manifest::Constant lent(Dims dims) { return {{DType::i8, std::move(dims)}, numbers.data() + 1, nullptr}; }

Package example() {
  Symbol n{"n", 1, 8, 100};
  Manifest m;
  m.name = "f";
  m.symbols = {n};
  m.inputs = {{"x", {DType::f32, {Dim(n), 3}}, -1}};
  m.outputs = {{"y", {DType::f32, {Dim(n), 3}}, 0}, {"z", {DType::bf16, {}}, -1}};
  m.constants = {{{DType::i8, {16}}, numbers.data(), nullptr}, {{DType::i64, {2}}, numbers.data() + 1, nullptr}};
  m.arena_bytes = Dim(n) * 64 + 128;
  m.persistent_bytes = 64;
  m.kernels = {{"add_f32", "model.py:14", {"add", "multiply"}, 2}};
  m.launches = {{"double", "a.py:1", {"multiply"}, {"a.py:1"}, 8, 8, 0, false}};
  m.cuts = {{"multiply", "a.py:1", "is used twice", {"add (a.py:2)"}}};
  Build build{"avx2", {"avx2", "fma"}, m, {"first object", ""}};
  Build other = build;
  other.manifest.symbols[0].max = 7, other.manifest.symbols[0].opt = 7;
  other.target = "x86-64";
  return {{3, 4}, "the text", {m.constants[0], m.constants[0]}, {build, other}};
}

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / cat("weft_file_test_", getpid());
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

std::string contents(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

// The label of the error that reading such bytes ends in; empty for none.
std::string outcome(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  Manifest::Constant lender = lent({16});
  try {
    read_package(path, {&lender, 1});
    return "";
  } catch (const Error& error) {
    return error.label();
  }
}

}  // namespace

TEST_CASE("a file gives back what was written") {
  Folder folder;
  std::filesystem::path path = folder.path / "f.weft";
  Package written = example();
  Manifest::Constant lender = lent({4, 4});
  write_package(path, written, {&lender, 1});
  Package read = read_package(path, {&lender, 1});
  CHECK(read.key == written.key);
  CHECK(read.text == "the text");
  REQUIRE(read.builds.size() == 2);
  CHECK(read.builds[0].features == written.builds[0].features);
  CHECK(read.builds[1].target == "x86-64");
  CHECK(read.builds[1].manifest.symbols[0].max == 7);
  CHECK(read.builds[0].objects == written.builds[0].objects);
  const Manifest &m = read.builds[0].manifest, &wanted = written.builds[0].manifest;
  CHECK(m.name == wanted.name);
  CHECK(m.symbols == wanted.symbols);
  CHECK(m.inputs[0].type == wanted.inputs[0].type);
  CHECK(m.outputs[0].alias == 0);
  CHECK(m.outputs[1].type == wanted.outputs[1].type);
  CHECK(m.outputs[1].alias == -1);
  CHECK(m.arena_bytes == wanted.arena_bytes);
  CHECK(m.persistent_bytes == wanted.persistent_bytes);
  CHECK(m.kernels[0].source == "model.py:14");
  CHECK(m.kernels[0].ops == wanted.kernels[0].ops);
  CHECK(m.kernels[0].launches == 2);
  CHECK(m.launches == wanted.launches);
  CHECK(m.cuts == wanted.cuts);
  CHECK(std::string(static_cast<const char*>(m.constants[0].bytes), 16) == numbers.substr(0, 16));
  CHECK(m.constants[1].bytes == numbers.data() + 1);
  CHECK(m.constants[1].type == wanted.constants[1].type);
  // It is in the file once.
  CHECK(read.resources[1].bytes == m.constants[0].bytes);
  CHECK(reinterpret_cast<uintptr_t>(m.constants[0].bytes) % 64 == 0);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("a byte that changed is found, and so is one that is missing or too many") {
  Folder folder;
  Manifest::Constant lender = lent({16});
  write_package(folder.path / "f.weft", example(), {&lender, 1});
  const std::string bytes = contents(folder.path / "f.weft");
  std::filesystem::path path = folder.path / "damaged";
  REQUIRE(outcome(path, bytes) == "");
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = bytes;
      other[i] = static_cast<char>(other[i] ^ (1 << bit));
      INFO("byte ", i, ", bit ", bit);
      REQUIRE(outcome(path, other) == "executable_file");
    }
  for (size_t size = 0; size < bytes.size(); ++size) REQUIRE(outcome(path, bytes.substr(0, size)) == "executable_file");
  CHECK(outcome(path, bytes + "x") == "executable_file");
  CHECK(outcome(folder.path, "") == "executable_file");
  CHECK(outcome(folder.path / "nowhere" / "f", "") == "executable_file");
}

TEST_CASE("a package in memory has the bytes of its file") {
  Folder folder;
  write_package(folder.path / "f.weft", example());
  CHECK(package_bytes(example()) == contents(folder.path / "f.weft"));
}

TEST_CASE("tables that say anything, under digests that are right, are read or rejected") {
  Folder folder;
  write_package(folder.path / "f.weft", example());
  const std::string bytes = contents(folder.path / "f.weft");
  constexpr size_t header = 64, table_bytes_at = 24, table_digest_at = 32, header_digest_at = 48;
  uint64_t table_bytes;
  std::memcpy(&table_bytes, bytes.data() + table_bytes_at, sizeof table_bytes);
  auto reads = [&](std::string other) {
    auto put = [&](size_t at, Digest digest) { std::memcpy(other.data() + at, &digest, sizeof digest); };
    put(table_digest_at, digest_of(std::string_view(other).substr(header, table_bytes)));
    put(header_digest_at, {});
    put(header_digest_at, digest_of(std::string_view(other).substr(0, header)));
    try {
      parse_package(other, nullptr);
      return true;
    } catch (const Error& error) {
      REQUIRE(error.label() == "executable_file");
      return false;
    }
  };
  REQUIRE(reads(bytes));
  size_t rejected = 0;
  for (size_t i = header; i < header + table_bytes; ++i)
    for (int value : {0, 1, 0x28, 0x30, 0x7f, 0x80, 0xff, bytes[i] + 1, bytes[i] - 1, bytes[i] + 64}) {
      std::string other = bytes;
      other[i] = static_cast<char>(value);
      rejected += !reads(other);
    }
  CHECK(rejected > 4 * table_bytes);
}

TEST_CASE("a file asks for no more memory than it is large") {
  Folder folder;
  Package many = example();
  many.builds[1].objects.assign(100, std::string(1000, 'x'));
  write_package(folder.path / "f.weft", many);
  CHECK(read_package(folder.path / "f.weft").builds[1].objects.size() == 100);
}

TEST_CASE("constants come from who has them") {
  Folder folder;
  std::filesystem::path path = folder.path / "f.weft";
  Manifest::Constant lender = lent({16}), small = lent({15});
  write_package(path, example(), {&lender, 1});
  CHECK_THROWS_AS(read_package(path), Error);
  CHECK_THROWS_AS(read_package(path, {&small, 1}), Error);
  // Without lenders the file has all.
  write_package(path, example());
  Package read = read_package(path);
  CHECK(std::string(static_cast<const char*>(read.builds[0].manifest.constants[1].bytes), 16) == numbers.substr(1, 16));
}

TEST_CASE("a CPU is asked for what code needs") {
  CHECK(missing_feature({}) == "");
  const std::string odd[] = {"sse4.2", "avx9000"};
  CHECK(missing_feature(odd) == "avx9000");
}

TEST_CASE("of several builds the one that asks most is taken") {
  auto build = [](std::string target, std::vector<std::string> features) {
    return Build{std::move(target), std::move(features), {}, {}};
  };
  Package package{
      {},
      "",
      {},
      {build("x86-64", {"sse4.2"}), build("avx2", {"sse4.2", "avx2"}), build("later", {"sse4.2", "avx2", "avx9000"})}};
  const std::vector<std::string> old = {"sse4.2", "ssse3"}, recent = {"avx2", "fma", "sse4.2"},
                                 future = {"avx9000", "avx2", "sse4.2"};
  CHECK(best_build(package, old)->target == "x86-64");
  CHECK(best_build(package, recent)->target == "avx2");
  CHECK(best_build(package, future)->target == "later");
  CHECK(best_build(package, {}) == nullptr);
  CHECK(&best_build(package) == best_build(package, {{"sse4.2", has_feature("avx2") ? "avx2" : ""}}));
  package.builds.erase(package.builds.begin(), package.builds.begin() + 2);
  CHECK_THROWS_WITH_AS(
      best_build(package),
      "executable file: it has no machine code for this CPU: that for 'later' needs 'avx9000'  [cpu_feature]", Error);
}

TEST_CASE("what cannot be written is an error and leaves nothing") {
  Folder folder;
  CHECK_THROWS_AS(write_package(folder.path / "nowhere" / "f.weft", example()), Error);
  std::filesystem::create_directories(folder.path / "g.weft" / "full");
  CHECK_THROWS_AS(write_package(folder.path / "g.weft", example()), Error);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}
