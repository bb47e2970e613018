// StableHLO text in: modules, functions, regions and the generic form of calls.
#include "weft/ir/parser.h"

#include <algorithm>
#include <cstdio>

#include "weft/ir/parse_legacy.h"
#include "weft/ir/text.h"

namespace weft {
namespace {

constexpr int max_regions = 50;
constexpr int max_calls = 100;
constexpr int64_t max_unfolded = 1000000;

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

// The same nodes and outputs in a new builder.
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

GraphPtr levelled(GraphPtr graph) {
  if (!is_flat(*graph)) return graph;
  Builder build(Level::flat, graph->name());
  std::vector<Output> outputs = copied(build, *graph);
  return build.finish(std::move(outputs));
}

// The value of a constant that is better not written out.
const MlirAttr* large_splat(const ParsedCall& call) {
  auto value = call.attrs.find("value");
  bool is_constant = call.op == Op::constant || call.name == "chlo.constant";
  return is_constant && value != call.attrs.end() && value->second.splat ? &value->second : nullptr;
}

bool is_terminator(const std::string& text) { return text == "return" || text == "func.return" || text == "stablehlo.return"; }

}  // namespace

// Functions that call each other twice at every step grow beyond all bounds when they are put in place.
int64_t Parser::unfolded_size(const Graph& graph) {
  auto known = unfolded_.find(&graph);
  if (known != unfolded_.end()) return known->second;
  auto size = static_cast<int64_t>(graph.size());
  for (const Node& node : graph.nodes())
    for (const GraphPtr& region : node.regions) size = std::min(size + unfolded_size(*region), max_unfolded + 1);
  return unfolded_[&graph] = size;
}

GraphPtr Parser::module() {
  bool wrapped = false;
  while (lexer_.peek().kind == TokenKind::hash) location_alias();
  if (lexer_.take_if("module")) {
    wrapped = true;
    if (lexer_.peek().kind == TokenKind::symbol) lexer_.take();
    if (lexer_.take_if("attributes")) lexer_.expect("{"), attributes_.dictionary("}");
    lexer_.expect("{");
  }
  find_functions();
  if (wrapped) lexer_.expect("}");
  if (lexer_.take_if("loc")) lexer_.expect("("), lexer_.skip_to_close("(", ")");
  while (lexer_.peek().kind == TokenKind::hash) location_alias();
  if (lexer_.peek().kind != TokenKind::end || order_.empty()) lexer_.reject("a function");
  std::vector<GraphPtr> graphs;
  for (const std::string& name : order_) graphs.push_back(function_named(name, 0));
  return joined(std::move(graphs));
}

// Functions may be called before they are defined: bodies are skipped here and read when they are asked for.
void Parser::find_functions() {
  while (lexer_.peek().kind != TokenKind::end && !lexer_.is("}")) {
    if (lexer_.peek().kind == TokenKind::hash) {
      location_alias();
      continue;
    }
    if (!lexer_.take_if("func.func")) lexer_.reject("func.func");
    if (!lexer_.take_if("public")) lexer_.take_if("private");
    if (lexer_.peek().kind != TokenKind::symbol) lexer_.reject("the name of the function");
    size_t begin = lexer_.peek().begin;
    std::string name = lexer_.peek().text.substr(1);
    if (!functions_.emplace(name, Function{lexer_}).second) lexer_.fail_at(begin, "redefinition", cat("the function @", name, " is defined twice"));
    order_.push_back(name);
    lexer_.take();
    int depth = 0;
    while (depth > 0 || !lexer_.is("{")) {
      if (lexer_.peek().kind == TokenKind::end) lexer_.fail_at(begin, "syntax", cat("the function @", name, " has no body"));
      if (lexer_.is("(")) ++depth;
      if (lexer_.is(")")) --depth;
      if (lexer_.take().text == "attributes" && depth == 0 && lexer_.is("{")) skip_braces();
    }
    skip_braces();
    if (lexer_.take_if("loc")) lexer_.expect("("), lexer_.skip_to_close("(", ")");
  }
}

void Parser::skip_braces() {
  size_t begin = lexer_.peek().begin;
  int depth = 0;
  do {
    if (lexer_.peek().kind == TokenKind::end) lexer_.fail_at(begin, "syntax", "'{' has no '}'");
    if (lexer_.is("{")) ++depth;
    if (lexer_.is("}")) --depth;
    lexer_.take();
  } while (depth > 0);
}

// The first function, or "main" where there is one, carries the others.
GraphPtr Parser::joined(std::vector<GraphPtr> functions) {
  size_t main = 0;
  for (size_t i = 0; i < functions.size(); ++i)
    if (functions[i]->name() == "main") main = i;
  if (functions.size() == 1) return functions[0];
  Builder build(functions[main]->level(), functions[main]->name());
  std::vector<Output> outputs = copied(build, *functions[main]);
  for (size_t i = 0; i < functions.size(); ++i)
    if (i != main) build.add_function(functions[i]);
  return build.finish(std::move(outputs));
}

// Ranges come before the types that use them in meaning, but after them in the text: the function is read twice.
SymbolTable Parser::symbols_ahead(Lexer probe) {
  while (probe.peek().kind != TokenKind::end && !is_terminator(probe.peek().text)) {
    Token token = probe.take();
    if (token.text != "weft.symbols" || !probe.take_if("=") || probe.peek().kind != TokenKind::text) continue;
    return parse_symbols(probe.peek().text);
  }
  return {};
}

SymbolTable Parser::parse_symbols(const std::string& text) {
  SymbolTable table;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(';', at), text.size());
    Symbol symbol;
    char name[128] = {};
    long long low = 0, opt = 0, high = 0;
    std::string part = text.substr(at, end - at);
    if (std::sscanf(part.c_str(), " %127s %lld %lld %lld", name, &low, &opt, &high) != 4 || low < 0 || low > opt || opt > high)
      lexer_.reject("symbols as \"name min opt max\"");
    symbol = {name, low, opt, high};
    table.emplace(symbol.name, symbol);
    at = end + 1;
  }
  return table;
}

