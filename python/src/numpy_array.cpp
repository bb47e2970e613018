// NumPy's C API.
#include "numpy_array.h"

#include "result_memory.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "weft/core/pages.h"
#include "weft/runtime/device_state.h"

namespace weft::py {
namespace {

constexpr std::array<int8_t, 25> make_builtin_table() {
  std::array<int8_t, 25> table{};
  for (auto& entry : table) entry = -1;
  auto set = [&](int type, DType dtype) { table[static_cast<size_t>(type)] = static_cast<int8_t>(dtype); };
  set(NPY_BOOL, DType::boolean);
  set(NPY_BYTE, DType::i8);
  set(NPY_UBYTE, DType::u8);
  set(NPY_SHORT, DType::i16);
  set(NPY_USHORT, DType::u16);
  set(NPY_INT, DType::i32);
  set(NPY_UINT, DType::u32);
  set(NPY_LONG, sizeof(long) == 8 ? DType::i64 : DType::i32);
  set(NPY_ULONG, sizeof(long) == 8 ? DType::u64 : DType::u32);
  set(NPY_LONGLONG, DType::i64);
  set(NPY_ULONGLONG, DType::u64);
  set(NPY_HALF, DType::f16);
  set(NPY_FLOAT, DType::f32);
  set(NPY_DOUBLE, DType::f64);
  set(NPY_CFLOAT, DType::c64);
  set(NPY_CDOUBLE, DType::c128);
  return table;
}
constexpr auto builtin = make_builtin_table();

// ml_dtypes' types have numbers that NumPy hands out at run time. Filled once at import, read-only afterwards.
std::unordered_map<int, DType> extension_types;
std::array<PyArray_Descr*, dtype_count> descriptors{};

PyArrayObject* array(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }

std::optional<DType> dtype_of(PyArray_Descr* descr) {
  int type = descr->type_num;
  if (type >= 0 && type < 25) {
    int8_t dtype = builtin[static_cast<size_t>(type)];
    if (dtype >= 0) return static_cast<DType>(dtype);
    return std::nullopt;
  }
  auto found = extension_types.find(type);
  if (found == extension_types.end()) return std::nullopt;
  return found->second;
}

PyArray_Descr* import_extension(PyObject* ml_dtypes, DType dtype) {
  PyObject* type = PyObject_GetAttrString(ml_dtypes, std::string(numpy_name(dtype)).c_str());
  if (!type) {
    PyErr_Clear();
    return nullptr;
  }
  PyArray_Descr* descr = nullptr;
  if (!PyArray_DescrConverter(type, &descr)) PyErr_Clear();
  Py_DECREF(type);
  return descr;
}

// Of the large array that is being made, under the GIL: whose memory it has, and why it gets none.
Allocator* asked = nullptr;
std::exception_ptr refused;

// An error cannot be thrown through NumPy.
void* or_null(auto take) noexcept {
  try {
    return take();
  } catch (...) {
    refused = std::current_exception();
    return nullptr;
  }
}

// Where NumPy takes the memory of large results from, as NEP 49 has it: a handler goes with each array.
PyDataMem_Handler memory_handler = {
    "weftwork",
    1,
    {nullptr, [](void*, size_t bytes) { return or_null([&] { return take_memory(*asked, bytes); }); },
     [](void*, size_t count, size_t each) {
       return or_null([&] { return std::memset(take_memory(*asked, count * each), 0, count * each); });
     },
     [](void*, void* memory, size_t bytes) { return or_null([&] { return resize_memory(memory, bytes); }); },
     [](void*, void* memory, size_t) { give_memory(memory); }}};
PyObject* memory_capsule = nullptr;

PyObject* large_array(int ndim, npy_intp* shape, PyArray_Descr* descr, const Device& device) {
  asked = &device.state().allocator;
  refused = nullptr;
  if (!memory_capsule) memory_capsule = PyCapsule_New(&memory_handler, "mem_handler", nullptr);
  PyObject* before = memory_capsule ? PyDataMem_SetHandler(memory_capsule) : nullptr;
  if (!before) {
    Py_DECREF(descr);
    return nullptr;
  }
  PyObject* result = PyArray_Empty(ndim, shape, descr, 0);
  PyObject* ours = PyDataMem_SetHandler(before);
  Py_DECREF(before);
  if (!ours) {
    Py_XDECREF(result);
    return nullptr;
  }
  Py_DECREF(ours);
  if (!result && refused) {
    PyErr_Clear();
    std::rethrow_exception(std::exchange(refused, nullptr));
  }
  return result;
}

}  // namespace

void import_numpy() {
  if (_import_array() < 0) throw std::runtime_error("numpy cannot be imported");
  PyObject* ml_dtypes = PyImport_ImportModule("ml_dtypes");
  if (!ml_dtypes) throw std::runtime_error("ml_dtypes cannot be imported");
  for (int i = 0; i < dtype_count; ++i) {
    auto dtype = static_cast<DType>(i);
    PyArray_Descr* descr = nullptr;
    for (int type = 0; type < 25 && !descr; ++type)
      if (builtin[static_cast<size_t>(type)] == i) descr = PyArray_DescrFromType(type);
    if (!descr) {
      descr = import_extension(ml_dtypes, dtype);
      if (descr) extension_types.emplace(descr->type_num, dtype);
    }
    descriptors[static_cast<size_t>(i)] = descr;
  }
  Py_DECREF(ml_dtypes);
}

bool is_array(PyObject* object) { return PyArray_CheckExact(object); }

bool is_array_subclass(PyObject* object) { return PyArray_Check(object) && !PyArray_CheckExact(object); }
bool is_numpy_scalar(PyObject* object) {
  return PyArray_IsScalar(object, Generic) && !PyArray_IsScalar(object, Character);
}

bool is_scalar_subclass(PyObject* scalar) {
  if (!(Py_TYPE(scalar)->tp_flags & Py_TPFLAGS_HEAPTYPE)) return false;
  PyArray_Descr* descr = PyArray_DescrFromScalar(scalar);
  if (!descr) {
    PyErr_Clear();
    return true;
  }
  bool is_exact = descr->typeobj == Py_TYPE(scalar);
  Py_DECREF(descr);
  return !is_exact;
}

std::optional<ArrayView> view(PyObject* object) {
  PyArrayObject* a = array(object);
  std::optional<DType> dtype = dtype_of(PyArray_DESCR(a));
  if (!dtype) return std::nullopt;
  int flags = PyArray_FLAGS(a);
  bool native = PyArray_ISNOTSWAPPED(a);
  bool dense = (flags & NPY_ARRAY_C_CONTIGUOUS) && (flags & NPY_ARRAY_ALIGNED) && native;
  bool writable = (flags & NPY_ARRAY_WRITEABLE) != 0;
  return ArrayView{*dtype, PyArray_NDIM(a), PyArray_DIMS(a), PyArray_DATA(a), dense, writable, native};
}

PyObject* descr_of(DType dtype) {
  PyArray_Descr* descr = descriptors[static_cast<size_t>(dtype)];
  if (!descr) {
    PyErr_Format(PyExc_TypeError, "NumPy has no dtype for %s", std::string(name(dtype)).c_str());
    return nullptr;
  }
  return Py_NewRef(reinterpret_cast<PyObject*>(descr));
}

std::optional<DType> dtype_of_descr(PyObject* object) {
  PyArray_Descr* descr = nullptr;
  if (!PyArray_DescrConverter(object, &descr)) {
    PyErr_Clear();
    return std::nullopt;
  }
  std::optional<DType> dtype = dtype_of(descr);
  Py_DECREF(descr);
  return dtype;
}

PyObject* new_array(DType dtype, int ndim, const int64_t* dims, const Device& device) {
  PyObject* descr = descr_of(dtype);
  if (!descr) return nullptr;
  std::array<npy_intp, NPY_MAXDIMS> shape{};
  std::copy(dims, dims + ndim, shape.begin());
  auto* type = reinterpret_cast<PyArray_Descr*>(descr);
  auto bytes = static_cast<size_t>(size_of(dtype));
  for (int i = 0; i < ndim; ++i) bytes *= static_cast<size_t>(dims[i]);
  // Smaller ones are left to NumPy; too large for any memory is for NumPy to say.
  if (bytes >= static_cast<size_t>(large_result) && bytes < size_t{1} << 40)
    return large_array(ndim, shape.data(), type, device);
  return PyArray_Empty(ndim, shape.data(), type, 0);
}

PyObject* array_over(DType dtype, int ndim, const int64_t* dims, void* data, PyObject* owner, bool writable) {
  PyObject* descr = descr_of(dtype);
  if (!descr) {
    Py_DECREF(owner);
    return nullptr;
  }
  std::array<npy_intp, NPY_MAXDIMS> shape{};
  std::copy(dims, dims + ndim, shape.begin());
  int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | (writable ? NPY_ARRAY_WRITEABLE : 0);
  PyObject* result = PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(descr), ndim, shape.data(),
                                          nullptr, data, flags, nullptr);
  if (!result) {
    Py_DECREF(owner);
    return nullptr;
  }
  if (PyArray_SetBaseObject(array(result), owner) < 0) {
    Py_DECREF(result);
    return nullptr;
  }
  return result;
}

