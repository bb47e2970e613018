/* What the object files of exported programs call: memory, loops over threads, and checks. C11, pthreads and one call
 * of Linux. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "services.h"

enum { weft_ok, weft_no_memory, weft_bad_extent, weft_bad_alignment, weft_bad_cpu, weft_bad_value };
enum { cache_line = 64, page = 4096 };
/* Work, in units of 10 ps, from which on a second thread is of use. */
static const int64_t worth_sharing = 200000;

/* As generated headers declare it. */
typedef struct weft_pool {
  void (*parallel_for)(void* context, int64_t count, weft_body body, void** args);
  void* context;
  int64_t threads;
} weft_pool;

typedef void (*entry)(const int64_t* symbols, void* const* buffers, const weft_services* services);

/* As weft/codegen/llvm/export.cpp writes it into each object. */
typedef struct weft_program {
  int64_t buffers, symbols, lined_up, checks, persistent_bytes;
  int64_t (*arena_bytes)(const int64_t* symbols);
  entry run, setup;
  const char* features;       /* what the CPU must have, a space behind each */
  const int64_t* ranges;      /* of each symbol: the least and the largest value */
  const int64_t* lined_up_at; /* the buffers that must begin at a cache line */
  _Atomic(char*)* persistent; /* filled by the first call, for all that follow */
} weft_program;

/* One call of an exported function. */
typedef struct call {
  const weft_pool* pool;
  uint64_t* failed; /* a word for each check */
  atomic_int lacks_memory;
} call;

/* Where this thread leaves machine code that finds no memory: that holds nothing that would have to be released. */
static _Thread_local jmp_buf* way_out;
/* What machine code of this thread has for what does not fit a stack. */
static _Thread_local struct {
  char* memory;
  int64_t bytes;
} scratch;
static pthread_key_t scratch_key;
static int has_scratch_key;

static char* allocate(int64_t bytes, int64_t unit) {
  if (bytes < 0 || bytes > INT64_MAX - unit) return NULL;
  return aligned_alloc((size_t)unit, (size_t)(bytes / unit + 1) * (size_t)unit);
}

static void make_scratch_key(void) { has_scratch_key = pthread_key_create(&scratch_key, free) == 0; }

/* Called by machine code: memory from the beginning of a page on, this thread's until it asks again or ends. */
char* weft_support_scratch(int64_t bytes) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (bytes <= scratch.bytes) return scratch.memory;
  pthread_once(&once, make_scratch_key);
  char* memory = allocate(bytes, page);
  if (!memory || !has_scratch_key || pthread_setspecific(scratch_key, memory) != 0) {
    free(memory);
    longjmp(*way_out, 1);
  }
  free(scratch.memory);
  scratch.memory = memory;
  scratch.bytes = bytes;
  return memory;
}

/* The same, with 64 bytes in front that say of what an earlier piece of the loop left there: nothing here. */
char* weft_support_kept_scratch(int64_t bytes) {
  char* memory = weft_support_scratch(bytes);
  memset(memory, 0, 64);
  return memory;
}

typedef struct shared {
  call* c;
  weft_body body;
  void** args;
} shared;

/* A part of a loop, on whatever thread. */
static void run_part(void** data, int64_t begin, int64_t end) {
  shared* s = data[0];
  jmp_buf here, *outer = way_out;
  way_out = &here;
  if (setjmp(here) == 0)
    s->body(s->args, begin, end);
  else
    atomic_store(&s->c->lacks_memory, 1);
  way_out = outer;
}

static void in_parts(call* c, int64_t count, weft_body body, void** args) {
  shared s = {c, body, args};
  void* packed[] = {&s};
  if (c->pool && count > 1)
    c->pool->parallel_for(c->pool->context, count, run_part, packed);
  else
    run_part(packed, 0, count);
}

