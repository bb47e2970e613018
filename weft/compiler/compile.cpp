// Passes, lowering, code generation, loading.
#include "weft/compiler/compile.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>

#include "weft/codegen/emit.h"
#include "weft/codegen/llvm/object.h"
#include "weft/codegen/llvm/split.h"
#include "weft/compiler/cache.h"
#include "weft/compiler/library.h"
#include "weft/compiler/manifest.h"
#include "weft/compiler/tiers.h"
#include "weft/core/cpu.h"
#include "weft/core/error.h"
#include "weft/core/interrupt.h"
#include "weft/core/knobs.h"
#include "weft/core/span.h"
#include "weft/kernel/lower.h"
#include "weft/passes/pass.h"
#include "weft/passes/range_checks.h"
#include "weft/runtime/thread_pool.h"

namespace weft {
namespace {

class Stages {
 public:
  void done(std::string name) {
    check_interrupt();
    int64_t now = span_clock();
    if (is_recording()) record_span(span_label(name, "compile"), last_, now);
    times.push_back({std::move(name), static_cast<double>(now - last_) / 1e6});
    last_ = now;
  }
  void add(std::string name, double milliseconds) { times.push_back({std::move(name), milliseconds}); }
  std::vector<StageTime> times;

 private:
  int64_t last_ = span_clock();
};

struct Objects {
  std::vector<std::string> modules;
  const Target& target;
  std::vector<ObjectCode> codes;
  std::vector<std::exception_ptr> errors;
  EarlyEnd end;  // between two parts
};

// Of the text of a part: LLVM takes 0.3 s or so for it, which is how long who presses Ctrl-C waits.
constexpr size_t most_text = 50000;

// One object for each part of the module, the parts side by side.
std::vector<ObjectCode> compile_side_by_side(const std::string& ir, const Target& target, bool is_alone) {
  Objects objects{is_alone ? split_module(ir, 1) : split_module(ir, num_threads(), most_text), target, {}, {}, {}};
  size_t count = objects.modules.size();
  objects.codes.resize(count);
  objects.errors.resize(count);
  void* args[] = {&objects};
  auto part = [](void** data, int64_t begin, int64_t end) {
    auto& all = *static_cast<Objects*>(data[0]);
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      if (all.end.has_come()) return;
      try {
        Span span("llvm", cat("part ", i + 1, " of ", all.modules.size()));
        all.codes[i] = compile_to_object(all.modules[i], all.target);
      } catch (...) {
        all.errors[i] = std::current_exception();
      }
    }
  };
  parallel_for(static_cast<int64_t>(count), worth_waking, part, args);
  objects.end.rethrow();
  for (const std::exception_ptr& error : objects.errors)
    if (error) std::rethrow_exception(error);
  return std::move(objects.codes);
}

struct Lowered {
  GraphPtr flat;
  Program program;
};

Lowered lower_in_stages(const Graph& graph, const Target& target, Stages& stages, Dump& dump) {
  dump.graph("trace", graph);
  std::vector<std::pair<std::string, GraphPtr>> passed;
  std::vector<StageTime> times;
  int64_t last = span_clock();
  CheckedGraph flat = run_checked_pipeline(graph, [&](std::string_view pass, const GraphPtr& after) {
    check_interrupt();
    int64_t now = span_clock();
    times.push_back({cat("pass.", pass), static_cast<double>(now - last) / 1e6});
    last = now;
    if (dump) passed.emplace_back(pass, after);
  });
  stages.done("passes");
  for (StageTime& time : times) stages.add(std::move(time.stage), time.milliseconds);
  for (const auto& [pass, after] : passed) dump.graph(pass, *after);
  if (dump) stages.done("dump");
  Program program = lower(*flat.graph, {}, target.bf16, true);
  program.checks = std::move(flat.checks);
  tile_turns(program);
  write_past_caches(program);
  stages.done("lower");
  if (dump) dump.text("20-kernels.txt", program.text());
  return {std::move(flat.graph), std::move(program)};
}

// Machine code of it, with the functions of the library that it calls; `is_alone`: this thread does all.
std::vector<std::string> objects_of(const std::string& ir, const Target& target, const Library& library, Stages& stages,
                                    bool is_alone = false) {
  std::vector<ObjectCode> codes = compile_side_by_side(ir, target, is_alone);
  stages.done("llvm");
  // Of the part that took longest.
  auto longest = [&](double ObjectCode::* time) { return std::ranges::max(codes, {}, time).*time; };
  stages.add("llvm.parse", longest(&ObjectCode::parse_ms));
  stages.add("llvm.passes", longest(&ObjectCode::pass_ms));
  stages.add("llvm.code", longest(&ObjectCode::code_ms));
  std::vector<std::string> objects;
  for (ObjectCode& code : codes) objects.push_back(std::move(code.bytes));
  for (const auto& [name, object] : library)
    if (ir.find(cat("declare hidden void @", name, "(")) != ir.npos) objects.emplace_back(object);
  return objects;
}

// `ir`: where it is written already.
Build generated(const Program& program, const Target& target, const Library& library, Stages& stages, const Dump& dump,
                std::string ir = {}) {
  if (ir.empty()) ir = emit(program, target, library);
  if (knob_flag(Knob::debug)) ir = with_lines(ir, program);
  stages.done("emit");
  if (dump) {
    CodeText text = compile_to_text(ir, target);
    dump.text("30-emit.ll", ir);
    dump.text("31-opt.ll", text.optimized);
    dump.text("40.s", text.assembly);
    stages.done("dump");
  }
  Build build{target.name, target.needs, manifest_of(program), objects_of(ir, target, library, stages)};
  if (dump) dump.report(program, target.name, stages.times);
  return build;
}

using BuildPtr = std::shared_ptr<const Build>;

Compiled loaded(Build build, const Device& device) {
  Executable executable = Executable::load(build.manifest, build.objects, device);
  return {std::move(executable), {}, [build = std::make_shared<const Build>(std::move(build))] { return build; }};
}

QuickCode quick_code(const Lowered& lowered, const Target& target, const Library& library) {
  const Program& program = lowered.program;
  if (program.joined == 0) return emit_quick(program, target, library);
  Program alone = lower(*lowered.flat, {}, target.bf16, true, true);
  tile_turns(alone);
  write_past_caches(alone);
  check(alone.arena_bytes == program.arena_bytes, "rows taken together ask for other memory");
  QuickCode code = emit_quick(alone, target, library);
  constexpr int64_t vectors = 4;  // of a sum at once
  code.left_out += vectors * program.joined;
  return code;
}

// Quick code, and what is compiled while it runs.
Compiled compile_in_tiers(const Program& program, const std::string& quick, const Target& target,
                          const Library& library, const Device& device, const std::optional<CacheKey>& key,
                          Stages& stages) {
  std::string ir = emit(program, target, library);
  stages.done("emit");
  Manifest manifest = manifest_of(program);
  Executable executable = Executable::load(manifest, objects_of(quick, target, library, stages), device);
  stages.done("load");
  auto build = std::make_shared<BuildPtr>();
  auto later = std::make_shared<Later>([=, weak = Executable::Weak(executable)] {
    Stages unseen;
    constexpr bool is_alone = true;  // other threads are for runs
    *build = std::make_shared<const Build>(target.name, target.needs, manifest,
                                           objects_of(ir, target, library, unseen, is_alone));
    if (Executable used = weak.lock()) used.improve((*build)->objects);
    if (key) store_cached(*key, **build);
  });
  executable.expect_better([later](bool waits) { waits ? later->wait() : later->begin(); });
  return Compiled{std::move(executable), {}, [later, build] { return later->wait(), *build; }};
}

// For a CPU that need not be this one: not loaded.
Build build_for(const Graph& graph, const Target& target) {
  std::optional<CacheKey> key = cache_key(graph, target);
  std::optional<Build> build;
  if (key) build = find_cached(*key);
  if (build) return *build;
  Stages stages;
  Dump none;
  build = generated(lower_in_stages(graph, target, stages, none).program, target, library_for(target), stages, none);
  if (key) store_cached(*key, *build);
  return *build;
}

// Programs of this process whose packed weights are large: the same one over the same memory shares them while it
// lives.
class LargePrograms {
 public:
  std::optional<Compiled> find(const CacheKey& key, const Device& device) {
    std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.digest != key.digest || entry.memory != memory_of(key)) continue;
      Executable executable = entry.executable.lock();
      BuildPtr build = entry.build.lock();
      if (executable && build && executable.device() == device)
        return Compiled{std::move(executable), {}, [build] { return build; }};
    }
    return {};
  }

  void note(const CacheKey& key, const Compiled& compiled) {
    constexpr int64_t worth_sharing = 1 << 20;
    if (compiled.executable.manifest().persistent_bytes.value() < worth_sharing) return;
    BuildPtr build = compiled.build();
    std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.build.expired() || entry.build.lock() == build; });
    entries_.push_back({key.digest, memory_of(key), Executable::Weak(compiled.executable), build});
  }

 private:
  struct Entry {
    Digest digest;
    std::vector<const void*> memory;  // where its constants lie
    Executable::Weak executable;
    std::weak_ptr<const Build> build;
  };

  static std::vector<const void*> memory_of(const CacheKey& key) {
    std::vector<const void*> memory;
    for (const Manifest::Constant& constant : key.constants) memory.push_back(constant.bytes);
    return memory;
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

LargePrograms& large_programs() {
  static LargePrograms programs;
  return programs;
}

// The program as it was compiled before, or nothing.
std::optional<Compiled> load_cached(const CacheKey& key, const Device& device) {
  if (std::optional<Compiled> compiled = large_programs().find(key, device)) return compiled;
  try {
    if (std::optional<Build> build = find_cached(key)) return loaded(std::move(*build), device);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io) throw;
  }
  return {};
}

