// Operations that are read as others.
#include "weft/ir/parse_legacy.h"

#include <map>

#include "weft/ir/dense.h"

namespace weft {
namespace {

using Values = std::vector<Value>;
using Reading = Values (*)(Builder& build, const ParsedCall& call);

const Value& operand(const ParsedCall& call, size_t i) {
  if (i >= call.operands.size())
    fail(ErrorKind::type, "operands", call.name, " needs ", i + 1, " operands, got ", call.operands.size());
  return call.operands[i];
}

// The numbers of a constant operand; through the views and conversions that shape computations consist of.
Ints constant_ints(const ParsedCall& call, size_t i) {
  const Node& node = operand(call, i).node();
  if (node.op != Op::constant)
    fail(ErrorKind::unsupported, "dynamic_shape", call.name, ": operand ", i,
         " decides a shape and must be a constant; export the program with static shapes");
  const Literal& literal = node.attrs.literal(Attr::value);
  Ints values;
  for (int64_t k = 0; k < literal.count(); ++k) values.push_back(literal.as_int(k));
  return values;
}

const MlirAttr* find(const ParsedCall& call, const char* name) {
  auto found = call.attrs.find(name);
  return found == call.attrs.end() ? nullptr : &found->second;
}

Ints ints(const ParsedCall& call, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const MlirAttr* attr = find(call, name); attr && attr->ints && !attr->has_flags) return *attr->ints;
  fail(ErrorKind::value, "missing_attribute", call.name, ": the attribute '", *names.begin(), "' must be integers");
}

int64_t integer(const ParsedCall& call, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const MlirAttr* attr = find(call, name); attr && attr->integer) return *attr->integer;
  fail(ErrorKind::value, "missing_attribute", call.name, ": the attribute '", *names.begin(), "' must be an integer");
}

Dims as_dims(const Ints& values) { return {values.begin(), values.end()}; }

// The same op without the operands that repeat its result's shape.
Values static_reshape(Builder& build, const ParsedCall& call) {
  return {build.reshape(operand(call, 0), result_of(call).dims)};
}

Values static_broadcast(Builder& build, const ParsedCall& call) {
  return {
      build(Op::broadcast_in_dim, {operand(call, 0)},
            {{Attr::dims, result_of(call).dims}, {Attr::dimensions, ints(call, {"broadcast_dimensions", "dims"})}})};
}

Values static_iota(Builder& build, const ParsedCall& call) {
  return {build(Op::iota, {},
                {{Attr::type, result_of(call).dtype},
                 {Attr::dims, result_of(call).dims},
                 {Attr::dimension, integer(call, {"iota_dimension", "dim"})}})};
}

Values static_pad(Builder& build, const ParsedCall& call) {
  return {build(Op::pad, {operand(call, 0), operand(call, 1)},
                {{Attr::edge_padding_low, as_dims(constant_ints(call, 2))},
                 {Attr::edge_padding_high, as_dims(constant_ints(call, 3))},
                 {Attr::interior_padding, constant_ints(call, 4)}})};
}

Values static_slice(Builder& build, const ParsedCall& call) {
  return {build(Op::slice, {operand(call, 0)},
                {{Attr::start_indices, as_dims(constant_ints(call, 1))},
                 {Attr::limit_indices, as_dims(constant_ints(call, 2))},
                 {Attr::strides, constant_ints(call, 3)}})};
}

// The last operand becomes an attribute of the static op.
Values static_from(Builder& build, const ParsedCall& call, Op op, const char* attribute) {
  ParsedCall fixed = call;
  fixed.op = op;
  MlirAttr attr;
  attr.ints = constant_ints(call, call.operands.size() - 1);
  fixed.attrs[attribute] = attr;
  fixed.operands.pop_back();
  return {build(op, fixed.operands, attrs_of(fixed, {}))};
}

