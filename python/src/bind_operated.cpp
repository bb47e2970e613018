// Element-wise calls on lazy and on traced arrays by the shortest way: from the arguments to the array without a frame
// of Python's in between, as each would have to be looked at for the user's line.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "recorded.h"
#include "weft/frontend/promote.h"
// What Python.h has to be before.
#include <structmember.h>

namespace weft::py {
namespace {

// The trace that a thread records in, a reference of its own; null outside of one.
thread_local PyObject* trace_here = nullptr;

nb::object swap_trace(nb::handle next) {
  PyObject* before = std::exchange(trace_here, next.is_none() ? nullptr : next.inc_ref().ptr());
  return before ? nb::steal(before) : nb::none();
}

// A name that is kept for good, as the module is.
nb::handle interned(const char* text) { return nb::steal(PyUnicode_InternFromString(text)).release(); }

bool is_number(nb::handle value) {
  PyObject* at = value.ptr();
  return PyFloat_CheckExact(at) || PyLong_CheckExact(at) || PyBool_Check(at) || PyComplex_CheckExact(at);
}

bool is_whole(nb::handle operand) {
  if (!nb::isinstance<Tensor>(operand)) return PyLong_Check(operand.ptr());
  return weft::is_whole(nb::cast<const Tensor&>(operand).dtype());
}

// What the function records; none where the longer way is taken, which raises what there is to be raised.
nb::object recorded_result(const char* name, const nb::object& x, const nb::object& y) {
  // NumPy raises for some powers of integers, which values decide.
  if (std::string_view(name) == "power" && is_whole(x) && is_whole(y)) return nb::none();
  try {
    return elementwise(name, x, y, 0);
  } catch (const Error&) {
    return nb::none();
  }
}

// ---- instances of Python's classes ----------------------------------------------------------------------------------

// Where instances of a class have an attribute that is among its __slots__.
Py_ssize_t slot_of(PyTypeObject* type, const char* name) {
  const nb::object member = nb::handle(reinterpret_cast<PyObject*>(type)).attr(name);
  return reinterpret_cast<PyMemberDescrObject*>(member.ptr())->d_member->offset;
}

// What is there, null if nothing was set.
PyObject*& at(nb::handle instance, Py_ssize_t slot) {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(instance.ptr()) + slot);
}

// One whose slots are empty.
nb::object new_instance(PyTypeObject* type) {
  static PyObject* const none = PyTuple_New(0);
  return checked(type->tp_new(type, none, nullptr));
}

// ---- traced arrays --------------------------------------------------------------------------------------------------

// What Python gives once: classes, whose attributes have these names, and what is called of new arrays in loops.
struct TracedArrays {
  PyTypeObject *type, *storage_type;
  nb::object births, note_created;
  // Where the slots of an array are.
  Py_ssize_t storage = slot_of(type, "_storage"), steps = slot_of(type, "_steps"), cache = slot_of(type, "_cache"),
             version = slot_of(type, "_version"), weak = slot_of(type, "weak"), scalar = slot_of(type, "scalar");
  nb::handle tensor = interned("tensor"), version_name = interned("version"), born = interned("born"),
             owned = interned("owned"), stale = interned("stale"), strides = interned("strides"),
             parents = interned("parents"), loops = interned("loops"), arrays = interned("arrays");
};
TracedArrays* traced_arrays = nullptr;

// The value of a traced array as it was read last, where nobody wrote to its memory since; none where it has to be
// read.
nb::object value_as_read(nb::handle array) {
  const TracedArrays& traced = *traced_arrays;
  const nb::handle storage(at(array, traced.storage)), value(at(array, traced.cache));
  const bool is_current = storage.attr(traced.stale).is_none() &&
                          storage.attr(traced.version_name).equal(nb::handle(at(array, traced.version)));
  return is_current ? nb::borrow(value) : nb::none();
}

// ---- lazy arrays ----------------------------------------------------------------------------------------------------

// What Python gives once: the class, the longest chain of calls that is recorded, and how an array of a longer one is
// made.
struct LazyArrays {
  PyTypeObject* type = nullptr;
  int64_t longest = 0;
  nb::object tensor_of;
  Py_ssize_t made = slot_of(type, "_made"), value = slot_of(type, "_value"), length = slot_of(type, "_length");
  nb::handle recorded = interned("tensor");
};
LazyArrays* lazy_arrays = nullptr;

// An operand as `elementwise` takes it, and how many calls it stands on.
struct LazyOperand {
  nb::object value;
  int64_t length = 0;

  // False for what is neither a lazy array nor a number of Python's, and for an array that nobody has initialized.
  bool take(nb::handle given) {
    const LazyArrays& lazy = *lazy_arrays;
    if (Py_TYPE(given.ptr()) != lazy.type) {
      value = nb::borrow(given);
      return given.is_none() || is_number(given);
    }
    if (!at(given, lazy.length)) return false;
    const nb::object before = nb::borrow(at(given, lazy.value));  // another thread may make the array
    const nb::handle array = at(given, lazy.made);
    value = array.is_none() ? before : value_as_read(array);
    if (value.is_none()) value = array.attr(lazy.recorded);
    length = nb::cast<int64_t>(nb::handle(at(given, lazy.length)));
    return true;
  }
};

nb::object operated(const char* name, nb::handle x, nb::handle y) {
  LazyOperand first, second;
  if (trace_here || !first.take(x) || !second.take(y)) return nb::none();
  nb::object result = recorded_result(name, first.value, second.value);
  if (result.is_none()) return result;
  const LazyArrays& lazy = *lazy_arrays;
  const int64_t length = std::max(first.length, second.length) + 1;
  if (length > lazy.longest) return lazy.tensor_of(result, length);
  nb::object array = new_instance(lazy.type);
  at(array, lazy.made) = nb::none().release().ptr();
  at(array, lazy.value) = result.release().ptr();
  at(array, lazy.length) = nb::int_(length).release().ptr();
  return array;
}

// ---- operations on traced arrays ------------------------------------------------------------------------------------

// An operand as `elementwise` takes it, and its storage if it is an array.
struct TracedOperand {
  nb::object value, storage;
  nb::handle array;