int64_t element_count(PyObject* object) { return PyArray_SIZE(array(object)); }

void* data_of(PyObject* object) { return PyArray_DATA(array(object)); }

PyObject* as_dense(PyObject* object) {
  PyArray_Descr* descr = PyArray_DescrNewByteorder(PyArray_DESCR(array(object)), NPY_NATIVE);
  if (!descr) return nullptr;
  return PyArray_FromAny(object, descr, 0, 0, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED, nullptr);
}

int copy_into(PyObject* target, PyObject* source) { return PyArray_CopyInto(array(target), array(source)); }

PyObject* scalar_or_array(PyObject* object) { return PyArray_Return(array(object)); }

void append_layout(std::string& key, PyObject* object) {
  PyArrayObject* a = array(object);
  bool row_major = PyArray_IS_C_CONTIGUOUS(a), column_major = PyArray_IS_F_CONTIGUOUS(a);
  key += row_major ? 'C' : column_major ? 'F' : 'S';
  key += PyArray_ISWRITEABLE(a) ? 'W' : 'R';
  if (row_major || column_major) return;
  key.append(reinterpret_cast<const char*>(PyArray_STRIDES(a)),
             sizeof(npy_intp) * static_cast<size_t>(PyArray_NDIM(a)));
}

std::vector<int> turned_axes(PyObject* object) {
  PyArrayObject* a = array(object);
  if (PyArray_IS_C_CONTIGUOUS(a) || !PyArray_ISALIGNED(a) || !PyArray_ISNOTSWAPPED(a)) return {};
  std::vector<int> axes(static_cast<size_t>(PyArray_NDIM(a)));
  std::iota(axes.begin(), axes.end(), 0);
  // The stride of an axis of one element says nothing: such axes come first.
  auto step = [&](int axis) { return PyArray_DIM(a, axis) == 1 ? NPY_MAX_INTP : PyArray_STRIDE(a, axis); };
  std::ranges::stable_sort(axes, std::greater<>(), step);
  npy_intp wanted = PyArray_ITEMSIZE(a);
  for (int axis : std::views::reverse(axes)) {
    if (PyArray_DIM(a, axis) == 1) break;
    if (PyArray_STRIDE(a, axis) != wanted) return {};
    wanted *= PyArray_DIM(a, axis);
  }
  return axes;
}

