// NumPy's functions of recorded values, which are C++'s: what Python gives them, and their results.
#include <algorithm>
#include <array>
#include <span>

#include "recorded.h"
#include "weft/core/error.h"
#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"
#include "weft/frontend/record.h"
#include "weft/frontend/reduction.h"
#include "weft/frontend/special.h"
#include "weft/frontend/ufuncs.h"

namespace weft::py {
namespace {

Operand integer_operand(nb::handle value) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (!overflow) return static_cast<int64_t>(small);
  const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(value.ptr()) : 0;
  if (overflow > 0 && !PyErr_Occurred()) return static_cast<uint64_t>(large);
  PyErr_Clear();
  fail(ErrorKind::value, "number_range", "an integer of 64 bits was wanted, got ", shown(value));
}

// A recorded value, or a number of Python's.
Operand to_operand(nb::handle value, bool weak) {
  if (nb::isinstance<Tensor>(value)) {
    Operand operand(nb::cast<const Tensor&>(value));
    operand.weak = weak;
    return operand;
  }
  if (PyBool_Check(value.ptr())) return value.is(nb::handle(Py_True));
  if (PyLong_Check(value.ptr())) return integer_operand(value);
  if (PyFloat_Check(value.ptr())) return PyFloat_AS_DOUBLE(value.ptr());
  if (PyComplex_Check(value.ptr()))
    return std::complex<double>(PyComplex_RealAsDouble(value.ptr()), PyComplex_ImagAsDouble(value.ptr()));
  fail(ErrorKind::type, "operand", "a recorded value or a number was wanted, got ", shown(value));
}

bool is_small_integer(const Operand& operand) {
  return operand.is_tensor() && is_integer(operand.tensor.dtype()) && bit_width(operand.tensor.dtype()) < 8;
}

// Whether an operand of a type that NumPy has from ml_dtypes meets anything but its own: what comes of it that package
// decides.
bool is_foreign_mix(std::span<const Operand> operands) {
  const Operand& first = operands[0];
  const bool are_alike = std::ranges::all_of(operands, [&](const Operand& operand) {
    return operand.is_tensor() && first.is_tensor() && operand.tensor.dtype() == first.tensor.dtype();
  });
  return !are_alike && std::ranges::any_of(operands, [&](const Operand& operand) {
    if (!operand.is_tensor()) return false;
    const DType dtype = operand.tensor.dtype();
    return (is_float(dtype) && dtype < DType::f16) || is_small_integer(operand);
  });
}

nb::object recorded(const Ufunc& ufunc, std::span<const Operand> operands, bool in_loop) {
  // Small integers have few functions of their own; others compute them as an int8.
  if (!in_loop && (is_foreign_mix(operands) || std::ranges::any_of(operands, is_small_integer))) return nb::none();
  std::vector<Tensor> results = call(ufunc, operands);
  if (results.size() == 1) return nb::cast(std::move(results[0]));
  return nb::make_tuple(std::move(results[0]), std::move(results[1]));
}

nb::object where(const Tensor& condition, nb::handle x, nb::handle y, unsigned weak) {
  const std::array operands{to_operand(x, weak & 1), to_operand(y, weak & 2)};
  if (is_foreign_mix(operands)) return nb::none();
  return located_in("where", [&] { return nb::cast(weft::where(condition, operands[0], operands[1])); });
}

nb::object clip(const Tensor& x, nb::handle low, nb::handle high, unsigned weak) {
  std::vector<Operand> operands{Operand(x)};
  if (!low.is_none()) operands.push_back(to_operand(low, weak & 1));
  if (!high.is_none()) operands.push_back(to_operand(high, weak & 2));
  if (is_foreign_mix(operands)) return nb::none();
  const Operand* bounds = operands.data() + 1;
  return located_in("clip", [&] {
    return nb::cast(weft::clip(x, low.is_none() ? nullptr : bounds, high.is_none() ? nullptr : &operands.back()));
  });
}

// Optional tensors are None where they are not.
Tensor tensor_or_none(nb::handle value) { return value.is_none() ? Tensor() : nb::cast<Tensor>(value); }

Tensor reduction(const char* name, const Tensor& x, nb::handle axes, bool keepdims, nb::handle dtype,
                 nb::handle initial, nb::handle mask, double ddof, nb::handle mean) {
  return located_in(name, [&] {
    Reduction how{.axes = to_axes(axes),
                  .keepdims = keepdims,
                  .mask = tensor_or_none(mask),
                  .ddof = ddof,
                  .mean = tensor_or_none(mean)};
    if (!dtype.is_none()) how.dtype = to_dtype(dtype);
    if (!initial.is_none()) how.initial = Operand(nb::cast<Tensor>(initial));
    return reduce(name, x, how);
  });
}

Tensor place(const char* name, const Tensor& x, nb::handle axis, bool keepdims) {
  return located_in(name, [&] {
    return place_of(name, x, axis.is_none() ? std::nullopt : std::optional(to_integer(axis)), keepdims);
  });
}

nb::tuple linspace(nb::handle start, nb::handle stop, nb::handle count, bool endpoint, nb::handle dtype,
                   nb::handle axis, unsigned weak) {
  return located([&] {
    Spacing how{.endpoint = endpoint, .axis = to_integer(axis)};
    if (!dtype.is_none()) how.dtype = to_dtype(dtype);
    const auto [values, step] = spaced(to_operand(start, weak & 1), to_operand(stop, weak & 2), to_dim(count), how);
    return nb::make_tuple(values, step);
  });
}

void bind_reductions(nb::module_& m) {
  m.def(
      "total_type", [](nb::handle dtype) { return to_python(total_type(to_dtype(dtype))); },
      "The dtype in which NumPy adds and multiplies up: small integers and booleans as 64 bits.");
  m.def("reduction", &reduction, nb::arg("name"), nb::arg("x"), nb::arg("axes").none(), nb::arg("keepdims") = false,
        nb::arg("dtype").none() = nb::none(), nb::arg("initial").none() = nb::none(),
        nb::arg("where").none() = nb::none(), nb::arg("ddof") = 0.0, nb::arg("mean").none() = nb::none(),
        "NumPy's sum, prod, max, min, any, all, mean, var or std. `dtype` is what is computed in, and of the result; "
        "the others are as in NumPy.");
  m.def("place", &place, nb::arg("name"), nb::arg("x"), nb::arg("axis").none(), nb::arg("keepdims") = false,
        "NumPy's argmax or argmin.");
}

nb::list names_of(std::span<const Ufunc> ufuncs) {
  nb::list names;
  for (const Ufunc& ufunc : ufuncs) names.append(nb::str(ufunc.name.data(), ufunc.name.size()));
  return names;
}

}  // namespace

