// The cached call of a jitted function: arguments → signature → executable, without entering Python code.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include "executable.h"
#include "numpy_array.h"

namespace weft::py {
namespace {

// What an output of the Python function is made of.
enum class Source : int { output, leaf };

// What NumPy gives where there are no dimensions.
enum class Form : int { array, scalar, python_number };

struct OutputSlot {
  Source source;
  size_t index;  // of the program's output, or of the leaf that is returned as it is
  Form form;
};

// A compiled signature.
struct Plan {
  nb::object core;                   // as Python sees it
  Executable executable;
  std::vector<size_t> input_leaves;  // leaf index of each program input
  std::vector<nb::object> captured;  // program inputs after those of leaves
  std::vector<OutputSlot> outputs;
  std::vector<size_t> layout_leaves;  // those whose order in memory the plan depends on
  nb::object build_result;           // list of outputs → what the function returns; None: the one output itself
  nb::object key, without_layouts;   // where the dispatcher has it; the second for those that depend on layouts
  uint64_t used = 0;                 // when, in calls of the function
};

// Array leaves, and the signature as bytes plus the static objects.
struct Flattened {
  std::vector<nb::object> leaves;
  std::string key;
  std::vector<nb::object> statics;
  bool has_others = false;  // arrays that are not NumPy's own
};

// Whether a function is traced on this thread: jitted ones that it calls are a part of it.
thread_local bool is_tracing = false;

class Dispatcher {
 public:
  // `miss(args, kwargs)` makes a Plan; `joint(args, kwargs)` runs calls whose
  // arguments share elements, or gives NotImplemented; `others(args, kwargs)` those with arrays that are not NumPy's own, and within traced functions; `dynamic`: parameter name → tuple of the axes that may vary;
  // `names`: the positional parameters' names; `static_names`: those never traced.
  Dispatcher(nb::object miss, nb::object joint, nb::object others, nb::tuple names, nb::dict dynamic, nb::tuple static_names)
      : miss_(std::move(miss)), joint_(std::move(joint)), others_(std::move(others)), static_names_(std::move(static_names)) {
    for (nb::handle name : names) names_.push_back(nb::cast<std::string>(name));
    for (auto [name, axes] : dynamic) dynamic_.emplace_back(nb::cast<std::string>(name), to_ints(axes));
    for (nb::handle name : static_names_) statics_.push_back(nb::cast<std::string>(name));
  }

  nb::object call(nb::args args, nb::kwargs kwargs) {
    Flattened flat;
    flatten_arguments(args, kwargs, flat);
    if (flat.has_others || is_tracing) return others_(args, kwargs);
    nb::object key = make_key(flat);
    nb::object found = find(key);
    if (found && PyList_Check(found.ptr())) {
      nb::object exact = with_layouts(key, found, flat);
      found = find(exact);
    }
    if (!found) {
      found = miss_(args, kwargs);
      add(key, found, flat);
    }
    Plan& plan = *nb::cast<Plan*>(found);
    plan.used = ++calls_;
    return run_or_join(plan, flat, args, kwargs);
  }

  void forget() { plans_.clear(); }

  // What it holds holds it in turn: `miss`, `joint` and `others` are its own methods. The garbage collector has to see that.
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(miss_.ptr());
    Py_VISIT(joint_.ptr());
    Py_VISIT(others_.ptr());
    Py_VISIT(plans_.ptr());
    return 0;
  }
  void let_go() {
    miss_ = nb::none();
    joint_ = nb::none();
    others_ = nb::none();
    forget();
  }

  // What was compiled and is kept, oldest first.
  nb::list executables() const {
    nb::list cores;
    for_plans([&](const Plan& plan) { cores.append(plan.core); });
    return cores;
  }

  size_t most_plans = 1024;

 private:
  nb::object find(const nb::object& key) {
    PyObject* found = PyDict_GetItemWithError(plans_.ptr(), key.ptr());
    if (found || !PyErr_Occurred()) return found ? nb::borrow(found) : nb::object();
    nb::python_error error;
    if (!error.matches(PyExc_TypeError)) throw error;
    fail(ErrorKind::type, "static_argument", "an argument that is no array is a constant of the program and must be hashable: ", shown(error.value()));
  }

