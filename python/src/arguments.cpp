// Arguments as leaves and a signature.
#include "arguments.h"

#include <algorithm>
#include <cstring>

#include "convert.h"
#include "numpy_array.h"
#include "plan.h"

namespace weft::py {

// Where an argument, or a part of one, is found: "x", "x.0", "x.weights". It is built where somebody looks at integers.
class ArgumentPath {
 public:
  explicit ArgumentPath(bool is_wanted) : is_wanted_(is_wanted) {}
  bool is_known() const { return is_wanted_ && hidden_ == 0; }
  const std::string& text() const { return text_; }
  void begin(std::string_view name) {
    if (is_wanted_) text_ = name;
  }
  // Runs `inner` with the path one step longer: a number, or a text; other keys have no path.
  template <class F>
  void within(Py_ssize_t index, F inner) {
    if (!is_wanted_) return inner();
    extended(std::to_string(index), inner);
  }
  template <class F>
  void within(PyObject* key, F inner) {
    if (!is_wanted_) return inner();
    if (PyUnicode_CheckExact(key) && PyUnicode_IS_ASCII(key)) return extended(PyUnicode_AsUTF8(key), inner);
    ++hidden_;
    inner();
    --hidden_;
  }

 private:
  template <class F>
  void extended(std::string_view step, F inner) {
    size_t size = text_.size();
    text_ += '.';
    text_ += step;
    inner();
    text_.resize(size);
  }
  bool is_wanted_;
  int hidden_ = 0;  // so many of the steps are no text
  std::string text_;
};

namespace {

constexpr int deepest = 32;

bool fits_int64(PyObject* integer) {
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(integer, &overflow);
  return overflow == 0;
}

bool is_random_generator(const PyTypeObject* type) {
  std::string_view name = type->tp_name;
  return name == "numpy.random._generator.Generator" || name == "numpy.random.mtrand.RandomState";
}

// An object of a class of the user's is told by what it is, not by what it is equal to: equal ones may differ in what
// the function reads of them. So is what cannot be hashed. The plan keeps it.
void add_object(nb::handle object, Flattened& flat) {
  PyTypeObject* type = Py_TYPE(object.ptr());
  if (is_random_generator(type)) {
    // A program draws from the one that a call is given.
    flat.key += 'g';
    flat.key.append(reinterpret_cast<const char*>(&type), sizeof type);
    return;
  }
  bool is_told_by_value = !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) && is_hashable(object.ptr());
  is_told_by_value || PyType_Check(object.ptr()) ? flat.add_equal(object) : flat.add_identity(object);
}

// Whether a tuple or list is taken apart: those of classes of their own may be made of more than their elements.
bool is_sequence(PyObject* object) {
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) return true;
  return PyTuple_Check(object) && PyObject_HasAttrString(object, "_fields");
}

// As a constant it would be read but once. What is a constant most often is told by its type.
bool is_array_like(PyObject* object) {
  if (object == Py_None || PyLong_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object) ||
      PyFunction_Check(object) || PyType_Check(object))
    return false;
  static PyObject* array = PyUnicode_InternFromString("__array__");
  return has_dlpack(object) || has_special(object, array);
}

}  // namespace

nb::object items_of(nb::handle sequence) {
  PyObject* object = sequence.ptr();
  if (!PyTuple_Check(object) || PyTuple_CheckExact(object)) return nb::borrow(sequence);
  return nb::steal(PyTuple_GetSlice(object, 0, PyTuple_GET_SIZE(object)));
}

bool has_special(PyObject* object, PyObject* name) { return _PyType_Lookup(Py_TYPE(object), name) != nullptr; }

bool has_dlpack(PyObject* object) {
  static PyObject* name = PyUnicode_InternFromString("__dlpack__");
  return has_special(object, name);
}

void Flattened::note_container(PyObject* object) {
  auto [found, is_new] = containers.try_emplace(object, containers.size());
  if (is_new) return;
  key += '=';
  key.append(reinterpret_cast<const char*>(&found->second), sizeof found->second);
}

nb::object Flattened::make_kind() const {
  if (objects.empty()) return nb::none();
  std::string kind = key;
  std::unordered_map<PyObject*, size_t> order;
  for (const auto& [at, object] : objects) {
    size_t place = order.try_emplace(object.ptr(), order.size()).first->second;
    std::memcpy(kind.data() + at, &place, sizeof place);
  }
  return with_statics(kind);
}

nb::list Flattened::named_objects() const {
  nb::list found;
  for (const auto& [at, object] : objects) found.append(object);
  return found;
}

nb::object Flattened::make_key() const { return with_statics(key); }

nb::object Flattened::with_statics(const std::string& text) const {
  nb::object bytes = nb::bytes(text.data(), text.size());
  if (statics.empty()) return bytes;
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(statics.size() + 1));
  PyTuple_SET_ITEM(tuple, 0, bytes.release().ptr());
  for (size_t i = 0; i < statics.size(); ++i)
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i + 1), nb::object(statics[i]).release().ptr());
  return nb::steal(tuple);
}

