// How many CPUs a process takes of its host.
#include "weft/core/cpu.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <cstdlib>
#include <string>

using namespace weft;

TEST_CASE("quotas of control groups are rounded up") {
  CHECK(cpus_of_quota("200000 100000") == 2);
  CHECK(cpus_of_quota("150000 100000") == 2);
  CHECK(cpus_of_quota("1000 100000") == 1);
  for (const char* none : {"", "max 100000", "max", "-1 100000", "100000", "100000 0", "100000x 100000", "99999999999999999999 1"}) CHECK(cpus_of_quota(none) == 0);
}

TEST_CASE("a process takes its share of the CPUs") {
  const char* before = std::getenv("OMP_NUM_THREADS");
  std::string kept = before ? before : "";
  for (const char* odd : {"", "0", "-1", "many", "1x"}) {
    setenv("OMP_NUM_THREADS", odd, 1);
    CHECK(shared_cpus() == available_cpus());
  }
  for (const char* one : {"1", "1,4"}) {
    setenv("OMP_NUM_THREADS", one, 1);
    CHECK(shared_cpus() == 1);
  }
  setenv("OMP_NUM_THREADS", "100000", 1);
  CHECK(shared_cpus() == available_cpus());
  before ? setenv("OMP_NUM_THREADS", kept.c_str(), 1) : unsetenv("OMP_NUM_THREADS");
}

TEST_CASE("affinity counts") {
  cpu_set_t all, one;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(available_cpus() == 1);
  sched_setaffinity(0, sizeof all, &all);
}
