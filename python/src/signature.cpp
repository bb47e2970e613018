// Signatures: what of an argument that is no traced array a program depends on.
#include "signature.h"

#include <string_view>

#include "arguments.h"
#include "numpy_array.h"
#include "weft/core/digest.h"

namespace weft::py {
namespace {

// Larger contents are told by their digests.
constexpr size_t most_bytes = 64;

// Whether a dataclass is compared by its fields, which the class says.
bool has_fields(PyObject* object) {
  static PyObject* fields = PyUnicode_InternFromString("__dataclass_fields__");
  static PyObject* params = PyUnicode_InternFromString("__dataclass_params__");
  PyTypeObject* type = Py_TYPE(object);
  if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || !_PyType_Lookup(type, fields)) return false;
  PyObject* found = _PyType_Lookup(type, params);
  // A container has more than its fields.
  bool is_container = PyDict_Check(object) || PyList_Check(object) || PyTuple_Check(object) || PyAnySet_Check(object);
  return found && !is_container && nb::cast<bool>(nb::handle(found).attr("eq"));
}

}  // namespace

bool is_hashable(PyObject* object) {
  if (Py_TYPE(object)->tp_hash == PyObject_HashNotImplemented) return false;
  if (PyObject_Hash(object) != -1) return true;
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();
  PyErr_Clear();
  return false;
}

void Signature::add_equal(nb::handle object) {
  PyTypeObject* type = Py_TYPE(object.ptr());
  add_fixed('s', type);
  statics.push_back(nb::borrow(object));
}

void Signature::add_identity(nb::handle object) {
  objects.emplace_back(key.size() + 1, nb::borrow(object));
  add_fixed('o', object.ptr());
  add_fixed('t', Py_TYPE(object.ptr()));
  kept.push_back(nb::borrow(object));
}

bool Signature::add_content(nb::handle object, int deepest) {
  PyObject* value = object.ptr();
  if (deepest < 0) return false;
  // Zeros of either sign are equal, NaN is not equal to itself.
  if (PyFloat_CheckExact(value)) {
    add_fixed('f', reinterpret_cast<PyFloatObject*>(value)->ob_fval);
    return true;
  }
  if (PyComplex_CheckExact(value)) {
    add_fixed('c', reinterpret_cast<PyComplexObject*>(value)->cval);
    return true;
  }
  auto is_record = [&] { return PyTuple_Check(value) && PyObject_HasAttrString(value, "_fields"); };
  if (PyTuple_CheckExact(value) || PyList_CheckExact(value) || is_record())
    return add_items('(', object, items_of(object), deepest);
  // In the order in which the function would see them.
  if (PyAnySet_CheckExact(value)) return add_items('<', object, object, deepest);
  if (PyDict_CheckExact(value)) return add_items('{', object, object.attr("items")(), deepest);
  if (PySlice_Check(value))
    return add_items(':', object, nb::make_tuple(object.attr("start"), object.attr("stop"), object.attr("step")),
                     deepest);
  if (is_array(value)) return add_array(object, deepest);
  if (PyByteArray_CheckExact(value)) {
    add_bytes('b', PyByteArray_AS_STRING(value), static_cast<size_t>(PyByteArray_GET_SIZE(value)));
    return true;
  }
  if (has_fields(value)) return add_fields(object, deepest);
  is_hashable(value) ? add_equal(object) : add_identity(object);
  return true;
}

bool Signature::add_items(char mark, nb::handle object, nb::handle items, int deepest) {
  add_type(mark, object);
  for (nb::handle item : items)
    if (!add_content(item, deepest - 1)) return false;
  key += ')';
  return true;
}

bool Signature::add_array(nb::handle array, int deepest) {
  // The order in memory too: it decides between views and copies.
  add_equal(nb::make_tuple(array.attr("dtype"), array.attr("shape"), array.attr("strides")));
  if (nb::cast<bool>(array.attr("dtype").attr("hasobject"))) return add_content(array.attr("tolist")(), deepest - 1);
  nb::object bytes = array.attr("tobytes")();
  add_bytes('a', PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
  return true;
}

bool Signature::add_fields(nb::handle object, int deepest) {
  add_type('d', object);
  nb::dict space = nb::cast<nb::dict>(nb::getattr(object, "__dict__", nb::dict()));
  for (nb::handle name : object.attr("__dataclass_fields__"))
    if (!space.contains(name) && nb::hasattr(object, name) && !add_content(object.attr(name), deepest - 1))
      return false;
  return add_content(space, deepest - 1);
}

void Signature::add_type(char mark, nb::handle object) {
  PyTypeObject* type = Py_TYPE(object.ptr());
  add_fixed(mark, type);
  // The address of a class that is gone may be that of another one.
  if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) kept.push_back(nb::borrow(object.type()));
}

void Signature::add_bytes(char mark, const void* bytes, size_t size) {
  add_fixed(mark, size);
  std::string_view content(static_cast<const char*>(bytes), size);
  if (size <= most_bytes)
    key.append(content);
  else
    add_fixed('#', digest_of(content));
}

}  // namespace weft::py