  // Arguments that share elements with one that is written make the run fail before it begins: then `joint` runs the call.
  nb::object run_or_join(const Plan& plan, Flattened& flat, const nb::args& args, const nb::kwargs& kwargs) {
    std::exception_ptr failure;
    try {
      return run_plan(plan, flat);
    } catch (const Error& error) {
      if (error.label() != "overlap") throw;
      failure = std::current_exception();
    }
    nb::object result = joint_(args, kwargs);
    if (result.ptr() == Py_NotImplemented) std::rethrow_exception(failure);
    return result;
  }

  // A plan that depends on the order in memory of some arguments is found in two steps: under the signature a list of
  // those arguments, under the signature and their layouts the plan.
  void add(const nb::object& key, const nb::object& plan, const Flattened& flat) {
    nb::object known = find(key);
    nb::list leaves = known && PyList_Check(known.ptr()) ? nb::borrow<nb::list>(known) : nb::list();
    for (size_t leaf : nb::cast<Plan*>(plan)->layout_leaves) {
      nb::int_ index(leaf);
      if (PySequence_Contains(leaves.ptr(), index.ptr()) == 0) leaves.append(index);
    }
    Plan& added = *nb::cast<Plan*>(plan);
    added.key = key;
    added.used = ++calls_;
    if (leaves.size()) {
      plans_[key] = leaves;
      added.without_layouts = key;
      added.key = with_layouts(key, leaves, flat);
    }
    plans_[added.key] = plan;
    drop_oldest();
  }

  template <class F>
  void for_plans(F each) const {
    for (auto [key, value] : plans_)
      if (!PyList_Check(value.ptr())) each(*nb::cast<Plan*>(value));
  }

  // The plans used last stay.
  void drop_oldest() {
    for (;;) {
      size_t count = 0;
      const Plan* oldest = nullptr;
      for_plans([&](const Plan& plan) {
        ++count;
        if (!oldest || plan.used < oldest->used) oldest = &plan;
      });
      if (count <= std::max<size_t>(most_plans, 1)) return;
      nb::object key = oldest->key, shared = oldest->without_layouts;
      if (PyDict_DelItem(plans_.ptr(), key.ptr()) < 0) throw nb::python_error();
      if (!shared.is_valid()) continue;
      bool is_needed = false;
      for_plans([&](const Plan& plan) { is_needed |= plan.without_layouts.is_valid() && plan.without_layouts.equal(shared); });
      if (!is_needed && PyDict_DelItem(plans_.ptr(), shared.ptr()) < 0) throw nb::python_error();
    }
  }

  static nb::object with_layouts(const nb::object& key, const nb::object& leaves, const Flattened& flat) {
    std::string layouts;
    for (nb::handle leaf : leaves) {
      PyObject* array = flat.leaves[nb::cast<size_t>(leaf)].ptr();
      if (is_array(array)) append_layout(layouts, array);
    }
    return nb::make_tuple(key, nb::bytes(layouts.data(), layouts.size()));
  }

  const Ints* dynamic_axes(std::string_view name) const {
    for (const auto& [candidate, axes] : dynamic_)
      if (candidate == name) return &axes;
    return nullptr;
  }
  bool is_static(std::string_view name) const {
    for (const std::string& candidate : statics_)
      if (candidate == name) return true;
    return false;
  }

  void flatten_arguments(const nb::args& args, const nb::kwargs& kwargs, Flattened& flat) {
    size_t position = 0;
    for (nb::handle arg : args) {
      std::string_view name = position < names_.size() ? std::string_view(names_[position]) : std::string_view();
      flatten_named(name, arg, flat);
      ++position;
    }
    for (auto [name, arg] : kwargs) {
      const char* text = PyUnicode_AsUTF8(name.ptr());
      flat.key += 'k';
      flat.key += text;
      flat.key += '\0';
      flatten_named(text, arg, flat);
    }
  }

  void flatten_named(std::string_view name, nb::handle arg, Flattened& flat) {
    if (!statics_.empty() && is_static(name)) return add_static(arg, flat);
    flatten(arg, dynamic_.empty() ? nullptr : dynamic_axes(name), flat);
  }

  void add_static(nb::handle object, Flattened& flat) {
    // The type is part of the key: True, 1 and 1.0 are equal but trace differently.
    flat.key += 's';
    PyTypeObject* type = Py_TYPE(object.ptr());
    flat.key.append(reinterpret_cast<const char*>(&type), sizeof type);
    flat.statics.push_back(nb::borrow(object));
  }