nb::object elementwise(const char* name, nb::handle x, nb::handle y, unsigned weak, bool in_loop) {
  const Ufunc* ufunc = find_ufunc(name);
  if (!ufunc) return nb::none();
  LocationScope scope(caller_location());
  if (y.is_none()) return recorded(*ufunc, std::array{to_operand(x, weak & 1)}, in_loop);
  return recorded(*ufunc, std::array{to_operand(x, weak & 1), to_operand(y, weak & 2)}, in_loop);
}

void bind_functions(nb::module_& m) {
  m.def(
      "elementwise_names", [] { return names_of(all_ufuncs()); },
      "The names of the functions of NumPy that elementwise knows.");
  m.def(
      "special_names", [] { return names_of(special_ufuncs()); },
      "The names of the functions of scipy.special that elementwise knows.");
  bind_reductions(m);
  m.def("linspace", &linspace, nb::arg("start"), nb::arg("stop"), nb::arg("count"), nb::arg("endpoint") = true,
        nb::arg("dtype").none() = nb::none(), nb::arg("axis") = 0, nb::arg("weak") = 0,
        "NumPy's function: the numbers, and their distance. Operands and `weak` as of elementwise.");
  m.def("elementwise", &elementwise, nb::arg("ufunc"), nb::arg("x"), nb::arg("y").none() = nb::none(),
        nb::arg("weak") = 0, nb::arg("in_loop") = false,
        "The result of NumPy's element-wise function of that name, or a pair of results; None where it is not among "
        "those that C++ has, or\n"
        "types of ml_dtypes meet others. Operands are recorded values and Python's numbers; bit i of `weak` says that "
        "operand i, a value, promotes as a number of Python's; `in_loop` that they have the types that NumPy computes "
        "in.");
  m.def("where", &where, nb::arg("condition"), nb::arg("x"), nb::arg("y"), nb::arg("weak") = 0,
        "NumPy's where of three arguments; None where types of ml_dtypes meet others. Operands and `weak`, of x and y, "
        "as "
        "of elementwise.");
  m.def(
      "clip", &clip, nb::arg("x"), nb::arg("low").none(), nb::arg("high").none(), nb::arg("weak") = 0,
      "NumPy's clip, where None bounds nothing; None where types of ml_dtypes meet others. Operands and `weak`, of the "
      "bounds, as of elementwise.");
  m.def(
      "cast",
      [](const Tensor& x, nb::handle dtype) {
        const DType target = to_dtype(dtype);
        if (x.dtype() == target) return x;
        LocationScope scope(caller_location());
        return cast_to(x, target);
      },
      nb::arg("x"), nb::arg("dtype"), "The value as ndarray.astype would give it.");
}

}  // namespace weft::py
