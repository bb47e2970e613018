// StableHLO text in: statements, regions and the generic form of calls.
#include "weft/ir/parser.h"

#include <algorithm>

#include "weft/ir/parse_legacy.h"
#include "weft/ir/parse_quantized.h"

namespace weft {
namespace {

constexpr int max_regions = 50;

// Without composites and implicit broadcasting the function is flat.
bool is_flat(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::parameter) continue;
    if (def(node.op).names.stablehlo.empty()) return false;
    for (const GraphPtr& region : node.regions)
      if (region->level() != Level::flat) return false;
    if (!def(node.op).traits.elementwise) continue;
    for (const Value& operand : node.operands())
      if (operand.type().dims != node.type().dims) return false;
  }
  return true;
}

// Extents that are known when the program is called: what only may lie in the array would be read beside it.
void require_inside(const Node& node) {
  for (size_t i = 0; node.op == Op::pad && i < node.type().dims.size(); ++i)
    if (const Dim& extent = node.type().dims[i]; !known_at_most(0, extent))
      fail(ErrorKind::value, "pad_c4", "pad: dimension ", i, " would have the extent ", extent,
           ", which may be negative");
  for (size_t i = 0; node.op == Op::slice && i < node.type().dims.size(); ++i) {
    const Dim &start = node.attrs.dims(Attr::start_indices)[i], &limit = node.attrs.dims(Attr::limit_indices)[i],
              &extent = node.operand(0).type().dims[i];
    if (!known_at_most(0, start) || !known_at_most(start, limit) || !known_at_most(limit, extent))
      fail(ErrorKind::value, "slice_c3", "slice: dimension ", i, ": 0 <= ", start, " <= ", limit, " <= ", extent,
           " must hold for all extents");
  }
}

}  // namespace

bool is_terminator(std::string_view name) {
  return name == "return" || name == "func.return" || name == "stablehlo.return";
}

std::vector<Output> copied(Builder& build, const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.emplace_back(&build.graph(), operand.id(), operand.index());
    build.copy(node, std::move(operands));
  }
  std::vector<Output> outputs;
  for (const Output& output : graph.outputs())
    outputs.push_back({Value(&build.graph(), output.value.id(), output.value.index()), output.name, output.alias});
  return outputs;
}

GraphPtr Parser::levelled(GraphPtr graph) {
  if (!is_flat(*graph)) return graph;
  Builder build(Level::flat, graph->name());
  std::vector<Output> outputs = copied(build, *graph);
  return build.finish(std::move(outputs));
}

namespace {

// The value of a constant that is better not written out.
const MlirAttr* large_splat(const ParsedCall& call) {
  auto value = call.attrs.find("value");
  bool is_constant = call.op == Op::constant || call.name == "chlo.constant";
  return is_constant && value != call.attrs.end() && value->second.splat ? &value->second : nullptr;
}

}  // namespace

Value Parser::lookup(Scope& scope, const std::string& name, size_t begin) {
  if (auto found = scope.values.find(name); found != scope.values.end()) return found->second;
  if (name.ends_with("#0"))
    if (auto found = scope.values.find(name.substr(0, name.size() - 2)); found != scope.values.end())
      return found->second;
  if (!scope.outer) lexer_.fail_at(begin, "undefined", cat("the value ", name, " is not defined"));
  Value outside = lookup(*scope.outer, name, begin);
  // A constant is as good inside; anything else comes in as a parameter.
  Value inside;
  if (outside.node().op == Op::constant) {
    inside = scope.build->constant(outside.node().attrs.literal(Attr::value));
  } else {
    inside = scope.build->parameter(outside.type(), "");
    scope.captured.push_back(outside);
  }
  scope.values.emplace(name, inside);
  return inside;
}

Value Parser::value(Scope& scope) {
  if (lexer_.peek().kind != TokenKind::value) lexer_.reject("a value");
  size_t begin = lexer_.peek().begin;
  return lookup(scope, lexer_.take().text, begin);
}

