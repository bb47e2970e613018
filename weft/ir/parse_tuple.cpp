// StableHLO text in: tuples and tokens. They are names for several values, or for none; the graph has only tensors.
#include "weft/ir/parser.h"

namespace weft {

void Parser::append_leaves(const Bundle& bundle, std::vector<Value>& leaves) {
  if (bundle.value) leaves.push_back(bundle.value);
  for (const Bundle& part : bundle.parts) append_leaves(part, leaves);
}

Bundle Parser::bundle(Scope& scope) {
  if (lexer_.peek().kind == TokenKind::value)
    for (Scope* at = &scope; at; at = at->outer)
      if (auto found = at->bundles.find(lexer_.peek().text); found != at->bundles.end()) {
        // A token is the same everywhere; tensors of the surroundings come in one by one.
        std::vector<Value> leaves;
        append_leaves(found->second, leaves);
        if (at != &scope && !leaves.empty()) lexer_.reject("a tuple of the same region");
        lexer_.take();
        return found->second;
      }
  return {value(scope)};
}

std::vector<Bundle> Parser::bundles(Scope& scope) {
  std::vector<Bundle> list;
  while (lexer_.peek().kind == TokenKind::value) {
    list.push_back(bundle(scope));
    if (!lexer_.take_if(",")) break;
  }
  return list;
}

// A parameter of the type that follows: one of the graph for each tensor in it.
Bundle Parser::bundle_parameter(Scope& scope, const std::string& name) {
  size_t begin = lexer_.peek().begin;
  if (name.size() > 256) lexer_.reject("less nesting");
  if (lexer_.peek().kind == TokenKind::bang) {
    if (lexer_.peek().text != "!stablehlo.token") lexer_.reject("a type");
    lexer_.take();
    return {};
  }
  if (!lexer_.take_if("tuple"))
    return {scope.build->parameter(attributes_.type(symbols_), name, lexer_.location(begin))};
  Bundle result;
  lexer_.expect("<");
  while (!lexer_.is(">")) {
    result.parts.push_back(bundle_parameter(scope, cat(name, ".", result.parts.size())));
    if (!lexer_.take_if(",")) break;
  }
  lexer_.expect(">");
  return result;
}

namespace {

Bundle gathered(const TypeTree& tree, const std::vector<Value>& given, size_t& next) {
  if (tree.tensor) return {next < given.size() ? given[next++] : Value()};
  Bundle bundle;
  for (const TypeTree& part : tree.parts) bundle.parts.push_back(gathered(part, given, next));
  return bundle;
}

}  // namespace

// Gives results their names: each a value, or what the text's type makes of several.
void Parser::name_results(Scope& scope, const ParsedCall& call, const std::vector<std::string>& names,
                          const std::vector<Value>& given) {
  size_t count = call.trees.empty() ? given.size() : call.trees.size(), next = 0;
  if (names.size() > count)
    lexer_.fail_at(call.begin, "results", cat(call.name, " has ", count, " results, the text names ", names.size()));
  for (size_t i = 0; i < names.size(); ++i) {
    Bundle result = call.trees.empty() ? Bundle{given[i]} : gathered(call.trees[i], given, next);
    define(scope, names[i], std::move(result), call.begin);
  }
}

void Parser::define(Scope& scope, const std::string& name, Bundle result, size_t begin) {
  bool is_new = result.value ? scope.values.emplace(name, result.value).second
                             : scope.bundles.emplace(name, std::move(result)).second;
  if (!is_new) lexer_.fail_at(begin, "redefinition", cat(name, " is defined twice"));
}

// tuple, get_tuple_element, create_token, after_all; false for other operations.
bool Parser::bundle_statement(const std::string& op, bool generic, Scope& scope, const std::vector<std::string>& names,
                              size_t begin) {
  bool is_element = op == "stablehlo.get_tuple_element";
  bool is_token = op == "stablehlo.create_token" || op == "stablehlo.after_all";
  if (!is_element && !is_token && op != "stablehlo.tuple") return false;
  bool parenthesized = generic && lexer_.is("(");
  if (parenthesized) lexer_.take();
  std::vector<Bundle> operands = bundles(scope);
  MlirAttrs attrs;
  if (is_element && lexer_.is("[")) attrs["index"].ints = attributes_.list();
  if (parenthesized) lexer_.expect(")");
  if (generic && lexer_.take_if("<")) {
    lexer_.expect("{");
    attrs = attributes_.dictionary("}");
    lexer_.expect(">");
  }
  if (lexer_.take_if("{"))
    for (auto& [name, attr] : attributes_.dictionary("}")) attrs[name] = std::move(attr);
  lexer_.expect(":");
  attributes_.skip_type();
  while (lexer_.take_if(",")) attributes_.skip_type();
  if (lexer_.take_if("->")) attributes_.skip_type();
  location(begin);
  Bundle result;
  if (is_element) {
    const MlirAttr& given = attrs["index"];
    int64_t index = given.integer ? *given.integer : given.ints && given.ints->size() == 1 ? (*given.ints)[0] : -1;
    if (operands.size() != 1 || operands[0].value || index < 0 ||
        index >= static_cast<int64_t>(operands[0].parts.size()))
      lexer_.fail_at(begin, "tuple_index", cat(op, " needs a tuple and the index of one of its elements, got ", index));
    result = operands[0].parts[static_cast<size_t>(index)];
  } else if (!is_token) {
    result.parts = std::move(operands);
  }
  if (names.size() != 1) lexer_.fail_at(begin, "results", cat(op, " has 1 result, the text names ", names.size()));
  define(scope, names[0], std::move(result), begin);
  return true;
}

}  // namespace weft
