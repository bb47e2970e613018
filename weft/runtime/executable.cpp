// Executables: loading, binding symbols, memory for a run, the run of machine code.
#include "weft/runtime/executable.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>

#include "weft/core/error.h"
#include "weft/core/knobs.h"
#include "weft/core/pages.h"
#include "weft/runtime/executable_state.h"
#include "weft/runtime/few.h"
#include "weft/runtime/file.h"
#include "weft/runtime/neuron.h"
#include "weft/runtime/profilers.h"
#include "weft/runtime/services.h"

namespace weft {
namespace {

std::atomic<Recompile> recompiler{nullptr};

int64_t bytes_of(DType dtype, const Ints& dims) {
  return std::accumulate(dims.begin(), dims.end(), size_of(dtype), std::multiplies<>());
}

// The number of the symbol that an extent is, when it is nothing but one; else -1.
int plain_symbol(const Dim& dim, const std::vector<Symbol>& symbols) {
  const auto& terms = dim.terms();
  bool plain = terms.size() == 1 && dim.constant() == 0 && terms[0].coefficient == 1 && terms[0].atoms.size() == 1 &&
               terms[0].atoms[0]->op == DimOp::symbol;
  for (size_t s = 0; plain && s < symbols.size(); ++s)
    if (symbols[s].name == terms[0].atoms[0]->symbol.name) return static_cast<int>(s);
  return -1;
}

// What the entry is called with: inputs and outputs, which the caller sets, and the constants behind them; then the two
// others.
Few<void*> buffers_for(const Manifest& m) {
  size_t at = m.inputs.size() + m.outputs.size();
  Few<void*> buffers(at + m.constants.size() + 2);
  for (const Manifest::Constant& constant : m.constants) buffers[at++] = const_cast<void*>(constant.bytes);
  return buffers;
}

[[gnu::cold, gnu::noinline]] void refuse_counts(const Manifest& m, size_t inputs, size_t symbols) {
  if (inputs != m.inputs.size())
    fail(ErrorKind::type, "input_count", "'", m.name, "' has ", m.inputs.size(), " inputs, got ", inputs);
  fail(ErrorKind::type, "symbol_count", "'", m.name, "' has ", m.symbols.size(), " symbolic extents, got ", symbols);
}

void require_counts(const Manifest& m, size_t inputs, size_t symbols) {
  if (inputs != m.inputs.size() || symbols != m.symbols.size()) refuse_counts(m, inputs, symbols);
}

[[gnu::cold, gnu::noinline]] void refuse_value(const Symbol& symbol, int64_t value) {
  fail(ErrorKind::value, "extent_range", "extent '", symbol.name, "' must be from ", symbol.min, " to ", symbol.max,
       ", got ", value);
}

void require_range(const Symbol& symbol, int64_t value) {
  if (value < symbol.min || value > symbol.max) refuse_value(symbol, value);
}

// No memory is for what has no elements.
[[gnu::cold, gnu::noinline]] void require_empty(const Manifest& m, const IoInfo& info,
                                                std::span<const int64_t> symbols) {
  bool is_empty = std::ranges::any_of(info.type.dims, [&](const Dim& dim) { return evaluate(dim, m, symbols) == 0; });
  if (!is_empty) fail(ErrorKind::value, "null_memory", "'", info.name, "': memory was wanted, got none");
}

}  // namespace

int64_t evaluate(const Dim& dim, const Manifest& m, std::span<const int64_t> symbols) {
  if (dim.is_static()) return dim.constant();
  int plain = plain_symbol(dim, m.symbols);
  if (plain >= 0) return symbols[static_cast<size_t>(plain)];
  std::map<std::string, int64_t, std::less<>> bindings;
  for (size_t s = 0; s < symbols.size(); ++s) bindings.emplace(m.symbols[s].name, symbols[s]);
  return dim.evaluate(bindings);
}

namespace {

Ints dims_of(const Manifest& m, const std::vector<IoInfo>& infos, size_t i, std::span<const int64_t> symbols) {
  if (i >= infos.size()) fail(ErrorKind::index, "io_index", "number ", i, " of ", infos.size());
  require_counts(m, m.inputs.size(), symbols.size());
  for (size_t s = 0; s < symbols.size(); ++s) require_range(m.symbols[s], symbols[s]);
  Ints dims;
  dims.reserve(infos[i].type.dims.size());
  for (const Dim& dim : infos[i].type.dims) dims.push_back(evaluate(dim, m, symbols));
  return dims;
}

}  // namespace

Executable::State::State(Manifest m, const Device& where)
    : manifest(std::move(m)), device(where), allocator(where.state().allocator), trials(manifest.launches.size()) {
  services.pool = &allocator;
  services.trials = &trials;
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const IoInfo& output = manifest.outputs[i];
    if (output.alias < 0 && is_lined_up(output.type)) lined_up.push_back(i);
  }
}

