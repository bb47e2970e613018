// DLPack 1.1: capsules of other libraries as buffers, buffers as capsules.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "buffers.h"
#include "weft/core/error.h"

namespace weft::py {
namespace {

// The structures of the standard, by its names.
struct DLDevice {
  int32_t device_type, device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};
struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor dl_tensor;
};
constexpr uint64_t read_only_flag = 1, copied_flag = 2;
constexpr int32_t cpu_type = 1, cuda_host_type = 3, trainium_type = 18;
constexpr uint8_t int_code = 0, uint_code = 1, float_code = 2, bfloat_code = 4, complex_code = 5, bool_code = 6,
                  f8_code = 7;

template <class Managed>
constexpr bool is_versioned = std::is_same_v<Managed, DLManagedTensorVersioned>;
template <class Managed>
constexpr const char* capsule_name = is_versioned<Managed> ? "dltensor_versioned" : "dltensor";
template <class Managed>
constexpr const char* used_name = is_versioned<Managed> ? "used_dltensor_versioned" : "used_dltensor";

[[noreturn]] void refuse(const std::string& why) {
  PyErr_SetString(PyExc_BufferError, why.c_str());
  throw nb::python_error();
}

// Nothing for types of less than a byte, of which DLPack packs several into one and we do not.
std::optional<DLDataType> dlpack_type(DType dtype) {
  auto bits = static_cast<uint8_t>(size_of(dtype) * 8);
  if (is_bool(dtype)) return DLDataType{bool_code, bits, 1};
  if (dtype == DType::bf16) return DLDataType{bfloat_code, bits, 1};
  if (is_complex(dtype)) return DLDataType{complex_code, bits, 1};
  if (dtype >= DType::f8e3m4 && dtype <= DType::f8e8m0fnu)  // in the order of DLPack's
    return DLDataType{static_cast<uint8_t>(f8_code + static_cast<int>(dtype) - static_cast<int>(DType::f8e3m4)), bits,
                      1};
  if (bit_width(dtype) != bits) return {};
  return DLDataType{is_float(dtype) ? float_code : is_signed(dtype) ? int_code : uint_code, bits, 1};
}

DType dtype_of(const DLDataType& type) {
  for (int i = 0; i < dtype_count; ++i) {
    std::optional<DLDataType> ours = dlpack_type(static_cast<DType>(i));
    if (ours && ours->code == type.code && ours->bits == type.bits && type.lanes == 1) return static_cast<DType>(i);
  }
  fail(ErrorKind::type, "dlpack_dtype", "elements of DLPack's code ", int{type.code}, " with ", int{type.bits},
       " bits and ", int{type.lanes}, " lanes have no dtype here");
}

// As NumPy's: those of an empty array are as if it had one element where it has none.
Ints strides_of(Ints dims) {
  std::ranges::replace(dims, 0, 1);
  return row_major_strides(dims);
}

bool is_dense(const Ints& dims, const int64_t* strides) {
  if (!strides || std::ranges::find(dims, 0) != dims.end()) return true;
  Ints wanted = strides_of(dims);
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1 && strides[d] != wanted[d]) return false;
  return true;
}

// Strides in bytes.
void copy_strided(char*& to, const char* from, const Ints& dims, const int64_t* strides, size_t d, int64_t size) {
  if (d == dims.size()) {
    std::memcpy(to, from, static_cast<size_t>(size));
    to += size;
    return;
  }
  for (int64_t i = 0; i < dims[d]; ++i) copy_strided(to, from + i * strides[d] * size, dims, strides, d + 1, size);
}

Buffer buffer_of(const DLTensor& tensor, bool read_only, std::shared_ptr<const void> owner, const Device& device,
                 Copying copying) {
  DType dtype = dtype_of(tensor.dtype);
  Ints dims(tensor.shape, tensor.shape + tensor.ndim);
  int64_t size = size_of(dtype);
  char* data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  bool dense = is_dense(dims, tensor.strides),
       aligned = reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(std::min<int64_t>(size, 8)) == 0;
  if (copying == Copying::never && !(dense && aligned))
    fail(ErrorKind::value, "must_copy", "an array that is not ", dense ? "aligned" : "dense and row-major",
         " must be copied");
  if (dense && aligned && copying != Copying::always) {
    if (read_only)
      return Buffer::adopt(static_cast<const void*>(data), dtype, std::move(dims), std::move(owner), device);
    return Buffer::adopt(static_cast<void*>(data), dtype, std::move(dims), std::move(owner), device);
  }
  if (dense) return Buffer::copy_of(data, dtype, std::move(dims), device);
  Buffer copy(dtype, dims, device);
  char* to = static_cast<char*>(copy.writable_data());
  copy_strided(to, data, dims, tensor.strides, 0, size);
  return copy;
}

