// CPU features, as the compiler's own runtime tells them.
#include "weft/core/cpu.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <thread>
#include <utility>

#include "weft/core/knobs.h"

namespace weft {
namespace {

// For this process, its threads and its children: Documentation/arch/x86/xstate.rst of Linux, 5.16 or later.
bool may_use_amx() {
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool is_allowed = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return is_allowed;
}

// A positive number at the beginning of a text; 0 where there is none. What follows it stays.
int64_t leading_number(std::string_view& text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0) return 0;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// The least quota of this process's control group and of those around it; 0: none. As Linux shows them (control groups
// v2), where a container has its own at the top.
int quota_of_groups() {
  std::ifstream groups("/proc/self/cgroup");
  std::string path;
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/")) path = line.substr(3);
  int least = 0;
  while (true) {
    int granted = cpus_of_quota(first_line("/sys/fs/cgroup" + path + "/cpu.max"));
    if (granted > 0) least = least > 0 ? std::min(least, granted) : granted;
    if (path.empty()) return least;
    path.resize(path.rfind('/'));
  }
}

}  // namespace

bool has_feature(std::string_view name) {
  __builtin_cpu_init();
  const std::pair<std::string_view, bool> known[] = {
      {"ssse3", __builtin_cpu_supports("ssse3")},
      {"sse4.2", __builtin_cpu_supports("sse4.2")},
      {"popcnt", __builtin_cpu_supports("popcnt")},
      {"avx2", __builtin_cpu_supports("avx2")},
      {"fma", __builtin_cpu_supports("fma")},
      {"f16c", __builtin_cpu_supports("f16c")},
      {"bmi", __builtin_cpu_supports("bmi")},
      {"bmi2", __builtin_cpu_supports("bmi2")},
      {"lzcnt", __builtin_cpu_supports("lzcnt")},
      {"avx512f", __builtin_cpu_supports("avx512f")},
      {"avx512bw", __builtin_cpu_supports("avx512bw")},
      {"avx512dq", __builtin_cpu_supports("avx512dq")},
      {"avx512vl", __builtin_cpu_supports("avx512vl")},
      {"avx512cd", __builtin_cpu_supports("avx512cd")},
      {"avx512vnni", __builtin_cpu_supports("avx512vnni")},
      {"avx512bf16", __builtin_cpu_supports("avx512bf16")},
      {"avx512vbmi", __builtin_cpu_supports("avx512vbmi")},
      {"amx-tile", __builtin_cpu_supports("amx-tile")},
      {"amx-bf16", __builtin_cpu_supports("amx-bf16")},
      {"amx-int8", __builtin_cpu_supports("amx-int8")},
      {"avx512fp16", __builtin_cpu_supports("avx512fp16")},
  };
  return std::ranges::find(known, std::pair(name, true)) != std::end(known) &&
         (!name.starts_with("amx-") || may_use_amx());
}

std::string missing_feature(std::span<const std::string> features) {
  auto lacking = std::ranges::find_if_not(features, [](const std::string& name) { return has_feature(name); });
  return lacking == features.end() ? "" : *lacking;
}

int cpus_of_quota(std::string_view text) {
  int64_t quota = leading_number(text);
  if (quota == 0 || !text.starts_with(' ')) return 0;
  text.remove_prefix(1);
  int64_t period = leading_number(text);
  return period == 0 ? 0 : static_cast<int>(std::min<int64_t>((quota - 1) / period + 1, 1 << 20));
}

int available_cpus() {
  cpu_set_t set;
  return available_cpus(sched_getaffinity(0, sizeof set, &set) == 0 ? set : cpu_set_t{});
}

int available_cpus(const cpu_set_t& set) {
  static const int quota = quota_of_groups();
  int found = CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(quota > 0 ? std::min(found, quota) : found, 1);
}

int shared_cpus() {
  std::string said = environment_variable("OMP_NUM_THREADS");
  std::string_view text = said;  // of "4,2" the first is meant, the others are for loops inside of loops
  int64_t share = leading_number(text);
  int available = available_cpus();
  return share > 0 && (text.empty() || text[0] == ',') ? static_cast<int>(std::min<int64_t>(share, available))
                                                       : available;
}

}  // namespace weft
