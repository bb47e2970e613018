// Operations that Python programs add: their inference and evaluation called back from programs.
#include <nanobind/stl/string.h>

#include "convert.h"
#include "numpy_array.h"
#include "weft/core/error.h"
#include "weft/frontend/record.h"
#include "weft/library/custom.h"

namespace weft::py {
namespace {

// What the Python exception behind an Error that this thread is about to see was.
thread_local PyObject* cause = nullptr;

// Runs Python code from a program: its exceptions become Errors, but for those that are no `Exception`. Errors of ours
// pass as they are.
template <class Body>
void called_back(const std::string& name, const Body& body) {
  nb::gil_scoped_acquire acquire;
  std::string shown_error;
  try {
    return body();
  } catch (nb::python_error& error) {
    // Ctrl-C and exits are what they are.
    if (!error.matches(PyExc_Exception)) throw;
    nb::object value = nb::borrow(error.value());
    shown_error = nb::cast<std::string>(nb::borrow<nb::str>(error.type().attr("__name__")));
    try {
      append(shown_error, ": ", shown(value));
    } catch (nb::python_error&) {
      // An exception that cannot be shown is told by its type.
    }
    Py_XDECREF(cause);
    cause = value.release().ptr();
  }
  fail(ErrorKind::runtime, "custom_op_raised", "'", name, "' raised ", shown_error);
}

nb::list specs_of(std::span<const Type> types) {
  nb::list specs;
  for (const Type& type : types) specs.append(nb::make_tuple(to_python(type.dims), to_python(type.dtype)));
  return specs;
}

std::vector<Type> to_types(nb::handle specs) {
  std::vector<Type> types;
  for (nb::handle spec : specs) types.push_back({to_dtype(spec[1]), to_dims(spec[0])});
  return types;
}

nb::object array_on(const Type& type, void* memory) {
  Ints dims = type.static_dims();
  PyObject* array =
      array_over(type.dtype, static_cast<int>(dims.size()), dims.data(), memory, Py_NewRef(Py_None), true);
  if (!array) throw nb::python_error();
  return nb::steal(array);
}

// A read-only copy: what is called may keep it for longer than the program's memory lasts.
nb::object copy_of(const Type& type, void* memory) {
  Ints dims = type.static_dims();
  PyObject* array = new_array(type.dtype, static_cast<int>(dims.size()), dims.data());
  if (!array) throw nb::python_error();
  nb::object copy = nb::steal(array);
  if (copy_into(array, array_on(type, memory).ptr()) < 0) throw nb::python_error();
  copy.attr("flags").attr("writeable") = false;
  return copy;
}

// `infer(specs, config)` gives specs; `evaluate(arrays, config)` an array for each result, which it has checked, or
// None.
void add(std::string name, PyObject* infer, PyObject* evaluate, uintptr_t native) {
  CustomOp op;
  op.name = name;
  op.infer = [name, infer](std::span<const Type> operands, const std::string& config) {
    std::vector<Type> types;
    called_back(name, [&] { types = to_types(nb::handle(infer)(specs_of(operands), config)); });
    return types;
  };
  if (evaluate != Py_None)
    op.evaluate = [name, evaluate](std::span<const Type> operands, std::span<const Type> results,
                                   const std::string& config, void* const* buffers) {
      called_back(name, [&] {
        nb::list arrays;
        for (size_t i = 0; i < operands.size(); ++i) arrays.append(copy_of(operands[i], buffers[i]));
        nb::object values = nb::handle(evaluate)(arrays, specs_of(results), config);
        for (size_t i = 0; i < results.size(); ++i) {
          nb::object target = array_on(results[i], buffers[operands.size() + i]);
          if (copy_into(target.ptr(), nb::object(values[i]).ptr()) < 0) throw nb::python_error();
        }
      });
    };
  op.native = reinterpret_cast<void (*)(const int64_t*, void* const*)>(native);
  add_custom_op(std::move(op));
  // Programs may call them for as long as the process runs.
  Py_INCREF(infer);
  Py_INCREF(evaluate);
}

}  // namespace

PyObject* take_cause() { return std::exchange(cause, nullptr); }

void bind_custom(nb::module_& m) {
  m.def(
      "add_custom_op",
      [](std::string name, nb::handle infer, nb::handle evaluate, uintptr_t native) {
        add(std::move(name), infer.ptr(), evaluate.ptr(), native);
      },
      nb::arg("name"), nb::arg("infer"), nb::arg("evaluate").none(), nb::arg("native"));
  m.def(
      "capsule_address",
      [](nb::handle capsule) {
        void* address = PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
        if (!address) throw nb::python_error();
        return reinterpret_cast<uintptr_t>(address);
      },
      "The address that a PyCapsule holds.");
}

}  // namespace weft::py