template <class Managed>
Buffer consume(nb::handle capsule, const Device& device, Copying copying) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), capsule_name<Managed>));
  if (!managed) {
    PyErr_Clear();
    fail(ErrorKind::value, "dlpack_capsule", "a DLPack capsule that nobody took yet was wanted");
  }
  // Before DLPack 1 nothing says whether memory may be written.
  bool read_only = true;
  if constexpr (is_versioned<Managed>) {
    if (managed->version.major != 1)
      fail(ErrorKind::type, "dlpack_version", "DLPack 1 was wanted, got an array of version ", managed->version.major,
           ".", managed->version.minor);
    read_only = managed->flags & read_only_flag;
  }
  std::shared_ptr<const void> owner(managed, [](const Managed* held) {
    if (held->deleter) held->deleter(const_cast<Managed*>(held));
  });
  if (PyCapsule_SetName(capsule.ptr(), used_name<Managed>) != 0) throw nb::python_error();
  return buffer_of(managed->dl_tensor, read_only, std::move(owner), device, copying);
}

// What is handed out; it holds the buffer, and no Python object of ours, so that any thread may let go of it.
template <class Managed>
struct Lent {
  Managed managed{};
  Buffer buffer;
  Ints shape, strides;
};

template <class Managed>
nb::object lend(Buffer buffer, DLDataType type, bool copied) {
  auto lent = std::make_unique<Lent<Managed>>();
  Managed& managed = lent->managed;
  lent->shape = buffer.dims();
  lent->strides = strides_of(lent->shape);
  managed.dl_tensor = {const_cast<void*>(buffer.data()),
                       {cpu_type, 0},
                       static_cast<int32_t>(lent->shape.size()),
                       type,
                       lent->shape.data(),
                       lent->strides.data(),
                       0};
  managed.manager_ctx = lent.get();
  managed.deleter = [](Managed* self) { delete static_cast<Lent<Managed>*>(self->manager_ctx); };
  if constexpr (is_versioned<Managed>) {
    managed.version = {1, 1};
    managed.flags = (buffer.is_writable() ? 0 : read_only_flag) | (copied ? copied_flag : 0);
  }
  lent->buffer = std::move(buffer);
  PyObject* capsule = PyCapsule_New(&managed, capsule_name<Managed>, [](PyObject* unused) {
    // One that was taken has another name, and who took it lets go of it.
    if (!PyCapsule_IsValid(unused, capsule_name<Managed>)) return;
    auto* held = static_cast<Managed*>(PyCapsule_GetPointer(unused, capsule_name<Managed>));
    held->deleter(held);
  });
  if (!capsule) throw nb::python_error();
  (void)lent.release();
  return nb::steal(capsule);
}

// The first of two integers.
int64_t first_of(nb::handle pair, const char* what) {
  int64_t first = 0;
  if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2 ||
      !nb::try_cast(nb::handle(PyTuple_GET_ITEM(pair.ptr(), 0)), first))
    fail(ErrorKind::type, "dlpack_pair", what, " must be a tuple of two integers, got ", shown(pair));
  return first;
}

}  // namespace

Buffer from_dlpack(nb::handle object, const Device& device, Copying copying) {
  int64_t type = first_of(object.attr("__dlpack_device__")(), "__dlpack_device__");
  if (type != cpu_type && type != cuda_host_type)
    fail(ErrorKind::type, "dlpack_device",
         "an array in memory of the host was wanted, got one on DLPack's device type ", type,
         ": copy it to the CPU first");
  nb::object capsule;
  try {
    capsule = object.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 1));
  } catch (nb::python_error& error) {
    // Who knows no version 1 has no such parameter.
    if (!error.matches(PyExc_TypeError)) throw;
    capsule = object.attr("__dlpack__")();
  }
  bool versioned = PyCapsule_IsValid(capsule.ptr(), capsule_name<DLManagedTensorVersioned>);
  return versioned ? consume<DLManagedTensorVersioned>(capsule, device, copying)
                   : consume<DLManagedTensor>(capsule, device, copying);
}

nb::tuple dlpack_device(const Device& device) {
  if (device.is_host()) return nb::make_tuple(cpu_type, 0);
  return nb::make_tuple(trainium_type, device.index());
}

nb::object to_dlpack(const Buffer& buffer, nb::handle stream, nb::handle max_version, nb::handle wanted_device,
                     nb::handle copy) {
  if (!stream.is_none())
    fail(ErrorKind::value, "dlpack_stream", "stream must be None for memory of the host, got ", shown(stream));
  Copying copying = to_copying(copy);
  bool here = buffer.device().is_host(), never = copying == Copying::never;
  if (!wanted_device.is_none()) {
    bool to_host = wanted_device.equal(nb::make_tuple(cpu_type, 0));
    if (!to_host) refuse("a buffer can be handed out in memory of the CPU alone, DLPack's device (1, 0)");
  }
  if (!here && (wanted_device.is_none() || never))
    refuse("the buffer is on '" + buffer.device().name() + "': to('cpu') copies it");
  std::optional<DLDataType> type = dlpack_type(buffer.dtype());
  if (!type)
    refuse("DLPack has no elements like " + std::string(numpy_name(buffer.dtype())) + ", which take a byte each here");
  bool copied = !here || copying == Copying::always;
  Buffer lent = copied ? buffer.to(Device::cpu()) : buffer;
  bool versioned = !max_version.is_none() && first_of(max_version, "max_version") >= 1;
  if (versioned) return lend<DLManagedTensorVersioned>(std::move(lent), *type, copied);
  if (!lent.is_writable())
    refuse("a read-only buffer can be handed out by DLPack 1 alone: ask with max_version=(1, 0)");
  return lend<DLManagedTensor>(std::move(lent), *type, copied);
}

}  // namespace weft::py