  void flatten(nb::handle arg, const Ints* dynamic, Flattened& flat) {
    PyObject* object = arg.ptr();
    if (is_array(object)) return add_array(arg, dynamic, flat);
    if (PyTuple_Check(object) || PyList_Check(object)) {
      flat.key += PyTuple_Check(object) ? '(' : '[';
      PyTypeObject* type = Py_TYPE(object);
      flat.key.append(reinterpret_cast<const char*>(&type), sizeof type);
      for (nb::handle item : arg) flatten(item, nullptr, flat);
      flat.key += ')';
    } else if (PyDict_CheckExact(object)) {
      flat.key += '{';
      for (auto [key, value] : nb::borrow<nb::dict>(arg)) {
        add_static(key, flat);
        flatten(value, nullptr, flat);
      }
      flat.key += '}';
    } else if (PyFloat_CheckExact(object) || PyComplex_CheckExact(object)) {
      flat.key += PyFloat_CheckExact(object) ? 'f' : 'c';
      flat.leaves.push_back(nb::borrow(arg));
    } else if (is_numpy_scalar(object)) {
      flat.key += 'n';
      PyObject* array = PyArray_FromScalarObject(object);
      add_array(nb::steal(array), nullptr, flat);
    } else {
      flat.has_others |= is_array_like(object);
      add_static(arg, flat);
    }
  }

  // As a constant it would be read but once. What is a constant most often is told by its type.
  static bool is_array_like(PyObject* object) {
    if (object == Py_None || PyLong_Check(object) || PyUnicode_Check(object) || PyFunction_Check(object) || PyType_Check(object)) return false;
    return PyObject_HasAttrString(object, "__array__") || PyObject_HasAttrString(object, "__dlpack__");
  }

  static PyObject* PyArray_FromScalarObject(PyObject* scalar) {
    nb::object array = nb::module_::import_("numpy").attr("asarray")(nb::handle(scalar));
    return array.release().ptr();
  }

  void add_array(nb::handle array, const Ints* dynamic, Flattened& flat) {
    std::optional<ArrayView> seen = view(array.ptr());
    if (!seen)
      fail(ErrorKind::type, "dtype", "arrays must hold booleans, numbers or ml_dtypes types, got dtype ",
           shown(array.attr("dtype")));
    // The same array passed twice is one storage, as NumPy sees it.
    for (size_t i = 0; i < flat.leaves.size(); ++i)
      if (flat.leaves[i].ptr() == array.ptr()) {
        flat.key += '=';
        flat.key.append(reinterpret_cast<const char*>(&i), sizeof i);
        flat.leaves.push_back(nb::borrow(array));
        return;
      }
    flat.key += static_cast<char>('A' + seen->ndim);
    flat.key += static_cast<char>(seen->dtype);
    for (int i = 0; i < seen->ndim; ++i) {
      int64_t dim = seen->dims[i];
      if (dynamic)
        for (int64_t axis : *dynamic)
          if (axis == i || axis + seen->ndim == i) dim = -1;
      flat.key.append(reinterpret_cast<const char*>(&dim), sizeof dim);
    }
    flat.leaves.push_back(nb::borrow(array));
  }

