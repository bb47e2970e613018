// The arguments of a call, taken apart: what programs take, and the signature that the rest makes.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "signature.h"
#include "weft/core/type.h"

namespace weft::py {

// The signature and the leaves of a call.
struct Flattened : Signature {
  std::vector<nb::object> leaves;                      // NumPy's scalars as arrays
  std::vector<std::pair<size_t, nb::object>> scalars;  // those: which leaf, and what was given
  bool has_others = false;                             // arrays that are not NumPy's own
  bool is_foreign = false;                             // what no program can take: the function runs as it is
  nb::list* integers = nullptr;                        // where given: the integers and their paths
  std::unordered_map<PyObject*, size_t> containers;    // lists and dictionaries that were met, in order

  // A list or dictionary: one that is an argument twice is another signature than two that are equal.
  void note_container(PyObject* object);
  nb::object make_key() const;
  // The key with the order in which objects are met in the place of their addresses: calls that have the same one
  // differ in which objects they have, if in anything. None where there are no objects.
  nb::object make_kind() const;
  nb::list named_objects() const;

 private:
  nb::object with_statics(const std::string& text) const;
};

// What an object's type has by this name. An object may answer for what another one has, and mean something else; and
// what it answers with is code of its own, which no plain call would run.
bool has_special(PyObject* object, PyObject* name);
bool has_dlpack(PyObject* object);
// The items of a tuple or list; what a class of tuples of its own says they are is not asked.
nb::object items_of(nb::handle sequence);

class ArgumentPath;

// The parameters of a jitted function, by which arguments are told apart.
class Parameters {
 public:
  // `names`: the positional ones; `dynamic`: parameter name → tuple of the axes that may vary; `static_names`: those
  // never traced; `strict`: arguments that no program can take are errors.
  Parameters(nb::tuple names, nb::dict dynamic, nb::tuple static_names, bool strict);

  void flatten(const nb::args& args, const nb::kwargs& kwargs, Flattened& flat) const;
  // The integers with these paths are inputs of programs, others a part of them.
  void set_inputs(nb::iterable paths);

 private:
  const Ints* dynamic_axes(std::string_view name) const;
  void flatten_named(std::string_view name, nb::handle arg, Flattened& flat, ArgumentPath& path) const;
  void flatten(nb::handle arg, const Ints* dynamic, Flattened& flat, ArgumentPath& path, int depth) const;
  void add_array(nb::handle array, const Ints* dynamic, Flattened& flat) const;
  void refuse_nesting(Flattened& flat) const;

  bool strict_;
  std::vector<std::string> names_, statics_;
  std::vector<std::pair<std::string, Ints>> dynamic_;
  std::unordered_set<std::string> inputs_;  // paths of integers that are inputs of programs
};

}  // namespace weft::py
