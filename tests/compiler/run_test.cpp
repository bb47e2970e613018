// Compiled programs run with buffers, from C++ and from C.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/label_of.h"
#include "weft/c.h"
#include "weft/compiler/compile.h"
#include "weft/ir/builder.h"

using namespace weft;

namespace {

// (x + y, x * y); the sum lands in x when `in_place`.
Executable sum_and_product(const Dim& n, bool in_place = false) {
  Builder build(Level::flat);
  Value x = build.parameter({DType::f32, {n}}, "x"), y = build.parameter({DType::f32, {n}}, "y");
  Value sum = build(Op::add, {x, y}), product = build(Op::multiply, {x, y});
  return compile(*build.finish({{sum, "sum", in_place ? 0 : -1}, {product, "product"}})).executable;
}

Buffer filled(Ints dims, float value, const Device& device = {}) {
  Buffer buffer(DType::f32, std::move(dims), device);
  std::ranges::fill(buffer.writable_elements<float>(), value);
  return buffer;
}

}  // namespace

TEST_CASE("a program gives a buffer for each output") {
  setenv("WEFT_CACHE", "off", 1);
  Executable exe = sum_and_product(1000);
  Buffer x = filled({1000}, 2), y = filled({1000}, 3);
  std::vector<Buffer> results = exe.run({x, y});
  REQUIRE(results.size() == 2);
  CHECK(results[0].elements<float>()[999] == 5);
  CHECK(results[1].elements<float>()[999] == 6);
  std::vector<Buffer> outputs = {filled({1000}, 0), filled({1000}, 0)}, inputs = {x, y};
  exe.run(inputs, outputs);
  CHECK(outputs[1].elements<float>()[0] == 6);
  PendingRun pending = exe.run_async(inputs);
  PendingRun second = exe.run_async({pending.outputs[0], y});
  second.done.wait();
  CHECK(pending.done.is_done());
  CHECK(second.outputs[0].elements<float>()[500] == 8);
  Timing timing = exe.benchmark(inputs, 1, 10);
  CHECK((timing.min <= timing.p50 && timing.p50 <= timing.p99 && timing.p99 <= timing.max));
}

TEST_CASE("buffers that do not fit are refused with both values") {
  setenv("WEFT_CACHE", "off", 1);
  Executable exe = sum_and_product(8);
  Buffer x = filled({8}, 2), y = filled({8}, 3);
  CHECK(label_of([&] { exe.run({x}); }) == "input_count");
  CHECK(label_of([&] { exe.run({x, filled({9}, 0)}); }) == "input_shape");
  CHECK(label_of([&] { exe.run({x, filled({1, 8}, 0)}); }) == "input_shape");
  CHECK(label_of([&] { exe.run({x, Buffer(DType::f64, {8})}); }) == "input_dtype");
  CHECK(label_of([&] { exe.run({x, filled({8}, 0, Device::cpu(1))}); }) == "input_device");
  CHECK(label_of([&] { exe.run({x, Buffer()}); }) == "no_buffer");
  std::vector<Buffer> inputs = {x, y};
  auto run_into = [&](std::vector<Buffer> outputs) { return label_of([&] { exe.run(inputs, outputs); }); };
  CHECK(run_into({filled({8}, 0)}) == "input_count");
  CHECK(run_into({filled({8}, 0), filled({7}, 0)}) == "output_shape");
  CHECK(run_into({filled({8}, 0), x}) == "overlap");
  Buffer both = filled({9}, 0);
  CHECK(run_into({both.slice(0, 8), both.slice(1, 9)}) == "overlap");
  float memory[8] = {};
  CHECK(run_into({filled({8}, 0), Buffer::adopt(static_cast<const void*>(memory), DType::f32, {8})}) == "read_only");
  CHECK(label_of([] { Executable().run({}); }) == "no_executable");
  CHECK(label_of([&] { exe.benchmark(inputs, 0, 0); }) == "benchmark");
}

TEST_CASE("an output that lands in an input is that buffer") {
  setenv("WEFT_CACHE", "off", 1);
  Executable exe = sum_and_product(8, true);
  Buffer x = filled({8}, 2), y = filled({8}, 3);
  std::vector<Buffer> results = exe.run({x, y});
  CHECK(results[0].data() == x.data());
  CHECK(x.elements<float>()[7] == 5);
  CHECK(results[1].elements<float>()[7] == 6);
  float memory[8] = {};
  CHECK(label_of([&] { exe.run({Buffer::adopt(static_cast<const void*>(memory), DType::f32, {8}), y}); }) ==
        "read_only");
  CHECK(label_of([&] { exe.run({y, y}); }) == "overlap");
  std::vector<Buffer> inputs = {x, y}, elsewhere = {filled({8}, 0), filled({8}, 0)};
  CHECK(label_of([&] { exe.run(inputs, elsewhere); }) == "alias");
}

