// What the CPU of this machine can do.
#pragma once

#include <sched.h>

#include <span>
#include <string>
#include <string_view>

namespace weft {

// Whether it has a feature, as GCC names it: avx2, avx512f. False for names that are none. Where it has AMX, asking for
// that asks Linux once for leave to use it, without which it has not.
bool has_feature(std::string_view name);
// The first of such features that it lacks; empty where it has all.
std::string missing_feature(std::span<const std::string> features);

// How many CPUs this process may run on, by its affinity and by the quota of its control groups; one at least.
int available_cpus();
// The same of several processes of its control group together, any of which may run on `set`.
int available_cpus(const cpu_set_t& set);
// How many CPUs a file `cpu.max` of a control group grants: "150000 100000" is 1.5, which is two; 0 for "max", and for
// what is no quota.
int cpus_of_quota(std::string_view text);
// How many of them are this process's share: what OMP_NUM_THREADS says, by which those that start several processes on
// one host divide its CPUs, but no more than are available.
int shared_cpus();

// For loops that look again and again whether another thread has come.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace weft
