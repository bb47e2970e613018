// chlo.scan, read as a loop that takes a slice of each input and leaves one of each output at every turn.
#include "weft/ir/parse_legacy.h"
#include "weft/ir/parser.h"

namespace weft {
namespace {

using Values = std::vector<Value>;

struct Scan {
  const ParsedCall& call;
  const Graph& body;
  size_t inputs = 0, carries = 0, outputs = 0;
  int64_t dimension = 0, length = 0;
  bool reversed = false;

  explicit Scan(const ParsedCall& c) : call(c), body(*c.regions.at(0).graph) {
    Ints sizes = attr("operandSegmentSizes").ints.value_or(Ints{});
    need(sizes.size() == 2 && sizes[0] >= 0 && sizes[1] >= 0 &&
             sizes[0] + sizes[1] == static_cast<int64_t>(call.operands.size()),
         "operandSegmentSizes that count its operands");
    inputs = static_cast<size_t>(sizes[0]);
    carries = static_cast<size_t>(sizes[1]);
    need(body.parameters().size() == inputs + carries && body.outputs().size() >= carries,
         "a body that takes slices and carried values, and gives outputs and carried values");
    outputs = body.outputs().size() - carries;
    dimension = attr("dimension").integer.value_or(-1);
    reversed = attr("is_reverse").flag.value_or(false);
    length = attr("scan_dim_size").integer.value_or(-1);
    for (size_t i = 0; i < inputs; ++i) {
      const Type& type = call.operands[i].type();
      need(dimension >= 0 && dimension < type.rank() && axis(type.dims).is_static(),
           "inputs of a known extent along its dimension");
      need(length < 0 || axis(type.dims).is(length), "inputs of one extent along its dimension");
      length = axis(type.dims).value();
      need(parameter(i) == Type{type.dtype, without_axis(type.dims)},
           cat("a body that takes slices of ", type, ", got ", parameter(i)));
    }
    need(length >= 0 && dimension >= 0, "inputs or scan_dim_size");
    for (size_t i = 0; i < carries; ++i) {
      const Type& type = call.operands[inputs + i].type();
      need(parameter(inputs + i) == type && output(outputs + i) == type, cat("a body that carries ", type));
    }
    for (size_t i = 0; i < outputs; ++i) need(dimension <= output(i).rank(), "outputs with room for its dimension");
  }

  const Type& parameter(size_t i) const { return body.node(body.parameters()[i]).type(); }
  const Type& output(size_t i) const { return body.outputs()[i].value.type(); }
  Dims with_axis(Dims dims, Dim extent) const {
    dims.insert(dims.begin() + dimension, extent);
    return dims;
  }
  Dims without_axis(Dims dims) const {
    dims.erase(dims.begin() + dimension);
    return dims;
  }

