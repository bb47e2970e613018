// Executables: binding symbols, memory for a run, the run.
#include "weft/runtime/executable.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>

#include "weft/core/error.h"
#include "weft/core/pages.h"
#include "weft/library/custom.h"
#include "weft/runtime/object.h"
#include "weft/runtime/thread_pool.h"

namespace weft {
namespace {

using Bindings = std::map<std::string, int64_t, std::less<>>;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Block = std::unique_ptr<void, Free>;

Block allocate(int64_t bytes) {
  if (bytes <= 0) return nullptr;
  auto page = static_cast<int64_t>(page_for(static_cast<size_t>(bytes), cache_line));
  auto size = static_cast<size_t>(checked_add(bytes, page - 1) / page * page);
  Block block(allocate_pages(size, cache_line));
  if (!block) throw Error(ErrorKind::runtime, cat("no memory for ", bytes, " bytes"), "out_of_memory");
  return block;
}

int64_t bytes_of(DType dtype, const Ints& dims) {
  return std::accumulate(dims.begin(), dims.end(), size_of(dtype), std::multiplies<>());
}

// The symbol that an extent is, when it is nothing but one.
const Symbol* plain_symbol(const Dim& dim) {
  const auto& terms = dim.terms();
  bool plain = terms.size() == 1 && dim.constant() == 0 && terms[0].coefficient == 1 && terms[0].atoms.size() == 1 &&
               terms[0].atoms[0]->op == DimOp::symbol;
  return plain ? &terms[0].atoms[0]->symbol : nullptr;
}

void call_parallel_for(void*, int64_t count, int64_t cost, void (*body)(void**, int64_t, int64_t), void** args) {
  parallel_for(count, cost, body, args);
}

// Memory of the turns that this thread's last independent loop ran.
struct TurnMemory {
  Block block;
  int64_t bytes = 0;
};
thread_local TurnMemory turn_memory;

struct Turns {
  void (*body)(void**, int64_t, int64_t, void*);
  void** args;
  std::byte* memory;
  int64_t bytes;
};

// False, and an error noted, where there is no memory.
bool reserve_turns(int64_t bytes, int threads) {
  try {
    int64_t all = checked_multiply(bytes, threads);
    if (turn_memory.bytes < all) {
      turn_memory = {};
      turn_memory = {allocate(all), all};
    }
    return true;
  } catch (const Error&) {
    note_error();
    return false;
  }
}

void call_parallel_turns(void*, int64_t count, int64_t bytes, void (*body)(void**, int64_t, int64_t, void*), void** args) {
  int threads = num_threads();
  if (!reserve_turns(bytes, threads)) leave_machine_code();
  Turns turns{body, args, static_cast<std::byte*>(turn_memory.block.get()), bytes};
  void* packed[] = {&turns};
  auto part = [](void** data, int64_t begin, int64_t end) {
    auto* t = static_cast<Turns*>(data[0]);
    t->body(t->args, begin, end, t->memory + thread_slot() * t->bytes);
  };
  parallel_for(count, worth_waking, part, packed, threads);
}

// Arenas that are kept between runs, so that their pages stay mapped.
class ArenaCache {
 public:
  struct Arena {
    Block block;
    int64_t bytes = 0;
  };

  Arena take(int64_t bytes) {
    {
      std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        Arena arena = std::move(free_.back());
        free_.pop_back();
        if (arena.bytes >= bytes) return arena;
      }
    }
    return {allocate(bytes), bytes};
  }

  void give(Arena arena) {
    std::lock_guard lock(mutex_);
    if (free_.size() < 4) free_.push_back(std::move(arena));
  }

 private:
  std::mutex mutex_;
  std::vector<Arena> free_;
};

// Errors of operations that users added are thrown from here.
void run_entry(Entry entry, const int64_t* symbols, void* const* buffers, const Services& services) {
  struct Arguments {
    Entry entry;
    const int64_t* symbols;
    void* const* buffers;
    const Services* services;
  } arguments{entry, symbols, buffers, &services};
  catch_custom_errors([](void* data) {
    auto* a = static_cast<Arguments*>(data);
    a->entry(a->symbols, a->buffers, a->services);
  }, &arguments);
}

}  // namespace

struct Executable::State {
  Manifest manifest;
  CodeObject code;
  Entry run = nullptr;
  Block persistent;
  mutable ArenaCache arenas;
  std::vector<size_t> lined_up;  // results that have to begin at a cache line

  State(Manifest m, std::span<const std::string> objects) : manifest(std::move(m)), code(objects) {
    for (size_t i = 0; i < manifest.outputs.size(); ++i) {
      const IoInfo& output = manifest.outputs[i];
      if (output.alias < 0 && is_lined_up(output.type)) lined_up.push_back(i);
    }
  }
};

Executable::Executable(std::unique_ptr<State> state) : state_(std::move(state)) {}
Executable::~Executable() = default;

