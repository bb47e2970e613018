// Settings: every environment variable WEFT_… in one table, and scopes that change them for a while.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

// In the order of the table.
enum class Knob : uint8_t {
  cache,
  cache_bytes,
  checks,
  debug,
  dump,
  examples,
  harness,
  jobs,
  lapack,
  libnrt,
  neuronx_cc,
  pack_at_load,
  perf,
  strict,
  target,
  threads,
  tiered,
  trace,
  trials,
  verify
};

enum class KnobType : uint8_t { flag, integer, text };

struct KnobInfo {
  Knob knob;
  std::string_view name;  // "cache_bytes" is WEFT_CACHE_BYTES
  KnobType type;
  std::string_view standard;  // its value where nobody sets it
  std::string_view doc;
  int64_t max = 0;         // integers go from 0 to this
  bool is_setting = true;  // false: read by the tools of this repository alone, so no scope has it
};

std::span<const KnobInfo> all_knobs();
const KnobInfo& knob_info(Knob knob);
// Error(value), label "knob", for a name that no setting has; it names the nearest.
Knob knob_named(std::string_view name);
// WEFT_CACHE_BYTES
std::string variable_of(const KnobInfo& knob);

// The value: of this thread's innermost scope that sets it, else of the environment where it says anything that fits
// the type, else the standard one.
std::string knob_text(Knob knob);
bool knob_flag(Knob knob);  // 1, true, on, yes; 0, false, off, no
int64_t knob_integer(Knob knob);
// Only what a scope of this thread says.
std::optional<int64_t> scoped_integer(Knob knob);
// "scope", "environment" or "standard"
std::string_view knob_source(Knob knob);

// A variable of the environment: of WEFT_… and few others; empty where it is not set.
std::string environment_variable(const char* name);
// Others may change the environment (setenv) while a thread of ours reads it, which getenv does not survive. Such
// threads read the last copy. Makes one, but not for a thread that reads it: compile() does, and who lets go of
// Python's lock before.
void copy_environment();
// While it lives this thread reads the copy.
class BesideEnvironment {
 public:
  BesideEnvironment();
  ~BesideEnvironment();
  BesideEnvironment(const BesideEnvironment&) = delete;
  BesideEnvironment& operator=(const BesideEnvironment&) = delete;
};
// A sentence for each variable WEFT_… that no knob has, with the nearest that one has, and for each value that does not
// fit.
std::vector<std::string> environment_problems();

// Values that hold for this thread until the scope ends: `ScopedKnobs checked({{Knob::verify, "1"}});`. Scopes nest,
// and one that ends leaves the others as they are, in whatever order they end. No value: the standard one. Programs
// that are compiled already stay as they are.
class ScopedKnobs {
 public:
  using Values = std::vector<std::pair<Knob, std::optional<std::string>>>;
  // Error(value), label "knob_value", for a value that does not fit.
  explicit ScopedKnobs(Values values);
  // Must be called on the thread that made it.
  ~ScopedKnobs();
  ScopedKnobs(const ScopedKnobs&) = delete;
  ScopedKnobs& operator=(const ScopedKnobs&) = delete;

  const Values& values() const { return values_; }

 private:
  Values values_;
};

}  // namespace weft