LoadedCode::LoadedCode(std::span<const std::string> objects, const Manifest& manifest) : object(objects) {
  if (!object.functions().empty()) name_for_profilers(object.functions(), manifest);
  run = reinterpret_cast<Entry>(object.find("weft_run"));
  setup = reinterpret_cast<Entry>(object.find("weft_setup"));
  if (!run || !setup) fail(ErrorKind::io, "object_code", "object code: has no weft_run or weft_setup");
}

void Executable::State::set_up(int64_t first, int64_t end) const {
  Few<void*> buffers = buffers_for(manifest);
  buffers.span().back() = persistent.get();
  std::vector<int64_t> symbols(manifest.symbols.size());
  Services some = services;
  some.packing_first = first;
  some.packing_end = end;
  if (is_listened())
    run_listened(first_code->setup, manifest, labels, "set up", symbols, buffers.data(), some);
  else
    run_entry(first_code->setup, symbols.data(), buffers.data(), some);
}

void Executable::State::begin_packing() {
  int64_t now = 0, later = 0;
  for (const LaunchInfo& launch : manifest.launches) {
    if (!launch.is_setup) continue;
    packing.bytes.push_back(launch.written_bytes.opt());
    if (launch.is_later)
      later += packing.bytes.back();
    else
      ++now;
  }
  if (later == 0 || knob_flag(Knob::pack_at_load)) now = static_cast<int64_t>(packing.bytes.size());
  packing.part = later / 4 + 1;
  set_up(0, now);
  packing.done = now;
}

void Executable::State::pack_some(int64_t bytes) const {
  int64_t first = packing.done, end = first, all = static_cast<int64_t>(packing.bytes.size());
  for (; end < all && bytes > 0; ++end) bytes -= packing.bytes[static_cast<size_t>(end)];
  set_up(first, end);
  packing.done.store(end, std::memory_order_release);
}

void Executable::finish() const {
  if (state().improvement) state().improvement(true);
  const Packing& packing = state().packing;
  if (packing.is_done()) return;
  std::lock_guard lock(packing.mutex);
  if (!packing.is_done()) state().pack_some(INT64_MAX);
}

Services Executable::State::services_for_run() const {
  Services some = services;
  if (packing.is_done()) return some;
  if (packing.has_run.exchange(true)) {
    std::unique_lock lock(packing.mutex, std::try_to_lock);
    if (lock && !packing.is_done()) pack_some(packing.part);
  }
  some.packing_end = packing.done.load(std::memory_order_acquire);
  return some;
}

Executable Executable::load(Manifest manifest, std::span<const std::string> objects, const Device& device) {
  if (!device.is_host()) fail(ErrorKind::value, "device", "machine code cannot run on '", device.name(), "'");
  auto state = std::make_shared<State>(std::move(manifest), device);
  state->first_code = std::make_unique<const LoadedCode>(objects, state->manifest);
  state->code = state->first_code.get();
  state->persistent = take_block(state->allocator, state->manifest.persistent_bytes.value());
  state->begin_packing();
  return Executable(std::move(state));
}

void Executable::improve(std::span<const std::string> objects) const {
  state().better_code = std::make_unique<const LoadedCode>(objects, manifest());
  state().code.store(state().better_code.get(), std::memory_order_release);
}

void Executable::expect_better(std::function<void(bool waits)> improvement) const {
  state().improvement = std::move(improvement);
}

Executable Executable::load(Manifest manifest, std::unique_ptr<DeviceProgram> program, const Device& device) {
  auto state = std::make_shared<State>(std::move(manifest), device);
  state->elsewhere = std::move(program);
  return Executable(std::move(state));
}

void set_recompile(Recompile recompile) { recompiler.store(recompile); }

Executable Executable::load(const std::filesystem::path& file, const Device& device) {
  if (device.kind() == "neuron") {
    std::ifstream stream(file, std::ios::binary);
    std::string neff((std::istreambuf_iterator<char>(stream)), {});
    if (!stream) fail(ErrorKind::io, "unreadable", file.string(), ": cannot be read");
    return load_neff(neff, device);
  }
  Package package = read_package(file);
  if (Recompile recompile = recompiler.load()) return recompile(package, device);
  const Build& best = best_build(package);
  return load(best.manifest, best.objects, device);
}

const Executable::State& Executable::state() const {
  if (!state_) fail(ErrorKind::value, "no_executable", "an executable was wanted, got one that holds nothing");
  return *state_;
}

const Manifest& Executable::manifest() const { return state().manifest; }
const Device& Executable::device() const { return state().device; }
int64_t Executable::code_bytes() const {
  const LoadedCode* code = state().code.load(std::memory_order_acquire);
  return code ? code->object.bytes() : 0;
}

