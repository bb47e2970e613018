// Plans: whether what they rely on still holds, and how Python makes them.
#include "plan.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "numpy_array.h"

namespace weft::py {
namespace {

// The number that changes with each change of a dictionary, where Python has one.
uint64_t version_of(PyObject* dict) {
#if PY_VERSION_HEX < 0x030c0000
  return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
#else
  (void)dict;
  return 0;
#endif
}

// Two integers or texts that are equal, and of the same type.
bool is_same_constant(PyObject* found, PyObject* wanted) {
  if (!found || !wanted || Py_TYPE(found) != Py_TYPE(wanted)) return false;
  if (!PyLong_CheckExact(found) && !PyUnicode_CheckExact(found) && !PyBytes_CheckExact(found)) return false;
  return PyObject_RichCompareBool(found, wanted, Py_EQ) == 1;
}

// (dictionary or type, key, value) or (dictionary or type, key) where nothing is; of objects, which may be dictionaries
// too, (object, "__class__", type) and (object, "__dict__", dictionary); of types (type, "mro()", bases); of functions
// (function, "__code__", (code, defaults, defaults of keyword-only parameters)).
Entry entry_of(nb::handle given) {
  Entry entry;
  entry.space = nb::borrow(given[0]);
  entry.key = nb::borrow(given[1]);
  if (nb::len(given) == 3) entry.value = nb::borrow(given[2]);
  return entry;
}

// The number that changes with each change of a type or its bases; looking anything up gives a type one.
uint64_t version_of_type(PyTypeObject* type, PyObject* name) {
  if (!type->tp_version_tag) _PyType_Lookup(type, name);
  return type->tp_version_tag;
}

// Whether a function has the code, defaults and defaults of keyword-only parameters of this tuple.
bool has_parts(const PyFunctionObject* function, PyObject* parts) {
  auto is = [&](PyObject* part, Py_ssize_t i) { return (part ? part : Py_None) == PyTuple_GET_ITEM(parts, i); };
  return is(function->func_code, 0) && is(function->func_defaults, 1) && is(function->func_kwdefaults, 2);
}

// What a type has itself by this name, or its bases in their order.
PyObject* part_of_type(PyTypeObject* type, PyObject* name) {
  bool is_bases = PyUnicode_CheckExact(name) && PyUnicode_CompareWithASCIIString(name, "mro()") == 0;
  return is_bases ? type->tp_mro : PyDict_GetItemWithError(type->tp_dict, name);
}

bool has_dictionary(PyObject* object, PyObject* dictionary) {
  nb::object found = nb::steal(PyObject_GenericGetDict(object, nullptr));
  if (!found.is_valid()) PyErr_Clear();
  return found.ptr() == dictionary;
}

// What a plan holds may hold the function in turn, as a static argument does that has it for an attribute.
int traverse_plan(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const Plan& plan = *nb::inst_ptr<Plan>(self);
  for (const nb::object* held : {&plan.core, &plan.build_result, &plan.guard, &plan.steps, &plan.pieces, &plan.key})
    Py_VISIT(held->ptr());
  for (const nb::object& array : plan.captured) Py_VISIT(array.ptr());
  for (const nb::object& object : plan.kept) Py_VISIT(object.ptr());
  Py_VISIT(plan.objects.ptr());
  Py_VISIT(plan.kind.ptr());
  for (const Entry& entry : plan.entries) {
    Py_VISIT(entry.space.ptr());
    Py_VISIT(entry.value.ptr());
  }
  return 0;
}

nb::object as_input(const nb::object& leaf, const Type& type, bool is_host) {
  if (is_array(leaf.ptr())) return leaf;
  if (is_host && PyFloat_CheckExact(leaf.ptr()) && type.dtype == DType::f64) return leaf;
  if (is_numpy_scalar(leaf.ptr())) return array_of_scalar(leaf.ptr());
  // A Python number: traced as a weak scalar.
  nb::object array = nb::steal(new_array(type.dtype, 0, nullptr));
  if (!array.is_valid()) throw nb::python_error();
  void* data = data_of(array.ptr());
  if (PyFloat_CheckExact(leaf.ptr())) {
    double value = PyFloat_AS_DOUBLE(leaf.ptr());
    std::memcpy(data, &value, sizeof value);
  } else if (PyLong_Check(leaf.ptr())) {
    int overflow = 0;
    int64_t value = PyLong_AsLongLongAndOverflow(leaf.ptr(), &overflow);
    if (overflow) fail(ErrorKind::value, "number_input", "an integer of the surroundings does not fit into 64 bits");
    std::memcpy(data, &value, PyBool_Check(leaf.ptr()) ? 1 : sizeof value);
  } else {
    Py_complex value = PyComplex_AsCComplex(leaf.ptr());
    std::memcpy(data, &value, sizeof value);
  }
  return array;
}

std::vector<nb::object> run_program(const Plan& plan, const std::vector<nb::object>& leaves, const nb::object& extra) {
  const Manifest& manifest = plan.executable.manifest();
  bool is_host = plan.executable.device().is_host();
  std::vector<nb::object> inputs;
  inputs.reserve(manifest.inputs.size());
  for (const InputLeaf& leaf : plan.input_leaves) {
    nb::object input = as_input(leaves[leaf.index], manifest.inputs[inputs.size()].type, is_host);
    inputs.push_back(leaf.axes.empty() ? std::move(input) : checked(transposed(input.ptr(), leaf.axes)));
  }
  for (const nb::object& captured : plan.captured) inputs.push_back(captured);
  for (size_t i = 0; i < plan.extra_inputs; ++i)
    inputs.push_back(as_input(nb::borrow(PyTuple_GET_ITEM(extra.ptr(), static_cast<Py_ssize_t>(i))),
                              manifest.inputs[inputs.size()].type, is_host));
  return run(plan.executable, inputs);
}

nb::object pick(const OutputSlot& slot, std::vector<nb::object>& results, const std::vector<nb::object>& leaves) {
  if (slot.source == Source::leaf) return leaves[slot.index];
  nb::object& result = results[slot.index];
  if (!slot.axes.empty()) return checked(transposed(result.ptr(), slot.axes));
  if (slot.form == Form::array) return result;
  if (slot.form == Form::python_number) return result.attr("item")();
  return nb::steal(scalar_or_array(nb::object(result).release().ptr()));
}

// What the program of one of several pieces gives: a list, also of one.
nb::object run_piece(const Plan& plan, const nb::tuple& given, const nb::object& extra) {
  std::vector<nb::object> leaves;
  for (nb::handle leaf : given)
    leaves.push_back(is_numpy_scalar(leaf.ptr()) ? nb::object(array_of_scalar(leaf.ptr())) : nb::borrow(leaf));
  if (!plan.build_result.is_none()) return run_plan(plan, leaves, extra);
  nb::list list;
  if (plan.core.is_none()) return list;
  std::vector<nb::object> results = run_program(plan, leaves, extra);
  for (const OutputSlot& slot : plan.outputs) list.append(pick(slot, results, leaves));
  return list;
}

// What the guard of one of several pieces gives for a call: None where it does not hold.
nb::object enter_piece(Plan& plan, nb::args given) {
  for (Entry& entry : plan.entries)
    if (!is_unchanged(entry)) return nb::none();
  return plan.guard(*given);
}

// None stands for no axes.
std::vector<int> axes_of(nb::handle given) {
  std::vector<int> axes;
  if (!given.is_none())
    for (nb::handle axis : given) axes.push_back(nb::cast<int>(axis));
  return axes;
}

PyType_Slot plan_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_plan)}, {0, nullptr}};

}  // namespace

