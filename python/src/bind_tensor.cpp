// Recording calls: the functions by which every Python front end builds programs.
#include <algorithm>

#include "recorded.h"
#include "weft/frontend/record.h"
#include "weft/runtime/buffer.h"
#include "without_gil.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace weft::py {

bool has_wide_shape(const Tensor& tensor) {
  return std::ranges::count_if(tensor.dims(), [](const Dim& dim) { return !dim.is(1); }) > 1;
}

std::vector<Tensor> to_tensors(nb::handle sequence) {
  std::vector<Tensor> tensors;
  for (nb::handle item : sequence) tensors.push_back(nb::cast<Tensor>(item));
  return tensors;
}

namespace {

std::vector<NamedTensor> to_named(nb::handle sequence) {
  std::vector<NamedTensor> tensors;
  for (nb::handle item : sequence)
    tensors.push_back({nb::cast<Tensor>(item[0]), nb::cast<std::string>(item[1]), nb::cast<int>(item[2])});
  return tensors;
}

Tensor record(const char* name, nb::handle operands, nb::handle attrs) {
  LocationScope scope(caller_location());
  Op op = to_op(name);
  return apply(op, to_tensors(operands), to_attrs(op, attrs));
}

// All results of an op that has several.
nb::list record_all(const char* name, nb::handle operands, nb::handle attrs) {
  LocationScope scope(caller_location());
  Op op = to_op(name);
  nb::list results;
  for (Tensor& result : apply_all(op, to_tensors(operands), to_attrs(op, attrs)))
    results.append(nb::cast(std::move(result)));
  return results;
}

// scatter, reduce and reduce_window over one binary op of two scalars.
Tensor record_with_body(const char* name, const char* body, nb::handle operands, nb::handle attrs) {
  LocationScope scope(caller_location());
  Op op = to_op(name);
  std::vector<Tensor> tensors = to_tensors(operands);
  GraphPtr region = binary_body(to_op(body), tensors.at(0).dtype());
  return apply(op, std::move(tensors), to_attrs(op, attrs), {region});
}

// Tensors that are computed when a value is asked for.
void bind_lazy(nb::module_& m) {
  m.def(
      "computed", [](const Buffer& buffer) { return Tensor(buffer); }, nb::arg("buffer"),
      "The elements of a buffer, which nobody may write from now on, as a recorded value that is there.");
  m.def(
      "evaluate",
      [](nb::handle sequence) {
        LocationScope scope(caller_location());
        std::vector<Tensor> tensors = to_tensors(sequence);
        WithoutGil release;
        eval(tensors, Where{});
      },
      nb::arg("tensors"), "Computes recorded values as one program; an error of the program where it ends in one.");
  m.def(
      "recorded_program",
      [](nb::handle sequence) { return std::const_pointer_cast<Graph>(record_program(to_tensors(sequence)).graph); },
      nb::arg("tensors"), "The Graph that would compute recorded values of those that are there, its parameters.");
  m.def(
      "eval_counts",
      [] {
        EvalCounts counts = eval_counts();
        return nb::make_tuple(counts.runs, counts.programs, counts.newest_calls, counts.newest_inputs);
      },
      "How often recorded values were computed, how many programs were made for that, and the newest one's number of "
      "calls and types of inputs.");
}

void bind_apply(nb::module_& m) {
  m.def("apply", &record, nb::arg("op"), nb::arg("operands"), nb::arg("attrs").none() = nb::none());
  m.def("apply_all", &record_all, nb::arg("op"), nb::arg("operands"), nb::arg("attrs").none() = nb::none());
  m.def("apply_with_body", &record_with_body, nb::arg("op"), nb::arg("body"), nb::arg("operands"), nb::arg("attrs"));
  m.def(
      "apply_composite",
      [](std::string name, nb::handle operands, const std::shared_ptr<Graph>& decomposition, std::string attributes) {
        LocationScope scope(caller_location());
        Attrs attrs{{Attr::name, std::move(name)}};
        if (!attributes.empty()) attrs.set(Attr::composite_attributes, std::move(attributes));
        nb::list results;
        for (Tensor& result : apply_all(Op::composite, to_tensors(operands), std::move(attrs), {decomposition}))
          results.append(nb::cast(std::move(result)));
        return results;
      },
      nb::arg("name"), nb::arg("operands"), nb::arg("decomposition"), nb::arg("attributes"));
  m.def(
      "apply_all",
      [](const char* name, nb::handle operands, nb::handle attrs, nb::handle regions) {
        LocationScope scope(caller_location());
        Op op = to_op(name);
        std::vector<GraphPtr> graphs;
        for (nb::handle region : regions) graphs.push_back(nb::cast<std::shared_ptr<Graph>>(region));
        nb::list results;
        for (Tensor& tensor : apply_all(op, to_tensors(operands), to_attrs(op, attrs), std::move(graphs)))
          results.append(nb::cast(std::move(tensor)));
        return results;
      },
      nb::arg("op"), nb::arg("operands"), nb::arg("attrs").none() = nb::none(), nb::arg("regions") = nb::tuple(),
      "A call with all its results.");
}

nb::list indices(const std::vector<size_t>& places) {
  nb::list list;
  for (size_t place : places) list.append(place);
  return list;
}

void bind_uses(nb::module_& m) {
  m.def(
      "used_parameters",
      [](nb::handle parameters, nb::handle outputs) {
        return indices(used_parameters(to_tensors(parameters), to_tensors(outputs)));
      },
      "Which of the parameters the outputs depend on, as indices.");
  m.def(
      "read_to_the_last",
      [](nb::handle tensors, nb::handle outputs) {
        return indices(read_to_the_last(to_tensors(tensors), to_tensors(outputs)));
      },
      "Of which of the tensors the outputs need each element, as indices.");
  m.def(
      "element_work", [](nb::handle outputs, uint64_t since) { return element_work(to_tensors(outputs), since); },
      nb::arg("outputs"), nb::arg("since") = 0,
      "About how many elements the calls that the outputs depend on, of those recorded since, take in turn; infinite "
      "where that says little.");
}

void bind_values(nb::module_& m) {
  nb::class_<Tensor>(m, "Tensor", "A recorded value.")
      .def_prop_ro("dtype", [](const Tensor& t) { return to_python(t.dtype()); })
      .def_prop_ro("shape", [](const Tensor& t) { return to_python(t.dims()); })
      .def_prop_ro("ndim", [](const Tensor& t) { return t.rank(); })
      .def_prop_ro("is_wide", &has_wide_shape, "Whether more than one axis may have more than one element.")
      .def_prop_ro("op",
                   [](const Tensor& t) { return nb::str(name(t.record().op).data(), name(t.record().op).size()); })
      .def_prop_ro("loc", [](const Tensor& t) { return t.record().loc; })
      .def_prop_ro(
          "serial", [](const Tensor& t) { return t.record().serial; }, "Grows with every call that is recorded.")
      .def_prop_ro("is_computed", &Tensor::is_computed, "Whether the elements are there.")
      .def(
          "buffer", [](const Tensor& t) { return t.record().values.at(t.index()); },
          "The elements of a value that is computed.")
      .def("is_same", [](const Tensor& a, const Tensor& b) { return a.is_same(b); })
      .def("type_text", [](const Tensor& t) { return t.type().text(); })
      .def(
          "constant",
          [](const Tensor& t) -> nb::object {
            const Literal* literal = t.constant();
            return literal ? to_python(*literal) : nb::none();
          },
          "The value of a constant as an array; None for anything computed.");
}

void bind_records(nb::module_& m) {
  m.def(
      "record_region",
      [](nb::handle parameters, nb::handle outputs, uint64_t since, nb::handle effects) {
        RecordedRegion region = record_region(to_tensors(parameters), to_tensors(outputs), since, to_tensors(effects));
        nb::list captured;
        for (Tensor& tensor : region.captured) captured.append(nb::cast(std::move(tensor)));
        return nb::make_tuple(nb::cast(std::const_pointer_cast<Graph>(region.graph)), captured);
      },
      nb::arg("parameters"), nb::arg("outputs"), nb::arg("since"), nb::arg("effects") = nb::tuple(),
      "The body of a loop: (Graph, tensors of the surroundings that it takes after its own parameters).");
  m.def(
      "record_graph",
      [](std::string name, nb::handle parameters, nb::handle outputs, nb::handle effects) {
        return std::const_pointer_cast<Graph>(
            record_graph(std::move(name), to_named(parameters), to_named(outputs), to_tensors(effects)));
      },
      nb::arg("name"), nb::arg("parameters"), nb::arg("outputs"), nb::arg("effects") = nb::tuple(),
      "A Graph of (tensor, name, alias) triples: parameters and outputs.");
}

}  // namespace

void bind_tensor(nb::module_& m) {
  bind_uses(m);
  bind_lazy(m);
  bind_apply(m);
  bind_values(m);
  m.def(
      "parameter",
      [](nb::handle shape, nb::handle dtype, std::string name, bool from_outside) {
        LocationScope scope(caller_location());
        return parameter({to_dtype(dtype), to_dims(shape)}, std::move(name), from_outside);
      },
      nb::arg("shape"), nb::arg("dtype"), nb::arg("name"), nb::arg("from_outside") = false);
  m.def(
      "constant",
      [](nb::handle array, bool live) {
        LocationScope scope(caller_location());
        return constant(to_literal(array, live));
      },
      nb::arg("array"), nb::arg("live") = false);
  m.def("broadcast_shapes", [](nb::args shapes) {
    Dims dims;
    for (nb::handle shape : shapes) dims = broadcast(dims, to_dims(shape));
    return to_python(dims);
  });
  m.def("same_value", &same_value, "Whether both are the same calls on the same placeholders.");
  m.def("next_serial", &next_serial);
  bind_records(m);
}

}  // namespace weft::py