Values dot(Builder& build, const ParsedCall& call) {
  const Value &lhs = operand(call, 0), &rhs = operand(call, 1);
  Attrs attrs{{Attr::lhs_batching_dimensions, Ints{}},
              {Attr::rhs_batching_dimensions, Ints{}},
              {Attr::lhs_contracting_dimensions, Ints{lhs.type().rank() - 1}},
              {Attr::rhs_contracting_dimensions, Ints{0}}};
  if (!call.results.empty() && call.results[0].dtype != lhs.type().dtype) attrs.set(Attr::type, call.results[0].dtype);
  return {build(Op::dot_general, {lhs, rhs}, std::move(attrs))};
}

Values broadcast_sizes(Builder& build, const ParsedCall& call) {
  Dims dims = as_dims(ints(call, {"broadcast_sizes", "sizes"}));
  const Dims& own = operand(call, 0).type().dims;
  Ints dimensions;
  for (size_t i = 0; i < own.size(); ++i) dimensions.push_back(static_cast<int64_t>(dims.size() + i));
  dims.insert(dims.end(), own.begin(), own.end());
  return {build(Op::broadcast_in_dim, {operand(call, 0)}, {{Attr::dims, dims}, {Attr::dimensions, dimensions}})};
}

// "ab,bc->ac" with the ellipsis left out: sums over letters that only the inputs have.
Values einsum(Builder& build, const ParsedCall& call) {
  const MlirAttr* config = find(call, find(call, "config") ? "config" : "einsum_config");
  std::string text = config && config->text ? *config->text : std::string();
  size_t arrow = text.find("->"), comma = text.find(',');
  bool unary = call.operands.size() == 1;
  if (arrow == std::string::npos || unary != (comma == std::string::npos) || text.find('.') != std::string::npos)
    fail(ErrorKind::unsupported, "einsum_config", call.name,
         ": the configuration must be of the form \"ab,bc->ac\", got \"", text, "\"");
  std::string lhs = text.substr(0, unary ? arrow : comma),
              rhs = unary ? std::string() : text.substr(comma + 1, arrow - comma - 1), out = text.substr(arrow + 2);
  Value left = operand(call, 0), right = unary ? build.scalar(left.type().dtype, 1) : operand(call, 1);
  if (lhs.size() != left.type().dims.size() || rhs.size() != right.type().dims.size())
    fail(ErrorKind::value, "einsum_config", call.name, ": \"", text, "\" does not fit ", left.type(), " and ",
         right.type());
  // Letters of one input alone that the result lacks are summed away first.
  auto summed = [&](Value x, std::string& letters, const std::string& others) {
    Ints gone;
    std::string kept;
    for (size_t i = 0; i < letters.size(); ++i) {
      bool needed = out.find(letters[i]) != std::string::npos || others.find(letters[i]) != std::string::npos;
      if (needed)
        kept += letters[i];
      else
        gone.push_back(static_cast<int64_t>(i));
    }
    letters = kept;
    if (gone.empty()) return x;
    DType dtype = x.type().dtype;
    return build(Op::reduce, {x, build.scalar(dtype, 0)}, {{Attr::dimensions, gone}}, {binary_body(Op::add, dtype)});
  };
  left = summed(left, lhs, rhs);
  right = summed(right, rhs, lhs);
  Ints lb, rb, lc, rc;
  std::string order;
  for (size_t i = 0; i < lhs.size(); ++i) {
    size_t j = rhs.find(lhs[i]);
    if (j == std::string::npos) continue;
    bool batch = out.find(lhs[i]) != std::string::npos;
    (batch ? lb : lc).push_back(static_cast<int64_t>(i));
    (batch ? rb : rc).push_back(static_cast<int64_t>(j));
    if (batch) order += lhs[i];
  }
  for (char c : lhs)
    if (rhs.find(c) == std::string::npos) order += c;
  for (char c : rhs)
    if (lhs.find(c) == std::string::npos) order += c;
  Value product = build(Op::dot_general, {left, right},
                        {{Attr::lhs_batching_dimensions, lb},
                         {Attr::rhs_batching_dimensions, rb},
                         {Attr::lhs_contracting_dimensions, lc},
                         {Attr::rhs_contracting_dimensions, rc}});
  Ints permutation;
  for (char c : out) {
    size_t at = order.find(c);
    if (at == std::string::npos)
      fail(ErrorKind::value, "einsum_config", call.name, ": '", std::string(1, c), "' of the result is in no input");
    permutation.push_back(static_cast<int64_t>(at));
  }
  return {build.transpose(product, permutation)};
}

