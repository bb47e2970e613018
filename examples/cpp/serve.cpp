// Runs a .weft file, made by `exe.save` in Python or by `weft compile`, from eight threads at once.
#include <weft/runtime.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int argc, char** argv) try {
  if (argc < 2) return std::fprintf(stderr, "usage: serve FILE.weft [RUNS]\n"), 2;
  weft::Executable exe = weft::Executable::load(argv[1]);
  int runs = argc > 2 ? std::atoi(argv[2]) : 100000;
  std::vector<weft::Buffer> inputs;
  for (const weft::IoInfo& input : exe.inputs()) inputs.push_back(weft::Buffer::zeros(input.type.dtype, input.type.static_dims()));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::vector<weft::Buffer> outputs = exe.new_outputs(inputs);
      for (int i = t; i < runs; i += 8) exe.run(inputs, outputs);
    });
  threads.clear();
  weft::Timing time = exe.benchmark(inputs, 1000, 10000);
  std::printf("%s: %d runs from 8 threads, one takes %.0f ns\n", exe.name().c_str(), runs, time.p50 * 1e9);
} catch (const weft::Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
