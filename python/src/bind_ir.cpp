// Graphs: text, interchange, the interpreters, and the op table.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "weft/compiler/compile.h"
#include "weft/ir/builder.h"
#include "weft/ir/interpret.h"
#include "weft/ir/text.h"
#include "weft/kernel/lower.h"
#include "weft/passes/pass.h"
#include "weft/passes/shard.h"
#include "without_gil.h"

namespace weft::py {
namespace {

using GraphRef = std::shared_ptr<Graph>;

GraphRef hold(const GraphPtr& graph) { return std::const_pointer_cast<Graph>(graph); }

GraphPtr at_level(const GraphPtr& graph, std::string_view level) {
  if (level == "trace") return graph;
  if (level != "flat") fail(ErrorKind::value, "level", "level must be 'trace' or 'flat', got '", level, "'");
  return graph->level() == Level::flat ? graph : flatten.run(*graph);
}

std::vector<Literal> to_literals(nb::handle arrays) {
  std::vector<Literal> literals;
  for (nb::handle array : arrays) literals.push_back(to_literal(array));
  return literals;
}

nb::list to_list(const std::vector<Literal>& literals) {
  nb::list arrays;
  for (const Literal& literal : literals) arrays.append(to_python(literal));
  return arrays;
}

// What an interpreter gives. Ranks that are threads run meanwhile, which it may wait for.
template <class Interpret>
nb::list interpreted(nb::handle arrays, const Interpret& interpret) {
  const std::vector<Literal> literals = to_literals(arrays);
  std::vector<Literal> results;
  {
    WithoutGil release;
    results = interpret(literals);
  }
  return to_list(results);
}

nb::list inputs_of(const Graph& graph) {
  nb::list infos;
  for (NodeId id : graph.parameters()) {
    const Node& node = graph.node(id);
    infos.append(
        nb::make_tuple(node.attrs.text(Attr::name), to_python(node.type().dtype), to_python(node.type().dims), -1));
  }
  return infos;
}

nb::list outputs_of(const Graph& graph) {
  nb::list infos;
  for (const Output& output : graph.outputs())
    infos.append(nb::make_tuple(output.name, to_python(output.value.type().dtype), to_python(output.value.type().dims),
                                output.alias));
  return infos;
}

using AxisNumbers = std::vector<std::vector<int>>;

Sharding to_sharding(AxisNumbers dims) {
  Sharding sharding;
  sharding.dims = std::move(dims);
  return sharding;
}

nb::tuple shard_graph(const GraphPtr& graph, const std::vector<std::pair<std::string, int64_t>>& axes,
                      std::vector<AxisNumbers> parameters, std::vector<std::optional<AxisNumbers>> outputs) {
  Mesh mesh;
  for (const auto& [name, extent] : axes) mesh.axes.push_back({name, extent});
  std::vector<Sharding> given;
  for (AxisNumbers& dims : parameters) given.push_back(to_sharding(std::move(dims)));
  std::vector<std::optional<Sharding>> wanted;
  for (std::optional<AxisNumbers>& dims : outputs)
    wanted.push_back(dims ? std::optional(to_sharding(std::move(*dims))) : std::nullopt);
  Sharded sharded = shard(*graph, mesh, given, wanted);
  nb::list results;
  for (const Sharding& sharding : sharded.outputs) results.append(sharding.dims);
  return nb::make_tuple(hold(sharded.graph), results);
}

std::map<std::string, Dim, std::less<>> to_bindings(const nb::dict& symbols) {
  std::map<std::string, Dim, std::less<>> bindings;
  for (auto [key, value] : symbols) bindings.emplace(nb::cast<std::string>(key), to_dim(value));
  return bindings;
}

GraphPtr specialised(const GraphPtr& graph, const nb::dict& symbols) {
  return symbols.size() ? substitute(*graph, to_bindings(symbols)) : graph;
}

const char* family_name(Family family) {
  switch (family) {
    case Family::source:
      return "source";
    case Family::unary:
      return "unary";
    case Family::binary:
      return "binary";
    case Family::compare:
      return "compare";
    case Family::ternary:
      return "ternary";
    case Family::shape:
      return "shape";
    case Family::reduce:
      return "reduce";
    case Family::index:
      return "index";
    case Family::linalg:
      return "linalg";
    case Family::window:
      return "window";
    case Family::control:
      return "control";
    case Family::random:
      return "random";
    case Family::collective:
      return "collective";
    case Family::composite:
      return "composite";
  }
  return "";
}

nb::object text(std::string_view value) { return nb::str(value.data(), value.size()); }

nb::list samples_of(const OpDef& op) {
  nb::list samples;
  if (!op.samples) return samples;
  for (const Sample& sample : op.samples()) {
    nb::list operands;
    for (const Type& type : sample.operands)
      operands.append(nb::make_tuple(to_python(type.dtype), to_python(type.dims)));
    nb::dict attrs;
    for (const auto& [attr, value] : sample.attrs) attrs[text(name(attr))] = to_python(value);
    nb::dict row;
    row["label"] = sample.label;
    row["operands"] = operands;
    row["attrs"] = attrs;
    row["error"] = sample.error;
    samples.append(row);
  }
  return samples;
}

nb::list op_table() {
  nb::list rows;
  for (Op op : all_ops()) {
    const OpDef& d = def(op);
    nb::dict row;
    row["name"] = text(name(op));
    row["family"] = family_name(family(op));
    row["doc"] = text(d.doc);
    row["operands"] = d.operands;
    row["stablehlo"] = text(d.names.stablehlo);
    row["hlo"] = text(d.names.hlo);
    row["numpy"] = text(d.names.numpy);
    row["aten"] = text(d.names.aten);
    nb::list attrs;
    for (const AttrSpec& spec : d.attrs) attrs.append(text(name(spec.attr)));
    row["attrs"] = attrs;
    row["samples"] = samples_of(d);
    rows.append(row);
  }
  return rows;
}

nb::list pass_table() {
  nb::list rows;
  std::span<const Step> steps = pipeline();
  for (size_t i = 0; i < all_passes().size(); ++i) {
    const Pass& pass = *all_passes()[i];
    rows.append(nb::make_tuple(text(pass.name), text(pass.doc), pass.from == Level::trace ? "trace" : "flat",
                               text(i < steps.size() ? steps[i].why : "")));
  }
  return rows;
}

const Pass* pass_named(const std::string& wanted) {
  std::vector<std::string> names;
  for (const Pass* pass : all_passes()) {
    if (pass->name == wanted) return pass;
    names.emplace_back(pass->name);
  }
  fail(ErrorKind::value, "pass", "there is no pass '", wanted, "', there are ", names);
}

nb::tuple run_named_passes(const Graph& graph, const std::vector<std::string>& names, std::optional<int64_t> limit) {
  std::vector<const Pass*> passes;
  for (const std::string& wanted : names) passes.push_back(pass_named(wanted));
  RewriteLog log(limit.value_or(INT64_MAX));
  GraphRef result = hold(run_passes(graph, passes));
  nb::list rewrites;
  for (const Rewrite& each : log.rewrites)
    rewrites.append(nb::make_tuple(text(each.rule), text(name(each.op)), each.loc.text()));
  return nb::make_tuple(result, rewrites);
}

void bind_graph(nb::module_& m) {
  nb::class_<Graph>(m, "Graph", "A tensor program.")
      .def_prop_ro("name", [](const Graph& g) { return g.name(); })
      .def_prop_ro("level", [](const Graph& g) { return g.level() == Level::trace ? "trace" : "flat"; })
      .def("__len__", [](const Graph& g) { return g.size(); })
      .def("short_text", [](const GraphRef& g, std::string_view level) { return short_text(*at_level(g, level)); })
      .def("mlir",
           [](const GraphRef& g, std::string_view level, const nb::dict& symbols, bool locations) {
             PrintOptions options;
             options.locations = locations;
             GraphPtr graph = specialised(g, symbols);
             if (level == "trace") return print(*graph, options);
             return stablehlo_text(*graph, options);
           })
      .def("flat", [](const GraphRef& g) { return hold(at_level(g, "flat")); })
      .def("substitute",
           [](const GraphRef& g, const nb::dict& symbols) { return hold(substitute(*g, to_bindings(symbols))); })
      .def(
          "equal", [](const Graph& g, const Graph& other) { return equal(g, other); },
          "Structural equality, locations aside.")
      .def("verify", [](const Graph& g) { verify(g); })
      .def("interpret",
           [](const Graph& g, nb::handle arrays) {
             return interpreted(arrays, [&](const auto& literals) { return interpret(g, literals); });
           })
      .def_prop_ro("interpreted_work", [](const Graph& g) { return interpreted_work(g); })
      .def("interpret_kernels",
           [](const Graph& g, nb::handle arrays) {
             return interpreted(arrays, [&](const auto& literals) { return interpret(lower_to_program(g), literals); });
           })
      .def("kernels_text", [](const Graph& g) { return lower_to_program(g).text(); })
      .def("cuts",
           [](const Graph& g) {
             std::vector<std::string> texts;
             for (const Cut& cut : lower_to_program(g).cuts) texts.push_back(cut.text());
             return texts;
           })
      .def_prop_ro("op_names",
                   [](const Graph& g) {
                     nb::list names;
                     for (const Node& node : g.nodes()) names.append(text(name(node.op)));
                     return names;
                   })
      .def_prop_ro("input_infos", &inputs_of)
      .def_prop_ro("output_infos", &outputs_of)
      .def_prop_ro("functions", [](const GraphRef& g) {
        nb::list functions;
        for (const GraphPtr& function : g->functions()) functions.append(hold(function));
        return functions;
      });
}

}  // namespace

void bind_ir(nb::module_& m) {
  bind_graph(m);
  m.def(
      "parse", [](std::string_view source, std::string_view file) { return hold(parse(source, file)); },
      nb::arg("text"), nb::arg("file") = "<text>");
  m.def(
      "interpret_op",
      [](const char* name, nb::handle arrays) {
        std::vector<Literal> literals = to_literals(arrays);
        Builder build(Level::trace, name);
        std::vector<Value> operands;
        for (const Literal& literal : literals) operands.push_back(build.parameter(literal.type(), ""));
        Value result = build(to_op(name), operands);
        return nb::object(to_list(interpret(*build.finish({{result, ""}}), literals))[0]);
      },
      "One op without attributes, by the reference interpreter.");
  m.def("pass_table", &pass_table,
        "Name, what it does, the level it takes, and why it stands in the pipeline where it does.");
  m.def("run_passes", &run_named_passes, nb::arg("graph"), nb::arg("names"), nb::arg("limit") = nb::none(),
        "The program after these passes, and each application of a rule: the rule, the op, the user's line.");
  m.def("shard", &shard_graph, nb::arg("graph"), nb::arg("axes"), nb::arg("parameters"), nb::arg("outputs"),
        "The program of each rank of a mesh, and how its outputs are divided: for each dimension the numbers of axes.");
  m.def(
      "shard", [](const GraphPtr& graph) { return hold(shard(*graph).graph); }, nb::arg("graph"),
      "The same by what the program says itself.");
  m.def("op_table", &op_table, "The op registry, a dict for each op.");
}

}  // namespace weft::py
