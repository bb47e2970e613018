/* Weftwork's runtime for C and what calls C: load a compiled program and run it. C99; links libweft_runtime. */
#ifndef WEFT_C_H
#define WEFT_C_H

#include <stdint.h>

#define WEFT_C_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* What functions return. After all but weft_ok, weft_last_error() tells more. */
typedef enum weft_status {
  weft_ok = 0,
  weft_type_error,        /* a dtype, device or number of arrays that does not fit */
  weft_value_error,       /* a shape, extent or argument that does not */
  weft_index_error,       /* outside of a dimension */
  weft_unsupported_error, /* what this CPU or this library cannot do */
  weft_file_error,        /* no such file, damaged, cut short */
  weft_runtime_error,     /* no memory, or a run that could not be done */
  weft_internal_error     /* a mistake in Weftwork itself */
} weft_status;

/* Message of the last call of this thread that failed; valid until its next call. Never null. */
WEFT_C_API const char* weft_last_error(void);
/* "0.1.0" */
WEFT_C_API const char* weft_version(void);

/* Handles, given back by the function of their name that ends in _free (null is fine there). All functions may be
   called by any thread; a handle may be used by several at once, but not while it is freed. What is asked of a null
   handle is null or 0, and where there is a status, weft_value_error. */
typedef struct weft_executable weft_executable;
typedef struct weft_buffer weft_buffer;
typedef struct weft_event weft_event;

/* Dense, row-major. `dtype` as StableHLO spells it: "i1" (a byte each), "i8" to "i64", "ui8" to "ui64", "bf16", "f16",
   "f32", "f64", "complex<f32>", ... `device`: "cpu", "cpu:1"; null for the first. */
WEFT_C_API weft_status weft_buffer_new(const char* dtype, int64_t rank, const int64_t* dims, const char* device,
                                       weft_buffer** result);
/* Memory of the caller, used as it lies until `release(context)` is called, from whichever thread is last (null:
 * never). */
WEFT_C_API weft_status weft_buffer_adopt(void* data, const char* dtype, int64_t rank, const int64_t* dims,
                                         const char* device, void (*release)(void* context), void* context,
                                         weft_buffer** result);
/* Another handle on rows [begin, end) of the same memory. */
WEFT_C_API weft_status weft_buffer_slice(const weft_buffer* buffer, int64_t begin, int64_t end, weft_buffer** result);
WEFT_C_API const char* weft_buffer_dtype(const weft_buffer* buffer);
WEFT_C_API int64_t weft_buffer_rank(const weft_buffer* buffer);
WEFT_C_API const int64_t* weft_buffer_dims(const weft_buffer* buffer);
WEFT_C_API int64_t weft_buffer_bytes(const weft_buffer* buffer);
/* The elements; null where they are in no memory of the host. */
WEFT_C_API void* weft_buffer_data(const weft_buffer* buffer);
WEFT_C_API void weft_buffer_free(weft_buffer* buffer);

/* Reads a .weft file. Loading one is running code: load only files you trust. */
WEFT_C_API weft_status weft_executable_load(const char* path, const char* device, weft_executable** result);
WEFT_C_API void weft_executable_free(weft_executable* executable);
WEFT_C_API const char* weft_executable_name(const weft_executable* executable);
WEFT_C_API int64_t weft_executable_input_count(const weft_executable* executable);
WEFT_C_API int64_t weft_executable_output_count(const weft_executable* executable);
/* An input or output: its name, dtype and rank; `dims` (as many as its rank, or null) gets the extents, -1 for symbolic
   ones, which may differ from run to run; `alias` the input that an output lands in, or -1. Any of the last four may be
   null. */
WEFT_C_API weft_status weft_executable_input(const weft_executable* executable, int64_t i, const char** name,
                                             const char** dtype, int64_t* rank, int64_t* dims);
WEFT_C_API weft_status weft_executable_output(const weft_executable* executable, int64_t i, const char** name,
                                              const char** dtype, int64_t* rank, int64_t* dims, int64_t* alias);

/* The symbolic extents: a name, and the least, the usual and the greatest value. Any of the last four may be null. */
WEFT_C_API int64_t weft_executable_symbol_count(const weft_executable* executable);
WEFT_C_API weft_status weft_executable_symbol(const weft_executable* executable, int64_t i, const char** name,
                                              int64_t* least, int64_t* usual, int64_t* greatest);
/* All extents of an input or output, as many as its rank, for a value of each symbolic extent in their order (null: the
 * usual ones). */
WEFT_C_API weft_status weft_executable_input_dims(const weft_executable* executable, int64_t i, const int64_t* symbols,
                                                  int64_t* dims);
WEFT_C_API weft_status weft_executable_output_dims(const weft_executable* executable, int64_t i, const int64_t* symbols,
                                                   int64_t* dims);

/* Runs and waits. `outputs` holds a handle for each output: where it is null a new buffer is made (and is the caller's
   to free), also for one that lands in an input, which is then a second handle on that input's memory. */
WEFT_C_API weft_status weft_executable_run(const weft_executable* executable, weft_buffer* const* inputs,
                                           int64_t input_count, weft_buffer** outputs, int64_t output_count);
/* Begins a run after those begun before it on the device. `outputs` gets new buffers, set once the event is done. */
WEFT_C_API weft_status weft_executable_run_async(const weft_executable* executable, weft_buffer* const* inputs,
                                                 int64_t input_count, weft_buffer** outputs, int64_t output_count,
                                                 weft_event** done);
WEFT_C_API weft_status weft_event_wait(const weft_event* event); /* with what the run ended with */
WEFT_C_API int weft_event_is_done(const weft_event* event);
WEFT_C_API void weft_event_free(weft_event* event);

/* Threads that runs use, the caller's included; 0: one for each CPU. Results do not depend on it. */
WEFT_C_API weft_status weft_set_num_threads(int n);

#ifdef __cplusplus
}
#endif

#endif