GraphPtr Parser::function_named(const std::string& name, size_t begin) {
  auto found = functions_.find(name);
  if (found == functions_.end()) lexer_.fail_at(begin, "undefined", cat("the function @", name, " is not defined"));
  Function& wanted = found->second;
  if (wanted.graph) return wanted.graph;
  if (wanted.is_open) lexer_.fail_at(begin, "recursion", cat("the function @", name, " calls itself"));
  if (open_functions_ >= max_calls) lexer_.fail_at(begin, "call_depth", cat("calls within calls must end after ", max_calls));
  wanted.is_open = true;
  ++open_functions_;
  Lexer here = std::exchange(lexer_, wanted.at);
  SymbolTable symbols = std::move(symbols_);
  wanted.graph = function();
  --open_functions_;
  lexer_ = here;
  if (unfolded_size(*wanted.graph) > max_unfolded)
    lexer_.fail_at(wanted.at.peek().begin, "call_size", cat("the function @", name, " must have less than ", max_unfolded, " operations, counted with those of all it calls"));
  symbols_ = std::move(symbols);
  return wanted.graph;
}

GraphPtr Parser::function() {
  symbols_ = symbols_ahead(lexer_);
  Builder build(Level::trace, lexer_.take().text.substr(1));
  Scope scope{&build};
  std::map<int64_t, int> aliases;
  parameters(scope, &aliases);
  std::vector<std::string> names;
  results(names);
  if (lexer_.take_if("attributes")) lexer_.expect("{"), attributes_.dictionary("}");
  lexer_.expect("{");
  std::vector<Value> given = statements(scope);
  lexer_.expect("}");
  std::vector<Output> outputs;
  for (size_t i = 0; i < given.size(); ++i) {
    auto alias = aliases.find(static_cast<int64_t>(i));
    outputs.push_back({given[i], i < names.size() ? names[i] : std::string(), alias == aliases.end() ? -1 : alias->second});
  }
  return levelled(build.finish(std::move(outputs)));
}

// Parameters of a region (aliases: null) have no names that matter.
void Parser::parameters(Scope& scope, std::map<int64_t, int>* aliases) {
  lexer_.expect("(");
  for (int i = 0; !lexer_.is(")"); ++i) {
    size_t begin = lexer_.peek().begin;
    if (lexer_.peek().kind != TokenKind::value) lexer_.reject("a parameter");
    std::string name = lexer_.take().text;
    lexer_.expect(":");
    Type type = attributes_.type(symbols_);
    std::string shown = aliases ? name.substr(1) : std::string();
    if (lexer_.take_if("{")) {
      MlirAttrs attrs = attributes_.dictionary("}");
      if (auto given = attrs.find("weft.name"); given != attrs.end() && given->second.text) shown = *given->second.text;
      if (auto given = attrs.find("tf.aliasing_output"); aliases && given != attrs.end() && given->second.integer)
        (*aliases)[*given->second.integer] = i;
      if (auto given = attrs.find("weft.aliasing_outputs"); aliases && given != attrs.end() && given->second.ints)
        for (int64_t output : *given->second.ints) (*aliases)[output] = i;
    }
    Location loc = location(begin);
    if (!scope.values.emplace(name, scope.build->parameter(std::move(type), shown, loc)).second)
      lexer_.fail_at(begin, "redefinition", cat(name, " is defined twice"));
    if (!lexer_.take_if(",")) break;
  }
  lexer_.expect(")");
}

void Parser::results(std::vector<std::string>& names) {
  if (!lexer_.take_if("->")) return;
  bool several = lexer_.take_if("(");
  while (!several || !lexer_.is(")")) {
    attributes_.type(symbols_);
    names.emplace_back();
    if (several && lexer_.take_if("{")) {
      MlirAttrs attrs = attributes_.dictionary("}");
      if (auto given = attrs.find("jax.result_info"); given != attrs.end() && given->second.text) names.back() = *given->second.text;
    }
    if (!several || !lexer_.take_if(",")) break;
  }
  if (several) lexer_.expect(")");
}

