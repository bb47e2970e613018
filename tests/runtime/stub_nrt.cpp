// A stand-in for the Neuron runtime's library, with its interface over memory of the host. It "runs" models of text
// lines:
//   toy
//   in NAME DTYPE DIM...      (DTYPE: the code of nrt_dtype_t)
//   out NAME DTYPE DIM...
//   add OUT LEFT RIGHT        (float32; also mul, copy)
// STUB_NRT_CORES is how many cores there are (2); STUB_NRT_FAIL=CALL:STATUS makes that call end with that status; what
// was called is counted, and stub_nrt_left() tells what was not let go of.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::atomic<int64_t> left{0}, executed{0};
std::atomic<bool> is_open{false};

int failing(const char* call) {
  const char* wanted = std::getenv("STUB_NRT_FAIL");
  std::string name = std::string(call) + ":";
  return wanted && std::strncmp(wanted, name.c_str(), name.size()) == 0 ? std::atoi(wanted + name.size()) : 0;
}

uint32_t cores() {
  const char* text = std::getenv("STUB_NRT_CORES");
  return text ? static_cast<uint32_t>(std::atoi(text)) : 2;
}

struct Info {
  char name[256];
  int32_t usage;
  size_t size;
  int32_t dtype;
  uint32_t* shape;
  uint32_t ndim;
};

size_t size_of(int32_t dtype) {
  switch (dtype) {
    case 0x1:
    case 0xC:
      return 8;
    case 0x8:
    case 0x9:
    case 0xA:
      return 4;
    case 0x4:
    case 0x5:
    case 0x6:
    case 0x7:
      return 2;
    default:
      return 1;
  }
}

struct Step {
  std::string op, out, left, right;
};

}  // namespace

#define API extern "C" __attribute__((visibility("default")))
#define FAIL_IF_ASKED() \
  if (int status = failing(__func__)) return status

struct nrt_tensor {
  std::shared_ptr<std::vector<char>> memory;
  size_t offset, size;
  int core;
  char* data() const { return memory->data() + offset; }
};
struct nrt_tensor_set {
  std::map<std::string, nrt_tensor*> tensors;
};
struct nrt_model {
  int core;
  std::vector<Info> infos;
  std::vector<std::vector<uint32_t>> shapes;
  std::vector<Step> steps;
};
struct nrt_infos {
  uint64_t count;
  Info tensors[];
};

API int64_t stub_nrt_left() { return left; }
API int64_t stub_nrt_executed() { return executed; }

API int nrt_init(int framework, const char* version, const char* fal) {
  FAIL_IF_ASKED();
  if (framework != 1 || !version || !fal) return 2;
  is_open = true;
  return 0;
}
API void nrt_close() {
  is_open = false;
  if (const char* file = std::getenv("STUB_NRT_LOG")) {
    if (FILE* log = std::fopen(file, "w")) {
      std::fprintf(log, "closed\n");
      std::fclose(log);
    }
  }
}
API int nrt_get_visible_vnc_count(uint32_t* count) {
  FAIL_IF_ASKED();
  *count = cores();
  return 0;
}

API int nrt_tensor_allocate(int placement, int core, size_t size, const char*, nrt_tensor** tensor) {
  FAIL_IF_ASKED();
  if (!is_open) return 13;
  if (placement != 0 || core < 0 || static_cast<uint32_t>(core) >= cores() || size == 0) return 2;
  if (size > size_t{1} << 30) return 4;
  *tensor = new nrt_tensor{std::make_shared<std::vector<char>>(size), 0, size, core};
  ++left;
  return 0;
}
API int nrt_tensor_allocate_slice(const nrt_tensor* source, size_t offset, size_t size, const char*,
                                  nrt_tensor** slice) {
  FAIL_IF_ASKED();
  if (offset + size > source->size || size == 0) return 2;
  *slice = new nrt_tensor{source->memory, source->offset + offset, size, source->core};
  ++left;
  return 0;
}
API void nrt_tensor_free(nrt_tensor** tensor) {
  delete *tensor;
  *tensor = nullptr;
  --left;
}
API int nrt_tensor_write(nrt_tensor* tensor, const void* from, size_t offset, size_t size) {
  FAIL_IF_ASKED();
  if (offset + size > tensor->size) return 2;
  std::memcpy(tensor->data() + offset, from, size);
  return 0;
}
API int nrt_tensor_read(const nrt_tensor* tensor, void* to, size_t offset, size_t size) {
  FAIL_IF_ASKED();
  if (offset + size > tensor->size) return 2;
  std::memcpy(to, tensor->data() + offset, size);
  return 0;
}

