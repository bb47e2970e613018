// StableHLO text in: generic calls, and the pretty forms of the ops that the registry holds.
#include <map>

#include "weft/ir/attribute_text.h"
#include "weft/ir/builder.h"
#include "weft/ir/parse_call.h"
#include "weft/ir/text.h"

namespace weft {
namespace {

constexpr int max_regions = 50;

// The values of one function or region by name.
using Scope = std::map<std::string, Value>;

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : lexer_(text, file), attributes_(lexer_) {}

  GraphPtr module() {
    bool wrapped = false;
    if (lexer_.take_if("module")) {
      wrapped = true;
      if (lexer_.peek().kind == TokenKind::symbol) lexer_.take();
      if (lexer_.take_if("attributes")) lexer_.expect("{"), attributes_.dictionary("}");
      lexer_.expect("{");
    }
    std::vector<GraphPtr> functions;
    while (lexer_.peek().kind != TokenKind::end && !lexer_.is("}")) {
      if (lexer_.peek().kind == TokenKind::hash) {
        location_alias();
        continue;
      }
      functions.push_back(function());
    }
    if (wrapped) lexer_.expect("}");
    if (lexer_.is("loc")) location(lexer_.peek().begin);
    while (lexer_.peek().kind == TokenKind::hash) location_alias();
    if (lexer_.peek().kind != TokenKind::end) lexer_.reject("a function");
    if (functions.empty()) lexer_.reject("a function");
    return joined(std::move(functions));
  }

 private:
  // The first function, or "main" where there is one, carries the others.
  static GraphPtr joined(std::vector<GraphPtr> functions) {
    size_t main = 0;
    for (size_t i = 0; i < functions.size(); ++i)
      if (functions[i]->name() == "main") main = i;
    if (functions.size() == 1) return functions[0];
    const Graph& first = *functions[main];
    Builder build(first.level(), first.name());
    for (const Node& node : first.nodes()) {
      std::vector<Value> operands;
      for (const Value& operand : node.operands()) operands.emplace_back(&build.graph(), operand.id(), operand.index());
      build.copy(node, std::move(operands));
    }
    for (size_t i = 0; i < functions.size(); ++i)
      if (i != main) build.add_function(functions[i]);
    std::vector<Output> outputs;
    for (const Output& output : first.outputs())
      outputs.push_back({Value(&build.graph(), output.value.id(), output.value.index()), output.name, output.alias});
    return build.finish(std::move(outputs));
  }

  void location_alias() {
    std::string name = lexer_.take().text;
    lexer_.expect("=");
    if (!lexer_.is("loc")) lexer_.reject("loc(…)");
    size_t begin = lexer_.peek().begin;
    lexer_.take();
    aliases_[name] = attributes_.location(begin);
  }

  // Trailing loc(…): the place it names, or of the text where it names none.
  Location location(size_t begin) {
    if (!lexer_.take_if("loc")) return lexer_.location(begin);
    return attributes_.location(begin);
  }

  // Ranges come before the types that use them in meaning, but after them in the text: the function is read twice.
  SymbolTable symbols_ahead(Lexer probe) {
    while (probe.peek().kind != TokenKind::end && !probe.is("func.return")) {
      Token token = probe.take();
      if (token.text != "weft.symbols" || !probe.take_if("=") || probe.peek().kind != TokenKind::text) continue;
      return parse_symbols(probe.peek().text);
    }
    return {};
  }

  SymbolTable parse_symbols(const std::string& text) {
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

  GraphPtr function() {
    if (!lexer_.take_if("func.func")) lexer_.reject("func.func");
    if (!lexer_.take_if("public")) lexer_.take_if("private");
    if (lexer_.peek().kind != TokenKind::symbol) lexer_.reject("the name of the function");
    symbols_ = symbols_ahead(lexer_);
    Builder build(Level::trace, lexer_.take().text.substr(1));
    Scope scope;
    std::map<int64_t, int> aliases;
    parameters(build, scope, &aliases);
    std::vector<std::string> names;
    results(names);
    if (lexer_.take_if("attributes")) lexer_.expect("{"), attributes_.dictionary("}");
    lexer_.expect("{");
    std::vector<Value> values = statements(build, scope, {"func.return", "return"}, 0);
    lexer_.expect("}");
    location(lexer_.peek().begin);
    std::vector<Output> outputs;
    for (size_t i = 0; i < values.size(); ++i) {
      auto alias = aliases.find(static_cast<int64_t>(i));
      outputs.push_back({values[i], i < names.size() ? names[i] : std::string(), alias == aliases.end() ? -1 : alias->second});
    }
    GraphPtr graph = build.finish(std::move(outputs));
    return is_flat(*graph) ? at_flat_level(*graph) : graph;
  }

  // Without composites and implicit broadcasting the function is flat.
  static bool is_flat(const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      if (node.op == Op::parameter) continue;
      if (def(node.op).names.stablehlo.empty()) return false;
      if (!def(node.op).traits.elementwise) continue;
      for (const Value& operand : node.operands())
        if (operand.type().dims != node.type().dims) return false;
    }
    return true;
  }