// Rows of `dim` chosen by an index, with the leading batch dims of both in step.
Values torch_index_select(Builder& build, const ParsedCall& call) {
  const Value &x = operand(call, 0), &index = operand(call, 1);
  int64_t dim = integer(call, {"dim"}), batch = integer(call, {"batch_dims"});
  if (dim < 0 || dim >= x.type().rank() || batch < 0 || batch > dim || batch > index.type().rank())
    fail(ErrorKind::value, "dim", call.name, ": dim ", dim, " and batch_dims ", batch, " do not fit ", x.type(),
         " and ", index.type());
  Dims sizes = x.type().dims;
  Ints offset, batching;
  int64_t extra = index.type().rank() - batch;
  for (int64_t i = 0; i < x.type().rank(); ++i) {
    if (i < batch) batching.push_back(i);
    if (i < batch || i == dim)
      sizes[static_cast<size_t>(i)] = 1;
    else
      offset.push_back(i < dim ? i : i + extra - 1);
  }
  return {build(Op::gather, {x, index},
                {{Attr::offset_dims, offset},
                 {Attr::collapsed_slice_dims, Ints{dim}},
                 {Attr::operand_batching_dims, batching},
                 {Attr::start_indices_batching_dims, batching},
                 {Attr::start_index_map, Ints{dim}},
                 {Attr::index_vector_dim, index.type().rank()},
                 {Attr::slice_sizes, sizes},
                 {Attr::indices_are_sorted, false}})};
}

// A function as the body of an operation: without names.
GraphPtr as_body(const Graph& function) {
  Builder build(function.level(), "body");
  Values parameters;
  for (NodeId id : function.parameters()) parameters.push_back(build.parameter(function.node(id).type(), ""));
  std::vector<Output> outputs;
  for (const Value& result : build.inlined(function, parameters)) outputs.push_back({result, ""});
  return build.finish(std::move(outputs));
}

// A scatter of several inputs whose body combines each with its own update: one scatter of each.
Values scatters(Builder& build, const ParsedCall& call) {
  size_t count = call.operands.size() / 2;
  if (call.operands.size() % 2 == 0 || call.regions.size() != 1 || call.regions[0].graph->outputs().size() != count ||
      call.regions[0].graph->parameters().size() != 2 * count)
    fail(ErrorKind::type, "scatter_operands", call.name,
         ": takes inputs, indices and as many updates, and a body over both");
  const Graph& body = *call.regions[0].graph;
  ParsedCall plain = call;
  plain.op = Op::scatter;
  Attrs attrs = attrs_of(plain, {});
  Values results;
  for (size_t i = 0; i < count; ++i) {
    Builder alone(body.level(), "body");
    Values parameters;
    for (NodeId id : body.parameters()) parameters.push_back(alone.parameter(body.node(id).type(), ""));
    Value result = alone.inlined(body, parameters)[i];
    GraphPtr whole = alone.finish({{result, ""}});
    std::vector<uint32_t> uses = whole->uses();
    for (size_t k = 0; k < 2 * count; ++k)
      if (k % count != i && uses[whole->parameters()[k]] > 0)
        fail(ErrorKind::unsupported, "scatter_body", call.name, ": result ", i,
             " of its body uses other inputs than its own, which is not supported");
    Builder own(body.level(), "body");
    Values pair{own.parameter(parameters[i].type(), ""), own.parameter(parameters[count + i].type(), "")};
    Values given;
    // Those that are not used may be anything of their type.
    for (size_t k = 0; k < 2 * count; ++k)
      given.push_back(k % count == i ? pair[k / count] : own.constant(Literal(parameters[k].type())));
    Value single = own.inlined(*whole, given)[0];
    results.push_back(build(Op::scatter, {call.operands[i], call.operands[count], call.operands[count + 1 + i]}, attrs,
                            {own.finish({{single, ""}})}));
  }
  return results;
}