TEST_CASE("one program serves a range of extents") {
  setenv("WEFT_CACHE", "off", 1);
  Executable exe = sum_and_product(Dim(Symbol{"n", 1, 64, 4096}));
  for (int64_t n : {1, 7, 64, 4096})
    CHECK(exe.run({filled({n}, 1), filled({n}, 2)})[0].elements<float>()[static_cast<size_t>(n - 1)] == 3);
  CHECK(label_of([&] { exe.run({filled({4097}, 1), filled({4097}, 2)}); }) == "extent_range");
  CHECK(label_of([&] { exe.run({filled({4}, 1), filled({5}, 2)}); }) == "extent_agreement");
}

TEST_CASE("many threads run one program, on several devices") {
  setenv("WEFT_CACHE", "off", 1);
  Executable exe = sum_and_product(100000);
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      auto value = static_cast<float>(t);
      Buffer x = filled({100000}, value), y = filled({100000}, 2);
      for (int i = 0; i < 20; ++i) {
        std::vector<Buffer> results = t % 2 ? exe.run({x, y}) : exe.run_async({x, y}).outputs;
        if (t % 2 == 0) exe.device().synchronize();
        wrong += results[0].elements<float>()[99999] != value + 2 || results[1].elements<float>()[50] != value * 2;
      }
    });
  threads.clear();
  CHECK(wrong == 0);
}

TEST_CASE("C loads and runs what C++ saved") {
  setenv("WEFT_CACHE", "off", 1);
  Builder build(Level::flat);
  Value x = build.parameter({DType::f32, {Dim(Symbol{"n", 1, 64, 4096})}}, "x");
  GraphPtr graph = build.finish({{build(Op::negate, {x}), "y"}});
  std::filesystem::path path = std::filesystem::temp_directory_path() / cat("weft_c_test_", getpid(), ".weft");
  weft_executable* exe = nullptr;
  CHECK(weft_executable_load(path.c_str(), nullptr, &exe) == weft_file_error);
  CHECK(std::string(weft_last_error()).find(path.string()) != std::string::npos);
  write_package(path, package_of(*graph, compile(*graph)));
  REQUIRE(weft_executable_load(path.c_str(), "cpu:0", &exe) == weft_ok);
  const char *name = nullptr, *dtype = nullptr;
  int64_t rank = 0, dims[1] = {}, alias = 0;
  CHECK(weft_executable_input(exe, 0, &name, &dtype, &rank, dims) == weft_ok);
  CHECK((std::string(name) == "x" && std::string(dtype) == "f32" && rank == 1 && dims[0] == -1));
  CHECK(weft_executable_output(exe, 0, nullptr, nullptr, nullptr, nullptr, &alias) == weft_ok);
  CHECK(alias == -1);
  CHECK(weft_executable_output(exe, 1, &name, nullptr, nullptr, nullptr, nullptr) == weft_index_error);

  float memory[] = {1, 2, 3};
  int64_t three = 3;
  int released = 0;
  auto release = [](void* context) { ++*static_cast<int*>(context); };
  weft_buffer *input = nullptr, *output = nullptr, *missing = nullptr;
  CHECK(weft_buffer_adopt(memory, "f33", 1, &three, nullptr, release, &released, &input) == weft_value_error);
  CHECK(released == 0);
  REQUIRE(weft_buffer_adopt(memory, "f32", 1, &three, nullptr, release, &released, &input) == weft_ok);
  REQUIRE(weft_executable_run(exe, &input, 1, &output, 1) == weft_ok);
  CHECK(static_cast<const float*>(weft_buffer_data(output))[2] == -3);
  memory[2] = 7;
  REQUIRE(weft_executable_run(exe, &input, 1, &output, 1) == weft_ok);  // into the buffer that is there
  CHECK(static_cast<const float*>(weft_buffer_data(output))[2] == -7);
  CHECK(weft_executable_run(exe, &missing, 1, &output, 1) == weft_value_error);
  CHECK(weft_executable_run(exe, &input, 1, &output, 0) == weft_type_error);
  CHECK(weft_executable_run(exe, &input, 1, &input, 1) == weft_value_error);
  weft_buffer* later = nullptr;
  weft_event* done = nullptr;
  REQUIRE(weft_executable_run_async(exe, &output, 1, &later, 1, &done) == weft_ok);
  CHECK(weft_event_wait(done) == weft_ok);
  CHECK(static_cast<const float*>(weft_buffer_data(later))[2] == 7);
  weft_event_free(done);
  for (weft_buffer* buffer : {input, output, later, missing}) weft_buffer_free(buffer);
  CHECK(released == 1);
  weft_executable_free(exe);
  std::filesystem::remove(path);
}
