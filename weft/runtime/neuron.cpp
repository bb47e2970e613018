#include "weft/runtime/neuron.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <mutex>
#include <tuple>
#include <type_traits>

#include "weft/core/error.h"
#include "weft/core/knobs.h"
#include "weft/runtime/executable_state.h"

namespace weft {
namespace {

// libnrt's interface, as far as it is used: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/neuron-runtime/api/
using Status = int32_t;
struct Tensor;
struct TensorSet;
struct Model;
struct TensorInfo {
  char name[256];
  int32_t usage;
  size_t size;
  int32_t dtype;
  uint32_t* shape;
  uint32_t ndim;
};
struct TensorInfoArray {
  uint64_t count;
  TensorInfo tensors[1];  // as many as `count`
};
constexpr int32_t no_framework = 1, on_device = 0, usage_input = 0;
constexpr uint32_t most_dims = 64;

std::string_view status_name(Status status) {
  constexpr std::pair<Status, std::string_view> names[] = {{1, "NRT_FAILURE"},
                                                           {2, "NRT_INVALID"},
                                                           {3, "NRT_INVALID_HANDLE"},
                                                           {4, "NRT_RESOURCE"},
                                                           {5, "NRT_TIMEOUT"},
                                                           {6, "NRT_HW_ERROR"},
                                                           {7, "NRT_QUEUE_FULL"},
                                                           {9, "NRT_LOAD_NOT_ENOUGH_NC"},
                                                           {10, "NRT_UNSUPPORTED_NEFF_VERSION"},
                                                           {11, "NRT_FAIL_HOST_MEM_ALLOC"},
                                                           {13, "NRT_UNINITIALIZED"},
                                                           {14, "NRT_CLOSED"},
                                                           {15, "NRT_QUEUE_EMPTY"},
                                                           {101, "NRT_EXEC_UNIT_UNRECOVERABLE"},
                                                           {1002, "NRT_EXEC_BAD_INPUT"},
                                                           {1003, "NRT_EXEC_COMPLETED_WITH_NUM_ERR"},
                                                           {1004, "NRT_EXEC_COMPLETED_WITH_ERR"},
                                                           {1005, "NRT_EXEC_NC_BUSY"},
                                                           {1006, "NRT_EXEC_OOB"},
                                                           {1100, "NRT_COLL_PENDING"},
                                                           {1200, "NRT_EXEC_HW_ERR_COLLECTIVES"},
                                                           {1201, "NRT_EXEC_HW_ERR_HBM_UE"},
                                                           {1202, "NRT_EXEC_HW_ERR_NC_UE"},
                                                           {1203, "NRT_EXEC_HW_ERR_DMA_ABORT"},
                                                           {1204, "NRT_EXEC_SW_NQ_OVERFLOW"},
                                                           {1205, "NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE"},
                                                           {1206, "NRT_NETWORK_PROXY_FAILURE"}};
  for (const auto& [code, name] : names)
    if (code == status) return name;
  return "an unknown status";
}
constexpr Status resource = 4, no_host_memory = 11;

DType dtype_of(int32_t code, std::string_view tensor) {
  switch (code) {
    case 0x1:
      return DType::u64;
    case 0x2:
      return DType::i8;
    case 0x3:
      return DType::u8;
    case 0x4:
      return DType::i16;
    case 0x5:
      return DType::u16;
    case 0x6:
      return DType::bf16;
    case 0x7:
      return DType::f16;
    case 0x8:
      return DType::i32;
    case 0x9:
      return DType::u32;
    case 0xA:
    case 0xB:
      return DType::f32;  // 0xB: rounded within the device
    case 0xC:
      return DType::i64;
    case 0xD:
      return DType::f8e3m4;
    case 0xE:
      return DType::f8e4m3;
    case 0xF:
      return DType::f8e5m2;
    default:
      fail(ErrorKind::io, "neff_signature", "tensor '", tensor, "' has elements of an unknown kind, ", code);
  }
}

template <class Signature>
struct Function {
  const char* name;
  Signature* address = nullptr;
};

struct Library {
  Function<Status(int32_t, const char*, const char*)> init{"nrt_init"};
  Function<void()> close{"nrt_close"};
  Function<Status(uint32_t*)> visible_cores{"nrt_get_visible_vnc_count"};
  Function<Status(int32_t, int32_t, size_t, const char*, Tensor**)> allocate{"nrt_tensor_allocate"};
  Function<Status(const Tensor*, size_t, size_t, const char*, Tensor**)> slice{"nrt_tensor_allocate_slice"};
  Function<void(Tensor**)> free{"nrt_tensor_free"};
  Function<Status(Tensor*, const void*, size_t, size_t)> write{"nrt_tensor_write"};
  Function<Status(const Tensor*, void*, size_t, size_t)> read{"nrt_tensor_read"};
  Function<Status(const void*, size_t, int32_t, int32_t, Model**)> load{"nrt_load"};
  Function<Status(Model*)> unload{"nrt_unload"};
  Function<Status(Model*, TensorInfoArray**)> infos{"nrt_get_model_tensor_info"};
  Function<Status(TensorInfoArray*)> free_infos{"nrt_free_model_tensor_info"};
  Function<Status(TensorSet**)> new_set{"nrt_allocate_tensor_set"};
  Function<void(TensorSet**)> destroy_set{"nrt_destroy_tensor_set"};
  Function<Status(TensorSet*, const char*, Tensor*)> add_to_set{"nrt_add_tensor_to_tensor_set"};
  Function<Status(Model*, const TensorSet*, TensorSet*)> execute{"nrt_execute"};
  pid_t process = getpid();
  bool closed = false;

