// Runs a .weft file, made by `exe.save` in Python or by `weft compile`, from eight threads at once; all must see the same.
#include <weft/runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

int main(int argc, char** argv) try {
  weft::Executable exe = weft::Executable::load(argc > 1 ? argv[1] : "model.weft");
  int runs = argc > 2 ? std::atoi(argv[2]) : 100000;
  std::vector<weft::Buffer> inputs;
  for (const weft::IoInfo& input : exe.inputs()) inputs.push_back(weft::Buffer::zeros(input.type.dtype, input.type.static_dims()));
  weft::Buffer first = exe.run(inputs)[0];
  std::atomic<int> different{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::vector<weft::Buffer> outputs = exe.new_outputs(inputs);
      for (int i = t; i < runs; i += 8) {
        exe.run(inputs, outputs);
        different += std::memcmp(outputs[0].data(), first.data(), static_cast<size_t>(first.bytes())) != 0;
      }
    });
  threads.clear();
  std::printf("%s: %d runs from 8 threads, %d differ, one takes %.0f ns\n", exe.name().c_str(), runs, different.load(), exe.benchmark(inputs, 100, 1000).p50 * 1e9);
} catch (const weft::Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