bool Trial::end_call(int64_t nanoseconds) {
  int64_t& least = is_plain() ? plain : ours;
  least = std::min(least, is_plain() ? nanoseconds : nanoseconds + finding);
  if (++calls < 12) return false;
  is_on = false;
  return ours > plain + plain / 8 + 100;
}

void Plan::finish() {
  if (!core.is_none()) executable.finish();
  if (!pieces.is_none()) pieces.attr("finish")();
  trial.ours = INT64_MAX;
}

void Plan::make_plain() {
  core = pieces = guard = build_result = nb::none();
  entries.clear();
  layout_leaves.clear();
  layouts.clear();
}

Plan Plan::with(nb::object build, nb::handle entries, nb::object guard, nb::object steps) const {
  Plan plan = *this;
  plan.build_result = std::move(build);
  plan.entries.clear();
  for (nb::handle entry : entries) plan.entries.push_back(entry_of(entry));
  plan.guard = std::move(guard);
  plan.steps = std::move(steps);
  return plan;
}

bool is_unchanged(Entry& entry) {
  PyObject* space = entry.space.ptr();
  if (PyFunction_Check(space)) return has_parts(reinterpret_cast<PyFunctionObject*>(space), entry.value.ptr());
  if (!PyDict_CheckExact(space) && !PyType_Check(space)) {
    PyObject* value = entry.value.ptr();
    return PyType_Check(value) ? reinterpret_cast<PyObject*>(Py_TYPE(space)) == value : has_dictionary(space, value);
  }
  auto* type = PyType_Check(space) ? reinterpret_cast<PyTypeObject*>(space) : nullptr;
  uint64_t version = type ? type->tp_version_tag : version_of(space);
  if (version && version == entry.version) return true;
  PyObject* key = entry.key.ptr();
  PyObject* found = type ? part_of_type(type, key) : PyDict_GetItemWithError(space, key);
  if (!found && PyErr_Occurred()) PyErr_Clear();
  PyObject* wanted = entry.value.is_valid() ? entry.value.ptr() : nullptr;
  if (found != wanted && !is_same_constant(found, wanted)) return false;
  entry.version = type ? version_of_type(type, key) : version;
  return true;
}

