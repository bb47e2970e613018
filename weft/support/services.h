/* What machine code calls back, as C: generated code, the runtime and the support library of exported programs share
   it. Code generation takes the places of the members from here. */
#ifndef WEFT_SUPPORT_SERVICES_H
#define WEFT_SUPPORT_SERVICES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define WEFT_ASSERT(condition, text) static_assert(condition, text)
#else
#define WEFT_ASSERT(condition, text) _Static_assert(condition, text)
#endif

typedef void (*weft_body)(void** args, int64_t begin, int64_t end);
typedef void (*weft_turn)(void** args, int64_t begin, int64_t end, void* memory);

/* A kernel of the body of a loop over stencils: body(args, begin, end) computes items, `unit` of them a row of memory;
   the first item is at row `first`. One item takes `cost` units of 10 ps. */
typedef struct weft_tiled_kernel {
  weft_body body;
  void** args;
  int64_t items, unit, first, cost;
} weft_tiled_kernel;

/* Functions for machine code; the first argument of most is `pool`: in the runtime the Allocator of the memory that
   they take, null for that of the first CPU device. */
typedef struct weft_services {
  /* Runs body(args, begin, end) over disjoint parts of [0, count);
  in parallel when `cost` (of one item, in units of
     10 ps) times count is worth it. */
  void (*parallel_for)(void* pool, int64_t count, int64_t cost, weft_body body, void** args);
  void* pool;
  /* Runs body(args, begin, end, memory) over disjoint parts of [0, count) in parallel; `memory`: `bytes` for this part.
   */
  void (*parallel_turns)(void* pool, int64_t count, int64_t bytes, weft_turn body, void** args);
  /* Where somebody listens, else null: called as a launch of the program begins (1) and ends (0), on the thread that
   * launches. */
  void (*listen)(const struct weft_services* services, int64_t launch, int64_t begins);
  void* listener;
  /* Setup does those of its launches from the first on and before the end; a run finds what is before the end packed.
   */
  int64_t packing_first, packing_end;
  /* Around a launch whose code is there in two ways: the lowest bit of what begin_trial gives is the one to run, and
     end_trial is told that and how many items there were. */
  int64_t (*begin_trial)(const struct weft_services* services, int64_t launch);
  void (*end_trial)(const struct weft_services* services, int64_t launch, int64_t begun, int64_t items);
  void* trials;
  /* Where runs may be ended from outside, else null: called by loops, at least every 1024 turns of them. It may not
   * return. */
  void (*look)(const struct weft_services* services);
  /* `trips` times all kernels one after the other, each as if all of its rows were computed before those of the next.
     Items of two kernels, or of one in two turns, touch the same memory and one of them writes it only where their rows
     are at most `reach` apart. A row of all memory takes `row_bytes`. */
  void (*tiled_turns)(void* pool, int64_t trips, int64_t count, const weft_tiled_kernel* kernels, int64_t reach,
                      int64_t row_bytes);
  /* A word for each check of the program, zero before a run. Where one fails: the integer that is furthest out, as a
     number without a sign; INT64_MIN stands for zero. */
  uint64_t* failed;
} weft_services;

/* The place of a member, in words of 8 bytes: machine code knows members by it. */
#define WEFT_WORD(type, member) (offsetof(type, member) / 8)

WEFT_ASSERT(sizeof(weft_tiled_kernel) == 6 * 8, "a word for each member");
WEFT_ASSERT(sizeof(weft_services) == 13 * 8, "a word for each member");
WEFT_ASSERT(WEFT_WORD(weft_services, failed) == 12, "no member is padded");

#ifdef __cplusplus
}
#endif

#endif
