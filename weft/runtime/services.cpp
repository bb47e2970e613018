#include "weft/runtime/services.h"

#include "weft/core/error.h"
#include "weft/core/interrupt.h"
#include "weft/core/span.h"
#include "weft/library/collective.h"
#include "weft/library/custom.h"
#include "weft/runtime/device_state.h"
#include "weft/runtime/thread_pool.h"

namespace weft {
namespace {

// What throws, for machine code: that is left instead.
template <class Call>
void called(Call call) {
  try {
    return call();
  } catch (...) {
    note_error();
  }
  leave_machine_code();
}

void look(const Services*) { called(check_interrupt); }

void call_parallel_for(void*, int64_t count, int64_t cost, void (*body)(void**, int64_t, int64_t), void** args) {
  called([&] { parallel_for_until_interrupted(count, cost, body, args); });
}

void call_tiled_turns(void*, int64_t trips, int64_t count, const TiledKernel* kernels, int64_t reach,
                      int64_t row_bytes) {
  called([&] { tiled_turns(nullptr, trips, count, kernels, reach, row_bytes); });
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

void reserve_turns(Allocator& allocator, int64_t bytes, int threads) {
  int64_t all = checked_multiply(bytes, threads);
  if (turn_memory.bytes >= all && turn_memory.block.get_deleter().allocator == &allocator) return;
  turn_memory = {};
  turn_memory = {take_block(allocator, all), all};
}

void call_parallel_turns(void* allocator, int64_t count, int64_t bytes, void (*body)(void**, int64_t, int64_t, void*),
                         void** args) {
  int threads = num_threads();
  called([&] {
    reserve_turns(allocator ? *static_cast<Allocator*>(allocator) : Device::cpu().state().allocator, bytes, threads);
  });
  Turns turns{body, args, static_cast<std::byte*>(turn_memory.block.get()), bytes};
  void* packed[] = {&turns};
  auto part = [](void** data, int64_t begin, int64_t end) {
    auto* t = static_cast<Turns*>(data[0]);
    t->body(t->args, begin, end, t->memory + thread_slot() * t->bytes);
  };
  // Turns cost much, and not all the same: the last ones should not be waited for long.
  constexpr int parts = 16;
  called([&] { parallel_for_until_interrupted(count, worth_waking, part, packed, threads, parts); });
}

int64_t begin_trial(const Services* services, int64_t launch) {
  return services->trials ? (*static_cast<Trials*>(services->trials))[static_cast<size_t>(launch)].begin(span_clock())
                          : 0;
}

void end_trial(const Services* services, int64_t launch, int64_t begun, int64_t items) {
  if (services->trials)
    (*static_cast<Trials*>(services->trials))[static_cast<size_t>(launch)].end(begun, span_clock(), items);
}

}  // namespace

constinit const Services plain_services{
    .parallel_for = call_parallel_for,
    .pool = nullptr,
    .parallel_turns = call_parallel_turns,
    .listen = nullptr,
    .listener = nullptr,
    .packing_first = 0,
    .packing_end = INT64_MAX,
    .begin_trial = begin_trial,
    .end_trial = end_trial,
    .trials = nullptr,
    .look = look,
    .tiled_turns = call_tiled_turns,
    .failed = nullptr,
};

void run_entry(Entry entry, const int64_t* symbols, void* const* buffers, const Services& services) {
  struct Arguments {
    Entry entry;
    const int64_t* symbols;
    void* const* buffers;
    const Services* services;
  } arguments{entry, symbols, buffers, &services};
  InterruptibleWork work;
  struct Settled {
    ~Settled() { settle_collectives(); }
  } settled;
  catch_custom_errors(
      [](void* data) {
        auto* a = static_cast<Arguments*>(data);
        a->entry(a->symbols, a->buffers, a->services);
      },
      &arguments);
}

}  // namespace weft
