// spell_out: functions that StableHLO lacks, such as log2, as composites of functions that it has; means of ranks and
// extents as sums; no checks of values.
//
// Kernels compute them as they are, so it stands outside of the pipeline: text and protos for other tools go through
// it. The parser takes the composite for the function again.
#include <map>

#include "weft/passes/pass.h"

namespace weft {
namespace {

GraphPtr body_of(const Node& node, const std::vector<Value>& operands) {
  Builder body(Level::trace, std::string(name(node.op)));
  std::vector<Value> parameters;
  for (const Value& operand : operands) parameters.push_back(body.parameter(operand.type(), ""));
  std::vector<Output> outputs;
  for (const Value& value : expand(body, node, parameters)) outputs.push_back({value, ""});
  return flatten.run(*body.finish(std::move(outputs)));
}

// As a sum that is divided: of floats narrower than f32 in f32, and rounded once.
std::vector<Value> mean_of_ranks(Builder& build, const Node& node, const std::vector<Value>& operands) {
  std::vector<Value> results;
  Attrs attrs = node.attrs;
  attrs.erase(Attr::mean);
  const auto ranks = static_cast<double>(attrs.integer_or(Attr::group_size, 1));
  for (const Value& x : operands) {
    const DType dtype = x.type().dtype, wide = is_float(dtype) && bit_width(dtype) < 32 ? DType::f32 : dtype;
    Value sum = build.call(node.op, {build.convert(x, wide)}, attrs, {binary_body(Op::add, wide)}).result();
    results.push_back(build.convert(build(Op::divide, {sum, build.splat(sum.type(), ranks)}), dtype));
  }
  return results;
}

// Extents of arguments are written as ones that are added up, as many as there are. A difference, which may be below
// zero, stays, as do counters in the bodies of loops, which are not StableHLO's in any case.
bool is_counted(const Node& node, bool in_body) {
  return node.op == Op::extent && !in_body && node.attrs.dims(Attr::dims)[0].min() >= 0;
}

Value counted(Builder& build, const Dim& extent) {
  Value ones = build.splat({DType::i64, {extent}}, 1);
  return build(Op::reduce, {ones, build.scalar(DType::i64, 0)}, {{Attr::dimensions, Ints{0}}},
               {binary_body(Op::add, DType::i64)});
}

GraphPtr written(const Graph& graph, bool in_body) {
  std::map<std::string, GraphPtr> bodies;  // one for each function and type
  return rebuild(graph, Level::flat, [&](Builder& build, const Node& node, const std::vector<Value>& operands) {
    const OpDef& op = def(node.op);
    if (node.op == Op::check_range) return operands;
    if (is_counted(node, in_body)) return std::vector<Value>{counted(build, node.attrs.dims(Attr::dims)[0])};
    if (node.attrs.flag(Attr::mean)) return mean_of_ranks(build, node, operands);
    if (op.scalar != Scalar::none && op.expand) {
      GraphPtr& body = bodies[cat(name(node.op), " ", node.type())];
      if (!body) body = body_of(node, operands);
      return std::vector<Value>{
          build.call(Op::composite, operands, {{Attr::name, cat("weft.", name(node.op))}}, {body}).result()};
    }
    return node.regions.empty()
               ? std::vector<Value>()
               : with_regions(build, node, operands, [](const Graph& body) { return written(body, true); });
  });
}

bool is_written(const Graph& graph, bool in_body = false) {
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::check_range || is_counted(node, in_body) || node.attrs.flag(Attr::mean) ||
        (def(node.op).scalar != Scalar::none && def(node.op).expand))
      return false;
    for (const GraphPtr& region : node.regions)
      if (!is_written(*region, true)) return false;
  }
  return true;
}

GraphPtr write_functions(const Graph& graph) {
  if (is_written(graph))
    return rebuild(graph, graph.level(),
                   [](Builder&, const Node&, const std::vector<Value>&) { return std::vector<Value>{}; });
  return written(graph, false);
}

}  // namespace

const Pass spell_out{
    .name = "spell_out",
    .doc = "Writes functions that StableHLO lacks as composites, and leaves out checks of values.",
    .from = Level::flat,
    .to = Level::flat,
    .run = write_functions,
};

}  // namespace weft
