// Writes the library of compiled loops to a file: for each target, function after function, the target's number, the
// lengths of name and object, and both. All CPUs compile; the file is the same for any number of them.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <future>
#include <iostream>
#include <thread>
#include <vector>

#include "weft/codegen/llvm/dot.h"
#include "weft/codegen/llvm/object.h"

namespace {

struct Loop {
  uint32_t target;
  std::string name, module, object;
};

void compile_all(std::vector<Loop>& loops, const std::vector<weft::Target>& targets) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < loops.size(); i = next++)
      loops[i].object = weft::compile_to_object(loops[i].module, targets[loops[i].target]).bytes;
  };
  std::vector<std::future<void>> others;
  for (unsigned i = 1; i < std::min(std::thread::hardware_concurrency(), 16U); ++i)
    others.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& other : others) other.get();
}

}  // namespace

int main(int count, char** arguments) {
  std::ofstream file(count == 2 ? arguments[1] : "", std::ios::binary);
  const std::vector<weft::Target> targets = weft::library_targets();
  std::vector<Loop> loops;
  for (uint32_t number = 0; number < targets.size(); ++number)
    for (auto& [name, module] : weft::DotEmitter::library(targets[number])) loops.push_back({number, name, module, {}});
  compile_all(loops, targets);
  for (const Loop& loop : loops) {
    const uint32_t head[] = {loop.target, static_cast<uint32_t>(loop.name.size()),
                             static_cast<uint32_t>(loop.object.size())};
    file.write(reinterpret_cast<const char*>(head), sizeof head);
    file << loop.name << loop.object;
  }
  file.close();
  if (!file) std::cerr << "usage: compile_loops FILE, in a folder where files can be written\n";
  return file ? 0 : 1;
}
