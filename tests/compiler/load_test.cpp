// Programs that were compiled before: from files, with code for this CPU or without.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "weft/compiler/compile.h"
#include "weft/ir/builder.h"

using namespace weft;

namespace {

// x + [0, 1, … 19]
GraphPtr sample() {
  Builder build(Level::flat);
  Ints numbers;
  for (int64_t i = 0; i < 20; ++i) numbers.push_back(i);
  Value x = build.parameter({DType::i64, {20}}, "x");
  return build.finish({{build(Op::add, {x, build.constant(Literal::ints(numbers))}), "y"}});
}

int64_t last(const Executable& executable) {
  std::vector<int64_t> x(20, 100), y(20);
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  executable.run({}, inputs, outputs);
  return y[19];
}

}  // namespace

TEST_CASE("a file is loaded as it is, or compiled anew where its code is for another CPU") {
  setenv("WEFT_CACHE", "off", 1);
  std::filesystem::path path = std::filesystem::temp_directory_path() / cat("weft_load_test_", getpid(), ".weft");
  GraphPtr graph = sample();
  Package package = package_of(*graph, compile(*graph));
  CHECK(package.resources.size() == 1);
  for (const char* feature : {"", "avx9000"}) {
    if (*feature) package.builds[0].features.push_back(feature);
    write_package(path, package);
    Package read = read_package(path);
    Compiled compiled = load(read);
    CHECK(compiled.times.empty() == !*feature);
    CHECK(last(compiled.executable) == 119);
    // What was loaded can be saved again, and the file go.
    std::filesystem::remove(path);
    CHECK(last(compiled.executable) == 119);
    CHECK(last(load(read).executable) == 119);
  }
}
