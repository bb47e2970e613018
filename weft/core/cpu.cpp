// CPU features, as the compiler's own runtime tells them.
#include "weft/core/cpu.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace weft {
namespace {

// For this process, its threads and its children: Documentation/arch/x86/xstate.rst of Linux, 5.16 or later.
bool may_use_amx() {
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool is_allowed = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return is_allowed;
}

}  // namespace

bool has_feature(std::string_view name) {
  __builtin_cpu_init();
  const std::pair<std::string_view, bool> known[] = {
      {"ssse3", __builtin_cpu_supports("ssse3")},           {"sse4.2", __builtin_cpu_supports("sse4.2")},
      {"popcnt", __builtin_cpu_supports("popcnt")},         {"avx2", __builtin_cpu_supports("avx2")},
      {"fma", __builtin_cpu_supports("fma")},               {"f16c", __builtin_cpu_supports("f16c")},
      {"bmi", __builtin_cpu_supports("bmi")},               {"bmi2", __builtin_cpu_supports("bmi2")},
      {"lzcnt", __builtin_cpu_supports("lzcnt")},           {"avx512f", __builtin_cpu_supports("avx512f")},
      {"avx512bw", __builtin_cpu_supports("avx512bw")},     {"avx512dq", __builtin_cpu_supports("avx512dq")},
      {"avx512vl", __builtin_cpu_supports("avx512vl")},     {"avx512cd", __builtin_cpu_supports("avx512cd")},
      {"avx512vnni", __builtin_cpu_supports("avx512vnni")}, {"avx512bf16", __builtin_cpu_supports("avx512bf16")},
      {"avx512vbmi", __builtin_cpu_supports("avx512vbmi")}, {"amx-tile", __builtin_cpu_supports("amx-tile")},
      {"amx-bf16", __builtin_cpu_supports("amx-bf16")},     {"amx-int8", __builtin_cpu_supports("amx-int8")},
      {"avx512fp16", __builtin_cpu_supports("avx512fp16")},
  };
  return std::ranges::find(known, std::pair(name, true)) != std::end(known) && (!name.starts_with("amx-") || may_use_amx());
}

std::string missing_feature(std::span<const std::string> features) {
  auto lacking = std::ranges::find_if_not(features, [](const std::string& name) { return has_feature(name); });
  return lacking == features.end() ? "" : *lacking;
}

int available_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

}  // namespace weft
