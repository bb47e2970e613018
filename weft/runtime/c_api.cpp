// The C interface: handles around the C++ classes, errors as codes.
#include "weft/c.h"

#include <algorithm>
#include <new>

#include "weft/core/error.h"
#include "weft/runtime/executable.h"
#include "weft/runtime/thread_pool.h"

struct weft_buffer {
  weft::Buffer buffer;
};
struct weft_executable {
  weft::Executable executable;
};
struct weft_event {
  weft::Event event;
};

namespace weft {
namespace {

thread_local std::string last_error;

weft_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::type:
      return weft_type_error;
    case ErrorKind::value:
      return weft_value_error;
    case ErrorKind::index:
      return weft_index_error;
    case ErrorKind::unsupported:
      return weft_unsupported_error;
    case ErrorKind::io:
      return weft_file_error;
    case ErrorKind::runtime:
      return weft_runtime_error;
  }
  return weft_internal_error;
}

weft_status failed(weft_status status, const char* message) {
  try {
    last_error = message;
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return status;
}

template <class F>
weft_status guarded(F call) noexcept {
  try {
    call();
    return weft_ok;
  } catch (const Error& error) {
    return failed(status_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return failed(weft_runtime_error, "no memory  [out_of_memory]");
  } catch (const std::exception& error) {
    return failed(weft_internal_error, error.what());
  } catch (...) {
    return failed(weft_internal_error, "an operation that was added threw what is no std::exception");
  }
}

template <class T>
T& given(T* pointer, const char* what) {
  if (!pointer) fail(ErrorKind::value, "null", what, " was wanted, got a null pointer");
  return *pointer;
}

Device device_named(const char* name) { return name ? Device::named(name) : Device(); }

DType dtype_named(const char* name) {
  std::optional<DType> dtype = dtype_from_name(&given(name, "a dtype"));
  if (!dtype) fail(ErrorKind::value, "dtype", "no dtype '", name, "'");
  return *dtype;
}

Ints dims_of(int64_t rank, const int64_t* dims) {
  if (rank < 0 || rank > 64) fail(ErrorKind::value, "rank", "a rank must be from 0 to 64, got ", rank);
  if (rank > 0) given(dims, "an array of extents");
  return Ints(dims, dims + rank);
}

std::vector<Buffer> buffers_of(weft_buffer* const* handles, int64_t count) {
  if (count > 0) given(handles, "an array of buffers");
  std::vector<Buffer> buffers;
  for (int64_t i = 0; i < count; ++i) buffers.push_back(given(handles[i], "a buffer").buffer);
  return buffers;
}

void require_outputs(const Executable& executable, weft_buffer** outputs, int64_t count) {
  auto wanted = static_cast<int64_t>(executable.outputs().size());
  if (count != wanted)
    fail(ErrorKind::type, "output_count", "'", executable.name(), "' has ", wanted, " outputs, got ", count);
  if (count > 0) given(outputs, "an array of outputs");
}

// All new handles, or none.
void give_outputs(const std::vector<Buffer>& buffers, weft_buffer** outputs) {
  std::vector<std::unique_ptr<weft_buffer>> handles(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i)
    if (!outputs[i]) handles[i].reset(new weft_buffer{buffers[i]});
  for (size_t i = 0; i < buffers.size(); ++i)
    if (!outputs[i]) outputs[i] = handles[i].release();
}

void describe(const std::vector<IoInfo>& infos, int64_t i, const char** name, const char** dtype, int64_t* rank,
              int64_t* dims) {
  if (i < 0 || i >= static_cast<int64_t>(infos.size()))
    fail(ErrorKind::index, "io_index", "number ", i, " of ", infos.size());
  const IoInfo& info = infos[static_cast<size_t>(i)];
  if (name) *name = info.name.c_str();
  if (dtype) *dtype = weft::name(info.type.dtype).data();
  if (rank) *rank = info.type.rank();
  for (size_t d = 0; dims && d < info.type.dims.size(); ++d) dims[d] = info.type.dims[d].static_value().value_or(-1);
}

std::vector<int64_t> symbols_of(const Manifest& m, const int64_t* values) {
  if (values) return {values, values + m.symbols.size()};
  std::vector<int64_t> usual;
  for (const Symbol& symbol : m.symbols) usual.push_back(symbol.opt);
  return usual;
}

// The number as an index; what is no number of an input or output is none.
size_t index_of(int64_t i) { return i < 0 ? SIZE_MAX : static_cast<size_t>(i); }

}  // namespace
}  // namespace weft

