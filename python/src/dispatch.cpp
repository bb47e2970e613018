// The cached call of a jitted function: arguments → signature → executable, without entering Python code.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <unordered_set>

#include "arguments.h"
#include "executable.h"
#include "numpy_array.h"
#include "plan.h"

namespace weft::py {
namespace {

using Clock = std::chrono::steady_clock;

int64_t nanoseconds_since(Clock::time_point begun) { return std::chrono::nanoseconds(Clock::now() - begun).count(); }

// Whether a function is traced on this thread: jitted ones that it calls are a part of it.
thread_local bool is_tracing = false;

// Whether NumPy is told to raise, to call or to print where numbers overflow and the like, which no program does. It is
// asked only where its state is not the one that was found quiet last.
bool reports_errors() {
  static PyObject* variable =
      nb::object(nb::module_::import_("numpy._core.umath").attr("_extobj_contextvar")).release().ptr();
  static PyObject* quiet = nullptr;
  PyObject* state = nullptr;
  if (PyContextVar_Get(variable, nullptr, &state) < 0) throw nb::python_error();
  nb::object held = state ? nb::steal(state) : nb::none();
  if (held.ptr() == quiet) return false;
  nb::object modes = nb::module_::import_("numpy").attr("geterr")();
  for (nb::handle mode : nb::object(modes.attr("values")())) {
    std::string text = nb::cast<std::string>(mode);
    if (text != "warn" && text != "ignore") return true;
  }
  Py_XDECREF(quiet);
  quiet = held.release().ptr();
  return false;
}

// Whether filters of warnings make an error of one about numbers, as NumPy gives them and no program does.
bool makes_errors(PyObject* filters) {
  auto* wanted = reinterpret_cast<PyTypeObject*>(PyExc_RuntimeWarning);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(filters); ++i) {
    PyObject* entry = PyList_GET_ITEM(filters, i);  // (action, message, category, module, line)
    if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) != 5 || !PyType_Check(PyTuple_GET_ITEM(entry, 2))) continue;
    auto* category = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(entry, 2));
    bool has_all = PyType_IsSubtype(wanted, category);
    if (!has_all && !PyType_IsSubtype(category, wanted)) continue;
    PyObject* action = PyTuple_GET_ITEM(entry, 0);
    if (PyUnicode_Check(action) && PyUnicode_CompareWithASCIIString(action, "error") == 0) return true;
    if (has_all && PyTuple_GET_ITEM(entry, 1) == Py_None && PyTuple_GET_ITEM(entry, 3) == Py_None) return false;
  }
  return false;
}

// It looks at the filters only where they are not those that it found quiet last: what Python adds to them comes first,
// or last, and what replaces them is another list.
bool warnings_are_errors() {
  static PyObject* names = PyModule_GetDict(nb::module_::import_("warnings").release().ptr());
  static PyObject* name = PyUnicode_InternFromString("filters");
  static PyObject *quiet = nullptr, *first = nullptr;
  static Py_ssize_t count = -1;
  nb::object filters = nb::borrow(PyDict_GetItemWithError(names, name));
  if (!filters.is_valid() || !PyList_Check(filters.ptr())) return false;
  Py_ssize_t size = PyList_GET_SIZE(filters.ptr());
  PyObject* begin = size ? PyList_GET_ITEM(filters.ptr(), 0) : nullptr;
  if (filters.ptr() == quiet && size == count && begin == first) return false;
  if (makes_errors(filters.ptr())) return true;
  Py_XINCREF(begin);
  Py_XSETREF(first, begin);
  Py_XSETREF(quiet, filters.release().ptr());
  count = size;
  return false;
}