// %a, %b, … as far as they go; of tuples all that is in them.
std::vector<Value> Parser::values(Scope& scope) {
  std::vector<Value> list;
  for (const Bundle& each : bundles(scope)) append_leaves(each, list);
  return list;
}

// Calls up to the terminator; what it returns.
std::vector<Value> Parser::statements(Scope& scope) {
  if (scope.depth > max_regions) lexer_.reject("less nesting");
  for (;;) {
    if (lexer_.peek().kind == TokenKind::end || lexer_.is("}")) lexer_.reject("return");
    if (is_terminator(lexer_.peek().text)) return returned(scope);
    statement(scope);
  }
}

std::vector<Value> Parser::returned(Scope& scope) {
  size_t begin = lexer_.peek().begin;
  bool generic = lexer_.take().kind == TokenKind::text;
  if (generic) lexer_.expect("(");
  std::vector<Value> list = values(scope);
  if (generic) lexer_.expect(")");
  if (lexer_.take_if(":")) {
    std::vector<Type> types;
    if (generic) {
      types = attributes_.signature(symbols_).operands;
    } else {
      do append_tensors(attributes_.type_tree(symbols_), types);
      while (lexer_.take_if(","));
    }
    require_types("return", list, types, begin);
  }
  location(lexer_.peek().begin);
  return list;
}

void Parser::require_types(std::string_view what, const std::vector<Value>& given, const std::vector<Type>& types,
                           size_t begin) {
  bool same = given.size() == types.size();
  for (size_t i = 0; same && i < given.size(); ++i) same = fits(given[i].type(), types[i]);
  if (same) return;
  std::vector<Type> own;
  for (const Value& value : given) own.push_back(value.type());
  lexer_.fail_at(begin, "result_type", cat(what, ": the values are of types ", own, ", the text says ", types));
}

void Parser::statement(Scope& scope) {
  size_t begin = lexer_.peek().begin;
  std::vector<std::string> names;
  while (lexer_.peek().kind == TokenKind::value) {
    names.push_back(lexer_.take().text);
    if (lexer_.take_if(":")) {
      size_t at = lexer_.peek().begin;
      int64_t count = attributes_.integer();
      if (count < 1 || count > 100000)
        lexer_.fail_at(at, "number", cat("the number of results was wanted, got ", count));
      std::string name = names.back();
      names.pop_back();
      for (int64_t i = 0; i < count; ++i) names.push_back(cat(name, "#", i));
    }
    if (lexer_.take_if("=")) break;
    lexer_.expect(",");
  }
  ParsedCall call;
  call.begin = begin;
  if (lexer_.peek().kind != TokenKind::word && lexer_.peek().kind != TokenKind::text) lexer_.reject("an operation");
  bool generic = lexer_.peek().kind == TokenKind::text;
  call.name = lexer_.take().text;
  call.op = op_of(call.name);
  if (bundle_statement(call.name, generic, scope, names, begin)) return;
  if (!call.op && !is_legacy(call.name))
    lexer_.fail_at(begin, "unknown_op", cat("the operation '", call.name, "' is not known"));
  if (generic)
    generic_call(call, scope);
  else
    pretty_call(call, scope);
  scope.build->set_loc(location(begin));
  finish(scope, call, names);
}

// A composite that the pass spell_out wrote is the function itself.
void Parser::restore_function(ParsedCall& call) {
  auto name = call.attrs.find("name");
  if (call.op != Op::composite || name == call.attrs.end() || !name->second.text ||
      !name->second.text->starts_with("weft."))
    return;
  std::optional<Op> own = op_from_name(name->second.text->substr(5));
  if (!own || !def(*own).expand || def(*own).scalar == Scalar::none) return;
  call.op = own;
  for (const ParsedRegion& region : call.regions) restored_.insert(region.graph.get());
  call.regions.clear();
  call.attrs.clear();
}