void Executable::bind(std::span<const Extents> input_dims, std::span<int64_t> symbols) const {
  const Manifest& m = manifest();
  auto mismatch = [&](size_t i) {
    fail(ErrorKind::value, "input_shape", "input '", m.inputs[i].name, "' must have the shape ", m.inputs[i].type.dims,
         ", got ", Ints(input_dims[i].begin(), input_dims[i].end()));
  };
  require_counts(m, input_dims.size(), symbols.size());
  std::vector<bool> known(symbols.size());
  bool derived = false;
  for (size_t i = 0; i < m.inputs.size(); ++i) {
    const Dims& wanted = m.inputs[i].type.dims;
    if (wanted.size() != input_dims[i].size()) mismatch(i);
    for (size_t d = 0; d < wanted.size(); ++d) {
      int64_t given = input_dims[i][d];
      if (wanted[d].is_static()) {
        if (wanted[d].constant() != given) mismatch(i);
        continue;
      }
      int plain = plain_symbol(wanted[d], m.symbols);
      derived |= plain < 0;
      if (plain < 0) continue;
      auto s = static_cast<size_t>(plain);
      const Symbol& symbol = m.symbols[s];
      if (given < symbol.min || given > symbol.max)
        fail(ErrorKind::value, "extent_range", "extent '", symbol.name, "' (axis ", d, " of input '", m.inputs[i].name,
             "') must be from ", symbol.min, " to ", symbol.max, ", got ", given);
      if (known[s] && symbols[s] != given)
        fail(ErrorKind::value, "extent_agreement", "extent '", symbol.name, "' is ", symbols[s], " elsewhere but ",
             given, " on axis ", d, " of input '", m.inputs[i].name, "'");
      symbols[s] = given;
      known[s] = true;
    }
  }
  if (!derived) return;
  for (size_t i = 0; i < m.inputs.size(); ++i)
    for (size_t d = 0; d < input_dims[i].size(); ++d)
      if (evaluate(m.inputs[i].type.dims[d], m, symbols) != input_dims[i][d]) mismatch(i);
}

Ints Executable::input_dims(size_t i, std::span<const int64_t> symbols) const {
  return dims_of(manifest(), manifest().inputs, i, symbols);
}
Ints Executable::output_dims(size_t i, std::span<const int64_t> symbols) const {
  return dims_of(manifest(), manifest().outputs, i, symbols);
}

namespace {

[[noreturn]] void throw_failed(const Manifest& m, size_t check, uint64_t told, std::span<const int64_t> symbols) {
  auto found = static_cast<int64_t>(told);
  raise(range_error(m.checks[check], evaluate(m.checks[check].limit, m, symbols), found == INT64_MIN ? 0 : found));
}

}  // namespace

void Executable::run(std::span<const int64_t> symbols, std::span<const void* const> inputs,
                     std::span<void* const> outputs) const {
  const State& program = state();
  const LoadedCode* code = program.code.load(std::memory_order_acquire);
  if (!code)
    fail(ErrorKind::type, "device_memory", "'", name(), "' runs on '", program.device.name(),
         "' and takes buffers there");
  const Manifest& m = program.manifest;
  require_counts(m, inputs.size(), symbols.size());
  if (outputs.size() != m.outputs.size())
    fail(ErrorKind::type, "output_count", "'", m.name, "' has ", m.outputs.size(), " outputs, got ", outputs.size());
  int64_t arena_bytes = evaluate(m.arena_bytes, m, symbols);
  Few<void*> buffers = buffers_for(m);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!(buffers[i] = const_cast<void*>(inputs[i]))) require_empty(m, m.inputs[i], symbols);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!(buffers[inputs.size() + i] = outputs[i])) require_empty(m, m.outputs[i], symbols);
  for (size_t s = 0; s < symbols.size(); ++s) require_range(m.symbols[s], symbols[s]);
  std::vector<std::pair<size_t, Block>> elsewhere;
  for (size_t i : program.lined_up) {
    if (reinterpret_cast<uintptr_t>(outputs[i]) % cache_line == 0) continue;
    elsewhere.emplace_back(i,
                           take_block(program.allocator, bytes_of(m.outputs[i].type.dtype, output_dims(i, symbols))));
    buffers[inputs.size() + i] = elsewhere.back().second.get();
  }
  Block arena;
  if (arena_bytes > 0) arena = program.arenas.take(program.allocator, arena_bytes);
  Services services = program.services_for_run();
  Few<uint64_t> failed(m.checks.size());
  services.failed = failed.data();
  std::span<void*> all = buffers.span();
  all[all.size() - 2] = arena.get();
  all.back() = program.persistent.get();
  if (is_listened())
    run_listened(code->run, m, program.labels, "run", symbols, buffers.data(), services);
  else
    run_entry(code->run, symbols.data(), buffers.data(), services);
  for (const auto& [i, memory] : elsewhere)
    std::memcpy(outputs[i], memory.get(), static_cast<size_t>(memory.get_deleter().bytes));
  if (arena) program.arenas.give(std::move(arena));
  if (program.improvement) program.improvement(false);
  for (size_t i = 0; i < m.checks.size(); ++i)
    if (failed[i]) [[unlikely]]
      throw_failed(m, i, failed[i], symbols);
}

}  // namespace weft