 private:
  const Dim& axis(const Dims& dims) const { return dims[static_cast<size_t>(dimension)]; }
  MlirAttr attr(const char* name) const {
    auto found = call.attrs.find(name);
    return found == call.attrs.end() ? MlirAttr{} : found->second;
  }
  void need(bool holds, const std::string& what) const {
    if (!holds) fail(ErrorKind::type, "scan", call.name, " needs ", what);
  }
};

Value counter(Builder& build, int64_t value) { return build.constant(Literal::scalar_int(DType::i64, value)); }

Values starts(Builder& build, const Scan& scan, Value turn, size_t rank) {
  Values result(rank, counter(build, 0));
  result[static_cast<size_t>(scan.dimension)] = turn;
  return result;
}

GraphPtr condition(const Scan& scan, const std::vector<Type>& carried) {
  Builder build(scan.body.level(), "body");
  Values given;
  for (const Type& type : carried) given.push_back(build.parameter(type, ""));
  Value goes_on = build(Op::compare, {given[0], counter(build, scan.length)}, {{Attr::comparison_direction, "LT"}});
  return build.finish({{goes_on, ""}});
}

// Carried: the turn, the outputs, what the scan carries, its inputs.
GraphPtr turn_body(const Scan& scan, const std::vector<Type>& carried) {
  Builder build(scan.body.level(), "body");
  Values given;
  for (const Type& type : carried) given.push_back(build.parameter(type, ""));
  Value turn = scan.reversed ? build(Op::subtract, {counter(build, scan.length - 1), given[0]}) : given[0];
  Values arguments, next{build(Op::add, {given[0], counter(build, 1)})};
  size_t first_carry = 1 + scan.outputs, first_input = first_carry + scan.carries;
  for (size_t i = 0; i < scan.inputs; ++i) {
    Value input = given[first_input + i];
    Dims sizes = scan.with_axis(scan.without_axis(input.type().dims), 1);
    Values operands = starts(build, scan, turn, sizes.size());
    operands.insert(operands.begin(), input);
    arguments.push_back(
        build.reshape(build(Op::dynamic_slice, operands, {{Attr::slice_sizes, sizes}}), scan.without_axis(sizes)));
  }
  arguments.insert(arguments.end(), given.begin() + static_cast<std::ptrdiff_t>(first_carry),
                   given.begin() + static_cast<std::ptrdiff_t>(first_input));
  Values results = build.inlined(scan.body, arguments);
  for (size_t i = 0; i < scan.outputs; ++i) {
    Dims sizes = scan.with_axis(results[i].type().dims, 1);
    Values operands{given[1 + i], build.reshape(results[i], sizes)};
    for (const Value& start : starts(build, scan, turn, sizes.size())) operands.push_back(start);
    next.push_back(build(Op::dynamic_update_slice, operands));
  }
  next.insert(next.end(), results.begin() + static_cast<std::ptrdiff_t>(scan.outputs), results.end());
  next.insert(next.end(), given.begin() + static_cast<std::ptrdiff_t>(first_input), given.end());
  std::vector<Output> outputs;
  for (const Value& value : next) outputs.push_back({value, ""});
  return build.finish(std::move(outputs));
}

}  // namespace

Values scan(Builder& build, const ParsedCall& call) {
  if (call.regions.size() != 1) fail(ErrorKind::type, "scan", call.name, " needs one body");
  Scan scan(call);
  Values initial{counter(build, 0)};
  for (size_t i = 0; i < scan.outputs; ++i)
    initial.push_back(build.splat({scan.output(i).dtype, scan.with_axis(scan.output(i).dims, scan.length)}, 0));
  initial.insert(initial.end(), call.operands.begin() + static_cast<std::ptrdiff_t>(scan.inputs), call.operands.end());
  initial.insert(initial.end(), call.operands.begin(),
                 call.operands.begin() + static_cast<std::ptrdiff_t>(scan.inputs));
  std::vector<Type> carried;
  for (const Value& value : initial) carried.push_back(value.type());
  std::vector<GraphPtr> regions{condition(scan, carried), turn_body(scan, carried)};
  NodeId loop = build.call(Op::while_, initial, {}, std::move(regions)).id();
  Values results;
  for (size_t i = 0; i < scan.outputs + scan.carries; ++i)
    results.emplace_back(&build.graph(), loop, static_cast<uint32_t>(i + 1));
  return results;
}

// (%x, …) inits (%c, …) dimension=0 attributes {…} { ^bb0(…): … } : (…) -> (…)
void Parser::scan_form(ParsedCall& call, Scope& scope) {
  auto group = [&] {
    lexer_.expect("(");
    size_t before = call.operands.size();
    for (const Value& each : values(scope)) call.operands.push_back(each);
    lexer_.expect(")");
    return static_cast<int64_t>(call.operands.size() - before);
  };
  Ints sizes{group()};
  lexer_.expect("inits");
  sizes.push_back(group());
  lexer_.expect("dimension");
  lexer_.expect("=");
  call.attrs["dimension"] = attributes_.attribute();
  if (lexer_.take_if("attributes")) {
    lexer_.expect("{");
    for (auto& [name, attr] : attributes_.dictionary("}")) call.attrs[name] = std::move(attr);
  }
  call.attrs["operandSegmentSizes"].ints = sizes;
  call.regions.push_back(region(scope));
  lexer_.expect(":");
  call.set_results(attributes_.signature(symbols_));
}

}  // namespace weft