class Dispatcher {
 public:
  // `plain` is the function itself. `miss(args, kwargs)` makes a Plan; `joint(args, kwargs)` runs calls whose arguments
  // share elements, or gives NotImplemented; `others(args, kwargs)` those with arrays that are not NumPy's own, and
  // within traced functions; `measure(args, kwargs)` tells how many nanoseconds the function itself takes; `dynamic`:
  // parameter name → tuple of the axes that may vary; `names`: the positional parameters' names; `static_names`: those
  // never traced; `strict`: whether a call that no program can take is an error.
  Dispatcher(nb::object plain, nb::object miss, nb::object joint, nb::object others, nb::object measure,
             nb::tuple names, nb::dict dynamic, nb::tuple static_names, bool strict)
      : plain_(std::move(plain)),
        miss_(std::move(miss)),
        joint_(std::move(joint)),
        others_(std::move(others)),
        measure_(std::move(measure)),
        parameters_(std::move(names), std::move(dynamic), std::move(static_names), strict),
        strict_(strict) {}

  nb::object call(nb::args args, nb::kwargs kwargs) {
    if ((is_plain || is_plain_while_small_) && !is_tracing && is_plain_call(args, kwargs))
      return is_plain ? call_plain(args, kwargs) : call_given_back(args, kwargs);
    if (!strict_ && !is_tracing && (reports_errors() || warnings_are_errors())) return call_plain(args, kwargs);
    for (;;) {
      Flattened flat;
      parameters_.flatten(args, kwargs, flat);
      if (is_tracing) return others_(args, kwargs);
      if (flat.is_foreign && !strict_) return call_plain(args, kwargs);
      if (flat.has_others) return others_(args, kwargs);
      nb::object key = flat.make_key();
      nb::object extra;
      nb::object plan = find(key, flat, args, kwargs, extra);
      if (!plan.is_valid()) {
        if (!strict_ && is_on_trial(key)) return call_plain(args, kwargs);
        ++misses_;
        uint64_t version = inputs_version;
        plan = miss_(args, kwargs);
        if (inputs_version != version) {  // leaves are others now
          flat = Flattened();
          parameters_.flatten(args, kwargs, flat);
          key = flat.make_key();
        }
        // Another thread may have said since that more integers are inputs, or fewer.
        if (nb::inst_ptr<Plan>(plan)->inputs_version != inputs_version) continue;
        add(key, plan, flat);
        // What the recording read may have changed while the program was compiled, by another thread.
        if (!applies(*nb::inst_ptr<Plan>(plan), flat, args, kwargs, extra)) return call_plain(args, kwargs);
      }
      return run_or_join(*nb::inst_ptr<Plan>(plan), flat, extra, args, kwargs);
    }
  }

  void forget() { plans_.clear(); }

  // The integers among the arguments, with their paths.
  nb::list integers_of(nb::args args, nb::kwargs kwargs) {
    nb::list found;
    Flattened flat;
    flat.integers = &found;
    parameters_.flatten(args, kwargs, flat);
    return found;
  }
  // From now on the integers with these paths are inputs of programs, others a part of them. The version that this has.
  uint64_t set_inputs(nb::iterable paths) {
    parameters_.set_inputs(paths);
    return ++inputs_version;
  }