  // False where its value has to be read anew, where it promotes as a number of Python's, and for what is neither a
  // traced array nor such a number.
  bool take(nb::handle given) {
    const TracedArrays& traced = *traced_arrays;
    if (Py_TYPE(given.ptr()) != traced.type) {
      value = nb::borrow(given);
      return given.is_none() || is_number(given);
    }
    array = given;
    value = value_as_read(given);
    storage = nb::borrow(at(given, traced.storage));
    return at(given, traced.weak) == Py_None && !value.is_none();
  }

  bool is_wide() const { return array && has_wide_shape(nb::cast<const Tensor&>(value)); }

  // Whether it lies in row-major order as far as can be told at once.
  bool is_plainly_ordered() const {
    const TracedArrays& traced = *traced_arrays;
    return PyTuple_GET_SIZE(at(array, traced.steps)) == 0 && storage.attr(traced.strides).is_none();
  }
};

// A new array, as NumPy's element-wise functions make them.
nb::object traced_array(const nb::object& value, std::span<const TracedOperand> operands) {
  const TracedArrays& traced = *traced_arrays;
  const Tensor& tensor = nb::cast<const Tensor&>(value);
  const nb::object storage = new_instance(traced.storage_type), array = new_instance(traced.type);
  const nb::object zero = nb::int_(0);
  storage.attr(traced.tensor) = value;
  storage.attr(traced.version_name) = zero;
  storage.attr(traced.born) = checked(PyIter_Next(traced.births.ptr()));
  storage.attr(traced.owned) = true;
  if (has_wide_shape(tensor)) {
    nb::list parents;
    for (const TracedOperand& operand : operands)
      if (operand.is_wide()) parents.append(operand.storage);
    if (nb::len(parents)) storage.attr(traced.parents) = nb::tuple(parents);
  }
  at(array, traced.storage) = storage.inc_ref().ptr();
  at(array, traced.steps) = nb::tuple().release().ptr();
  at(array, traced.cache) = value.inc_ref().ptr();
  at(array, traced.version) = zero.inc_ref().ptr();
  at(array, traced.weak) = nb::none().release().ptr();
  at(array, traced.scalar) = nb::bool_(tensor.rank() == 0).release().ptr();
  nb::list arrays;
  arrays.append(nb::weakref(array));
  storage.attr(traced.arrays) = arrays;
  const nb::handle trace(trace_here);
  if (trace && nb::len(nb::object(trace.attr(traced.loops)))) traced.note_created(array);
  return array;
}

nb::object traced_operated(const char* name, nb::handle x, nb::handle y) {
  std::array<TracedOperand, 2> operands;
  if (!operands[0].take(x) || !operands[1].take(y) || !(operands[0].array || operands[1].array)) return nb::none();
  for (const TracedOperand& operand : operands)
    if (operand.is_wide() && !operand.is_plainly_ordered()) return nb::none();
  const nb::object result = recorded_result(name, operands[0].value, operands[1].value);
  return nb::isinstance<Tensor>(result) ? traced_array(result, operands) : nb::none();
}

}  // namespace

void bind_operated(nb::module_& m) {
  m.def(
      "current_trace", [] { return trace_here ? nb::borrow(trace_here) : nb::object(nb::none()); },
      "The trace that runs on this thread, or None.");
  m.def("swap_trace", &swap_trace, nb::arg("trace").none(),
        "Makes a trace, or None, the one that this package's own functions record in on this thread, and returns the "
        "one before.");
  m.def(
      "set_lazy_arrays",
      [](nb::type_object type, int64_t longest, nb::object tensor_of) {
        lazy_arrays = new LazyArrays{.type = reinterpret_cast<PyTypeObject*>(type.release().ptr()),
                                     .longest = longest,
                                     .tensor_of = std::move(tensor_of)};
      },
      nb::arg("type"), nb::arg("longest"), nb::arg("tensor_of"),
      "Says what `operated` takes for lazy arrays, and how one of a recorded value is made that is on top of a chain "
      "of "
      "more than so many calls.");
  m.def("operated", &operated, nb::arg("ufunc"), nb::arg("x"), nb::arg("y").none() = nb::none(),
        "The result of NumPy's element-wise function of that name on lazy arrays and Python's numbers; None where that "
        "takes the longer way: other operands, a function that is traced, an error to be explained.");
  m.def(
      "set_traced_arrays",
      [](nb::type_object type, nb::type_object storage, nb::object births, nb::object note_created) {
        traced_arrays = new TracedArrays{.type = reinterpret_cast<PyTypeObject*>(type.release().ptr()),
                                         .storage_type = reinterpret_cast<PyTypeObject*>(storage.release().ptr()),
                                         .births = std::move(births),
                                         .note_created = std::move(note_created)};
      },
      nb::arg("type"), nb::arg("storage"), nb::arg("births"), nb::arg("note_created"),
      "Says what `traced_operated` takes for traced arrays, and what it makes them of.");
  m.def("traced_operated", &traced_operated, nb::arg("ufunc"), nb::arg("x"), nb::arg("y").none() = nb::none(),
        "The array that NumPy's element-wise function of that name gives of traced arrays and Python's numbers; None "
        "where that takes the longer way: other operands, two results, a layout to be followed, an error.");
}

}  // namespace weft::py