  // What the library holds is gone with it, and a child of a fork has no part in it.
  bool is_open() const { return !closed && getpid() == process; }
  void require_open() const {
    if (closed) fail(ErrorKind::runtime, "neuron_runtime", "the Neuron runtime is closed, as the process ends");
    if (getpid() != process)
      fail(ErrorKind::runtime, "forked",
           "Neuron devices belong to the process that forked this one: use them in one alone");
  }
};

Library library;

void check(const char* call, Status status) {
  if (status != 0)
    fail(ErrorKind::runtime, "neuron_call", call, " ended with ", status_name(status), " (", status, ")");
}

template <class... Arguments>
void call(const Function<Status(Arguments...)>& function, std::type_identity_t<Arguments>... arguments) {
  library.require_open();
  check(function.name, function.address(arguments...));
}

void load_library() {
  std::string named = knob_text(Knob::libnrt);
  void* handle = dlopen(named.empty() ? "libnrt.so.1" : named.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::string why = handle ? "" : dlerror();
  if (!handle && named.empty()) handle = dlopen("/opt/aws/neuron/lib/libnrt.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    fail(ErrorKind::runtime, "neuron_runtime", "the Neuron runtime cannot be loaded: ", why,
         "; install aws-neuronx-runtime-lib, or name the library by WEFT_LIBNRT");
  auto find = [&](auto& function) {
    function.address = reinterpret_cast<decltype(function.address)>(dlsym(handle, function.name));
    // As it was called before several cores could be one.
    if (!function.address && &function == static_cast<void*>(&library.visible_cores))
      function.address = reinterpret_cast<decltype(function.address)>(dlsym(handle, "nrt_get_visible_nc_count"));
    if (!function.address)
      fail(ErrorKind::runtime, "neuron_runtime", "the library of the Neuron runtime has no ", function.name);
  };
  Library& l = library;
  auto all = std::tie(l.init, l.close, l.visible_cores, l.allocate, l.slice, l.free, l.write, l.read, l.load, l.unload,
                      l.infos, l.free_infos, l.new_set, l.destroy_set, l.add_to_set, l.execute);
  std::apply([&](auto&... each) { (find(each), ...); }, all);
}

class NeuronMemory : public DeviceMemory {
 public:
  explicit NeuronMemory(int core) : core_(core) {}
  bool is_host() const override { return false; }
  void* allocate(int64_t bytes) override {
    library.require_open();
    Tensor* tensor = nullptr;
    Status status = library.allocate.address(on_device, core_, static_cast<size_t>(bytes), "weft", &tensor);
    if (status == resource || status == no_host_memory) return nullptr;
    check(library.allocate.name, status);
    return tensor;
  }
  void release(void* memory, int64_t) noexcept override {
    auto* tensor = static_cast<Tensor*>(memory);
    if (library.is_open()) library.free.address(&tensor);
  }
  void write(void* memory, int64_t offset, const void* from, int64_t bytes) override {
    call(library.write, static_cast<Tensor*>(memory), from, static_cast<size_t>(offset), static_cast<size_t>(bytes));
  }
  void read(const void* memory, int64_t offset, void* to, int64_t bytes) override {
    call(library.read, static_cast<const Tensor*>(memory), to, static_cast<size_t>(offset), static_cast<size_t>(bytes));
  }

 private:
  int core_;
};

// The runtime is closed after the last run, before what it uses itself is taken down.
void close_at_exit() {
  static struct Close {
    ~Close() {
      stop_queues();
      if (library.is_open()) library.close.address();
      library.closed = true;
    }
  } close;
}

// Parts of buffers by the names of a model, while it runs.
class Tensors {
 public:
  Tensors(const std::vector<std::string>& names, std::span<const DeviceRange> ranges) {
    call(library.new_set, &set_);
    try {
      for (size_t i = 0; i < names.size(); ++i) add(names[i].c_str(), ranges[i]);
    } catch (...) {
      release();
      throw;
    }
  }
  ~Tensors() { release(); }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;
  TensorSet* set() const { return set_; }

 private:
  // A tensor of the very size that the model has: what a device keeps for buffers may be larger.
  void add(const char* name, const DeviceRange& range) {
    Tensor* part = nullptr;
    call(library.slice, static_cast<const Tensor*>(range.memory), static_cast<size_t>(range.offset),
         static_cast<size_t>(range.bytes), name, &part);
    parts_.push_back(part);
    call(library.add_to_set, set_, name, part);
  }
  void release() {
    library.destroy_set.address(&set_);
    for (Tensor*& part : parts_) library.free.address(&part);
  }

  TensorSet* set_ = nullptr;
  std::vector<Tensor*> parts_;
};

class NeuronProgram : public DeviceProgram {
 public:
  NeuronProgram(std::string_view neff, int core) { call(library.load, neff.data(), neff.size(), core, 1, &model_); }
  ~NeuronProgram() override {
    if (library.is_open()) library.unload.address(model_);
  }
  void run(std::span<const DeviceRange> inputs, std::span<const DeviceRange> outputs) const override {
    Tensors read(input_names, inputs), written(output_names, outputs);
    call(library.execute, model_, read.set(), written.set());
  }
  Manifest read_signature();

  std::vector<std::string> input_names, output_names;

 private:
  Model* model_ = nullptr;
};

// "input10" comes after "input2".
bool in_order(const IoInfo& lhs, const IoInfo& rhs) {
  auto parts = [](const std::string& name) {
    size_t end = name.find_last_not_of("0123456789") + 1;
    uint64_t number = 0;
    std::from_chars(name.data() + end, name.data() + name.size(), number);
    return std::tuple(name.substr(0, end), number, name);
  };
  return parts(lhs.name) < parts(rhs.name);
}

Manifest NeuronProgram::read_signature() {
  TensorInfoArray* infos = nullptr;
  call(library.infos, model_, &infos);
  std::unique_ptr<TensorInfoArray, void (*)(TensorInfoArray*)> held(
      infos, [](TensorInfoArray* array) { library.free_infos.address(array); });
  Manifest m;
  m.name = "neff";
  m.arena_bytes = m.persistent_bytes = Dim(0);
  for (uint64_t i = 0; i < infos->count; ++i) {
    const TensorInfo& info = infos->tensors[i];
    std::string name(info.name, strnlen(info.name, sizeof info.name));
    DType dtype = dtype_of(info.dtype, name);
    if (info.ndim > most_dims)
      fail(ErrorKind::io, "neff_signature", "tensor '", name, "' has ", info.ndim, " dimensions");
    Type type{dtype, {}};
    int64_t bytes = size_of(dtype);
    for (uint32_t d = 0; d < info.ndim; ++d) {
      type.dims.emplace_back(static_cast<int64_t>(info.shape[d]));
      bytes = checked_multiply(bytes, info.shape[d]);
    }
    if (bytes != static_cast<int64_t>(info.size))
      fail(ErrorKind::io, "neff_signature", "tensor '", name, "' has ", info.size, " bytes, its shape asks for ",
           bytes);
    (info.usage == usage_input ? m.inputs : m.outputs).push_back({std::move(name), std::move(type), -1});
  }
  std::ranges::sort(m.inputs, in_order);
  std::ranges::sort(m.outputs, in_order);
  for (const IoInfo& input : m.inputs) input_names.push_back(input.name);
  for (const IoInfo& output : m.outputs) output_names.push_back(output.name);
  return m;
}

// The names that a model has for what the signature has, in its order.
std::vector<std::string> matched(const std::vector<IoInfo>& wanted, const std::vector<IoInfo>& found) {
  if (wanted.size() != found.size())
    fail(ErrorKind::io, "neff_signature", "the program has ", wanted.size(), " inputs or outputs where its NEFF has ",
         found.size());
  auto bytes = [](const Type& type) { return (type.count() * Dim(size_of(type.dtype))).value(); };
  auto named = [&](const std::string& name) { return std::ranges::find(found, name, &IoInfo::name); };
  bool by_name = std::ranges::all_of(wanted, [&](const IoInfo& info) { return named(info.name) != found.end(); });
  std::vector<std::string> names;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const IoInfo& match = by_name ? *named(wanted[i].name) : found[i];
    if (bytes(match.type) != bytes(wanted[i].type))
      fail(ErrorKind::io, "neff_signature", "'", wanted[i].name, "' is ", weft::name(wanted[i].type.dtype),
           wanted[i].type.dims, ", its NEFF has ", weft::name(match.type.dtype), match.type.dims, " for '", match.name,
           "'");
    names.push_back(match.name);
  }
  return names;
}

}  // namespace

std::vector<Device> neuron_devices() {
  static std::mutex mutex;
  static std::vector<Device> cores;
  std::lock_guard lock(mutex);
  if (!cores.empty()) return cores;
  load_library();
  call(library.init, no_framework, "", "");
  uint32_t count = 0;
  Status status = library.visible_cores.address(&count);
  if (status != 0 || count == 0) library.close.address();
  check(library.visible_cores.name, status);
  if (count == 0) fail(ErrorKind::runtime, "neuron_runtime", "the Neuron runtime shows no core to this process");
  for (uint32_t i = 0; i < count; ++i)
    cores.push_back(add_device("neuron", static_cast<int>(i), std::make_unique<NeuronMemory>(static_cast<int>(i))));
  close_at_exit();
  return cores;
}

Executable load_neff(std::string_view neff, const Device& device, const Manifest* signature) {
  if (device.kind() != "neuron")
    fail(ErrorKind::value, "device", "a NEFF runs on a Neuron device, got '", device.name(), "'");
  auto program = std::make_unique<NeuronProgram>(neff, device.index());
  Manifest manifest = program->read_signature();
  if (signature) {
    program->input_names = matched(signature->inputs, manifest.inputs);
    program->output_names = matched(signature->outputs, manifest.outputs);
    manifest.name = signature->name;
    manifest.inputs = signature->inputs;
    manifest.outputs = signature->outputs;
  }
  return Executable::load(std::move(manifest), std::move(program), device);
}

}  // namespace weft
