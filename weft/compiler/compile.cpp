// Passes, lowering, code generation, loading.
#include "weft/compiler/compile.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <filesystem>

#include "weft/codegen/emit.h"
#include "weft/codegen/llvm/object.h"
#include "weft/ir/text.h"
#include "weft/kernel/lower.h"
#include "weft/passes/pass.h"

namespace weft {
namespace {

class Stages {
 public:
  void done(std::string name) {
    auto now = Clock::now();
    times.push_back({std::move(name), std::chrono::duration<double, std::milli>(now - last_).count()});
    last_ = now;
  }
  void add(std::string name, double milliseconds) { times.push_back({std::move(name), milliseconds}); }
  std::vector<StageTime> times;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

void count_launches(const Launch& launch, std::vector<int64_t>& launches, std::vector<const Launch*>& first) {
  for (const LaunchBlock& block : launch.blocks)
    for (const Launch& inner : block.launches) count_launches(inner, launches, first);
  if (launch.kernel < 0) return;
  auto k = static_cast<size_t>(launch.kernel);
  ++launches[k];
  if (!first[k]) first[k] = &launch;
}

Manifest manifest_of(const Program& program) {
  Manifest m;
  m.name = program.name;
  m.symbols = program.symbols;
  for (const ProgramInput& input : program.inputs) m.inputs.push_back({input.name, input.type, -1});
  for (const ProgramOutput& output : program.outputs) m.outputs.push_back({output.name, output.type, output.alias});
  for (const Literal& constant : program.constants)
    m.constants.push_back({constant.type(), constant.bytes().data(), std::make_shared<Literal>(constant)});
  m.arena_bytes = program.arena_bytes;
  m.persistent_bytes = program.persistent_bytes;
  std::vector<int64_t> launches(program.kernels.size());
  std::vector<const Launch*> first(program.kernels.size());
  for (const auto* list : {&program.setup, &program.run})
    for (const Launch& launch : *list) count_launches(launch, launches, first);
  for (size_t k = 0; k < program.kernels.size(); ++k)
    m.kernels.push_back({program.kernels[k].name, program.kernels[k].loc.text(), first[k] ? first[k]->ops : std::vector<std::string>{}, launches[k]});
  return m;
}

// WEFT_DUMP=DIR: a folder for each compiled function with the text of every stage.
void dump(const std::string& folder, const char* file, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  std::ofstream(folder + "/" + file) << text;
}

}  // namespace

Program lower_to_program(const Graph& graph) { return lower(*run_pipeline(graph)); }

Compiled compile(const Graph& graph, const CompileOptions& options) {
  Target target = target_named(options.target);
  Stages stages;
  GraphPtr flat = run_pipeline(graph);
  stages.done("passes");
  Program program = lower(*flat);
  stages.done("lower");
  std::string ir = emit(program, target);
  stages.done("emit");
  if (const char* root = std::getenv("WEFT_DUMP"); root && *root) {
    std::string folder = cat(root, "/", graph.name());
    dump(folder, "00-trace.txt", short_text(graph));
    dump(folder, "10-flat.txt", short_text(*flat));
    dump(folder, "20-kernels.txt", program.text());
    dump(folder, "30-emit.ll", ir);
    dump(folder, "40.s", compile_to_assembly(ir, target));
    stages.done("dump");
  }
  ObjectCode object = compile_to_object(ir, target);
  stages.done("llvm");
  stages.add("llvm.parse", object.parse_ms);
  stages.add("llvm.passes", object.pass_ms);
  stages.add("llvm.code", object.code_ms);
  Compiled compiled;
  compiled.executable = Executable::load(manifest_of(program), std::move(object.bytes));
  stages.done("load");
  compiled.times = std::move(stages.times);
  compiled.cuts = std::move(program.cuts);
  return compiled;
}

}  // namespace weft
