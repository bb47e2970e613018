// The few things that we ask of NumPy's C API, behind plain functions: the API's headers stay in one source.
#pragma once

#include <Python.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weft/core/type.h"
#include "weft/runtime/device.h"

namespace weft::py {

struct ArrayView {
  DType dtype;
  int ndim;
  const Py_ssize_t* dims;
  void* data;
  bool dense;  // C-contiguous, aligned and of native byte order
  bool writable;
  bool native;  // of this machine's byte order
};

// Imports NumPy's API and ml_dtypes' types; call once.
void import_numpy();
// Whether the object is exactly an ndarray (no subclass).
bool is_array(PyObject* object);
// An instance of a class derived from ndarray.
bool is_array_subclass(PyObject* object);
// A number of NumPy's such as np.float32(1); texts, np.str_ and np.bytes_, are constants as those of Python are.
bool is_numpy_scalar(PyObject* object);
// Of a class derived from that of its dtype's scalars.
bool is_scalar_subclass(PyObject* scalar);
// Nothing when the dtype is none of ours (object, str, datetime …).
std::optional<ArrayView> view(PyObject* array);
// New references; null with a Python error set on failure.
PyObject* descr_of(DType dtype);
std::optional<DType> dtype_of_descr(PyObject* descr);
// Of a MiB and more it is the device's memory: Error(runtime, "out_of_memory") where that is not to be had.
PyObject* new_array(DType dtype, int ndim, const int64_t* dims, const Device& device = {});
// Over foreign memory kept alive by `owner` (its reference is taken over).
PyObject* array_over(DType dtype, int ndim, const int64_t* dims, void* data, PyObject* owner, bool writable);
void* data_of(PyObject* array);
int64_t element_count(PyObject* array);
// A dense, aligned, native copy or the array itself.
PyObject* as_dense(PyObject* array);
// Copies `source` into `target` of the same shape and dtype; -1 with a Python error set on failure.
int copy_into(PyObject* target, PyObject* source);
// A 0-d array becomes a NumPy scalar; others stay. Takes over the reference.
PyObject* scalar_or_array(PyObject* array);
// Appends what tells arrays of one shape and another order in memory apart: C, F, or the strides; and
// whether they may be written.
void append_layout(std::string& key, PyObject* array);
// The axes of an array whose elements fill its memory in another order than by rows, from the outermost to the
// innermost: of a Fortran array the last comes first. Empty for all others.
std::vector<int> turned_axes(PyObject* array);
// The array with its axes in that order: a view. A new reference; null with a Python error set on failure.
PyObject* transposed(PyObject* array, const std::vector<int>& axes);
// Whether two arrays' memory ranges overlap; they may interleave and share no element.
bool ranges_overlap(PyObject* lhs, PyObject* rhs);
// Whether an element of the array may be reached by two indices.
bool may_overlap_itself(PyObject* array);

}  // namespace weft::py
