// The table of settings, and the one place that reads the environment.
#include "weft/core/knobs.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

#include "weft/core/error.h"

namespace weft {
namespace {

constexpr std::string_view prefix = "WEFT_";

constexpr KnobInfo table[] = {
    {.knob = Knob::cache,
     .name = "cache",
     .type = KnobType::text,
     .standard = "",
     .doc = "The folder that compiled programs are kept in, or `off`; where it is empty, `weftwork` below "
            "XDG_CACHE_HOME or ~/.cache."},
    {.knob = Knob::cache_bytes,
     .name = "cache_bytes",
     .type = KnobType::integer,
     .standard = "1073741824",
     .doc = "The bytes that the folder of compiled programs may take; those used least recently go.",
     .max = INT64_MAX},
    {.knob = Knob::checks,
     .name = "checks",
     .type = KnobType::flag,
     .standard = "1",
     .doc = "Programs of NumPy raise NumPy's errors of values while they run: an index out of bounds, a singular "
            "matrix. 0: such an index is moved inside."},
    {.knob = Knob::debug,
     .name = "debug",
     .type = KnobType::flag,
     .standard = "0",
     .doc = "Gives machine code the user's lines and shows it to gdb, whose `bt` then names kernels; what is compiled "
            "so is not kept on disk."},
    {.knob = Knob::dump,
     .name = "dump",
     .type = KnobType::text,
     .standard = "",
     .doc = "A folder that gets one folder for each compiled function, with the text of every stage down to the "
            "assembly."},
    {.knob = Knob::examples,
     .name = "examples",
     .type = KnobType::text,
     .standard = "1",
     .doc = "By how much the tests multiply the number of examples that they draw; where it is set, they are drawn at "
            "random.",
     .is_setting = false},
    {.knob = Knob::harness,
     .name = "harness",
     .type = KnobType::text,
     .standard = "",
     .doc = "`all`: the tests go through all of JAX's harnesses, not a twentieth of them.",
     .is_setting = false},
    {.knob = Knob::jobs,
     .name = "jobs",
     .type = KnobType::text,
     .standard = "",
     .doc = "How many compilers and tests `./dev` runs at once.",
     .is_setting = false},
    {.knob = Knob::lapack,
     .name = "lapack",
     .type = KnobType::flag,
     .standard = "1",
     .doc = "Large matrices are factored and solved by the LAPACK that NumPy is linked with, with its threads and its "
            "results to the bit. 0: by what is built in, on one thread, with the same bits everywhere."},
    {.knob = Knob::libnrt,
     .name = "libnrt",
     .type = KnobType::text,
     .standard = "",
     .doc = "The library of the Neuron runtime; where it is empty, `libnrt.so.1` where the system or "
            "/opt/aws/neuron/lib has it."},
    {.knob = Knob::neuronx_cc,
     .name = "neuronx_cc",
     .type = KnobType::text,
     .standard = "",
     .doc = "The compiler for the target `neuron`; where it is empty, `neuronx-cc` of PATH."},
    {.knob = Knob::pack_at_load,
     .name = "pack_at_load",
     .type = KnobType::flag,
     .standard = "0",
     .doc = "Packs large weights as a program is loaded, not in its second to fifth run: the first result comes later, "
            "and runs take the same time from the first on."},
    {.knob = Knob::perf,
     .name = "perf",
     .type = KnobType::flag,
     .standard = "0",
     .doc = "Writes the names of kernels to /tmp/perf-PID.map, where `perf report` finds them, and with code and lines "
            "to /tmp/jit-PID.dump, for `perf inject --jit`."},
    {.knob = Knob::strict,
     .name = "strict",
     .type = KnobType::flag,
     .standard = "0",
     .doc = "Functions of `wf.jit` that do not say strict= themselves raise the typed error where a call cannot be one "
            "program, instead of running it plainly."},
    {.knob = Knob::target,
     .name = "target",
     .type = KnobType::text,
     .standard = "native",
     .doc = "What programs are compiled for: `native`, `avx512`, `avx2`, `x86-64`, `neuron` or `neuron:FAMILY`."},
    {.knob = Knob::threads,
     .name = "threads",
     .type = KnobType::integer,
     .standard = "0",
     .doc = "How many threads a run uses; 0: as many as OMP_NUM_THREADS says, else one for each CPU that the process "
            "may use (by affinity and quota). Results do not depend on it.",
     .max = 1024},
    {.knob = Knob::tiered,
     .name = "tiered",
     .type = KnobType::flag,
     .standard = "1",
     .doc = "Jitted functions that do little run code that is compiled in a part of the time, until a thread beside "
            "them has compiled the faster one. Results are the same."},
    {.knob = Knob::trace,
     .name = "trace",
     .type = KnobType::text,
     .standard = "",
     .doc = "A file that gets a profile of the whole process when it ends (see `wf.profile`); read when the library is "
            "loaded, so no scope sets it."},
    {.knob = Knob::trials,
     .name = "trials",
     .type = KnobType::flag,
     .standard = "1",
     .doc = "Calls of `wf.jit` with small arrays, and in pieces, are measured beside the function itself: after "
            "twelve, what is slower than NumPy runs plainly."},
    {.knob = Knob::verify,
     .name = "verify",
     .type = KnobType::flag,
     .standard = "0",
     .doc = "Checks the program after every pass of the compiler."},
};

constexpr bool is_in_order() {
  for (size_t i = 0; i < std::size(table); ++i)
    if (table[i].knob != static_cast<Knob>(i)) return false;
  return true;
}
static_assert(is_in_order());

constexpr std::string_view on[] = {"1", "true", "on", "yes"}, off[] = {"0", "false", "off", "no"};

std::optional<bool> flag_of(std::string_view text) {
  if (std::ranges::find(on, text) != std::end(on)) return true;
  if (std::ranges::find(off, text) != std::end(off)) return false;
  return {};
}

std::optional<int64_t> integer_of(std::string_view text) {
  int64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

// What the value of a knob must be, where it is something else; empty where it fits.
std::string misfit(const KnobInfo& knob, std::string_view text) {
  if (knob.type == KnobType::flag && !flag_of(text)) return "1 or 0 (on or off)";
  if (knob.type == KnobType::text) return {};
  std::optional<int64_t> value = integer_of(text);
  if (knob.type == KnobType::integer && (!value || *value < 0 || *value > knob.max))
    return knob.max == INT64_MAX ? "an integer from 0" : cat("an integer from 0 to ", knob.max);
  return {};
}

// This thread's scopes, innermost last. The count lets threads of processes without any go without a look at theirs.
std::atomic<int> scopes_alive{0};
thread_local std::vector<const ScopedKnobs*> scopes;

// What the innermost scope of this thread that has the knob sets it to; null where none has.
const std::optional<std::string>* scoped(Knob knob) {
  if (scopes_alive.load(std::memory_order_relaxed) == 0) return nullptr;
  for (size_t i = scopes.size(); i-- > 0;)
    for (const auto& [set, value] : scopes[i]->values())
      if (set == knob) return &value;
  return nullptr;
}

// The variables that anybody here asks for.
using Environment = std::map<std::string, std::string, std::less<>>;
std::atomic<const Environment*> last_copy{nullptr};
thread_local int scopes_beside = 0;

Environment environment() {
  constexpr std::string_view others[] = {"HOME", "OMP_NUM_THREADS", "XDG_CACHE_HOME"};
  Environment found;
  for (char** each = environ; each && *each; ++each) {
    const std::string_view entry = *each, name = entry.substr(0, entry.find('='));
    if (name.size() < entry.size() && (name.starts_with(prefix) || std::ranges::find(others, name) != std::end(others)))
      found.emplace(name, entry.substr(name.size() + 1));
  }
  return found;
}

// What the environment sets it to; empty where it does not, or to what does not fit.
std::string from_environment(const KnobInfo& knob) {
  std::string text = environment_variable(variable_of(knob).c_str());
  return text.empty() || misfit(knob, text).empty() ? text : "";
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

const KnobInfo& nearest(std::string_view name) {
  return *std::ranges::min_element(
      table, {}, [&](const KnobInfo& knob) { return edit_distance(name, knob.name) + (knob.is_setting ? 0 : 100); });
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

}  // namespace

std::span<const KnobInfo> all_knobs() { return table; }

const KnobInfo& knob_info(Knob knob) { return table[static_cast<size_t>(knob)]; }

std::string variable_of(const KnobInfo& knob) { return cat(prefix, upper(knob.name)); }

Knob knob_named(std::string_view name) {
  for (const KnobInfo& knob : table)
    if (knob.name == name && knob.is_setting) return knob.knob;
  fail(ErrorKind::value, "knob", "there is no knob '", name, "', the nearest is '", nearest(name).name, "'");
}

std::string knob_text(Knob knob) {
  if (const auto* set = scoped(knob)) return set->value_or(std::string(knob_info(knob).standard));
  std::string text = from_environment(knob_info(knob));
  return text.empty() ? std::string(knob_info(knob).standard) : text;
}

bool knob_flag(Knob knob) { return flag_of(knob_text(knob)).value(); }

int64_t knob_integer(Knob knob) { return integer_of(knob_text(knob)).value(); }

std::optional<int64_t> scoped_integer(Knob knob) {
  const auto* set = scoped(knob);
  if (!set) return {};
  return integer_of(*set ? std::string_view(**set) : knob_info(knob).standard);
}

std::string_view knob_source(Knob knob) {
  if (scoped(knob)) return "scope";
  return from_environment(knob_info(knob)).empty() ? "standard" : "environment";
}

std::string environment_variable(const char* name) {
  if (scopes_beside > 0) {
    const Environment* copy = last_copy.load(std::memory_order_acquire);
    if (!copy) return "";
    const auto found = copy->find(name);
    return found == copy->end() ? "" : found->second;
  }
  const char* value = std::getenv(name);
  return value ? value : "";
}

void copy_environment() {
  static std::mutex mutex;
  static auto* copies = new std::vector<std::unique_ptr<const Environment>>;  // threads may read any of them
  if (scopes_beside > 0) return;
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) return;  // held by a thread that a child which was forked does not have, or that makes the same copy
  Environment now = environment();
  auto known = std::ranges::find_if(*copies, [&](const auto& copy) { return *copy == now; });
  if (known == copies->end())
    known = copies->insert(copies->end(), std::make_unique<const Environment>(std::move(now)));
  last_copy.store(known->get(), std::memory_order_release);
}

BesideEnvironment::BesideEnvironment() { ++scopes_beside; }

BesideEnvironment::~BesideEnvironment() { --scopes_beside; }

std::vector<std::string> environment_problems() {
  std::vector<std::string> problems;
  for (char** each = environ; each && *each; ++each) {
    std::string_view entry = *each;
    if (!entry.starts_with(prefix)) continue;
    std::string_view name = entry.substr(0, entry.find('=')),
                     value = entry.substr(std::min(name.size() + 1, entry.size()));
    const KnobInfo* knob = std::ranges::find_if(table, [&](const KnobInfo& row) { return variable_of(row) == name; });
    if (knob == std::end(table)) {
      std::string bare(name.substr(prefix.size()));
      for (char& c : bare)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      problems.push_back(cat("the environment variable ", name, " sets nothing, the nearest that does is ",
                             variable_of(nearest(bare))));
    } else if (std::string wanted = value.empty() ? "" : misfit(*knob, value); !wanted.empty()) {
      problems.push_back(
          cat("the environment variable ", name, " must be ", wanted, ", got '", value, "', which is not used"));
    }
  }
  return problems;
}

ScopedKnobs::ScopedKnobs(Values values) : values_(std::move(values)) {
  for (const auto& [knob, value] : values_)
    if (std::string wanted = value ? misfit(knob_info(knob), *value) : ""; !wanted.empty())
      fail(ErrorKind::value, "knob_value", "the knob '", knob_info(knob).name, "' must be ", wanted, ", got '", *value,
           "'");
  scopes.push_back(this);
  scopes_alive.fetch_add(1, std::memory_order_relaxed);
}

ScopedKnobs::~ScopedKnobs() {
  std::erase(scopes, this);
  scopes_alive.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace weft
