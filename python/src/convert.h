// Conversions between Python objects and weft values; no logic.
#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include "weft/core/location.h"
#include "weft/ir/literal.h"
#include "weft/ir/op.h"

namespace weft::py {

namespace nb = nanobind;

// The new reference that a call of Python's C API gave, or its error.
inline nb::object checked(PyObject* object) {
  if (!object) throw nb::python_error();
  return nb::steal(object);
}

// str(object).
std::string shown(nb::handle object);

// How a Python object is kept by memory that it owns: let go of with the GIL, from any thread.
std::shared_ptr<const void> kept_alive(nb::object object);

// Anything with __index__. Error(value, "integer") for one of more than 64 bits.
int64_t to_integer(nb::handle object);
// int, or a Dim object for a symbolic extent; the reverse accepts anything with __index__ too.
nb::object to_python(const Dim& dim);
Dim to_dim(nb::handle object);
nb::tuple to_python(const Dims& dims);
Dims to_dims(nb::handle sequence);
nb::tuple to_python(const Ints& values);
Ints to_ints(nb::handle sequence);

// NumPy dtype objects; ml_dtypes' for what NumPy lacks. TypeError naming the dtype where there is no such type.
nb::object to_python(DType dtype);
DType to_dtype(nb::handle dtype);

// An array over the literal's memory (read-only, no copy), and a literal over an array's (kept alive; copied when it is
// not dense, aligned and native).
nb::object to_python(const Literal& literal);
Literal to_literal(nb::handle array, bool live = false);

nb::object to_python(const AttrValue& value);
Attrs to_attrs(Op op, nb::handle dict);
Op to_op(std::string_view name);

// The Python exception behind an Error that an added operation raised on this thread, a new reference; null for others.
PyObject* take_cause();

// The user's place: the innermost frame outside of this package and NumPy, with its callers up to the trace's start.
Location caller_location();

// A function that gives the calls that a recorder interprets on this thread, for caller_location; None: there is none.
void set_interpreted_calls(nb::handle calls);

void bind_core(nb::module_& m);
void bind_ir(nb::module_& m);
void bind_interop(nb::module_& m);
void bind_functions(nb::module_& m);
void bind_operated(nb::module_& m);
void bind_shapes(nb::module_& m);
void bind_tensor(nb::module_& m);
void bind_device(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_run(nb::module_& m);
void bind_dispatch(nb::module_& m);
void bind_custom(nb::module_& m);
void bind_distributed(nb::module_& m);
void bind_carrier(nb::module_& m);

}  // namespace weft::py
