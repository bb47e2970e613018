// Errors, extents and locations.
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <thread>

#include "convert.h"
#include "weft/core/error.h"
#include "weft/core/knobs.h"
#include "weft/core/symbol_name.h"

namespace weft::py {
namespace {

const char* class_of(const Error& error) {
  if (error.label() == "linalg_value") return "LinAlgError";
  if (error.label() == "zero_division") return "DivisionByZeroError";
  switch (error.kind()) {
    case ErrorKind::type:
      return "ArgumentTypeError";
    case ErrorKind::value:
      return "ArgumentValueError";
    case ErrorKind::index:
      return "OutOfBoundsError";
    case ErrorKind::unsupported:
      return "UnsupportedError";
    case ErrorKind::io:
      return "FileError";
    case ErrorKind::runtime:
      return "ExecutionError";
  }
  return "Error";
}

void translate(const std::exception_ptr& caught, void*) {
  try {
    std::rethrow_exception(caught);
  } catch (const Error& error) {
    nb::object type = nb::module_::import_("weftwork.errors").attr(class_of(error));
    // Names of files need not be UTF-8.
    std::string_view text = error.what();
    nb::object value =
        type(nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace")));
    value.attr("label") = error.label();
    if (PyObject* cause = error.label() == "custom_op_raised" ? take_cause() : nullptr)
      PyException_SetCause(value.ptr(), cause);
    PyErr_SetObject(type.ptr(), value.ptr());
  } catch (const InternalError& error) {
    nb::object type = nb::module_::import_("weftwork.errors").attr("InternalError");
    PyErr_SetString(type.ptr(), error.what());
  }
}

// A comparison that holds for some values of the symbols and not for others has no truth value.
bool decided(std::optional<bool> answer, const Dim& lhs, const char* relation, const Dim& rhs) {
  if (answer) return *answer;
  fail(ErrorKind::value, "symbolic_comparison", "whether ", lhs, " ", relation, " ", rhs,
       " depends on the symbolic extent: it is from ", lhs.min(), " to ", lhs.max());
}

std::optional<bool> negated(std::optional<bool> answer) {
  if (!answer) return answer;
  return !*answer;
}

// What pickle makes it of.
nb::tuple reduced(const Dim& dim) {
  nb::list symbols;
  for (const Symbol& symbol : dim.symbols())
    symbols.append(nb::make_tuple(symbol.name, symbol.min, symbol.opt, symbol.max));
  return nb::make_tuple(nb::module_::import_("weftwork.travel").attr("dim_of"),
                        nb::make_tuple(dim.text(), nb::tuple(symbols)));
}

Dim dim_of_text(std::string_view text, nb::handle given) {
  std::map<std::string, Symbol, std::less<>> symbols;
  for (nb::handle each : given) {
    auto name = nb::cast<std::string>(each[0]);
    symbols[name] = {name, nb::cast<int64_t>(each[1]), nb::cast<int64_t>(each[2]), nb::cast<int64_t>(each[3])};
  }
  return parse_dim(text, symbols);
}

void bind_arithmetic(nb::class_<Dim>& dim) {
  dim.def("__add__", [](const Dim& a, nb::handle b) { return to_python(a + to_dim(b)); })
      .def("__radd__", [](const Dim& a, nb::handle b) { return to_python(a + to_dim(b)); })
      .def("__sub__", [](const Dim& a, nb::handle b) { return to_python(a - to_dim(b)); })
      .def("__rsub__", [](const Dim& a, nb::handle b) { return to_python(to_dim(b) - a); })
      .def("__mul__", [](const Dim& a, nb::handle b) { return to_python(a * to_dim(b)); })
      .def("__rmul__", [](const Dim& a, nb::handle b) { return to_python(a * to_dim(b)); })
      .def("__neg__", [](const Dim& a) { return to_python(a * Dim(-1)); })
      .def("__floordiv__", [](const Dim& a, nb::handle b) { return to_python(floordiv(a, to_dim(b))); })
      .def("__rfloordiv__", [](const Dim& a, nb::handle b) { return to_python(floordiv(to_dim(b), a)); })
      .def("__rmod__", [](const Dim& a, nb::handle b) { return to_python(mod(to_dim(b), a)); })
      .def("__mod__", [](const Dim& a, nb::handle b) { return to_python(mod(a, to_dim(b))); });
}

// What holds for every value of the symbols, or an error.
void bind_comparisons(nb::class_<Dim>& dim) {
  dim.def("__eq__",
          [](const Dim& a, nb::handle b) -> bool {
            if (!nb::isinstance<Dim>(b) && !PyIndex_Check(b.ptr())) return false;
            return decided(known_equal(a, to_dim(b)), a, "==", to_dim(b));
          })
      .def("__ne__",
           [](const Dim& a, nb::handle b) -> bool {
             if (!nb::isinstance<Dim>(b) && !PyIndex_Check(b.ptr())) return true;
             return decided(negated(known_equal(a, to_dim(b))), a, "!=", to_dim(b));
           })
      .def("__lt__", [](const Dim& a, nb::handle b) { return decided(known_less(a, to_dim(b)), a, "<", to_dim(b)); })
      .def("__ge__",
           [](const Dim& a, nb::handle b) { return decided(negated(known_less(a, to_dim(b))), a, ">=", to_dim(b)); })
      .def("__gt__", [](const Dim& a, nb::handle b) { return decided(known_less(to_dim(b), a), a, ">", to_dim(b)); })
      .def("__le__",
           [](const Dim& a, nb::handle b) { return decided(negated(known_less(to_dim(b), a)), a, "<=", to_dim(b)); })
      .def("__bool__", [](const Dim& a) { return decided(negated(known_equal(a, Dim(0))), a, "!=", Dim(0)); });
}

void bind_dim(nb::module_& m) {
  nb::class_<Dim> dim(
      m, "Dim",
      "A symbolic extent: Dim(name, min, opt, max), both bounds included; `opt` is the value to schedule for.\n"
      "Supports +, -, *, //, %, min, max with integers and other extents; a comparison that depends on the\n"
      "value raises.");
  dim.def(
         "__init__",
         [](Dim* self, std::string name, int64_t min, int64_t opt, int64_t max) {
           Symbol symbol{std::move(name), min, opt, max};
           require_symbol(symbol);
           new (self) Dim(std::move(symbol));
         },
         nb::arg("name"), nb::arg("min") = 1, nb::arg("opt") = 64, nb::arg("max") = int64_t{1} << 31)
      .def_prop_ro("min", [](const Dim& d) { return d.min(); })
      .def_prop_ro("opt", [](const Dim& d) { return d.opt(); })
      .def_prop_ro("max", [](const Dim& d) { return d.max(); })
      .def_prop_ro("symbols",
                   [](const Dim& d) {
                     nb::list symbols;
                     for (const Symbol& symbol : d.symbols()) symbols.append(nb::cast(Dim(symbol)));
                     return symbols;
                   })
      .def(
          "substitute",
          [](const Dim& d, const std::string& symbol, nb::handle value) {
            return to_python(d.substitute({{symbol, to_dim(value)}}));
          },
          "The extent with a symbol replaced by an integer or extent.")
      .def("__repr__", [](const Dim& d) { return d.text(); })
      .def("__reduce__", &reduced)
      .def("__hash__", [](const Dim& d) { return d.hash(); });
  bind_arithmetic(dim);
  bind_comparisons(dim);
  m.def("dim_of_text", &dim_of_text, "The extent of such a text, over symbols given as (name, min, opt, max).");
  m.def("dim_min", [](nb::handle a, nb::handle b) { return to_python(min(to_dim(a), to_dim(b))); });
  m.def("dim_max", [](nb::handle a, nb::handle b) { return to_python(max(to_dim(a), to_dim(b))); });
  m.def(
      "dims_equal", [](nb::handle a, nb::handle b) { return known_equal(to_dim(a), to_dim(b)) == std::optional(true); },
      "Whether two extents are the same for every value of the symbols.");
}

// A scope of knobs that Python ends when it likes; one that another thread lets go of stays, as its list is that
// thread's.
class KnobScope {
 public:
  explicit KnobScope(ScopedKnobs::Values values) : scope_(new ScopedKnobs(std::move(values))) {}
  ~KnobScope() {
    if (!is_here()) (void)scope_.release();
  }
  KnobScope(const KnobScope&) = delete;
  KnobScope& operator=(const KnobScope&) = delete;
  void close() {
    if (!is_here()) fail(ErrorKind::runtime, "knob_thread", "a scope of knobs must end on the thread that it began on");
    scope_.reset();
  }

 private:
  bool is_here() const { return std::this_thread::get_id() == thread_; }
  std::unique_ptr<ScopedKnobs> scope_;
  std::thread::id thread_ = std::this_thread::get_id();
};

const char* type_name(KnobType type) {
  switch (type) {
    case KnobType::flag:
      return "flag";
    case KnobType::integer:
      return "integer";
    case KnobType::text:
      return "text";
  }
  return "";
}

void bind_knobs(nb::module_& m) {
  nb::class_<KnobScope>(m, "KnobScope", "Values of knobs for this thread, until it is closed.")
      .def("__init__",
           [](KnobScope* self, const std::vector<std::pair<std::string, std::optional<std::string>>>& values) {
             ScopedKnobs::Values named;
             for (const auto& [name, value] : values) named.emplace_back(knob_named(name), value);
             new (self) KnobScope(std::move(named));
           })
      .def("close", &KnobScope::close);
  m.def(
      "knob", [](std::string_view name) { return knob_text(knob_named(name)); },
      "The value of a knob here and now, as text.");
  m.def("knob_rows", [] {
    nb::list rows;
    for (const KnobInfo& knob : all_knobs())
      rows.append(nb::make_tuple(std::string(knob.name), variable_of(knob), type_name(knob.type),
                                 std::string(knob.standard), std::string(knob.doc), knob.is_setting,
                                 knob_text(knob.knob), std::string(knob_source(knob.knob))));
    return rows;
  });
  m.def("environment_problems", &environment_problems);
}

}  // namespace

void bind_core(nb::module_& m) {
  nb::register_exception_translator(translate);
  bind_dim(m);
  bind_knobs(m);
  nb::class_<Location>(m, "Location", "A place in the user's program.")
      .def_prop_ro("file", [](const Location& l) { return l ? l.file() : std::string(); })
      .def_prop_ro("line", [](const Location& l) { return l ? l.line() : 0; })
      .def("__repr__", [](const Location& l) { return l.text(); })
      .def("trace_text", &Location::trace_text);
  m.def("set_interpreted_calls", &set_interpreted_calls, nb::arg("calls").none(),
        "Says who knows the calls that are interpreted on this thread; None: those that Python runs count.");
  m.def("caller_location", &caller_location, "The user's line that is running.");
}

}  // namespace weft::py
