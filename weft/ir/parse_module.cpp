// StableHLO text in: modules and functions, in the usual and in the generic form.
#include <algorithm>

#include "weft/ir/number_text.h"
#include "weft/ir/parser.h"
#include "weft/ir/text.h"

namespace weft {
namespace {

constexpr int max_calls = 100;
constexpr int64_t max_unfolded = 1000000;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

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
  while (lexer_.peek().kind == TokenKind::hash) location_alias();
  bool generic = lexer_.peek().kind == TokenKind::text && lexer_.peek().text == "builtin.module";
  bool wrapped = generic || lexer_.is("module");
  if (wrapped) lexer_.take();
  if (generic) {
    lexer_.expect("(");
    lexer_.expect(")");
    if (lexer_.take_if("<")) {
      lexer_.expect("{");
      attributes_.dictionary("}");
      lexer_.expect(">");
    }
    lexer_.expect("(");
    lexer_.expect("{");
    if (lexer_.peek().kind == TokenKind::block) {
      lexer_.take();
      lexer_.expect(":");
    }
  } else if (wrapped) {
    if (lexer_.peek().kind == TokenKind::symbol) lexer_.take();
    if (lexer_.take_if("attributes")) {
      lexer_.expect("{");
      attributes_.dictionary("}");
    }
    lexer_.expect("{");
  }
  find_functions();
  if (wrapped) lexer_.expect("}");
  if (generic) generic_end();
  skip_location();
  while (lexer_.peek().kind == TokenKind::hash) location_alias();
  if (lexer_.peek().kind != TokenKind::end || order_.empty()) lexer_.reject("a function");
  std::vector<GraphPtr> graphs;
  for (const std::string& name : order_) graphs.push_back(function_named(name, 0));
  std::erase_if(graphs, [&](const GraphPtr& graph) { return restored_.contains(graph.get()); });
  return joined(std::move(graphs));
}

// ") {…} : () -> ()" after the region of a module or function in the generic form.
void Parser::generic_end() {
  lexer_.expect(")");
  if (lexer_.take_if("{")) attributes_.dictionary("}");
  lexer_.expect(":");
  attributes_.signature({});
}

void Parser::skip_location() {
  if (lexer_.take_if("loc")) {
    lexer_.expect("(");
    lexer_.skip_to_close("(", ")");
  }
}

// Functions may be called before they are defined: bodies are skipped here and read when they are asked for.
void Parser::find_functions() {
  while (lexer_.peek().kind != TokenKind::end && !lexer_.is("}")) {
    if (lexer_.peek().kind == TokenKind::hash) {
      location_alias();
    } else if (lexer_.take_if("sdy.mesh")) {
      mesh();
    } else if (lexer_.peek().kind == TokenKind::text && lexer_.peek().text == "sdy.mesh") {
      generic_mesh();
    } else if (lexer_.peek().kind == TokenKind::text && lexer_.peek().text == "func.func") {
      lexer_.take();
      find_generic_function();
    } else {
      if (!lexer_.take_if("func.func")) lexer_.reject("func.func");
      find_function();
    }
  }
}

void Parser::note_function(const std::string& name, size_t begin, Function function) {
  if (!functions_.emplace(name, std::move(function)).second)
    lexer_.fail_at(begin, "redefinition", cat("the function @", name, " is defined twice"));
  order_.push_back(name);
}

void Parser::find_function() {
  for (const char* visibility : {"public", "private", "nested"}) lexer_.take_if(visibility);
  if (lexer_.peek().kind != TokenKind::symbol) lexer_.reject("the name of the function");
  size_t begin = lexer_.peek().begin;
  std::string name = lexer_.peek().text.substr(1);
  note_function(name, begin, {lexer_});
  lexer_.take();
  int depth = 0;
  while (depth > 0 || !lexer_.is("{")) {
    if (lexer_.peek().kind == TokenKind::end)
      lexer_.fail_at(begin, "syntax", cat("the function @", name, " has no body"));
    if (lexer_.is("(") || lexer_.is("<")) ++depth;
    if (lexer_.is(")") || lexer_.is(">")) --depth;
    if (lexer_.take().text == "attributes" && depth == 0 && lexer_.is("{")) skip_braces();
  }
  skip_braces();
  skip_location();
}

// () <{sym_name = "main", …}> ({ ^bb0(…): … }) {…} : () -> ()
void Parser::find_generic_function() {
  size_t begin = lexer_.peek().begin;
  Function found{lexer_};
  found.is_generic = true;
  lexer_.expect("(");
  lexer_.expect(")");
  lexer_.expect("<");
  lexer_.expect("{");
  MlirAttrs attrs = attributes_.dictionary("}");
  lexer_.expect(">");
  lexer_.expect("(");
  skip_braces();
  generic_end();
  skip_location();
  auto name = attrs.find("sym_name");
  if (name == attrs.end() || !name->second.text)
    lexer_.fail_at(begin, "syntax", "a function needs the attribute 'sym_name'");
  note_function(*name->second.text, begin, std::move(found));
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
    std::vector<std::string_view> words = words_of(std::string_view(text).substr(at, end - at));
    std::vector<int64_t> range;
    for (size_t i = 1; i < words.size(); ++i) range.push_back(integer_of(words[i]).value_or(-1));
    if (range.size() != 3 || range[0] < 0 || range[0] > range[1] || range[1] > range[2])
      lexer_.reject("symbols as \"name min opt max\"");
    Symbol symbol{std::string(words[0]), range[0], range[1], range[2]};
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
  if (open_functions_ >= max_calls)
    lexer_.fail_at(begin, "call_depth", cat("calls within calls must end after ", max_calls));
  wanted.is_open = true;
  ++open_functions_;
  Lexer here = std::exchange(lexer_, wanted.at);
  SymbolTable symbols = std::move(symbols_);
  wanted.graph = function(name, wanted.is_generic);
  --open_functions_;
  lexer_ = here;
  if (unfolded_size(*wanted.graph) > max_unfolded)
    lexer_.fail_at(wanted.at.peek().begin, "call_size",
                   cat("the function @", name, " must have less than ", max_unfolded,
                       " operations, counted with those of all it calls"));
  symbols_ = std::move(symbols);
  return wanted.graph;
}

GraphPtr Parser::function(const std::string& name, bool is_generic) {
  symbols_ = symbols_ahead(lexer_);
  Builder build(Level::trace, name);
  Scope scope{&build};
  std::map<int64_t, int> aliases;
  std::vector<std::string> names, shardings;
  std::vector<Type> declared;
  if (is_generic) {
    generic_head(scope, aliases, names, shardings);
  } else {
    lexer_.take();
    parameters(scope, &aliases);
    declared = results(names, shardings);
    if (lexer_.take_if("attributes")) {
      lexer_.expect("{");
      attributes_.dictionary("}");
    }
    lexer_.expect("{");
  }
  std::vector<Value> given = statements(scope);
  if (!is_generic) require_types(cat("the function @", name), given, declared, lexer_.peek().begin);
  lexer_.expect("}");
  std::vector<Output> outputs;
  for (size_t i = 0; i < given.size(); ++i) {
    auto alias = aliases.find(static_cast<int64_t>(i));
    if (i < shardings.size()) given[i] = divided(build, given[i], shardings[i]);
    outputs.push_back(
        {given[i], i < names.size() ? names[i] : std::string(), alias == aliases.end() ? -1 : alias->second});
  }
  return levelled(build.finish(std::move(outputs)));
}

// A function's head in the generic form: names and aliases stand in arrays of dictionaries.
void Parser::generic_head(Scope& scope, std::map<int64_t, int>& aliases, std::vector<std::string>& names,
                          std::vector<std::string>& shardings) {
  lexer_.expect("(");
  lexer_.expect(")");
  lexer_.expect("<");
  lexer_.expect("{");
  MlirAttrs attrs = attributes_.dictionary("}");
  lexer_.expect(">");
  lexer_.expect("(");
  lexer_.expect("{");
  if (lexer_.peek().kind == TokenKind::block) {
    lexer_.take();
    if (lexer_.is("(")) parameters(scope, &aliases, &attrs["arg_attrs"]);
    lexer_.expect(":");
  }
  const MlirAttr& given = attrs["res_attrs"];
  for (size_t i = 0; i < given.fields.size(); ++i) {
    const MlirAttrs& own = given.fields.at(cat(i)).fields;
    names.push_back(result_name(own));
    shardings.push_back(sharding_of(own));
  }
}

std::string Parser::sharding_of(const MlirAttrs& attrs) {
  auto given = attrs.find("sdy.sharding");
  return given != attrs.end() ? given->second.source : std::string();
}

std::string Parser::result_name(const MlirAttrs& attrs) {
  auto given = attrs.find("jax.result_info");
  return given != attrs.end() && given->second.text ? *given->second.text : std::string();
}

// Parameters of a region (aliases: null) have no names that matter.
void Parser::parameters(Scope& scope, std::map<int64_t, int>* aliases, const MlirAttr* all_attrs) {
  lexer_.expect("(");
  for (int i = 0; !lexer_.is(")"); ++i) {
    size_t begin = lexer_.peek().begin;
    if (lexer_.peek().kind != TokenKind::value) lexer_.reject("a parameter");
    std::string name = lexer_.take().text;
    lexer_.expect(":");
    if (is_bundle_type()) {
      if (!scope.bundles.emplace(name, bundle_parameter(scope, name.substr(1))).second)
        lexer_.fail_at(begin, "redefinition", cat(name, " is defined twice"));
      if (lexer_.take_if("{")) attributes_.dictionary("}");
      location(begin);
      if (!lexer_.take_if(",")) break;
      continue;
    }
    Type type = attributes_.type(symbols_);
    // Each extent that has a bound and no name is one of its own.
    for (size_t axis = 0; axis < type.dims.size(); ++axis)
      if (is_bounded(type.dims[axis]))
        type.dims[axis] = Dim(Symbol{cat("d", i, "_", axis), 0, type.dims[axis].max(), type.dims[axis].max()});
    std::string shown = aliases ? name.substr(1) : std::string();
    MlirAttrs attrs;
    if (lexer_.take_if("{")) attrs = attributes_.dictionary("}");
    if (all_attrs)
      if (auto own = all_attrs->fields.find(cat(i)); own != all_attrs->fields.end()) attrs = own->second.fields;
    if (!attrs.empty()) {
      if (auto given = attrs.find("weft.name"); given != attrs.end() && given->second.text) shown = *given->second.text;
      if (auto given = attrs.find("tf.aliasing_output"); aliases && given != attrs.end() && given->second.integer)
        (*aliases)[*given->second.integer] = i;
      if (auto given = attrs.find("weft.aliasing_outputs"); aliases && given != attrs.end() && given->second.ints)
        for (int64_t output : *given->second.ints) (*aliases)[output] = i;
    }
    Location loc = location(begin);
    Value value = scope.build->parameter(std::move(type), shown, loc);
    scope.build->set_loc(loc);
    if (aliases) value = divided(*scope.build, value, sharding_of(attrs));
    if (!scope.values.emplace(name, value).second)
      lexer_.fail_at(begin, "redefinition", cat(name, " is defined twice"));
    if (!lexer_.take_if(",")) break;
  }
  lexer_.expect(")");
}

// The types of all tensors that a function gives, and a name for each.
std::vector<Type> Parser::results(std::vector<std::string>& names, std::vector<std::string>& shardings) {
  std::vector<Type> types;
  if (!lexer_.take_if("->")) return types;
  bool several = lexer_.take_if("(");
  while (!several || !lexer_.is(")")) {
    append_tensors(attributes_.type_tree(symbols_), types);
    names.resize(types.size());
    shardings.resize(types.size());
    if (several && lexer_.take_if("{"))
      if (MlirAttrs attrs = attributes_.dictionary("}"); !names.empty()) {
        names.back() = result_name(attrs);
        shardings.back() = sharding_of(attrs);
      }
    if (!several || !lexer_.take_if(",")) break;
  }
  if (several) lexer_.expect(")");
  return types;
}

GraphPtr parse(std::string_view text, std::string_view file, std::span<const Literal> resources) {
  return Parser(text, file, resources).module();
}

}  // namespace weft
