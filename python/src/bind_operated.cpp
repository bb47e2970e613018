// Element-wise calls on lazy arrays by the shortest way: from the arguments to the recorded value without a frame of
// Python's in between, as each would have to be looked at for the user's line.
#include <algorithm>

#include "recorded.h"

namespace weft::py {
namespace {

// What Python gives once: the class, whose attributes are read by these names, and two functions.
struct LazyArrays {
  PyTypeObject* type = nullptr;
  nb::handle current_trace, tensor_of, made, value, recorded, length;
};
LazyArrays lazy_arrays;

bool is_number(nb::handle value) {
  PyObject* at = value.ptr();
  return PyFloat_CheckExact(at) || PyLong_CheckExact(at) || PyBool_Check(at) || PyComplex_CheckExact(at);
}

// An operand as `elementwise` takes it, and how many calls it stands on.
struct LazyOperand {
  nb::object value;
  int64_t length = 0;

  // False for what is neither a lazy array nor a number of Python's.
  bool take(nb::handle given) {
    const LazyArrays& names = lazy_arrays;
    if (Py_TYPE(given.ptr()) != names.type) {
      value = nb::borrow(given);
      return given.is_none() || is_number(given);
    }
    const nb::object array = given.attr(names.made);
    value = array.is_none() ? nb::object(given.attr(names.value)) : nb::object(array.attr(names.recorded));
    length = nb::cast<int64_t>(given.attr(names.length));
    return true;
  }

  bool is_whole() const {
    if (!nb::isinstance<Tensor>(value)) return PyLong_Check(value.ptr());
    const DType dtype = nb::cast<const Tensor&>(value).dtype();
    return is_integer(dtype) || dtype == DType::boolean;
  }
};

nb::object operated(const char* name, nb::handle x, nb::handle y) {
  LazyOperand first, second;
  if (!first.take(x) || !second.take(y) || !lazy_arrays.current_trace().is_none()) return nb::none();
  // NumPy raises for some powers of integers, which values decide.
  if (std::string_view(name) == "power" && first.is_whole() && second.is_whole()) return nb::none();
  nb::object result;
  try {
    result = elementwise(name, first.value, second.value, 0);
  } catch (const Error&) {
    return nb::none();
  }
  if (result.is_none()) return result;
  return lazy_arrays.tensor_of(result, std::max(first.length, second.length) + 1);
}

nb::object interned(const char* text) { return nb::steal(PyUnicode_InternFromString(text)); }

}  // namespace

void bind_operated(nb::module_& m) {
  m.def(
      "set_lazy_arrays",
      [](nb::type_object type, nb::object current_trace, nb::object tensor_of) {
        // Kept for good, as the module is.
        lazy_arrays = {.type = reinterpret_cast<PyTypeObject*>(type.release().ptr()),
                       .current_trace = current_trace.release(),
                       .tensor_of = tensor_of.release(),
                       .made = interned("_made").release(),
                       .value = interned("_value").release(),
                       .recorded = interned("tensor").release(),
                       .length = interned("_length").release()};
      },
      nb::arg("type"), nb::arg("current_trace"), nb::arg("tensor_of"),
      "Says what `operated` takes for lazy arrays, and how it makes one of a recorded value and the length of its "
      "chain.");
  m.def("operated", &operated, nb::arg("ufunc"), nb::arg("x"), nb::arg("y").none() = nb::none(),
        "The result of NumPy's element-wise function of that name on lazy arrays and Python's numbers; None where that "
        "takes the longer way: other operands, a function that is traced, an error to be explained.");
}

}  // namespace weft::py