PyObject* transposed(PyObject* object, const std::vector<int>& axes) {
  std::array<npy_intp, NPY_MAXDIMS> order{};
  std::ranges::copy(axes, order.begin());
  PyArray_Dims permutation{order.data(), static_cast<int>(axes.size())};
  return PyArray_Transpose(array(object), &permutation);
}

bool ranges_overlap(PyObject* lhs, PyObject* rhs) {
  auto range = [](PyObject* object) {
    PyArrayObject* a = array(object);
    char* low = static_cast<char*>(PyArray_DATA(a));
    char* high = low + PyArray_ITEMSIZE(a);
    for (int i = 0; i < PyArray_NDIM(a); ++i) {
      if (PyArray_DIM(a, i) == 0) return std::pair{low, low};
      npy_intp extent = (PyArray_DIM(a, i) - 1) * PyArray_STRIDE(a, i);
      (extent < 0 ? low : high) += extent;
    }
    return std::pair{low, high};
  };
  auto [lhs_low, lhs_high] = range(lhs);
  auto [rhs_low, rhs_high] = range(rhs);
  return lhs_low < rhs_high && rhs_low < lhs_high;
}

bool may_overlap_itself(PyObject* object) {
  PyArrayObject* a = array(object);
  std::vector<std::pair<npy_intp, npy_intp>> axes;  // stride, extent
  for (int i = 0; i < PyArray_NDIM(a); ++i) {
    if (PyArray_DIM(a, i) == 0) return false;
    if (PyArray_DIM(a, i) > 1) axes.emplace_back(std::abs(PyArray_STRIDE(a, i)), PyArray_DIM(a, i));
  }
  std::sort(axes.begin(), axes.end());
  npy_intp reach = PyArray_ITEMSIZE(a);
  for (auto [stride, extent] : axes) {
    if (stride < reach) return true;
    reach += stride * (extent - 1);
  }
  return false;
}

}  // namespace weft::py
