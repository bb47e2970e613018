// Runs a .weft file, made by `exe.save` in Python or by `weft compile`, from eight threads at once; all must see the
// same. serve FILE.weft [RUNS] [EXTENT=VALUE ...]: symbolic extents that are not given are the usual ones.
#include <weft/runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

// A value for each symbolic extent: what an argument says, or the one that the program is tuned for.
weft::Ints extents_of(const weft::Executable& exe, int argc, char** argv) {
  weft::Ints values;
  for (const weft::Symbol& symbol : exe.manifest().symbols) {
    values.push_back(symbol.opt);
    std::string start = symbol.name + "=";
    for (int i = 2; i < argc; ++i)
      if (std::strncmp(argv[i], start.c_str(), start.size()) == 0) values.back() = std::atoll(argv[i] + start.size());
  }
  return values;
}

int main(int argc, char** argv) try {
  weft::Executable exe = weft::Executable::load(argc > 1 ? argv[1] : "model.weft");
  int runs = argc > 2 && !std::strchr(argv[2], '=') ? std::atoi(argv[2]) : 100000;
  weft::Ints extents = extents_of(exe, argc, argv);
  std::vector<weft::Buffer> inputs;
  for (size_t i = 0; i < exe.inputs().size(); ++i)
    inputs.push_back(weft::Buffer::zeros(exe.inputs()[i].type.dtype, exe.input_dims(i, extents)));
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
  std::printf("%s: %d runs from 8 threads, %d differ, one takes %.0f ns\n", exe.name().c_str(), runs, different.load(),
              exe.benchmark(inputs, 100, 1000).p50 * 1e9);
} catch (const weft::Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