Value Parser::lookup(Scope& scope, const std::string& name, size_t begin) {
  if (auto found = scope.values.find(name); found != scope.values.end()) return found->second;
  if (name.ends_with("#0"))
    if (auto found = scope.values.find(name.substr(0, name.size() - 2)); found != scope.values.end()) return found->second;
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

// %a, %b, … as far as they go.
std::vector<Value> Parser::values(Scope& scope) {
  std::vector<Value> list;
  while (lexer_.peek().kind == TokenKind::value) {
    list.push_back(value(scope));
    if (!lexer_.take_if(",")) break;
  }
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
  bool generic = lexer_.take().kind == TokenKind::text;
  if (generic) lexer_.expect("(");
  std::vector<Value> list = values(scope);
  if (generic) lexer_.expect(")");
  if (lexer_.take_if(":")) {
    if (generic) {
      attributes_.signature(symbols_);
    } else {
      do attributes_.type(symbols_);
      while (lexer_.take_if(","));
    }
  }
  location(lexer_.peek().begin);
  return list;
}

void Parser::statement(Scope& scope) {
  size_t begin = lexer_.peek().begin;
  std::vector<std::string> names;
  while (lexer_.peek().kind == TokenKind::value) {
    names.push_back(lexer_.take().text);
    if (lexer_.take_if(":")) {
      auto count = lexer_.peek().kind == TokenKind::number ? std::atoll(lexer_.take().text.c_str()) : -1;
      if (count < 0 || count > 100000) lexer_.reject("the number of results");
      std::string name = names.back();
      names.pop_back();
      for (long long i = 0; i < count; ++i) names.push_back(cat(name, "#", i));
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
  if (!call.op && !is_legacy(call.name)) lexer_.fail_at(begin, "unknown_op", cat("the operation '", call.name, "' is not known"));
  if (generic) generic_call(call, scope);
  else pretty_call(call, scope);
  scope.build->set_loc(location(begin));
  finish(scope, call, names);
}

void Parser::finish(Scope& scope, ParsedCall& call, const std::vector<std::string>& names) {
  try {
    std::vector<Value> given;
    if (call.op && family(*call.op) == Family::control && *call.op != Op::call && *call.op != Op::composite && !call.regions.empty())
      share_captured(call, *call.op == Op::while_);
    for (const ParsedRegion& region : call.regions)
      if (!region.captured.empty())
        lexer_.fail_at(call.begin, "captured", cat(call.name, ": its region uses a value of its surroundings that is no constant"));
    if (const MlirAttr* splat = large_splat(call)) {
      given = {scope.build->broadcast_to(scope.build->constant(*splat->literal), splat->splat->dims)};
    } else if (!call.op) {
      given = legacy_call(*scope.build, call);
    } else {
      std::vector<GraphPtr> regions;
      for (const ParsedRegion& region : call.regions) regions.push_back(region.graph);
      // The shape that rng takes as an operand is that of its result.
      if (call.op == Op::rng && call.operands.size() == 3) call.operands.pop_back();
      const Node& node = scope.build->call(*call.op, call.operands, attrs_of(call, symbols_), std::move(regions));
      for (uint32_t i = 0; i < node.types.size(); ++i) given.push_back(node.result(i));
    }
    for (size_t i = 0; i < call.results.size(); ++i)
      if (i >= given.size() || given[i].type() != call.results[i])
        lexer_.fail_at(call.begin, "result_type", cat(call.name, ": result ", i, " must be ", i < given.size() ? given[i].type().text() : "left out",
                                                      ", the text says ", call.results[i]));
    for (size_t i = 0; i < names.size(); ++i) {
      if (i >= given.size()) lexer_.fail_at(call.begin, "results", cat(call.name, " has ", given.size(), " results, the text names ", names.size()));
      if (!scope.values.emplace(names[i], given[i]).second) lexer_.fail_at(call.begin, "redefinition", cat(names[i], " is defined twice"));
    }
  } catch (const Error& error) {
    throw error.at(lexer_.location(call.begin));
  } catch (const InternalError& error) {
    lexer_.fail_at(call.begin, "attributes", cat(call.name, ": ", error.what()));
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
  call.results = attributes_.signature(symbols_).results;
}

void Parser::called_computations(ParsedCall& call) {
  auto named = call.attrs.find("called_computations");
  if (call.op != Op::custom_call || named == call.attrs.end()) return;
  for (const auto& [number, symbol] : named->second.fields)
    if (symbol.text) call.regions.push_back({function_named(*symbol.text, call.begin), 0, {}});
  // What its regions say is known for this one alone.
  if (call.attrs["call_target_name"].text == "ApproxTopK") call.op.reset(), call.name = "ApproxTopK";
  else call.regions.clear();
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

ParsedRegion Parser::region_with(Scope& outer, const std::vector<std::pair<std::string, Type>>& parameters) {
  lexer_.expect("{");
  Builder build(Level::trace, "body");
  Scope scope{&build, &outer, outer.depth + 1};
  for (const auto& [name, type] : parameters)
    if (!scope.values.emplace(name, build.parameter(type, "")).second) lexer_.reject("parameters of different names");
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

GraphPtr parse(std::string_view text, std::string_view file) { return Parser(text, file).module(); }

}  // namespace weft