static void parallel_for(void* data, int64_t count, int64_t cost, weft_body body, void** args) {
  call* c = data;
  int64_t work;
  int is_large = __builtin_mul_overflow(count, cost, &work) || work >= worth_sharing;
  if (count <= 0) return;
  if (!c->pool || count == 1 || !is_large) return body(args, 0, count);
  in_parts(c, count, body, args);
  if (atomic_load(&c->lacks_memory)) longjmp(*way_out, 1);
}

typedef struct turns {
  void (*body)(void** args, int64_t begin, int64_t end, void* memory);
  void** args;
  char* memory;
  int64_t bytes, count, parts;
} turns;

/* Parts of a loop, each in memory of its own. */
static void run_turns(void** data, int64_t begin, int64_t end) {
  const turns* t = data[0];
  for (int64_t part = begin; part < end; ++part)
    t->body(t->args, t->count / t->parts * part + (part < t->count % t->parts ? part : t->count % t->parts),
            t->count / t->parts * (part + 1) + (part + 1 < t->count % t->parts ? part + 1 : t->count % t->parts),
            t->memory + part * t->bytes);
}

static void parallel_turns(void* data, int64_t count, int64_t bytes, void (*body)(void**, int64_t, int64_t, void*),
                           void** args) {
  call* c = data;
  if (count <= 0) return;
  int64_t parts = c->pool && c->pool->threads > 1 ? c->pool->threads : 1, all;
  if (parts > count) parts = count;
  turns t = {body, args, NULL, bytes, count, parts};
  if (!__builtin_mul_overflow(bytes, parts, &all)) t.memory = allocate(all, cache_line);
  if (!t.memory) longjmp(*way_out, 1);
  void* packed[] = {&t};
  in_parts(c, parts, run_turns, packed);
  free(t.memory);
  if (atomic_load(&c->lacks_memory)) longjmp(*way_out, 1);
}

/* Linux gives leave for the asking, once in a process. */
static int may_use_amx(void) {
  enum { unknown, given, refused, request_permission = 0x1023, tile_data = 18 };
  static atomic_int answer = unknown;
  if (atomic_load(&answer) == unknown)
    atomic_store(&answer, syscall(SYS_arch_prctl, (long)request_permission, (long)tile_data) == 0 ? given : refused);
  return atomic_load(&answer) == given;
}

static int has_features(const char* names) {
  __builtin_cpu_init();
#define WEFT_FEATURE(name) {name " ", __builtin_cpu_supports(name)}
  const struct {
    const char* name;
    int has;
  } known[] = {
      WEFT_FEATURE("ssse3"),      WEFT_FEATURE("sse4.2"),   WEFT_FEATURE("popcnt"),     WEFT_FEATURE("avx2"),
      WEFT_FEATURE("fma"),        WEFT_FEATURE("f16c"),     WEFT_FEATURE("bmi"),        WEFT_FEATURE("bmi2"),
      WEFT_FEATURE("lzcnt"),      WEFT_FEATURE("avx512f"),  WEFT_FEATURE("avx512bw"),   WEFT_FEATURE("avx512dq"),
      WEFT_FEATURE("avx512vl"),   WEFT_FEATURE("avx512cd"), WEFT_FEATURE("avx512vnni"), WEFT_FEATURE("avx512bf16"),
      WEFT_FEATURE("avx512vbmi"), WEFT_FEATURE("amx-tile"), WEFT_FEATURE("amx-bf16"),   WEFT_FEATURE("amx-int8"),
      WEFT_FEATURE("avx512fp16"),
  };
  if (strstr(names, "amx-") && !may_use_amx()) return 0;
  while (*names) {
    size_t i = 0, count = sizeof known / sizeof *known;
    while (i < count && !(known[i].has && strncmp(names, known[i].name, strlen(known[i].name)) == 0)) ++i;
    if (i == count) return 0;
    names += strlen(known[i].name);
  }
  return 1;
}

static int64_t begin_trial(const weft_services* services, int64_t launch) {
  (void)services, (void)launch;
  return 0;
}