API int nrt_load(const void* bytes, size_t size, int32_t core, int32_t, nrt_model** model) {
  FAIL_IF_ASKED();
  if (!is_open) return 13;
  if (core < 0 || static_cast<uint32_t>(core) >= cores()) return 9;
  std::istringstream text(std::string(static_cast<const char*>(bytes), size));
  std::string line;
  if (!std::getline(text, line) || line != "toy") return 10;
  auto made = std::make_unique<nrt_model>();
  made->core = core;
  while (std::getline(text, line)) {
    std::istringstream words(line);
    std::string op, name;
    words >> op >> name;
    if (op == "in" || op == "out") {
      Info info{};
      std::strncpy(info.name, name.c_str(), sizeof info.name - 1);
      info.usage = op == "out";
      words >> info.dtype;
      std::vector<uint32_t> shape;
      for (uint32_t dim; words >> dim;) shape.push_back(dim);
      info.size = size_of(info.dtype);
      for (uint32_t dim : shape) info.size *= dim;
      if (made->infos.empty() && std::getenv("STUB_NRT_LIE")) ++info.size;
      info.ndim = static_cast<uint32_t>(shape.size());
      made->infos.push_back(info);
      made->shapes.push_back(std::move(shape));
    } else if (!op.empty()) {
      Step step{op, name, {}, {}};
      words >> step.left >> step.right;
      made->steps.push_back(std::move(step));
    }
  }
  for (size_t i = 0; i < made->infos.size(); ++i) made->infos[i].shape = made->shapes[i].data();
  *model = made.release();
  ++left;
  return 0;
}
API int nrt_unload(nrt_model* model) {
  delete model;
  --left;
  return 0;
}
API int nrt_get_model_tensor_info(nrt_model* model, nrt_infos** infos) {
  FAIL_IF_ASKED();
  auto* made = static_cast<nrt_infos*>(std::malloc(sizeof(nrt_infos) + model->infos.size() * sizeof(Info)));
  made->count = model->infos.size();
  std::memcpy(static_cast<void*>(made->tensors), model->infos.data(), model->infos.size() * sizeof(Info));
  *infos = made;
  ++left;
  return 0;
}
API int nrt_free_model_tensor_info(nrt_infos* infos) {
  std::free(infos);
  --left;
  return 0;
}

API int nrt_allocate_tensor_set(nrt_tensor_set** set) {
  FAIL_IF_ASKED();
  *set = new nrt_tensor_set;
  ++left;
  return 0;
}
API void nrt_destroy_tensor_set(nrt_tensor_set** set) {
  delete *set;
  *set = nullptr;
  --left;
}
API int nrt_add_tensor_to_tensor_set(nrt_tensor_set* set, const char* name, nrt_tensor* tensor) {
  FAIL_IF_ASKED();
  set->tensors[name] = tensor;
  return 0;
}

API int nrt_execute(nrt_model* model, const nrt_tensor_set* inputs, nrt_tensor_set* outputs) {
  FAIL_IF_ASKED();
  std::map<std::string, nrt_tensor*> all;
  for (const Info& info : model->infos) {
    const auto& set = info.usage ? outputs->tensors : inputs->tensors;
    auto found = set.find(info.name);
    if (found == set.end() || found->second->size != info.size || found->second->core != model->core) return 1002;
    all[info.name] = found->second;
  }
  for (const Step& step : model->steps) {
    if (!all.count(step.out) || !all.count(step.left)) return 1002;
    nrt_tensor *out = all[step.out], *lhs = all[step.left], *rhs = step.op == "copy" ? lhs : all[step.right];
    if (step.op == "copy") {
      std::memcpy(out->data(), lhs->data(), out->size);
      continue;
    }
    if (!rhs || lhs->size != out->size || rhs->size != out->size) return 1002;
    for (size_t at = 0; at + 4 <= out->size; at += 4) {
      float a, b;
      std::memcpy(&a, lhs->data() + at, 4);
      std::memcpy(&b, rhs->data() + at, 4);
      float value = step.op == "mul" ? a * b : a + b;
      std::memcpy(out->data() + at, &value, 4);
    }
  }
  ++executed;
  return 0;
}