void Parser::finish(Scope& scope, ParsedCall& call, const std::vector<std::string>& names) {
  try {
    restore_function(call);
    std::vector<Value> given;
    if (call.op && family(*call.op) == Family::control && *call.op != Op::call && *call.op != Op::composite &&
        !call.regions.empty())
      share_captured(call, *call.op == Op::while_);
    for (const ParsedRegion& region : call.regions)
      if (!region.captured.empty())
        lexer_.fail_at(call.begin, "captured",
                       cat(call.name, ": its region uses a value of its surroundings that is no constant"));
    bool quantized = computes_quantized(call);
    if (quantized && call.op == Op::select && call.results.empty() && call.operands.size() == 3)
      call.results = {call.operands[1].type()};
    const std::vector<Type> wanted = call.results;
    if (quantized) enter_quantized(*scope.build, call);
    if (call.op == Op::scatter && call.operands.size() > 3) {
      call.op.reset();
      call.name = "scatter";
    }
    if (const MlirAttr* splat = large_splat(call)) {
      given = {scope.build->broadcast_to(scope.build->constant(*splat->literal), splat->splat->dims)};
    } else if (!call.op) {
      given = legacy_call(*scope.build, call);
      if (call.name == "sdy.sharding_constraint" && given.size() == 1)
        given[0] = divided(*scope.build, given[0], call.attrs["sharding"].source);
    } else {
      std::vector<GraphPtr> regions;
      for (const ParsedRegion& region : call.regions) regions.push_back(region.graph);
      // The predicate of select and the bounds of clamp may be scalars; a select of operands that broadcast is a
      // trace's, and stays.
      auto dims = [&](size_t i) { return call.operands[i].type().dims; };
      if (call.operands.size() == 3 && (call.op == Op::clamp || (call.op == Op::select && dims(1) == dims(2))))
        for (size_t i : {size_t{0}, size_t{2}})
          if (dims(i).empty()) call.operands[i] = scope.build->broadcast_to(call.operands[i], dims(1));
      // The shape that rng takes as an operand is that of its result.
      if (call.op == Op::rng && call.operands.size() == 3) call.operands.pop_back();
      const Node& node = scope.build->call(*call.op, call.operands, attrs_of(call, symbols_), std::move(regions));
      require_inside(node);
      for (uint32_t i = 0; i < node.types.size(); ++i) given.push_back(node.result(i));
    }
    for (size_t i = 0; i < call.results.size(); ++i)
      if (i >= given.size() || !fits(given[i].type(), call.results[i]))
        lexer_.fail_at(
            call.begin, "result_type",
            cat(call.name, ": result ", i, " must be ", i < given.size() ? given[i].type().text() : "left out",
                ", the text says ", call.results[i]));
    for (const Value& value : given)
      if (std::any_of(value.type().dims.begin(), value.type().dims.end(), is_bounded))
        lexer_.fail_at(call.begin, "bounded",
                       cat(call.name, ": the extents of ", value.type(),
                           " are known by their bounds alone, which is not supported"));
    if (quantized) leave_quantized(*scope.build, wanted, given);
    name_results(scope, call, names, given);
  } catch (const Error& error) {
    raise(error.at(lexer_.location(call.begin)));
  } catch (const InternalError& error) {
    lexer_.fail_at(call.begin, "attributes", cat(call.name, ": ", error.message()));
  }
}

void Parser::generic_call(ParsedCall& call, Scope& scope) {
  lexer_.expect("(");
  call.operands = values(scope);
  lexer_.expect(")");
  if (lexer_.take_if("<")) {
    lexer_.expect("{");
    call.attrs = attributes_.dictionary("}");
    lexer_.expect(">");
  }
  if (lexer_.take_if("(")) {
    do call.regions.push_back(region(scope));
    while (lexer_.take_if(","));
    lexer_.expect(")");
  }
  if (lexer_.take_if("{"))
    for (auto& [name, attr] : attributes_.dictionary("}")) call.attrs[name] = std::move(attr);
  for (const char* key : {"callee", "decomposition"})
    if (auto named = call.attrs.find(key); named != call.attrs.end() && named->second.text)
      call.regions.push_back({function_named(*named->second.text, call.begin), 0, {}});
  called_computations(call);
  lexer_.expect(":");
  call.set_results(attributes_.signature(symbols_));
}