using namespace weft;

extern "C" {

const char* weft_last_error(void) { return last_error.c_str(); }
const char* weft_version(void) { return WEFT_VERSION; }

weft_status weft_buffer_new(const char* dtype, int64_t rank, const int64_t* dims, const char* device,
                            weft_buffer** result) {
  return guarded([&] {
    weft_buffer*& place = given(result, "a place for the buffer");
    place = new weft_buffer{Buffer(dtype_named(dtype), dims_of(rank, dims), device_named(device))};
  });
}

weft_status weft_buffer_adopt(void* data, const char* dtype, int64_t rank, const int64_t* dims, const char* device,
                              void (*release)(void*), void* context, weft_buffer** result) {
  return guarded([&] {
    given(result, "a place for the buffer");
    DType type = dtype_named(dtype);
    Ints extents = dims_of(rank, dims);
    struct Owner {
      void (*release)(void*) = nullptr;  // none before all is made: memory of a call that fails is the caller's
      void* context;
      ~Owner() {
        if (release) release(context);
      }
    };
    auto owner = std::make_shared<Owner>(nullptr, context);
    auto handle = std::make_unique<weft_buffer>();
    handle->buffer = Buffer::adopt(data, type, extents, owner, device_named(device));
    owner->release = release;
    *result = handle.release();
  });
}

weft_status weft_buffer_slice(const weft_buffer* buffer, int64_t begin, int64_t end, weft_buffer** result) {
  return guarded([&] {
    weft_buffer*& place = given(result, "a place for the buffer");
    place = new weft_buffer{given(buffer, "a buffer").buffer.slice(begin, end)};
  });
}

const char* weft_buffer_dtype(const weft_buffer* buffer) {
  return buffer ? name(buffer->buffer.dtype()).data() : nullptr;
}
int64_t weft_buffer_rank(const weft_buffer* buffer) {
  return buffer ? static_cast<int64_t>(buffer->buffer.dims().size()) : 0;
}
const int64_t* weft_buffer_dims(const weft_buffer* buffer) { return buffer ? buffer->buffer.dims().data() : nullptr; }
int64_t weft_buffer_bytes(const weft_buffer* buffer) { return buffer ? buffer->buffer.bytes() : 0; }
void* weft_buffer_data(const weft_buffer* buffer) {
  void* data = nullptr;
  guarded([&] { data = const_cast<void*>(given(buffer, "a buffer").buffer.data()); });
  return data;
}
void weft_buffer_free(weft_buffer* buffer) { delete buffer; }

weft_status weft_executable_load(const char* path, const char* device, weft_executable** result) {
  return guarded([&] {
    weft_executable*& place = given(result, "a place for the executable");
    place = new weft_executable{Executable::load(&given(path, "a path"), device_named(device))};
  });
}

void weft_executable_free(weft_executable* executable) { delete executable; }
const char* weft_executable_name(const weft_executable* executable) {
  return executable ? executable->executable.name().c_str() : nullptr;
}
int64_t weft_executable_input_count(const weft_executable* executable) {
  return executable ? static_cast<int64_t>(executable->executable.inputs().size()) : 0;
}
int64_t weft_executable_output_count(const weft_executable* executable) {
  return executable ? static_cast<int64_t>(executable->executable.outputs().size()) : 0;
}

weft_status weft_executable_input(const weft_executable* executable, int64_t i, const char** name, const char** dtype,
                                  int64_t* rank, int64_t* dims) {
  return guarded([&] { describe(given(executable, "an executable").executable.inputs(), i, name, dtype, rank, dims); });
}

weft_status weft_executable_output(const weft_executable* executable, int64_t i, const char** name, const char** dtype,
                                   int64_t* rank, int64_t* dims, int64_t* alias) {
  return guarded([&] {
    const std::vector<IoInfo>& outputs = given(executable, "an executable").executable.outputs();
    describe(outputs, i, name, dtype, rank, dims);
    if (alias) *alias = outputs[static_cast<size_t>(i)].alias;
  });
}

int64_t weft_executable_symbol_count(const weft_executable* executable) {
  return executable ? static_cast<int64_t>(executable->executable.manifest().symbols.size()) : 0;
}

weft_status weft_executable_symbol(const weft_executable* executable, int64_t i, const char** name, int64_t* least,
                                   int64_t* usual, int64_t* greatest) {
  return guarded([&] {
    const std::vector<Symbol>& symbols = given(executable, "an executable").executable.manifest().symbols;
    if (index_of(i) >= symbols.size()) fail(ErrorKind::index, "symbol_index", "number ", i, " of ", symbols.size());
    const Symbol& symbol = symbols[index_of(i)];
    if (name) *name = symbol.name.c_str();
    if (least) *least = symbol.min;
    if (usual) *usual = symbol.opt;
    if (greatest) *greatest = symbol.max;
  });
}

weft_status weft_executable_input_dims(const weft_executable* executable, int64_t i, const int64_t* symbols,
                                       int64_t* dims) {
  return guarded([&] {
    const Executable& program = given(executable, "an executable").executable;
    Ints found = program.input_dims(index_of(i), symbols_of(program.manifest(), symbols));
    if (!found.empty()) std::ranges::copy(found, &given(dims, "a place for the extents"));
  });
}

weft_status weft_executable_output_dims(const weft_executable* executable, int64_t i, const int64_t* symbols,
                                        int64_t* dims) {
  return guarded([&] {
    const Executable& program = given(executable, "an executable").executable;
    Ints found = program.output_dims(index_of(i), symbols_of(program.manifest(), symbols));
    if (!found.empty()) std::ranges::copy(found, &given(dims, "a place for the extents"));
  });
}

weft_status weft_executable_run(const weft_executable* executable, weft_buffer* const* inputs, int64_t input_count,
                                weft_buffer** outputs, int64_t output_count) {
  return guarded([&] {
    const Executable& program = given(executable, "an executable").executable;
    std::vector<Buffer> read = buffers_of(inputs, input_count);
    require_outputs(program, outputs, output_count);
    bool any_missing = false;
    for (int64_t i = 0; i < output_count; ++i) any_missing |= !outputs[i];
    std::vector<Buffer> written =
        any_missing ? program.new_outputs(read) : std::vector<Buffer>(static_cast<size_t>(output_count));
    for (int64_t i = 0; i < output_count; ++i)
      if (outputs[i]) written[static_cast<size_t>(i)] = outputs[i]->buffer;
    program.run(read, written);
    if (any_missing) give_outputs(written, outputs);
  });
}

weft_status weft_executable_run_async(const weft_executable* executable, weft_buffer* const* inputs,
                                      int64_t input_count, weft_buffer** outputs, int64_t output_count,
                                      weft_event** done) {
  return guarded([&] {
    const Executable& program = given(executable, "an executable").executable;
    require_outputs(program, outputs, output_count);
    given(done, "a place for the event");
    auto event = std::make_unique<weft_event>();
    PendingRun pending = program.run_async(buffers_of(inputs, input_count));
    event->event = pending.done;
    std::fill_n(outputs, output_count, nullptr);
    give_outputs(pending.outputs, outputs);
    *done = event.release();
  });
}

weft_status weft_event_wait(const weft_event* event) {
  return guarded([&] { given(event, "an event").event.wait(); });
}
int weft_event_is_done(const weft_event* event) { return !event || event->event.is_done(); }
void weft_event_free(weft_event* event) { delete event; }

weft_status weft_set_num_threads(int n) {
  return guarded([&] { set_num_threads(n); });
}

}  // extern "C"
