// What tells the calls of a jitted function apart: the bytes and objects of a signature.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

namespace weft::py {

namespace nb = nanobind;

// Whether Python can hash it. Types that have a hash may raise for some values: writable memory views, weak references
// to what has none, Decimal('sNaN').
bool is_hashable(PyObject* object);

struct Signature {
  std::string key;
  std::vector<nb::object> statics;                     // compared as Python does
  std::vector<nb::object> kept;                        // objects that the key names by their addresses
  std::vector<std::pair<size_t, nb::object>> objects;  // those that are no types, and where in the key

  // What an object is equal to, and its type: True, 1 and 1.0 are equal but trace differently.
  void add_equal(nb::handle object);
  // This object and no other.
  void add_identity(nb::handle object);
  // A static argument, by what it holds where that tells it: numbers, containers, arrays, and dataclasses that are
  // compared by their fields; other objects by what they are equal to, those that cannot be hashed by identity. False
  // where containers are nested more than `deepest` deep, or hold themselves.
  bool add_content(nb::handle object, int deepest);

 private:
  bool add_items(char mark, nb::handle object, nb::handle items, int deepest);
  bool add_array(nb::handle array, int deepest);
  bool add_fields(nb::handle object, int deepest);
  void add_type(char mark, nb::handle object);
  void add_bytes(char mark, const void* bytes, size_t size);
  template <class T>
  void add_fixed(char mark, const T& value) {
    key += mark;
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
};

}  // namespace weft::py
