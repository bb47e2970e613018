// The kinds of CPU that there are.
#include "weft/codegen/target.h"

#include <algorithm>
#include <span>

#include "weft/core/cpu.h"
#include "weft/core/error.h"
#include "weft/core/text.h"

namespace weft {
namespace {

constexpr const char* triple = "x86_64-unknown-linux-gnu";

// What each kind of CPU has besides what the one before has.
const std::vector<std::string> baseline_needs = {"sse4.2", "ssse3", "popcnt"};
const std::vector<std::string> avx2_needs = {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt"};
const std::vector<std::string> avx512_needs = {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"};
// What some of those with AVX-512 have, and what some of those have that have all of it.
const std::vector<std::string> avx512_more = {"avx512vnni", "avx512bf16", "avx512vbmi"},
                               amx_needs = {"amx-tile", "amx-bf16", "amx-int8"};
// No function of the library that is compiled ahead is quicker with it.
const std::vector<std::string> fp16_needs = {"avx512fp16"};

std::vector<std::string> joined(std::vector<std::string> needs, const std::vector<std::string>& more) {
  needs.insert(needs.end(), more.begin(), more.end());
  return needs;
}

Target baseline() {
  return {.name = "x86-64",
          .triple = triple,
          .cpu = "x86-64",
          .features = "+sse4.2,+ssse3,+popcnt",
          .needs = baseline_needs,
          .vector_bytes = 16,
          .vector_registers = 16};
}

Target avx2() {
  return {.name = "avx2",
          .triple = triple,
          .cpu = "haswell",
          .features = "",
          .needs = joined(baseline_needs, avx2_needs),
          .vector_bytes = 32,
          .vector_registers = 16,
          .fma = true,
          .f16c = true};
}

Target avx512() {
  return {.name = "avx512",
          .triple = triple,
          .cpu = "skylake-avx512",
          .features = "-prefer-256-bit",
          .needs = joined(avx2().needs, avx512_needs),
          .vector_bytes = 64,
          .vector_registers = 32,
          .fma = true,
          .avx512 = true,
          .f16c = true};
}

Target with_features(Target target, std::span<const std::string> more) {
  for (const std::string& feature : more) {
    target.features += cat(",+", feature);
    target.needs.push_back(feature);
    target.vnni |= feature == "avx512vnni";
    target.bf16 |= feature == "avx512bf16";
    target.fp16 |= feature == "avx512fp16";
    target.vbmi |= feature == "avx512vbmi";
    target.amx |= feature == "amx-tile";
  }
  return target;
}

Target host() {
  std::vector<std::string> more = avx512_more;
  std::erase_if(more, [](const std::string& feature) { return !has_feature(feature); });
  if (more == avx512_more && missing_feature(amx_needs).empty()) more = joined(more, amx_needs);
  if (missing_feature(fp16_needs).empty()) more = joined(more, fp16_needs);
  Target target = missing_feature(avx512().needs).empty() ? with_features(avx512(), more)
                  : missing_feature(avx2().needs).empty() ? avx2()
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
  return {with_features(avx512(), joined(avx512_more, amx_needs)), with_features(avx512(), avx512_more),
          with_features(avx512(), std::span(avx512_more).first(1)), avx512(), avx2()};
}

bool serves(const Target& common, const Target& target) {
  return common.vector_bytes == target.vector_bytes && common.vnni == target.vnni && common.bf16 == target.bf16 &&
         common.amx == target.amx && std::ranges::all_of(common.needs, [&](const std::string& feature) {
           return std::ranges::count(target.needs, feature) > 0;
         });
}

Target target_named(std::string_view name) {
  if (name == "native") return host_target();
  if (name == "x86-64") return baseline();
  if (name == "avx2") return avx2();
  if (name == "avx512") return avx512();
  fail(ErrorKind::value, "target_name", "target must be native, avx512, avx2, x86-64 or neuron, got '", name, "'");
}

}  // namespace weft
