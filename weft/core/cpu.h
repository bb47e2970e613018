// What the CPU of this machine can do.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weft {

// Whether it has a feature, as GCC names it: avx2, avx512f. False for names that are none. Where it has AMX, asking for that asks
// Linux once for leave to use it, without which it has not.
bool has_feature(std::string_view name);
// The first of such features that it lacks; empty where it has all.
std::string missing_feature(std::span<const std::string> features);

// How many CPUs this process may run on; one at least.
int available_cpus();

// For loops that look again and again whether another thread has come.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace weft