  // What it holds holds it in turn: `miss`, `joint` and `others` are its own methods. The garbage collector has to see
  // that.
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(plain_.ptr());
    Py_VISIT(miss_.ptr());
    Py_VISIT(joint_.ptr());
    Py_VISIT(others_.ptr());
    Py_VISIT(measure_.ptr());
    Py_VISIT(plans_.ptr());
    return 0;
  }
  void let_go() {
    plain_ = nb::none();
    miss_ = nb::none();
    joint_ = nb::none();
    others_ = nb::none();
    measure_ = nb::none();
    forget();
  }

  // What was compiled and is kept, oldest first.
  nb::list executables() const {
    nb::list cores;
    std::unordered_set<PyObject*> seen;  // calls with other objects may have one in common
    for_plans([&](const Plan& plan) {
      if (!plan.core.is_none() && seen.insert(plan.core.ptr()).second) cores.append(plan.core);
    });
    return cores;
  }
  // The plans for the signature of such a call, the one used last first.
  nb::list plans_for(nb::args args, nb::kwargs kwargs) {
    Flattened flat;
    parameters_.flatten(args, kwargs, flat);
    nb::object found = lookup(flat.make_key());
    return found ? nb::list(found) : nb::list();
  }

  // The objects of a call, and plans for calls that differ from it in which objects they have: those used last first.
  nb::tuple alike(nb::args args, nb::kwargs kwargs) {
    Flattened flat;
    parameters_.flatten(args, kwargs, flat);
    nb::object kind = flat.make_kind();
    std::vector<nb::object> found;
    nb::list plans;
    if (!kind.is_none())
      for (nb::handle held : this->plans()) {
        const Plan& plan = *nb::inst_ptr<Plan>(held);
        if (plan.inputs_version == inputs_version && plan.kind.equal(kind)) found.push_back(nb::borrow(held));
      }
    auto used = [](const nb::object& plan) { return nb::inst_ptr<Plan>(plan)->used; };
    std::ranges::sort(found, std::greater<>(), used);
    for (size_t i = 0; i < found.size() && i < most_alike; ++i) plans.append(found[i]);
    return nb::make_tuple(flat.named_objects(), plans);
  }
  // Whether what a plan relies on holds for a call.
  bool holds(Plan& plan, nb::args args, nb::kwargs kwargs) {
    Flattened flat;
    parameters_.flatten(args, kwargs, flat);
    nb::object extra;
    return applies(plan, flat, args, kwargs, extra);
  }

  nb::list plans() const {
    nb::list found;
    for (auto [key, plans] : plans_)
      for (nb::handle plan : nb::borrow<nb::list>(plans)) found.append(plan);
    return found;
  }
  void drop(const Plan& plan) {
    nb::object key = plan.key, plans = lookup(key);
    if (!plans) return;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(plans.ptr()); ++i)
      if (nb::inst_ptr<Plan>(nb::handle(PyList_GET_ITEM(plans.ptr(), i))) == &plan) {
        PyList_SetSlice(plans.ptr(), i, i + 1, nullptr);
        break;
      }
    if (PyList_GET_SIZE(plans.ptr()) == 0 && PyDict_DelItem(plans_.ptr(), key.ptr()) < 0) throw nb::python_error();
  }

  size_t most_plans = 1024;
  uint64_t inputs_version = 0;  // of the integers that are inputs
  bool is_plain = false;        // every call is one of the function itself
  uint64_t compiled_calls = 0, piece_calls = 0, plain_calls = 0;
  uint64_t given_back = 0;  // plans that did not pay

 private:
  nb::object call_plain(const nb::args& args, const nb::kwargs& kwargs) {
    ++plain_calls;
    PyObject* result = PyObject_Call(plain_.ptr(), args.ptr(), kwargs.ptr());
    if (!result) throw nb::python_error();
    return nb::steal(result);
  }

  // A call that runs plainly as a trial said so. What it takes may depend on values: where it is much longer than in
  // the trial, what was given up is compiled and tried once more.
  nb::object call_given_back(const nb::args& args, const nb::kwargs& kwargs) {
    if (++calls_given_back_ % calls_a_look != 0 || more_trials_ == most_more_trials) return call_plain(args, kwargs);
    Clock::time_point begun = Clock::now();
    nb::object result = call_plain(args, kwargs);
    if (nanoseconds_since(begun) < much_longer * slowest_trial_ + least_longer) return result;
    ++more_trials_;
    is_plain_while_small_ = false;
    std::vector<const Plan*> given;
    for_plans([&](const Plan& plan) {
      if (plan.was_given_back()) given.push_back(&plan);
    });
    for (const Plan* plan : given) drop(*plan);
    return result;
  }

  // Whether a signature is seen for the first time by a function that has had many and used few of them again: then a
  // program would not pay.
  bool is_on_trial(const nb::object& key) {
    if (misses_ < many_misses || compiled_calls > 4 * misses_) return false;
    if (seen_.size() >= most_seen) seen_.clear();
    return seen_.insert(PyObject_Hash(key.ptr())).second;
  }

  nb::object lookup(const nb::object& key) {
    PyObject* found = PyDict_GetItemWithError(plans_.ptr(), key.ptr());
    if (found || !PyErr_Occurred()) return found ? nb::borrow(found) : nb::object();
    nb::python_error error;
    if (!error.matches(PyExc_TypeError)) throw error;
    fail(ErrorKind::type, "static_argument",
         "an argument that is no array is a constant of the program and must be hashable: ", shown(error.value()));
  }

  // The plan whose assumptions hold for this call.
  nb::object find(const nb::object& key, const Flattened& flat, const nb::args& args, const nb::kwargs& kwargs,
                  nb::object& extra) {
    nb::object found = lookup(key);
    if (!found) return {};
    Py_ssize_t count = PyList_GET_SIZE(found.ptr());
    for (Py_ssize_t i = 0; i < count && i < PyList_GET_SIZE(found.ptr()); ++i) {
      nb::object held = nb::borrow(PyList_GET_ITEM(found.ptr(), i));
      Plan& plan = *nb::inst_ptr<Plan>(held);
      if (!applies(plan, flat, args, kwargs, extra)) continue;
      plan.used = ++calls_;
      if (i && PyList_SetSlice(found.ptr(), i, i + 1, nullptr) == 0) PyList_Insert(found.ptr(), 0, held.ptr());
      return held;
    }
    return {};
  }

  bool applies(Plan& plan, const Flattened& flat, const nb::args& args, const nb::kwargs& kwargs, nb::object& extra) {
    if (!plan.layout_leaves.empty() && layouts_of(plan, flat) != plan.layouts) return false;
    for (Entry& entry : plan.entries)
      if (!is_unchanged(entry)) return false;
    auto begun = plan.trial.is_on ? Clock::now() : Clock::time_point();
    if (!plan.guard.is_none() && (extra = plan.guard(leaves_of(flat), args, kwargs)).is_none()) return false;
    if (plan.trial.is_on) {
      look(args, kwargs);
      plan.trial.finding = nanoseconds_since(begun);
    }
    return true;
  }

  // What every call does to find its plan, once more, so that a trial counts it.
  void look(const nb::args& args, const nb::kwargs& kwargs) {
    Flattened flat;
    parameters_.flatten(args, kwargs, flat);
    lookup(flat.make_key());
  }

  // A call in pieces; NotImplemented where it has to run plainly.
  nb::object run_pieces(Plan& plan, const Flattened& flat, const nb::object& extra, const nb::args& args,
                        const nb::kwargs& kwargs) {
    ++piece_calls;
    nb::object result = plan.pieces(leaves_of(flat), args, kwargs, extra);
    if (result.ptr() == Py_NotImplemented) --piece_calls;
    return result;
  }

  // The leaves as they were given.
  static nb::object leaves_of(const Flattened& flat) {
    nb::object leaves = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(flat.leaves.size())));
    for (size_t i = 0; i < flat.leaves.size(); ++i)
      PyTuple_SET_ITEM(leaves.ptr(), static_cast<Py_ssize_t>(i), nb::object(flat.leaves[i]).release().ptr());
    for (const auto& [leaf, scalar] : flat.scalars)
      PyTuple_SetItem(leaves.ptr(), static_cast<Py_ssize_t>(leaf), nb::object(scalar).release().ptr());
    return leaves;
  }

  // Arguments that share elements with one that is written make the run fail before it begins: then `joint` runs the
  // call, or the function itself does.
  nb::object run_or_join(Plan& plan, Flattened& flat, const nb::object& extra, const nb::args& args,
                         const nb::kwargs& kwargs) {
    if (!plan.trial.is_on || plan.is_plain()) return run_way(plan, flat, extra, args, kwargs);
    if (plan.trial.is_warm()) plan.finish();
    Clock::time_point begun = Clock::now();
    bool is_aside = plan.trial.is_aside;
    nb::object result =
        !is_aside && plan.trial.is_plain() ? call_plain(args, kwargs) : run_way(plan, flat, extra, args, kwargs);
    int64_t taken = nanoseconds_since(begun);
    if (!plan.trial.is_on) return result;
    auto measure = [&] { return nb::cast<int64_t>(measure_(args, kwargs)); };
    if (is_aside ? plan.trial.end_call_aside(taken, measure) : plan.trial.end_call(taken)) {
      plan.make_plain();
      ++given_back;
      slowest_trial_ = std::max(slowest_trial_, plan.trial.plain);
      for (const nb::object& leaf : flat.leaves)
        if (is_array(leaf.ptr())) small_elements_ = std::max(small_elements_, element_count(leaf.ptr()));
      is_plain_while_small_ = all_plain();
    }
    return result;
  }

  bool all_plain() const {
    bool all = true;
    for_plans([&](const Plan& plan) { all &= plan.is_plain(); });
    return all;
  }

  // Whether a call is one of those that run plainly without a further look: no array is lent to it, and all are no
  // larger than those of plans which were given up.
  bool is_plain_call(const nb::args& args, const nb::kwargs& kwargs) const {
    for (nb::handle arg : args)
      if (!is_plain_argument(arg.ptr())) return false;
    for (auto [name, arg] : kwargs)
      if (!is_plain_argument(arg.ptr())) return false;
    return true;
  }
  bool is_plain_argument(PyObject* object) const { return is_plain ? !is_lent(object) : is_small(object, deepest); }
  bool is_small(PyObject* object, int depth) const {
    if (depth < 0) return false;
    if (PyFloat_CheckExact(object) || PyLong_CheckExact(object)) return true;
    if (is_array(object)) return element_count(object) <= small_elements_;
    if (PyTuple_Check(object) || PyList_Check(object)) {
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i)
        if (!is_small(PySequence_Fast_GET_ITEM(object, i), depth - 1)) return false;
      return true;
    }
    if (PyDict_Check(object)) {
      PyObject *key, *value;
      for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value);)
        if (!is_small(value, depth - 1)) return false;
      return true;
    }
    return !is_lent(object);
  }
  // Whether it is an array of another kind than NumPy's, in whose place the function gets one of NumPy's.
  static bool is_lent(PyObject* object) {
    return (Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE) && has_dlpack(object);
  }

  nb::object run_way(Plan& plan, Flattened& flat, const nb::object& extra, const nb::args& args,
                     const nb::kwargs& kwargs) {
    if (plan.is_plain()) {
      // What was plain often enough is not asked for reasons any more.
      if (++plan.plain_runs == many_plain_runs) {
        plan.entries.clear();
        plan.guard = nb::none();
        is_plain = !strict_ && compiled_calls == 0 && piece_calls == 0;
      }
      return plan.was_given_back() ? call_given_back(args, kwargs) : call_plain(args, kwargs);
    }
    if (!plan.pieces.is_none()) {
      nb::object result = run_pieces(plan, flat, extra, args, kwargs);
      if (result.ptr() != Py_NotImplemented) return result;
      auto begun = Clock::now();
      result = call_plain(args, kwargs);
      plan.plain_nanoseconds += nanoseconds_since(begun);
      return result;
    }
    std::exception_ptr failure;
    try {
      ++compiled_calls;
      nb::object result = run_plan(plan, flat.leaves, extra);
      if (result.ptr() != Py_NotImplemented || plan.build_result.is_none()) return result;
      // NumPy raises for these values, and nothing was written.
      --compiled_calls;
      return call_plain(args, kwargs);
    } catch (const Error& error) {
      bool raises = error.label() == "read_only" ||
                    std::ranges::any_of(plan.executable.manifest().checks,
                                        [&](const RangeCheck& check) { return check.label == error.label(); });
      if (raises && !strict_) {
        // So does NumPy for these values, and nothing was written; a function that catches it has done what comes
        // before.
        --compiled_calls;
        return call_plain(args, kwargs);
      }
      if (error.label() != "overlap" && error.label() != "number_input") throw;
      failure = std::current_exception();
      --compiled_calls;
    }
    nb::object result = joint_(args, kwargs);
    if (result.ptr() != Py_NotImplemented) return result;
    if (strict_) std::rethrow_exception(failure);
    return call_plain(args, kwargs);
  }

  void add(const nb::object& key, const nb::object& made, const Flattened& flat) {
    Plan& plan = *nb::cast<Plan*>(made);
    plan.key = key;
    plan.kept = flat.kept;
    plan.objects = flat.named_objects();
    plan.kind = flat.make_kind();
    plan.used = ++calls_;
    plan.layouts = layouts_of(plan, flat);
    is_plain_while_small_ &= plan.is_plain();
    nb::object found = lookup(key);
    if (!found) plans_[key] = found = nb::list();
    PyList_Insert(found.ptr(), 0, made.ptr());
    drop_oldest();
  }

  template <class F>
  void for_plans(F each) const {
    for (auto [key, plans] : plans_)
      for (nb::handle plan : nb::borrow<nb::list>(plans)) each(*nb::cast<Plan*>(plan));
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
      drop(*oldest);
    }
  }

  static std::string layouts_of(const Plan& plan, const Flattened& flat) {
    std::string layouts;
    for (size_t leaf : plan.layout_leaves) {
      PyObject* array = flat.leaves[leaf].ptr();
      if (is_array(array)) append_layout(layouts, array);
    }
    return layouts;
  }

  nb::object plain_, miss_, joint_, others_, measure_;
  Parameters parameters_;
  bool strict_;
  static constexpr uint64_t many_misses = 16;
  static constexpr size_t most_alike = 8;
  static constexpr int deepest = 8;  // containers in containers
  static constexpr int many_plain_runs = 16;
  static constexpr size_t most_seen = 1 << 16;
  int64_t small_elements_ = 1 << 13;
  static constexpr uint64_t calls_a_look = 16, most_more_trials = 3;
  static constexpr int64_t much_longer = 8, least_longer = 20'000;  // nanoseconds
  uint64_t calls_given_back_ = 0, more_trials_ = 0;
  int64_t slowest_trial_ = 0;          // nanoseconds of a plain call in a trial that was lost
  bool is_plain_while_small_ = false;  // what was compiled for small arguments did not pay
  uint64_t misses_ = 0;
  std::unordered_set<Py_hash_t> seen_;  // signatures that were met once
  nb::dict plans_;
  uint64_t calls_ = 0;
};

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Dispatcher>(self)->traverse(visit, arg) : 0;
}