// Files without code for this CPU are compiled anew wherever this compiler is linked.
[[maybe_unused]] const bool recompiles = [] {
  set_recompile(
      [](const Package& package, const Device& device) { return load(package, {.device = device}).executable; });
  return true;
}();

}  // namespace

Program lower_to_program(const Graph& graph) {
  require_known_extents(graph);
  CheckedGraph flat = run_checked_pipeline(graph);
  Program program = lower(*flat.graph);
  program.checks = std::move(flat.checks);
  return program;
}

Compiled compile(const Graph& graph, const CompileOptions& options) {
  copy_environment();  // for threads that compile parts, or compile better later
  if (!options.checks || !knob_flag(Knob::checks)) {
    CompileOptions rest = options;
    rest.checks = true;
    if (GraphPtr unchecked = without_checks(graph)) return compile(*unchecked, rest);
  }
  Span span("compile", cat("compile ", graph.name()));
  InterruptibleWork work;
  require_known_extents(graph);
  Target target = target_named(options.target);
  if (std::string missing = missing_feature(target.needs); !missing.empty())
    fail(ErrorKind::value, "target_features", "this CPU lacks the feature '", missing, "', which target '", target.name,
         "' needs");
  Stages stages;
  Dump dump(graph);
  std::optional<CacheKey> key;
  bool is_plain = !dump && !knob_flag(Knob::debug);
  if (is_plain) key = cache_key(graph, target);
  std::optional<Compiled> compiled;
  if (key) compiled = load_cached(*key, options.device);
  stages.done("cache");
  span.add("hit", compiled ? "true" : "false");
  if (!compiled) {
    Lowered lowered = lower_in_stages(graph, target, stages, dump);
    const Program& program = lowered.program;
    // What is dumped stands alone.
    Library library = dump ? Library() : library_for(target);
    // What is done later holds no constants: these may be of a language whose end it does not know.
    bool may_wait = options.tiered && knob_flag(Knob::tiered) && is_plain && does_little(program) &&
                    program.constants.empty() && (!key || key->constants.empty());
    QuickCode quick = may_wait ? quick_code(lowered, target, library) : QuickCode();
    if (quick.left_out >= worth_two_codes) {
      compiled = compile_in_tiers(program, quick.ir, target, library, options.device, key, stages);
    } else {
      compiled =
          loaded(generated(program, target, library, stages, dump, quick.left_out == 0 ? std::move(quick.ir) : ""),
                 options.device);
      stages.done("load");
      if (key) store_cached(*key, *compiled->build());
      stages.done("store");
    }
  }
  if (key) large_programs().note(*key, *compiled);
  compiled->times = std::move(stages.times);
  return *compiled;
}