  static GraphPtr at_flat_level(const Graph& graph) {
    Builder build(Level::flat, graph.name());
    for (const Node& node : graph.nodes()) {
      std::vector<Value> operands;
      for (const Value& operand : node.operands()) operands.emplace_back(&build.graph(), operand.id(), operand.index());
      build.copy(node, std::move(operands));
    }
    std::vector<Output> outputs;
    for (const Output& output : graph.outputs())
      outputs.push_back({Value(&build.graph(), output.value.id(), output.value.index()), output.name, output.alias});
    return build.finish(std::move(outputs));
  }

  // Parameters of a region (aliases: null) have no names that matter.
  void parameters(Builder& build, Scope& scope, std::map<int64_t, int>* aliases) {
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
      }
      Location loc = location(begin);
      if (!scope.emplace(name, build.parameter(std::move(type), shown, loc)).second) lexer_.fail_at(begin, "redefinition", cat(name, " is defined twice"));
      if (!lexer_.take_if(",")) break;
    }
    lexer_.expect(")");
  }

  void results(std::vector<std::string>& names) {
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

  Value value(const Scope& scope) {
    if (lexer_.peek().kind != TokenKind::value) lexer_.reject("a value");
    size_t begin = lexer_.peek().begin;
    std::string name = lexer_.take().text;
    auto found = scope.find(name);
    if (found == scope.end() && name.ends_with("#0")) found = scope.find(name.substr(0, name.size() - 2));
    if (found == scope.end()) lexer_.fail_at(begin, "undefined", cat("the value ", name, " is not defined"));
    return found->second;
  }

  // Calls up to the terminator; what it returns.
  std::vector<Value> statements(Builder& build, Scope& scope, std::initializer_list<std::string_view> terminators, int depth) {
    if (depth > max_regions) lexer_.reject("less nesting");
    for (;;) {
      if (lexer_.peek().kind == TokenKind::end || lexer_.is("}")) lexer_.reject(*terminators.begin());
      for (std::string_view terminator : terminators)
        if (lexer_.peek().text == terminator) return returned(scope);
      statement(build, scope, depth);
    }
  }

  std::vector<Value> returned(const Scope& scope) {
    bool generic = lexer_.take().kind == TokenKind::text;
    if (generic) lexer_.expect("(");
    std::vector<Value> values;
    while (lexer_.peek().kind == TokenKind::value) {
      values.push_back(value(scope));
      if (!lexer_.take_if(",")) break;
    }
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
    return values;
  }

  void statement(Builder& build, Scope& scope, int depth) {
    size_t begin = lexer_.peek().begin;
    std::string name;
    if (lexer_.peek().kind == TokenKind::value) {
      name = lexer_.take().text;
      if (lexer_.take_if(":")) lexer_.take();
      lexer_.expect("=");
    }
    ParsedCall call;
    call.begin = begin;
    if (lexer_.peek().kind != TokenKind::word && lexer_.peek().kind != TokenKind::text) lexer_.reject("an operation");
    bool generic = lexer_.peek().kind == TokenKind::text;
    call.name = lexer_.take().text;
    call.op = op_of(call.name);
    if (!call.op) lexer_.fail_at(begin, "unknown_op", cat("the operation '", call.name, "' is not known"));
    if (generic) generic_call(call, scope, depth);
    else pretty_call(call, scope);
    build.set_loc(location(begin));
    finish(build, scope, call, name);
  }

  void finish(Builder& build, Scope& scope, ParsedCall& call, const std::string& name) {
    try {
      const Node& node = build.call(*call.op, call.operands, attrs_of(call, symbols_), call.regions);
      if (!call.results.empty() && node.types != call.results)
        lexer_.fail_at(call.begin, "result_type", cat(call.name, ": the result must be ", node.types[0], ", the text says ", call.results[0]));
      bool is_new = true;
      for (uint32_t i = 0; i < node.types.size() && !name.empty(); ++i)
        is_new &= scope.emplace(node.types.size() == 1 ? name : cat(name, "#", i), node.result(i)).second;
      if (!is_new) lexer_.fail_at(call.begin, "redefinition", cat(name, " is defined twice"));
    } catch (const Error& error) {
      throw error.at(lexer_.location(call.begin));
    } catch (const InternalError& error) {
      lexer_.fail_at(call.begin, "attributes", cat(call.name, ": ", error.what()));
    }
  }

  void generic_call(ParsedCall& call, const Scope& scope, int depth) {
    lexer_.expect("(");
    while (!lexer_.is(")")) {
      call.operands.push_back(value(scope));
      if (!lexer_.take_if(",")) break;
    }
    lexer_.expect(")");
    if (lexer_.take_if("<")) {
      lexer_.expect("{");
      call.attrs = attributes_.dictionary("}");
      lexer_.expect(">");
    }
    if (lexer_.take_if("(")) {
      do call.regions.push_back(region(depth + 1));
      while (lexer_.take_if(","));
      lexer_.expect(")");
    }
    if (lexer_.take_if("{"))
      for (auto& [name, attr] : attributes_.dictionary("}")) call.attrs[name] = std::move(attr);
    lexer_.expect(":");
    call.results = attributes_.signature(symbols_).results;
  }

  GraphPtr region(int depth) {
    lexer_.expect("{");
    Builder build(Level::flat, "body");
    Scope scope;
    if (lexer_.peek().kind == TokenKind::block) {
      lexer_.take();
      parameters(build, scope, nullptr);
      lexer_.expect(":");
    }
    std::vector<Value> values = statements(build, scope, {"stablehlo.return"}, depth);
    lexer_.expect("}");
    std::vector<Output> outputs;
    for (const Value& each : values) outputs.push_back({each, ""});
    return build.finish(std::move(outputs));
  }

  // name %a, %b, key = [1], … : types. Clauses that have no "=" are read by the op's own form.
  void pretty_call(ParsedCall& call, const Scope& scope) {
    if (*call.op == Op::constant) {
      if (lexer_.take_if("{")) call.attrs = attributes_.dictionary("}");
      call.attrs["value"] = attributes_.attribute();
      return;
    }
    if (*call.op == Op::reduce) return pretty_reduce(call, scope);
    if (*call.op == Op::compare) {
      call.attrs["comparison_direction"].text = lexer_.take().text;
      lexer_.expect(",");
    }
    bool clause = lexer_.peek().kind == TokenKind::word || lexer_.is("[");
    while (!clause && lexer_.peek().kind == TokenKind::value) {
      call.operands.push_back(value(scope));
      // The slice's ranges stand right after its operand.
      if (*call.op == Op::slice) {
        slice_ranges(call);
        break;
      }
      if (!lexer_.take_if(",")) break;
      clause = lexer_.peek().kind == TokenKind::word;
    }
    while (lexer_.peek().kind == TokenKind::word) {
      std::string key = lexer_.take().text;
      if (!lexer_.take_if("=")) {
        call.attrs["compare_type"].text = key;
      } else {
        call.attrs[key] = attributes_.attribute();
        if (lexer_.take_if("x")) call.attrs[key + ".rhs"] = attributes_.attribute();
      }
      if (!lexer_.take_if(",")) break;
    }
    if (lexer_.take_if("{"))
      for (auto& [name, attr] : attributes_.dictionary("}")) call.attrs[name] = std::move(attr);
    lexer_.expect(":");
    if (lexer_.is("(")) {
      call.results = attributes_.signature(symbols_).results;
      return;
    }
    // One type for all, or a type for each operand (select, complex): the result is then inferred.
    Type first = attributes_.type(symbols_);
    bool several = false;
    while (lexer_.take_if(",")) attributes_.type(symbols_), several = true;
    if (!several) call.results = {first};
    if (!several && *call.op == Op::select) call.results.clear();
  }

  void slice_ranges(ParsedCall& call) {
    Ints start, limit, strides;
    lexer_.expect("[");
    while (!lexer_.is("]")) {
      for (Ints* part : {&start, &limit, &strides}) {
        if (part != &start && !lexer_.take_if(":")) {
          if (part == &limit) lexer_.reject("':'");
          strides.push_back(1);
          break;
        }
        MlirAttr number;
        if (lexer_.peek().kind != TokenKind::number) lexer_.reject("an integer");
        part->push_back(std::atoll(lexer_.take().text.c_str()));
      }
      if (!lexer_.take_if(",")) break;
    }
    lexer_.expect("]");
    call.attrs["start_indices"].ints = start;
    call.attrs["limit_indices"].ints = limit;
    call.attrs["strides"].ints = strides;
  }

  // (%x init: %c) applies stablehlo.add across dimensions = [1] : (…) -> …
  void pretty_reduce(ParsedCall& call, const Scope& scope) {
    lexer_.expect("(");
    call.operands.push_back(value(scope));
    lexer_.expect("init");
    lexer_.expect(":");
    call.operands.push_back(value(scope));
    lexer_.expect(")");
    lexer_.expect("applies");
    std::optional<Op> op = op_of(lexer_.take().text);
    if (!op) lexer_.reject("an operation");
    lexer_.expect("across");
    lexer_.expect("dimensions");
    lexer_.expect("=");
    call.attrs["dimensions"] = attributes_.attribute();
    lexer_.expect(":");
    call.results = attributes_.signature(symbols_).results;
    call.regions.push_back(binary_body(*op, call.operands[0].type().dtype));
  }

  Lexer lexer_;
  AttributeReader attributes_;
  SymbolTable symbols_;
  std::map<std::string, Location> aliases_;
};

}  // namespace

GraphPtr parse(std::string_view text, std::string_view file) { return Parser(text, file).module(); }

}  // namespace weft