// The first elements along a dimension, where their number is known: what lies behind them is nobody's.
Values set_dimension_size(Builder& build, const ParsedCall& call) {
  const Value& x = operand(call, 0);
  int64_t dimension = integer(call, {"dimension", "dim"});
  if (dimension < 0 || dimension >= x.type().rank())
    fail(ErrorKind::value, "dimension", call.name, ": the dimension must be one of ", x.type(), ", got ", dimension);
  Ints size = constant_ints(call, 1);
  Dims limits = x.type().dims;
  Dim& limit = limits[static_cast<size_t>(dimension)];
  if (size.size() != 1 || size[0] < 0 || size[0] > limit.min())
    fail(ErrorKind::value, "dimension_size", call.name, ": the size must be within 0 to ", limit, ", got ", size);
  limit = size[0];
  return {build(Op::slice, {x},
                {{Attr::start_indices, Dims(limits.size(), Dim(0))},
                 {Attr::limit_indices, limits},
                 {Attr::strides, Ints(limits.size(), 1)}})};
}

// Exactly the k first of a sorted dimension, with what stands beside them: values and their positions.
Values approx_top_k(Builder& build, const ParsedCall& call) {
  const MlirAttr* config =
      find(call, "mhlo.backend_config") ? find(call, "mhlo.backend_config") : find(call, "backend_config");
  auto number = [&](const char* name) -> int64_t {
    auto found = config ? config->fields.find(name) : MlirAttrs::const_iterator{};
    if (!config || found == config->fields.end() || !found->second.integer)
      fail(ErrorKind::value, "backend_config", call.name, ": backend_config needs '", name, "'");
    return *found->second.integer;
  };
  int64_t dimension = number("reduction_dim"), k = number("top_k");
  size_t count = call.operands.size() / 2;
  for (size_t i = 0; i < count; ++i)
    if (dimension < 0 || dimension >= call.operands[i].type().rank())
      fail(ErrorKind::value, "reduction_dim", call.name, ": reduction_dim must be a dimension of ",
           call.operands[i].type(), ", got ", dimension);
  if (call.regions.size() != 1 || count == 0)
    fail(ErrorKind::value, "operands", call.name, ": takes inputs, initial values and a comparator");
  Values inputs(call.operands.begin(), call.operands.begin() + static_cast<std::ptrdiff_t>(count)), results;
  NodeId sorted = build
                      .call(Op::sort, inputs, {{Attr::dimension, dimension}, {Attr::is_stable, true}},
                            {as_body(*call.regions[0].graph)})
                      .id();
  for (uint32_t i = 0; i < count; ++i) {
    Dims limit = inputs[i].type().dims;
    limit[static_cast<size_t>(dimension)] = k;
    results.push_back(build(Op::slice, {Value(&build.graph(), sorted, i)},
                            {{Attr::start_indices, Dims(limit.size(), Dim(0))},
                             {Attr::limit_indices, limit},
                             {Attr::strides, Ints(limit.size(), 1)}}));
  }
  return results;
}

Values constant_like(Builder& build, const ParsedCall& call) {
  const MlirAttr* value = find(call, "value");
  if (!value || !value->number)
    fail(ErrorKind::value, "missing_attribute", call.name, ": the attribute 'value' must be a number");
  return {build.splat(operand(call, 0).type(), *value->number)};
}