Parameters::Parameters(nb::tuple names, nb::dict dynamic, nb::tuple static_names, bool strict) : strict_(strict) {
  for (nb::handle name : names) names_.push_back(nb::cast<std::string>(name));
  for (auto [name, axes] : dynamic) dynamic_.emplace_back(nb::cast<std::string>(name), to_ints(axes));
  for (nb::handle name : static_names) statics_.push_back(nb::cast<std::string>(name));
}

void Parameters::set_inputs(nb::iterable paths) {
  inputs_.clear();
  for (nb::handle path : paths) inputs_.insert(nb::cast<std::string>(path));
}

const Ints* Parameters::dynamic_axes(std::string_view name) const {
  for (const auto& [candidate, axes] : dynamic_)
    if (candidate == name) return &axes;
  return nullptr;
}

void Parameters::flatten(const nb::args& args, const nb::kwargs& kwargs, Flattened& flat) const {
  ArgumentPath path(flat.integers || !inputs_.empty());
  size_t position = 0;
  for (nb::handle arg : args) {
    std::string_view name = position < names_.size() ? std::string_view(names_[position]) : std::string_view();
    if (!name.empty())
      path.begin(name);
    else if (path.is_known())
      path.begin("arg" + std::to_string(position));
    flatten_named(name, arg, flat, path);
    ++position;
  }
  for (auto [name, arg] : kwargs) {
    const char* text = PyUnicode_AsUTF8(name.ptr());
    flat.key += 'k';
    flat.key += text;
    flat.key += '\0';
    path.begin(text);
    flatten_named(text, arg, flat, path);
  }
}

void Parameters::flatten_named(std::string_view name, nb::handle arg, Flattened& flat, ArgumentPath& path) const {
  if (std::ranges::find(statics_, name) != statics_.end()) {
    if (!flat.add_content(arg, deepest)) refuse_nesting(flat);
    return;
  }
  flatten(arg, dynamic_.empty() ? nullptr : dynamic_axes(name), flat, path, 0);
}

void Parameters::refuse_nesting(Flattened& flat) const {
  if (strict_)
    fail(ErrorKind::value, "argument_nesting", "containers among the arguments are nested more than ", deepest,
         " deep, or hold themselves");
  flat.is_foreign = true;
}

// Containers in containers are followed to a depth: one may hold itself.
void Parameters::flatten(nb::handle arg, const Ints* dynamic, Flattened& flat, ArgumentPath& path, int depth) const {
  PyObject* object = arg.ptr();
  if (is_array(object)) return add_array(arg, dynamic, flat);
  if (flat.is_foreign && !strict_) return;
  if (depth > deepest) return refuse_nesting(flat);
  if (is_sequence(object)) {
    if (!PyTuple_Check(object)) flat.note_container(object);
    flat.key += PyTuple_Check(object) ? '(' : '[';
    PyTypeObject* type = Py_TYPE(object);
    flat.key.append(reinterpret_cast<const char*>(&type), sizeof type);
    Py_ssize_t index = 0;
    for (nb::handle item : items_of(arg)) path.within(index++, [&] { flatten(item, nullptr, flat, path, depth + 1); });
    flat.key += ')';
  } else if (PyDict_CheckExact(object)) {
    flat.note_container(object);
    flat.key += '{';
    for (auto [key, value] : nb::borrow<nb::dict>(arg)) {
      flat.add_equal(key);
      path.within(key.ptr(), [&] { flatten(value, nullptr, flat, path, depth + 1); });
    }
    flat.key += '}';
  } else if (PyFloat_CheckExact(object) || PyComplex_CheckExact(object)) {
    flat.key += PyFloat_CheckExact(object) ? 'f' : 'c';
    flat.leaves.push_back(nb::borrow(arg));
  } else if (path.is_known() && PyLong_CheckExact(object) && fits_int64(object)) {
    if (flat.integers) flat.integers->append(nb::make_tuple(path.text(), arg));
    if (!inputs_.contains(path.text())) return flat.add_equal(arg);
    flat.key += 'i';
    flat.leaves.push_back(nb::borrow(arg));
  } else if (is_numpy_scalar(object)) {
    flat.is_foreign |= is_scalar_subclass(object);
    flat.key += 'n';
    flat.scalars.emplace_back(flat.leaves.size(), nb::borrow(arg));
    add_array(array_of_scalar(object), nullptr, flat);
  } else {
    if (is_array_like(object)) {
      flat.has_others = true;
      // Of a subclass views and copies are of its class, too, and have its attributes.
      flat.is_foreign |= is_array_subclass(object) || !has_dlpack(object);
    }
    add_object(arg, flat);
  }
}

void Parameters::add_array(nb::handle array, const Ints* dynamic, Flattened& flat) const {
  std::optional<ArrayView> seen = view(array.ptr());
  // Copies of what has the other byte order, and what is made with its dtype, have it too.
  if (!strict_ && (!seen || !seen->native)) {
    flat.is_foreign = true;
    return;
  }
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
  // Programs read arrays in another dense order as they lie.
  std::vector<int> axes = seen->dense ? std::vector<int>() : turned_axes(array.ptr());
  if (!axes.empty()) flat.key += '/';
  for (int axis : axes) flat.key += static_cast<char>(axis);
  flat.leaves.push_back(nb::borrow(array));
}

}  // namespace weft::py