std::shared_ptr<const Executable> Executable::load(Manifest manifest, std::span<const std::string> objects) {
  auto state = std::make_unique<State>(std::move(manifest), objects);
  state->run = reinterpret_cast<Entry>(state->code.find("weft_run"));
  auto setup = reinterpret_cast<Entry>(state->code.find("weft_setup"));
  if (!state->run || !setup) fail(ErrorKind::io, "object_code", "object code: has no weft_run or weft_setup");
  const Manifest& m = state->manifest;
  state->persistent = allocate(m.persistent_bytes.value());
  std::vector<void*> buffers(m.inputs.size() + m.outputs.size());
  for (const Manifest::Constant& constant : m.constants) buffers.push_back(const_cast<void*>(constant.bytes));
  buffers.push_back(nullptr);
  buffers.push_back(state->persistent.get());
  std::vector<int64_t> symbols(m.symbols.size());
  Services services{call_parallel_for, nullptr, call_parallel_turns};
  run_entry(setup, symbols.data(), buffers.data(), services);
  return std::shared_ptr<const Executable>(new Executable(std::move(state)));
}

const Manifest& Executable::manifest() const { return state_->manifest; }
int64_t Executable::code_bytes() const { return state_->code.bytes(); }

void Executable::bind(std::span<const Ints> input_dims, std::span<int64_t> symbols) const {
  const Manifest& m = manifest();
  auto mismatch = [&](size_t i) {
    fail(ErrorKind::value, "input_shape", "input '", m.inputs[i].name, "' must have the shape ", m.inputs[i].type.dims, ", got ", input_dims[i]);
  };
  std::vector<bool> known(symbols.size());
  for (size_t i = 0; i < m.inputs.size(); ++i) {
    const Dims& wanted = m.inputs[i].type.dims;
    if (wanted.size() != input_dims[i].size()) mismatch(i);
    for (size_t d = 0; d < wanted.size(); ++d) {
      int64_t given = input_dims[i][d];
      if (wanted[d].is_static()) {
        if (wanted[d].value() != given) mismatch(i);
        continue;
      }
      const Symbol* symbol = plain_symbol(wanted[d]);
      if (!symbol) continue;
      if (given < symbol->min || given > symbol->max)
        fail(ErrorKind::value, "extent_range", "extent '", symbol->name, "' (axis ", d, " of input '", m.inputs[i].name, "') must be from ",
             symbol->min, " to ", symbol->max, ", got ", given);
      for (size_t s = 0; s < m.symbols.size(); ++s) {
        if (m.symbols[s].name != symbol->name) continue;
        if (known[s] && symbols[s] != given)
          fail(ErrorKind::value, "extent_agreement", "extent '", symbol->name, "' is ", symbols[s], " elsewhere but ", given, " on axis ", d,
               " of input '", m.inputs[i].name, "'");
        symbols[s] = given;
        known[s] = true;
      }
    }
  }
  if (symbols.empty()) return;
  Bindings bindings;
  for (size_t s = 0; s < symbols.size(); ++s) bindings.emplace(m.symbols[s].name, symbols[s]);
  for (size_t i = 0; i < m.inputs.size(); ++i)
    for (size_t d = 0; d < input_dims[i].size(); ++d)
      if (!m.inputs[i].type.dims[d].is_static() && m.inputs[i].type.dims[d].evaluate(bindings) != input_dims[i][d]) mismatch(i);
}

Ints Executable::output_dims(size_t i, std::span<const int64_t> symbols) const {
  const Type& type = manifest().outputs[i].type;
  if (symbols.empty()) return type.static_dims();
  Bindings bindings;
  for (size_t s = 0; s < symbols.size(); ++s) bindings.emplace(manifest().symbols[s].name, symbols[s]);
  Ints dims;
  for (const Dim& dim : type.dims) dims.push_back(dim.evaluate(bindings));
  return dims;
}

void Executable::run(std::span<const int64_t> symbols, std::span<const void* const> inputs, std::span<void* const> outputs) const {
  const Manifest& m = manifest();
  int64_t arena_bytes = 0;
  if (m.arena_bytes.is_static()) {
    arena_bytes = m.arena_bytes.value();
  } else {
    Bindings bindings;
    for (size_t s = 0; s < symbols.size(); ++s) bindings.emplace(m.symbols[s].name, symbols[s]);
    arena_bytes = m.arena_bytes.evaluate(bindings);
  }
  std::vector<void*> buffers;
  buffers.reserve(inputs.size() + outputs.size() + m.constants.size() + 2);
  for (const void* input : inputs) buffers.push_back(const_cast<void*>(input));
  buffers.insert(buffers.end(), outputs.begin(), outputs.end());
  std::vector<std::pair<size_t, Block>> elsewhere;
  for (size_t i : state_->lined_up) {
    if (reinterpret_cast<uintptr_t>(outputs[i]) % cache_line == 0) continue;
    elsewhere.emplace_back(i, allocate(bytes_of(m.outputs[i].type.dtype, output_dims(i, symbols))));
    buffers[inputs.size() + i] = elsewhere.back().second.get();
  }
  for (const Manifest::Constant& constant : m.constants) buffers.push_back(const_cast<void*>(constant.bytes));
  ArenaCache::Arena arena;
  if (arena_bytes > 0) arena = state_->arenas.take(arena_bytes);
  buffers.push_back(arena.block.get());
  buffers.push_back(state_->persistent.get());
  Services services{call_parallel_for, nullptr, call_parallel_turns};
  run_entry(state_->run, symbols.data(), buffers.data(), services);
  for (const auto& [i, memory] : elsewhere)
    std::memcpy(outputs[i], memory.get(), static_cast<size_t>(bytes_of(m.outputs[i].type.dtype, output_dims(i, symbols))));
  if (arena.block) state_->arenas.give(std::move(arena));
}

}  // namespace weft
