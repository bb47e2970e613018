// What the bindings of functions of recorded values share.
#pragma once

#include <vector>

#include "convert.h"
#include "weft/core/error.h"
#include "weft/frontend/operand.h"
#include "weft/frontend/record.h"

namespace weft::py {

std::vector<Tensor> to_tensors(nb::handle sequence);
// The result of a ufunc, or a pair; None where C++ has none of that name, or NumPy is to be asked, unless the operands
// have the types of its loop already. Bit i of `weak`: operand i, a value, promotes as a number of Python's.
nb::object elementwise(const char* name, nb::handle x, nb::handle y, unsigned weak, bool in_loop = false);
// Whether more than one axis may have more than one element.
bool has_wide_shape(const Tensor& tensor);
// None: all of them; one alone, or several.
Axes to_axes(nb::handle axes);

// What `body` gives; its errors name the user's line.
template <class Body>
auto located(const Body& body) {
  const Location loc = caller_location();
  LocationScope scope(loc);
  try {
    return body();
  } catch (const Error& error) {
    raise(error.at(loc));
  }
}

// Its errors name the function as well.
template <class Body>
auto located_in(std::string_view function, const Body& body) {
  return located([&] { return recorded(function, Where{}, body); });
}

}  // namespace weft::py