Values chlo_constant(Builder& build, const ParsedCall& call) {
  const MlirAttr* value = find(call, "value");
  if (!value || !value->literal)
    fail(ErrorKind::value, "missing_attribute", call.name, ": the attribute 'value' must be dense<…>");
  return {build.constant(*value->literal)};
}

// check.NAME: a call without results that fails where its operands differ; see ops/expectation.cpp.
Values expectation(Builder& build, const ParsedCall& call) {
  Values operands = call.operands;
  std::string target = call.name;
  if (target.ends_with("_const")) {
    const MlirAttr* value = find(call, "value");
    if (!value || !value->literal || operands.size() != 1)
      fail(ErrorKind::value, "missing_attribute", call.name, ": takes a value and a constant dense<…>");
    operands.push_back(build.broadcast_to(build.constant(*value->literal),
                                          value->splat ? value->splat->dims : value->literal->type().dims));
    target.resize(target.size() - 6);
  }
  if (operands.size() != 2 || operands[0].type() != operands[1].type())
    fail(ErrorKind::type, "expect_types", call.name, ": takes two values of one type");
  Attrs attrs{{Attr::call_target_name, target}, {Attr::types, std::vector<Type>{}}, {Attr::has_side_effect, true}};
  std::string config;
  for (const char* name : {"tolerance", "max_ulp_difference", "min_ulp_difference"})
    if (const MlirAttr* given = find(call, name); given && given->number)
      append(config, config.empty() ? "{" : ", ", name, " = ", decimal_text(*given->number));
  if (!config.empty()) attrs.set(Attr::backend_config, config + "}");
  build.call(Op::custom_call, operands, std::move(attrs));
  return {};
}

Values operands_of(Builder&, const ParsedCall& call) { return call.operands; }

// Of the value that asin and acos of a complex number are made of: |cos asin z| and |sinh asin z| with their signs
// taken off.
Values asin_acos_kernel(Builder& build, const ParsedCall& call) {
  const Type& type = operand(call, 0).type();
  if (!is_complex(type.dtype)) fail(ErrorKind::type, "operands", call.name, ": takes complex numbers, got ", type);
  Value arc = build(Op::asin, {call.operands[0]}), angle = build(Op::real, {arc}),
        height = build(Op::abs, {build(Op::imag, {arc})});
  Value half = build.splat(height.type(), 0.5), up = build(Op::exponential, {height});
  Value cosh =
      build(Op::multiply, {half, build(Op::add, {up, build(Op::divide, {build.splat(height.type(), 1), up})})});
  return {build(Op::complex, {build(Op::multiply, {build(Op::cosine, {angle}), cosh}), height})};
}

// Done at once: there is nobody to wait for.
Values async_start(Builder& build, const ParsedCall& call) {
  if (call.regions.size() != 1) fail(ErrorKind::value, "regions", call.name, ": takes one region");
  const Graph& body = *call.regions[0].graph;
  Values parameters;
  for (NodeId id : body.parameters()) parameters.push_back(body.node(id).result());
  bool fits = parameters.size() == call.operands.size();
  for (size_t i = 0; fits && i < parameters.size(); ++i) fits = parameters[i].type() == call.operands[i].type();
  if (!fits) fail(ErrorKind::type, "async_start_operands", call.name, ": its region must take what it is given");
  return build.inlined(body, call.operands);
}