int clear(PyObject* self) {
  nb::inst_ptr<Dispatcher>(self)->let_go();
  return 0;
}

PyType_Slot collector_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {0, nullptr}};

}  // namespace

void bind_dispatch(nb::module_& m) {
  m.def(
      "set_tracing", [](bool on) { is_tracing = on; }, nb::arg("on"),
      "Says whether a function is traced on this thread.");
  bind_plan(m);
  nb::class_<Dispatcher>(m, "Dispatcher", nb::type_slots(collector_slots), "The cached call of a jitted function.")
      .def(nb::init<nb::object, nb::object, nb::object, nb::object, nb::object, nb::tuple, nb::dict, nb::tuple, bool>())
      .def("__call__", &Dispatcher::call)
      .def("clear_plans", &Dispatcher::forget)
      .def_prop_ro("plan_count", [](const Dispatcher& self) { return nb::len(self.executables()); })
      .def_prop_ro("cores", &Dispatcher::executables)
      .def("plans", &Dispatcher::plans)
      .def("plans_for", &Dispatcher::plans_for)
      .def("alike", &Dispatcher::alike)
      .def("holds", &Dispatcher::holds)
      .def("drop", &Dispatcher::drop, nb::arg("plan"))
      .def("integers_of", &Dispatcher::integers_of)
      .def("set_inputs", &Dispatcher::set_inputs, nb::arg("paths"))
      .def_ro("inputs_version", &Dispatcher::inputs_version)
      .def_rw("is_plain", &Dispatcher::is_plain)
      .def_rw("compiled_calls", &Dispatcher::compiled_calls)
      .def_rw("piece_calls", &Dispatcher::piece_calls)
      .def_rw("plain_calls", &Dispatcher::plain_calls)
      .def_ro("given_back", &Dispatcher::given_back)
      .def_rw("most_plans", &Dispatcher::most_plans);
}

}  // namespace weft::py