nb::object array_of_scalar(PyObject* scalar) {
  return nb::module_::import_("numpy").attr("asarray")(nb::handle(scalar));
}

nb::object run_plan(const Plan& plan, const std::vector<nb::object>& leaves, const nb::object& extra) {
  std::vector<nb::object> results = run_program(plan, leaves, extra);
  if (plan.build_result.is_none() && plan.outputs.size() == 1) return pick(plan.outputs[0], results, leaves);
  nb::list list;
  for (const OutputSlot& slot : plan.outputs) list.append(pick(slot, results, leaves));
  return plan.build_result(list, extra.is_valid() ? extra : nb::object(nb::tuple()));
}

// The objects that the plan's key names, by their addresses or as they are.
nb::list named(const Plan& self) {
  nb::list found;
  for (const nb::object& object : self.kept) found.append(object);
  if (PyTuple_CheckExact(self.key.ptr()))
    for (nb::handle part : self.key) found.append(part);
  return found;
}

void bind_plan(nb::module_& m) {
  m.def(
      "turned_axes",
      [](nb::handle array) {
        std::vector<int> axes = turned_axes(array.ptr());
        return axes.empty() ? nb::object(nb::none()) : nb::object(nb::tuple(nb::cast(axes)));
      },
      nb::arg("array"),
      "The axes of an array whose elements fill its memory in another order than by rows, from the outermost to the "
      "innermost; None for all others.");
  nb::class_<Plan>(m, "Plan", nb::type_slots(plan_slots), "A way through a jitted function for a signature.")
      .def_prop_rw(
          "steps", [](const Plan& self) { return self.steps; },
          [](Plan& self, nb::object steps) { self.steps = std::move(steps); }, nb::arg("steps").none())
      .def_prop_rw(
          "pieces", [](const Plan& self) { return self.pieces; },
          [](Plan& self, nb::object pieces) { self.pieces = std::move(pieces); }, nb::arg("pieces").none())
      .def_prop_rw(
          "has_trial", [](const Plan& self) { return self.trial.is_on; },
          [](Plan& self, bool on) { self.trial.is_on = on; })
      .def_prop_rw(
          "is_measured_aside", [](const Plan& self) { return self.trial.is_aside; },
          [](Plan& self, bool aside) { self.trial.is_on = self.trial.is_aside = aside; })
      .def_ro("plain_nanoseconds", &Plan::plain_nanoseconds)
      .def_prop_ro("core", [](const Plan& self) { return self.core; })
      .def_prop_ro("build_result", [](const Plan& self) { return self.build_result; })
      .def_prop_ro("guard", [](const Plan& self) { return self.guard; })
      .def_prop_ro("objects", [](const Plan& self) { return self.objects; })
      .def("with_objects", &Plan::with, nb::arg("build_result").none(), nb::arg("entries"), nb::arg("guard").none(),
           nb::arg("steps").none())
      .def_prop_ro("key", [](const Plan& self) { return self.key; })
      .def_prop_ro("named", &named)
      .def_rw("inputs_version", &Plan::inputs_version)
      .def("finish", &Plan::finish)
      .def("enter", &enter_piece)
      .def("run", &run_piece, nb::arg("leaves"), nb::arg("extra"))
      .def(
          "__init__",
          [](Plan* self, nb::object executable, nb::handle input_leaves, nb::handle captured, nb::handle outputs,
             nb::object build_result, nb::handle layout_leaves, nb::handle entries, nb::object guard,
             size_t extra_inputs) {
            new (self) Plan{};
            if (!executable.is_none()) self->executable = nb::cast<const PyExecutable&>(executable).compiled.executable;
            self->core = std::move(executable);
            for (nb::handle leaf : input_leaves)
              self->input_leaves.push_back({nb::cast<size_t>(leaf[0]), axes_of(leaf[1])});
            for (nb::handle array : captured) self->captured.push_back(nb::borrow(array));
            for (nb::handle slot : outputs)
              self->outputs.push_back({static_cast<Source>(nb::cast<int>(slot[0])), nb::cast<size_t>(slot[1]),
                                       static_cast<Form>(nb::cast<int>(slot[2])), axes_of(slot[3])});
            self->build_result = std::move(build_result);
            for (nb::handle leaf : layout_leaves) self->layout_leaves.push_back(nb::cast<size_t>(leaf));
            for (nb::handle entry : entries) self->entries.push_back(entry_of(entry));
            self->guard = std::move(guard);
            self->extra_inputs = extra_inputs;
          },
          nb::arg("executable").none(), nb::arg("input_leaves"), nb::arg("captured"), nb::arg("outputs"),
          nb::arg("build_result").none(), nb::arg("layout_leaves"), nb::arg("entries"), nb::arg("guard").none(),
          nb::arg("extra_inputs"));
}

}  // namespace weft::py
