// Shapes, parts, views and products of recorded values, as C++ has them.
#include <optional>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "recorded.h"
#include "weft/frontend/functions.h"
#include "weft/frontend/linalg.h"
#include "weft/frontend/promote.h"
#include "weft/frontend/view.h"

namespace weft::py {

Axes to_axes(nb::handle axes) {
  if (axes.is_none()) return {};
  if (PyIndex_Check(axes.ptr())) return to_integer(axes);
  return to_ints(axes);
}

namespace {

std::optional<int64_t> to_axis(nb::handle axis) {
  return axis.is_none() ? std::nullopt : std::optional(to_integer(axis));
}

Selector to_selector(nb::handle item) {
  const auto bound = [](PyObject* value) { return value == Py_None ? std::nullopt : std::optional(to_dim(value)); };
  if (item.is_none()) return newaxis;
  if (item.ptr() == Py_Ellipsis) return ellipsis;
  if (nb::isinstance<Tensor>(item)) return Selector::inside(nb::cast<Tensor>(item));
  if (!PySlice_Check(item.ptr())) return to_dim(item);
  const auto& range = *reinterpret_cast<const PySliceObject*>(item.ptr());
  return Slice{bound(range.start), bound(range.stop), range.step == Py_None ? 1 : to_integer(range.step)};
}

std::vector<Selector> to_selectors(nb::handle items) {
  std::vector<Selector> places;
  for (nb::handle item : items) places.push_back(to_selector(item));
  return places;
}

nb::list to_list(std::vector<Tensor> tensors) {
  nb::list list;
  for (Tensor& tensor : tensors) list.append(nb::cast(std::move(tensor)));
  return list;
}

template <auto function>
Tensor of_two(const Tensor& x, const Tensor& y) {
  return located([&] { return function(x, y, Where{}); });
}

void bind_creation(nb::module_& m) {
  m.def("arange", [](nb::handle start, nb::handle stop, nb::handle step, nb::handle dtype) {
    return located([&] { return arange(to_dim(start), to_dim(stop), to_integer(step), to_dtype(dtype), {}); });
  });
  m.def("eye", [](nb::handle rows, nb::handle columns, nb::handle k, nb::handle dtype) {
    return located([&] { return eye(to_dim(rows), to_dim(columns), to_integer(k), to_dtype(dtype), {}); });
  });
}

void bind_axes(nb::module_& m) {
  m.def(
      "reshape",
      [](const Tensor& x, nb::handle dims) { return located([&] { return reshape(x, to_dims(dims), {}); }); },
      "NumPy's function: a view where calls that only move elements suffice, of which moves() tells.");
  m.def(
      "transpose",
      [](const Tensor& x, nb::handle axes) {
        return located([&] { return axes.is_none() ? transpose(x, Where{}) : transpose(x, to_ints(axes), {}); });
      },
      nb::arg("x"), nb::arg("axes").none() = nb::none());
  m.def("swapaxes", [](const Tensor& x, nb::handle first, nb::handle second) {
    return located([&] { return swapaxes(x, to_integer(first), to_integer(second), {}); });
  });
  m.def("moveaxis", [](const Tensor& x, nb::handle source, nb::handle destination) {
    return located([&] { return moveaxis(x, to_axes(source), to_axes(destination), {}); });
  });
  m.def("expand_dims",
        [](const Tensor& x, nb::handle axes) { return located([&] { return expand_dims(x, to_axes(axes), {}); }); });
  m.def(
      "squeeze",
      [](const Tensor& x, nb::handle axes) { return located([&] { return squeeze(x, to_axes(axes), {}); }); },
      nb::arg("x"), nb::arg("axes").none() = nb::none());
  m.def("broadcast_to",
        [](const Tensor& x, nb::handle dims) { return located([&] { return broadcast_to(x, to_dims(dims), {}); }); });
  m.def(
      "flip", [](const Tensor& x, nb::handle axes) { return located([&] { return flip(x, to_axes(axes), {}); }); },
      nb::arg("x"), nb::arg("axes").none() = nb::none());
}

void bind_joining(nb::module_& m) {
  m.def(
      "concatenate",
      [](nb::handle tensors, nb::handle axis) {
        return located([&] { return concatenate(to_tensors(tensors), to_axis(axis), {}); });
      },
      nb::arg("tensors"), nb::arg("axis").none());
  m.def("stack", [](nb::handle tensors, nb::handle axis) {
    return located([&] { return stack(to_tensors(tensors), to_integer(axis), {}); });
  });
  m.def("split", [](const Tensor& x, nb::handle count, nb::handle axis) {
    return to_list(located([&] { return split(x, to_integer(count), to_integer(axis), {}); }));
  });
  m.def("array_split", [](const Tensor& x, nb::handle count, nb::handle axis) {
    return to_list(located([&] { return array_split(x, to_integer(count), to_integer(axis), {}); }));
  });
  m.def(
      "split_at",
      [](const Tensor& x, nb::handle places, nb::handle axis) {
        return to_list(located([&] { return split_at(x, to_dims(places), to_integer(axis), {}); }));
      },
      "NumPy's split at places.");
  m.def("repeat", [](const Tensor& x, nb::handle times, nb::handle axis) {
    return located([&] { return repeat(x, to_dim(times), to_integer(axis), {}); });
  });
  m.def("tile", [](const Tensor& x, nb::handle times) { return located([&] { return tile(x, to_dims(times), {}); }); });
  m.def("pad", [](const Tensor& x, nb::handle widths, const Tensor& value) {
    return located([&] {
      std::vector<std::pair<Dim, Dim>> pairs;
      for (nb::handle pair : widths) pairs.emplace_back(to_dim(pair[0]), to_dim(pair[1]));
      return pad(x, pairs, {value, Where{}});
    });
  });
  m.def("roll", [](const Tensor& x, nb::handle shift, nb::handle axis) {
    return located([&] { return roll(x, to_dim(shift), to_integer(axis), {}); });
  });
  m.def("tril", [](const Tensor& x, nb::handle k) { return located([&] { return tril(x, to_integer(k), {}); }); });
  m.def("triu", [](const Tensor& x, nb::handle k) { return located([&] { return triu(x, to_integer(k), {}); }); });
}

void bind_places(nb::module_& m) {
  m.def(
      "index",
      [](const Tensor& x, nb::handle items) { return located([&] { return index(x, to_selectors(items), {}); }); },
      nb::arg("x"), nb::arg("items"),
      "x[items] of integers, ranges, new axes, an ellipsis, and places that are known to lie inside.");
  m.def(
      "update",
      [](const Tensor& x, nb::handle items, const Tensor& value, nb::handle combine) {
        const auto op = combine.is_none() ? std::nullopt : std::optional(to_op(nb::cast<const char*>(combine)));
        return located([&] { return update(x, to_selectors(items), {value, Where{}}, op); });
      },
      nb::arg("x"), nb::arg("items"), nb::arg("value"), nb::arg("combine").none() = nb::none(),
      "The value after x[items] = value, or with what an operation makes of both.");
  m.def(
      "places_of",
      [](const Tensor& indices, nb::handle extent, int64_t axis) {
        const IndexPlaces places = located([&] { return places_of(indices, to_dim(extent), axis); });
        return nb::make_tuple(places.from_start, places.are_inside);
      },
      nb::arg("indices"), nb::arg("extent"), nb::arg("axis"),
      "Indices of an axis counted from its beginning, and whether none of them has to be looked at when the program "
      "runs; an error where one that is known lies outside.");
  m.def("require_inside", [](int64_t place, nb::handle extent, int64_t axis) {
    located([&] { require_inside(place, to_dim(extent), axis); });
  });
}

void bind_parts(nb::module_& m) {
  m.def("diagonal", [](const Tensor& x, nb::handle k, nb::handle first, nb::handle second) {
    return located([&] { return diagonal(x, to_integer(k), to_integer(first), to_integer(second), {}); });
  });
  nb::class_<Move>(m, "Move", "A call that only moves elements, as a step of a view.")
      .def_prop_ro("op", [](const Move& move) { return nb::str(name(move.op).data(), name(move.op).size()); })
      .def_prop_ro("attrs",
                   [](const Move& move) {
                     nb::dict attrs;
                     for (const auto& [attr, value] : move.attrs)
                       attrs[nb::str(name(attr).data(), name(attr).size())] = to_python(value);
                     return attrs;
                   })
      .def("read", [](const Move& move, const Tensor& base) { return located([&] { return move.read(base); }); })
      .def(
          "write",
          [](const Move& move, const Tensor& base, const Tensor& part) {
            return located([&] { return move.write(base, part); });
          },
          nb::arg("base"), nb::arg("part"), "The base with the part in the place of what read gives.")
      .def(
          "__eq__",
          [](const Move& move, nb::handle other) {
            return nb::isinstance<Move>(other) && move == nb::cast<const Move&>(other);
          },
          nb::arg("other").none())
      .def("__hash__", [](const Move& move) { return static_cast<int64_t>(move.op); });
  m.def(
      "moves",
      [](const Tensor& base, const Tensor& part) -> nb::object {
        std::optional<std::vector<Move>> moves = moves_between(base, part);
        if (!moves) return nb::none();
        nb::list list;
        for (Move& move : *moves) list.append(nb::cast(std::move(move)));
        return nb::tuple(list);
      },
      "The moves that made a part of a value, the first of them first; None where it is made of it in another way.");
}

void bind_products(nb::module_& m) {
  m.def("matmul", &of_two<&matmul>);
  m.def("dot", &of_two<&dot>);
  m.def("inner", &of_two<&inner>);
  m.def("vdot", &of_two<&vdot>);
  m.def("outer", &of_two<&outer>);
  m.def("vecdot", &of_two<&vecdot>);
  m.def("matvec", &of_two<&matvec>);
  m.def("vecmat", &of_two<&vecmat>);
  m.def("tensordot", [](const Tensor& x, const Tensor& y, nb::handle x_axes, nb::handle y_axes) {
    return located([&] { return tensordot(x, y, to_ints(x_axes), to_ints(y_axes), {}); });
  });
  m.def("einsum", [](const std::string& subscripts, nb::handle operands) {
    return located([&] { return einsum(subscripts, to_tensors(operands), {}); });
  });
}

void bind_factors(nb::module_& m) {
  using namespace linalg;
  m.def("packed_lu", [](const Tensor& a) { return located([&] { return packed_lu(a); }); });
  m.def("packed_qr", [](const Tensor& a) { return located([&] { return packed_qr(a); }); });
  m.def("reflected", [](const Tensor& vectors, const Tensor& factors) {
    return located([&] { return reflected(vectors, factors); });
  });
  m.def("singular_vectors", [](const Tensor& a, bool full) {
    const auto [u, s, vh] = located([&] { return singular_vectors(a, full); });
    return nb::make_tuple(u, s, vh);
  });
  m.def("singular_values", [](const Tensor& a) { return located([&] { return singular_values(a); }); });
  m.def("hermitian_values", [](const Tensor& a, bool lower, bool vectors) {
    return located([&] { return hermitian_values(a, lower, vectors); });
  });
  m.def("general_values",
        [](const Tensor& a, bool vectors) { return located([&] { return general_values(a, vectors); }); });
}

}  // namespace

void bind_shapes(nb::module_& m) {
  bind_creation(m);
  bind_axes(m);
  bind_joining(m);
  bind_places(m);
  bind_parts(m);
  bind_products(m);
  bind_factors(m);
}

}  // namespace weft::py
