// CPU features, as the compiler's own runtime tells them.
#include "weft/codegen/target.h"

#include <algorithm>

#include "weft/core/error.h"
#include "weft/core/text.h"

namespace weft {
namespace {

constexpr const char* triple = "x86_64-unknown-linux-gnu";

Target baseline() {
  return {.name = "x86-64", .triple = triple, .cpu = "x86-64", .features = "+sse4.2,+ssse3,+popcnt", .needs = {"sse4.2", "ssse3", "popcnt"}, .vector_bytes = 16, .vector_registers = 16};
}

Target avx2() {
  return {.name = "avx2", .triple = triple, .cpu = "haswell", .features = "", .needs = {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "popcnt"}, .vector_bytes = 32, .vector_registers = 16, .fma = true,
          .f16c = true};
}

Target avx512() {
  return {.name = "avx512", .triple = triple, .cpu = "skylake-avx512", .features = "-prefer-256-bit",
          .needs = {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd", "avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "popcnt"}, .vector_bytes = 64,
          .vector_registers = 32, .fma = true, .avx512 = true, .f16c = true};
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
}

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

Target with_features(Target target, bool vnni, bool bf16, bool vbmi) {
  auto add = [&](const char* feature) {
    target.features += cat(",+", feature);
    target.needs.push_back(feature);
  };
  target.vnni = vnni;
  target.bf16 = bf16;
  if (vnni) add("avx512vnni");
  if (bf16) add("avx512bf16");
  if (vbmi) add("avx512vbmi");
  return target;
}

Target host() {
  __builtin_cpu_init();
  Target target = has_avx512() ? with_features(avx512(), __builtin_cpu_supports("avx512vnni"), __builtin_cpu_supports("avx512bf16"),
                                               __builtin_cpu_supports("avx512vbmi"))
                  : has_avx2() ? avx2()
                               : baseline();
  target.name = "native";
  return target;
}

}  // namespace

const Target& host_target() {
  static const Target target = host();
  return target;
}

std::vector<Target> library_targets() {
  return {with_features(avx512(), true, true, true), with_features(avx512(), true, false, false), avx512(), avx2()};
}

bool serves(const Target& common, const Target& target) {
  return common.vector_bytes == target.vector_bytes && common.vnni == target.vnni && common.bf16 == target.bf16 &&
         std::ranges::all_of(common.needs, [&](const std::string& feature) { return std::ranges::count(target.needs, feature) > 0; });
}

Target target_named(std::string_view name) {
  if (name == "native") return host_target();
  if (name == "x86-64") return baseline();
  if (name == "avx2" || name == "avx512") {
    __builtin_cpu_init();
    bool can_run = name == "avx2" ? has_avx2() : has_avx512();
    if (!can_run) fail(ErrorKind::value, "target_features", "this CPU lacks the features of target '", name, "'");
    return name == "avx2" ? avx2() : avx512();
  }
  fail(ErrorKind::value, "target_name", "target must be native, avx512, avx2, x86-64 or neuron, got '", name, "'");
}

}  // namespace weft