  static nb::object make_key(const Flattened& flat) {
    nb::object bytes = nb::bytes(flat.key.data(), flat.key.size());
    if (flat.statics.empty()) return bytes;
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(flat.statics.size() + 1));
    PyTuple_SET_ITEM(tuple, 0, bytes.release().ptr());
    for (size_t i = 0; i < flat.statics.size(); ++i)
      PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i + 1), nb::object(flat.statics[i]).release().ptr());
    return nb::steal(tuple);
  }

  static nb::object as_input(const nb::object& leaf, const Type& type) {
    if (is_array(leaf.ptr())) return leaf;
    // A Python float or complex: traced as a weak scalar.
    PyObject* array = new_array(type.dtype, 0, nullptr);
    if (!array) throw nb::python_error();
    if (PyFloat_CheckExact(leaf.ptr())) {
      double value = PyFloat_AS_DOUBLE(leaf.ptr());
      std::memcpy(data_of(array), &value, sizeof value);
    } else {
      Py_complex value = PyComplex_AsCComplex(leaf.ptr());
      std::memcpy(data_of(array), &value, sizeof value);
    }
    return nb::steal(array);
  }

  static nb::object run_plan(const Plan& plan, Flattened& flat) {
    const Manifest& manifest = plan.executable.manifest();
    std::vector<nb::object> inputs;
    inputs.reserve(manifest.inputs.size());
    for (size_t i = 0; i < plan.input_leaves.size(); ++i)
      inputs.push_back(as_input(flat.leaves[plan.input_leaves[i]], manifest.inputs[i].type));
    for (const nb::object& captured : plan.captured) inputs.push_back(captured);
    std::vector<nb::object> results = run(plan.executable, inputs);
    if (plan.build_result.is_none() && plan.outputs.size() == 1) return pick(plan.outputs[0], results, flat);
    nb::list list;
    for (const OutputSlot& slot : plan.outputs) list.append(pick(slot, results, flat));
    return plan.build_result(list);
  }

  static nb::object pick(const OutputSlot& slot, std::vector<nb::object>& results, Flattened& flat) {
    if (slot.source == Source::leaf) return flat.leaves[slot.index];
    nb::object& result = results[slot.index];
    if (slot.form == Form::array) return result;
    if (slot.form == Form::python_number) return result.attr("item")();
    return nb::steal(scalar_or_array(nb::object(result).release().ptr()));
  }

  nb::object miss_, joint_, others_;
  nb::tuple static_names_;
  std::vector<std::string> names_, statics_;
  std::vector<std::pair<std::string, Ints>> dynamic_;
  nb::dict plans_;
  uint64_t calls_ = 0;
};

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Dispatcher>(self)->traverse(visit, arg) : 0;
}

// What a plan holds may hold the function in turn, as a static argument does that has it for an attribute.
int traverse_plan(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const Plan& plan = *nb::inst_ptr<Plan>(self);
  for (const nb::object* held : {&plan.core, &plan.build_result, &plan.key, &plan.without_layouts}) Py_VISIT(held->ptr());
  for (const nb::object& array : plan.captured) Py_VISIT(array.ptr());
  return 0;
}

PyType_Slot plan_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_plan)}, {0, nullptr}};

int clear(PyObject* self) {
  nb::inst_ptr<Dispatcher>(self)->let_go();
  return 0;
}

PyType_Slot collector_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {0, nullptr}};

}  // namespace

void bind_dispatch(nb::module_& m) {
  m.def("set_tracing", [](bool on) { is_tracing = on; }, nb::arg("on"), "Says whether a function is traced on this thread.");
  nb::class_<Plan>(m, "Plan", nb::type_slots(plan_slots), "A compiled signature of a jitted function.")
      .def("__init__", [](Plan* self, nb::object executable, nb::handle input_leaves, nb::handle captured,
                          nb::handle outputs, nb::object build_result, nb::handle layout_leaves) {
        new (self) Plan{};
        self->executable = nb::cast<const PyExecutable&>(executable).compiled.executable;
        self->core = std::move(executable);
        for (nb::handle leaf : input_leaves) self->input_leaves.push_back(nb::cast<size_t>(leaf));
        for (nb::handle array : captured) self->captured.push_back(nb::borrow(array));
        for (nb::handle slot : outputs)
          self->outputs.push_back({static_cast<Source>(nb::cast<int>(slot[0])), nb::cast<size_t>(slot[1]),
                                   static_cast<Form>(nb::cast<int>(slot[2]))});
        self->build_result = std::move(build_result);
        for (nb::handle leaf : layout_leaves) self->layout_leaves.push_back(nb::cast<size_t>(leaf));
      }, nb::arg("executable"), nb::arg("input_leaves"), nb::arg("captured"), nb::arg("outputs"),
         nb::arg("build_result").none(), nb::arg("layout_leaves"));
  nb::class_<Dispatcher>(m, "Dispatcher", nb::type_slots(collector_slots), "The cached call of a jitted function.")
      .def(nb::init<nb::object, nb::object, nb::object, nb::tuple, nb::dict, nb::tuple>())
      .def("__call__", &Dispatcher::call)
      .def("clear_plans", &Dispatcher::forget)
      .def_prop_ro("plan_count", [](const Dispatcher& self) { return nb::len(self.executables()); })
      .def_prop_ro("cores", &Dispatcher::executables)
      .def_rw("most_plans", &Dispatcher::most_plans);
}

}  // namespace weft::py
