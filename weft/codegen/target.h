// The CPU that code is made for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct Target {
  std::string name;  // native, avx512, avx2, x86-64
  std::string triple, cpu, features;
  std::vector<std::string> needs;  // the features that a CPU must have to run the code, as GCC names them
  int vector_bytes = 16;
  int vector_registers = 16;
  bool fma = false;
  bool avx512 = false;
  bool f16c = false;
  bool bf16 = false;  // AVX512-BF16: sums of two products of bf16
  bool fp16 = false;  // AVX512-FP16: f16 without conversions
  bool vnni = false;  // AVX512-VNNI: sums of four products of bytes
  bool vbmi = false;  // AVX512-VBMI: any bytes of a vector
  bool amx = false;   // AMX: products of tiles of bf16 and of bytes
};

// The CPU that this process runs on.
const Target& host_target();
// Those that the library is compiled for, whatever this CPU has; the best first. One with AMX has all that the next one
// has.
std::vector<Target> library_targets();
// Whether code for `common` is what would be made for `target`, or, of the same instructions, does not use all that it
// has.
bool serves(const Target& common, const Target& target);
// native, avx512, avx2 or x86-64, whether this CPU can run it or not; Error(value) for another name.
Target target_named(std::string_view name);

}  // namespace weft