static void end_trial(const weft_services* services, int64_t launch, int64_t begun, int64_t items) {
  (void)services, (void)launch, (void)begun, (void)items;
}

static void tiled_turns(void* data, int64_t trips, int64_t count, const weft_tiled_kernel* kernels, int64_t reach,
                        int64_t row_bytes) {
  (void)reach, (void)row_bytes;
  for (; trips > 0; --trips)
    for (int64_t i = 0; i < count; ++i)
      parallel_for(data, kernels[i].items, kernels[i].cost, kernels[i].body, kernels[i].args);
}

static int run(entry function, const int64_t* symbols, void** buffers, call* c) {
  /* Nobody listens, memory that is filled once is filled by now, there are no trials, and nobody ends runs. */
  weft_services all = {parallel_for, c,         parallel_turns, NULL, NULL,        0,        INT64_MAX,
                       begin_trial,  end_trial, NULL,           NULL, tiled_turns, c->failed};
  jmp_buf here, *outer = way_out;
  way_out = &here;
  atomic_store(&c->lacks_memory, 0);
  if (setjmp(here) == 0)
    function(symbols, buffers, &all);
  else
    atomic_store(&c->lacks_memory, 1);
  way_out = outer;
  return atomic_load(&c->lacks_memory) ? weft_no_memory : weft_ok;
}

/* Memory that the program fills once. */
static int prepare(const weft_program* program, const int64_t* symbols, void** buffers, call* c) {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  char* ready = atomic_load_explicit(program->persistent, memory_order_acquire);
  int code = weft_ok;
  if (!ready) {
    pthread_mutex_lock(&one_at_a_time);
    ready = atomic_load_explicit(program->persistent, memory_order_relaxed);
    char* fresh = ready ? NULL : allocate(program->persistent_bytes, cache_line);
    if (!ready && !fresh) code = weft_no_memory;
    if (fresh) {
      buffers[program->buffers - 1] = fresh;
      code = run(program->setup, symbols, buffers, c);
      if (code == weft_ok)
        atomic_store_explicit(program->persistent, ready = fresh, memory_order_release);
      else
        free(fresh);
    }
    pthread_mutex_unlock(&one_at_a_time);
  }
  buffers[program->buffers - 1] = ready;
  return code;
}

/* `buffers`: inputs, outputs and constants, and two places that are filled here. The name has the version of this
   interface: objects of another one do not link. */
int32_t weft_support_run_2(const weft_program* program, const weft_pool* pool, const int64_t* symbols, void** buffers) {
  if (!has_features(program->features)) return weft_bad_cpu;
  for (int64_t i = 0; i < program->symbols; ++i)
    if (symbols[i] < program->ranges[2 * i] || symbols[i] > program->ranges[2 * i + 1]) return weft_bad_extent;
  for (int64_t i = 0; i < program->lined_up; ++i)
    if ((uintptr_t)buffers[program->lined_up_at[i]] % cache_line != 0) return weft_bad_alignment;
  call c = {.pool = pool && pool->parallel_for ? pool : NULL};
  buffers[program->buffers - 2] = NULL;
  int code = prepare(program, symbols, buffers, &c);
  if (code != weft_ok) return code;
  int64_t bytes = program->arena_bytes(symbols);
  char* arena = bytes ? allocate(bytes, cache_line) : NULL;
  if (program->checks) c.failed = calloc((size_t)program->checks, sizeof *c.failed);
  int has_memory = (!bytes || arena) && (!program->checks || c.failed);
  buffers[program->buffers - 2] = arena;
  code = has_memory ? run(program->run, symbols, buffers, &c) : weft_no_memory;
  for (int64_t i = 0; has_memory && i < program->checks; ++i)
    if (c.failed[i] && code == weft_ok) code = weft_bad_value;
  free(c.failed);
  free(arena);
  return code;
}