std::string stablehlo_text(const Graph& graph, const PrintOptions& options) {
  // Other tools know neither counted loops nor functions of ours, but named operations.
  GraphPtr named = graph.level() == Level::trace ? flatten_names.run(graph) : nullptr;
  return print(*spell_out.run(*while_loops.run(named ? *named : graph)), options);
}

Package package_of(const Graph& graph) {
  std::vector<Literal> constants;
  Package package{{}, print(graph, {.resources = &constants}), {}, {}};
  for (const Literal& constant : constants) package.resources.push_back(constant_of(constant));
  return package;
}

Package package_of(const Graph& graph, const Compiled& compiled, const std::vector<std::string>& targets) {
  Package package = package_of(graph);
  const Build& build = *compiled.build();
  if (targets.empty()) package.builds.push_back(build);
  for (const std::string& name : targets) {
    bool has_it = std::ranges::find(package.builds, name, &Build::target) != package.builds.end();
    if (!has_it) package.builds.push_back(name == build.target ? build : build_for(graph, target_named(name)));
  }
  return package;
}

GraphPtr graph_of(const Package& package) {
  std::vector<Literal> constants;
  for (const Manifest::Constant& constant : package.resources)
    constants.emplace_back(constant.type, constant.bytes, constant.owner);
  return parse(package.text, "<executable file>", constants);
}

Compiled load(const Package& package, const CompileOptions& options) {
  const Build* best = best_build(package, target_named(options.target).needs);
  return best ? loaded(*best, options.device) : compile(*graph_of(package), options);
}

}  // namespace weft