// infeed, outfeed, send, recv: calls of that name, in the order of the text, which tokens say as well.
Values transfer(Builder& build, const ParsedCall& call) {
  bool sends = call.name == "stablehlo.outfeed" || call.name == "stablehlo.send";
  bool gives_token = !call.trees.empty() && !call.trees.back().tensor && call.trees.back().parts.empty();
  if (!gives_token || !(sends ? call.results.empty() : call.operands.empty()))
    fail(ErrorKind::type, "transfer", call.name, ": takes ",
         sends ? "tensors and a token and gives a token" : "a token and gives tensors and a token");
  ParsedCall plain = call;
  plain.op = Op::custom_call;
  plain.attrs["call_target_name"].text = call.name;
  plain.attrs["has_side_effect"].flag = true;
  const Node& node = build.call(Op::custom_call, call.operands, attrs_of(plain, {}));
  Values results;
  for (uint32_t i = 0; i < node.types.size(); ++i) results.push_back(node.result(i));
  return results;
}

const std::map<std::string_view, Reading>& readings() {
  static const std::map<std::string_view, Reading> table = {
      {"ApproxTopK", approx_top_k},
      {"stablehlo.dot", dot},
      {"stablehlo.broadcast", broadcast_sizes},
      {"stablehlo.einsum", einsum},
      {"stablehlo.unary_einsum", einsum},
      {"stablehlo.torch_index_select", torch_index_select},
      {"stablehlo.cross-replica-sum", operands_of},
      {"sdy.sharding_constraint", operands_of},
      {"Sharding", operands_of},
      {"scatter", scatters},
      {"stablehlo.dynamic_reshape", static_reshape},
      {"stablehlo.dynamic_broadcast_in_dim", static_broadcast},
      {"stablehlo.dynamic_iota", static_iota},
      {"stablehlo.dynamic_pad", static_pad},
      {"stablehlo.real_dynamic_slice", static_slice},
      {"stablehlo.dynamic_gather",
       [](Builder& b, const ParsedCall& c) { return static_from(b, c, Op::gather, "slice_sizes"); }},
      {"stablehlo.dynamic_conv",
       [](Builder& b, const ParsedCall& c) { return static_from(b, c, Op::convolution, "padding"); }},
      {"chlo.dynamic_reshape", static_reshape},
      {"chlo.constant", chlo_constant},
      {"chlo.constant_like", constant_like},
      {"check.expect_eq", expectation},
      {"check.expect_eq_const", expectation},
      {"check.expect_almost_eq", expectation},
      {"check.expect_almost_eq_const", expectation},
      {"check.expect_close", expectation},
      {"stablehlo.set_dimension_size", set_dimension_size},
      {"stablehlo.infeed", transfer},
      {"stablehlo.outfeed", transfer},
      {"stablehlo.send", transfer},
      {"stablehlo.recv", transfer},
      {"stablehlo.async_start", async_start},
      {"stablehlo.async_done", operands_of},
      {"chlo.ragged_dot", ragged_dot},
      {"chlo.scan", scan},
      {"chlo._asin_acos_kernel", asin_acos_kernel},
  };
  return table;
}

// chlo.broadcast_NAME is NAME with NumPy's broadcasting.
std::optional<Op> broadcasting(std::string_view name) {
  if (!name.starts_with("chlo.broadcast_")) return std::nullopt;
  std::string plain(name.substr(15));
  std::optional<Op> op = op_of("stablehlo." + plain);
  return op ? op : op_of("chlo." + plain);
}

}  // namespace

bool is_legacy(std::string_view name) { return readings().count(name) > 0 || broadcasting(name); }

std::vector<Value> legacy_call(Builder& build, const ParsedCall& call) {
  if (std::optional<Op> op = broadcasting(call.name)) {
    ParsedCall plain = call;
    plain.op = op;
    plain.attrs.erase("broadcast_dimensions");
    if (plain.operands.empty()) fail(ErrorKind::type, "operands", call.name, " needs operands");
    Dims dims = plain.operands[0].type().dims;
    for (const Value& each : plain.operands) dims = broadcast(dims, each.type().dims);
    for (Value& each : plain.operands) each = build.broadcast_to(each, dims);
    return {build(*op, plain.operands, attrs_of(plain, {}))};
  }
  return readings().at(call.name)(build, call);
}

}  // namespace weft