void Parser::called_computations(ParsedCall& call) {
  if (call.op != Op::custom_call) return;
  const std::string target = call.attrs["call_target_name"].text.value_or("");
  if (target == "Sharding" || target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape") {
    call.op.reset();
    call.name = "Sharding";
    return;
  }
  auto named = call.attrs.find("called_computations");
  if (named == call.attrs.end()) return;
  for (const auto& [number, symbol] : named->second.fields)
    if (symbol.text) call.regions.push_back({function_named(*symbol.text, call.begin), 0, {}});
  // What its regions say is known for this one alone.
  if (target == "ApproxTopK") {
    call.op.reset();
    call.name = "ApproxTopK";
  } else
    call.regions.clear();
}

ParsedRegion Parser::region(Scope& outer) {
  lexer_.expect("{");
  Builder build(Level::trace, "body");
  Scope scope{&build, &outer, outer.depth + 1};
  if (lexer_.peek().kind == TokenKind::block) {
    lexer_.take();
    if (lexer_.is("(")) parameters(scope, nullptr);
    lexer_.expect(":");
  }
  size_t declared = scope.values.size();
  std::vector<Output> outputs;
  for (const Value& each : statements(scope)) outputs.push_back({each, ""});
  lexer_.expect("}");
  return {levelled(build.finish(std::move(outputs))), declared, std::move(scope.captured)};
}

ParsedRegion Parser::region_with(Scope& outer, const std::vector<std::pair<std::string, Type>>& parameters,
                                 const std::vector<std::string>& tokens) {
  lexer_.expect("{");
  Builder build(Level::trace, "body");
  Scope scope{&build, &outer, outer.depth + 1};
  for (const auto& [name, type] : parameters)
    if (!scope.values.emplace(name, build.parameter(type, "")).second) lexer_.reject("parameters of different names");
  for (const std::string& name : tokens) scope.bundles[name] = {};
  std::vector<Output> outputs;
  for (const Value& each : statements(scope)) outputs.push_back({each, ""});
  lexer_.expect("}");
  return {levelled(build.finish(std::move(outputs))), parameters.size(), std::move(scope.captured)};
}

void Parser::share_captured(ParsedCall& call, bool is_loop) {
  std::vector<Value> all;
  for (const ParsedRegion& region : call.regions)
    for (const Value& value : region.captured)
      if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
  if (all.empty()) return;
  for (size_t r = 0; r < call.regions.size(); ++r) {
    ParsedRegion& region = call.regions[r];
    Builder build(region.graph->level(), "body");
    std::vector<Value> arguments, extra;
    for (size_t i = 0; i < region.declared; ++i)
      arguments.push_back(build.parameter(region.graph->node(region.graph->parameters()[i]).type(), ""));
    for (const Value& value : all) extra.push_back(build.parameter(value.type(), ""));
    for (const Value& value : region.captured)
      arguments.push_back(extra[static_cast<size_t>(std::find(all.begin(), all.end(), value) - all.begin())]);
    std::vector<Output> outputs;
    for (const Value& result : build.inlined(*region.graph, arguments)) outputs.push_back({result, ""});
    // What a loop does not change it hands on; its condition is the first region.
    if (is_loop && r == 1)
      for (const Value& value : extra) outputs.push_back({value, ""});
    region = {build.finish(std::move(outputs)), region.declared, {}};
  }
  call.operands.insert(call.operands.end(), all.begin(), all.end());
}

}  // namespace weft
