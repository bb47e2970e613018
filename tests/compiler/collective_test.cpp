// Programs among ranks in C++: from a file, each in a thread of its own.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/label_of.h"
#include "weft/compiler/compile.h"
#include "weft/distributed/current.h"
#include "weft/ir/text.h"

using namespace weft;

namespace {

constexpr const char* text = R"(func.func @main(%x: tensor<2xf64>) -> (tensor<2xf64>, tensor<4xf64>) {
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %s = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf64>) -> tensor<2xf64>
  %1 = stablehlo.add %0, %x : tensor<2xf64>
  %2 = "stablehlo.all_gather"(%1) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf64>) -> tensor<4xf64>
  return %0, %2 : tensor<2xf64>, tensor<4xf64>
})";

std::vector<double> values(const Buffer& buffer) {
  const auto* data = static_cast<const double*>(buffer.data());
  return {data, data + buffer.count()};
}

std::vector<Buffer> inputs(double first) {
  const double x[] = {first, 10 * first};
  return {Buffer::copy_of(x, DType::f64, {2})};
}

}  // namespace

TEST_CASE("ranks that are threads run a saved program together") {
  setenv("WEFT_CACHE", "off", 1);
  std::filesystem::path path = std::filesystem::temp_directory_path() / cat("weft_collective_test_", getpid(), ".weft");
  GraphPtr graph = parse(text);
  write_package(path, package_of(*graph, compile(*graph)));
  Executable program = Executable::load(path);
  std::filesystem::remove(path);
  std::vector<std::unique_ptr<Communicator>> communicators = local_communicators(2, 30);
  std::vector<std::vector<Buffer>> results(2), later(2);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      set_thread_communicator(communicators[rank].get());
      results[rank] = program.run(inputs(static_cast<double>(rank) + 1));
      PendingRun pending = program.run_async(inputs(static_cast<double>(rank) + 1));
      pending.done.wait();
      later[rank] = pending.outputs;
      set_thread_communicator(nullptr);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& found : {results, later})
    for (size_t rank = 0; rank < 2; ++rank) {
      CHECK(values(found[rank][0]) == std::vector<double>{3, 30});
      CHECK(values(found[rank][1]) == std::vector<double>{4, 40, 5, 50});
    }
}

TEST_CASE("a program for two ranks is no program for one") {
  Executable program = compile(*parse(text)).executable;
  CHECK(label_of([&] { program.run(inputs(1)); }) == "rank");
}
