#include "weft/codegen/llvm/launcher.h"

#include <algorithm>

#include "weft/codegen/llvm/entry.h"
#include "weft/core/error.h"
#include "weft/support/services.h"

namespace weft {
namespace {

std::string call_of(Launcher kind) {
  std::string slots;
  auto load = [&](const char* member, size_t word) {
    append(slots, "  %", member, "_slot = getelementptr ptr, ptr %services, i64 ", word, "\n  %", member,
           " = load ptr, ptr %", member, "_slot\n");
  };
  switch (kind) {
    case Launcher::serial:
      return "  call void %function(ptr %args, i64 0, i64 %first)\n";
    case Launcher::parallel:
      load("parallel_for", WEFT_WORD(weft_services, parallel_for));
      load("pool", WEFT_WORD(weft_services, pool));
      return slots + "  call void %parallel_for(ptr %pool, i64 %first, i64 %second, ptr %function, ptr %args)\n";
    case Launcher::routine:
      return "  %buffers = getelementptr i64, ptr %args, i64 %first\n  %bodies = getelementptr i64, ptr %args, i64 "
             "%second\n"
             "  call void %function(ptr %args, ptr %buffers, ptr %bodies)\n";
  }
  return {};
}

std::string definition(Launcher kind, const std::string& name, const std::vector<Word>& words) {
  std::string parameters, stores;
  for (size_t i = 0; i < words.size(); ++i) {
    append(parameters, ", ", words[i].type, " %word", i);
    append(stores, "  %at", i, " = getelementptr i64, ptr %args, i64 ", i, "\n  store ", words[i].type, " %word", i,
           ", ptr %at", i, "\n");
  }
  auto tell = [](const char* label, const char* then, int begins) {
    return cat("  br i1 %listens, label %", label, ", label %", then, "\n", label,
               ":\n  call void %listen(ptr %services, i64 %number, i64 ", begins, ")\n  br label %", then, "\n", then,
               ":\n");
  };
  return cat("define internal void @", name, "(ptr %services, i64 %number, ptr %function, i64 %first, i64 %second",
             parameters, ") noinline #0 {\nentry:\n  %args = alloca [", words.size() + 1, " x i64], align 64\n", stores,
             "  %listen_slot = getelementptr ptr, ptr %services, i64 ", WEFT_WORD(weft_services, listen),
             "\n  %listen = load ptr, ptr %listen_slot\n  %listens = icmp ne ptr %listen, null\n",
             tell("begins", "go", 1), call_of(kind), tell("ends", "done", 0), "  ret void\n}\n\n");
}

}  // namespace

size_t arguments_of(const Launch& launch) {
  size_t most = 1 + launch.buffers.size() + launch.symbols.size() + launch.checks.size() + launch.numbers.size() +
                launch.bodies.size() + launch.texts.size();
  if (launch.independent) return 3 + most_nested;
  if (launch.tiling)
    for (const Launch& inner : launch.blocks[0].launches) most += tiled_words + arguments_of(inner);
  for (const LaunchBlock& block : launch.blocks)
    for (const Launch& inner : block.launches) most = std::max(most, arguments_of(inner));
  return most;
}

bool may_take_long(const Program& program, const std::vector<LaunchBlock>& blocks) {
  for (const LaunchBlock& block : blocks)
    for (const Launch& launch : block.launches) {
      const bool is_kernel = launch.kind == LaunchKind::kernel;
      if (launch.kind == LaunchKind::routine || may_take_long(program, launch.blocks)) return true;
      if (is_kernel && (program.kernels[static_cast<size_t>(launch.kernel)].dot ||
                        (launch.parallel * max(launch.cost, Dim(1))).max() >= small_launch))
        return true;
    }
  return false;
}

std::string launch_text(ModuleText& module, Launcher kind, size_t number, const std::string& function,
                        const std::string& first, const std::string& second, const std::vector<Word>& words) {
  constexpr const char* names[] = {"serial", "parallel", "routine"};
  std::string name = cat("weft.launch.", names[static_cast<size_t>(kind)], "."), given;
  for (const Word& word : words) {
    name += word.type[0];
    append(given, ", ", word.type, " ", word.value);
  }
  auto [found, is_new] = module.functions.try_emplace(name);
  if (is_new) found->second = definition(kind, name, words);
  return cat("  call void @", name, "(ptr %services, i64 ", number, ", ptr @", function, ", i64 ", first, ", i64 ",
             second, given, ")\n");
}

}  // namespace weft
