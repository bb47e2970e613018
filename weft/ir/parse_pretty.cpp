// StableHLO text in: the forms that ops have besides the generic one.
#include <algorithm>

#include "weft/ir/parse_legacy.h"
#include "weft/ir/parse_quantized.h"
#include "weft/ir/parser.h"

namespace weft {

void Parser::pretty_call(ParsedCall& call, Scope& scope) {
  if (call.name == "chlo.scan") return scan_form(call, scope);
  if (!call.op) return plain_form(call, scope);
  switch (*call.op) {
    case Op::constant:
      if (lexer_.is("(")) return generic_call(call, scope);
      if (lexer_.take_if("{")) call.attrs = attributes_.dictionary("}");
      call.attrs["value"] = attributes_.attribute();
      return;
    case Op::reduce:
      return reduce_form(call, scope);
    case Op::while_:
      return while_form(call, scope);
    case Op::convolution:
      return convolution_form(call, scope);
    case Op::call:
    case Op::custom_call:
    case Op::composite:
      return call_form(call, scope);
    case Op::top_k:
      return top_k_form(call, scope);
    default:
      return plain_form(call, scope);
  }
}

// name %a, %b, key = [1], … {…} : types. Clauses that have no "=" are read by the op's own form.
void Parser::plain_form(ParsedCall& call, Scope& scope) {
  bool compares = call.op == Op::compare || call.name == "chlo.broadcast_compare";
  if (compares && lexer_.peek().kind == TokenKind::word) {
    call.attrs["comparison_direction"].text = lexer_.take().text;
    lexer_.expect(",");
  }
  bool parenthesized = lexer_.take_if("(");
  bool clause = lexer_.peek().kind == TokenKind::word;
  while (!clause && lexer_.peek().kind == TokenKind::value) {
    append_leaves(bundle(scope), call.operands);
    if (call.op == Op::slice) {
      // The ranges stand right after the operand.
      slice_ranges(call);
      break;
    }
    if (call.name == "stablehlo.get_tuple_element" && lexer_.is("[")) call.attrs["index"].ints = attributes_.list();
    if (call.name.starts_with("check.") && lexer_.take_if(",")) {
      if (lexer_.is("dense")) {
        // The type of the constant is the last thing.
        call.attrs["value"] = attributes_.attribute();
        return;
      }
      clause = lexer_.peek().kind == TokenKind::word;
      continue;
    }
    if (call.name == "sdy.sharding_constraint" && lexer_.take_if("<"))
      call.attrs["sharding"].source = cat("<", until_closed(), ">");
    if (!lexer_.take_if(",")) break;
    clause = lexer_.peek().kind == TokenKind::word;
  }
  if (parenthesized) lexer_.expect(")");
  attribute_clauses(call);
  bool expects = call.name.starts_with("check.");
  if (!expects || lexer_.is(":")) call_types(call);
  if (expects) call.results.clear();
}

void Parser::attribute_clauses(ParsedCall& call) {
  while (lexer_.peek().kind == TokenKind::word) {
    std::string key = lexer_.take().text;
    if (!lexer_.take_if("=")) {
      call.attrs["compare_type"].text = key;
    } else {
      call.attrs[key] = lexer_.peek().kind == TokenKind::number ? attributes_.number(false) : attributes_.field();
      if (lexer_.take_if("x")) call.attrs[key + ".rhs"] = attributes_.field();
    }
    if (!lexer_.take_if(",")) break;
  }
  if (lexer_.take_if("{"))
    for (auto& [name, attr] : attributes_.dictionary("}")) call.attrs[name] = std::move(attr);
}

// (t, t) -> t; or one type for all; or a type for each operand (select, complex), where the result is inferred.
void Parser::call_types(ParsedCall& call) {
  lexer_.expect(":");
  if (lexer_.is("(")) {
    call.set_results(attributes_.signature(symbols_));
    return;
  }
  std::vector<Type> types;
  do {
    call.trees.push_back(attributes_.type_tree(symbols_));
    append_tensors(call.trees.back(), types);
  } while (lexer_.take_if(","));
  if (types.size() == call.trees.size() || lexer_.is("->")) call.trees.clear();
  if (lexer_.take_if("->")) {
    call.results = {attributes_.type(symbols_)};
  } else if (types.size() == 1 && call.op != Op::select) {
    call.results = types;
  } else if (call.op == Op::optimization_barrier) {
    call.results = types;
  }
}

void Parser::slice_ranges(ParsedCall& call) {
  Ints start, limit, strides;
  lexer_.expect("[");
  while (!lexer_.is("]")) {
    start.push_back(attributes_.integer());
    lexer_.expect(":");
    limit.push_back(attributes_.integer());
    strides.push_back(lexer_.take_if(":") ? attributes_.integer() : 1);
    if (!lexer_.take_if(",")) break;
  }
  lexer_.expect("]");
  call.attrs["start_indices"].ints = start;
  call.attrs["limit_indices"].ints = limit;
  call.attrs["strides"].ints = strides;
}

// while(%iterArg = %x, …) : t, … attributes {…} cond {…} do {…}
void Parser::while_form(ParsedCall& call, Scope& scope) {
  std::vector<std::pair<std::string, Type>> carried;
  std::vector<std::string> tokens;
  lexer_.expect("(");
  while (!lexer_.is(")")) {
    if (lexer_.peek().kind != TokenKind::value) lexer_.reject("the name of a carried value");
    std::string name = lexer_.take().text;
    lexer_.expect("=");
    Bundle initial = bundle(scope);
    append_leaves(initial, call.operands);
    if (initial.value)
      carried.emplace_back(name, initial.value.type());
    else if (initial.parts.empty())
      tokens.push_back(name);
    else
      lexer_.reject("tensors and tokens");
    if (!lexer_.take_if(",")) break;
  }
  lexer_.expect(")");
  if (lexer_.take_if(":")) do {
      call.trees.push_back(attributes_.type_tree(symbols_));
      append_tensors(call.trees.back(), call.results);
    } while (lexer_.take_if(","));
  if (lexer_.take_if("attributes")) {
    lexer_.expect("{");
    attributes_.dictionary("}");
  }
  lexer_.expect("cond");
  call.regions.push_back(region_with(scope, carried, tokens));
  lexer_.expect("do");
  call.regions.push_back(region_with(scope, carried, tokens));
}

// (%x init: %c), … applies stablehlo.add across dimensions = [1] : (…) -> …
// (%x init: %c), … across dimensions = [1] : (…) -> … reducer(%a: t, %b: t) … {…}
void Parser::reduce_form(ParsedCall& call, Scope& scope) {
  std::vector<Value> inits;
  do {
    lexer_.expect("(");
    call.operands.push_back(value(scope));
    lexer_.expect("init");
    lexer_.expect(":");
    inits.push_back(value(scope));
    lexer_.expect(")");
  } while (lexer_.take_if(","));
  call.operands.insert(call.operands.end(), inits.begin(), inits.end());
  std::optional<Op> op;
  if (lexer_.take_if("applies")) {
    op = op_of(lexer_.take().text);
    if (!op || family(*op) != Family::binary) lexer_.reject("an operation of two operands");
  }
  lexer_.expect("across");
  lexer_.expect("dimensions");
  lexer_.expect("=");
  call.attrs["dimensions"] = attributes_.field();
  if (lexer_.take_if("{"))
    for (auto& [name, attr] : attributes_.dictionary("}")) call.attrs[name] = std::move(attr);
  lexer_.expect(":");
  call.set_results(attributes_.signature(symbols_));
  if (op) {
    call.regions.push_back({applied_body(*op, call.operands[0].type()), 2, {}});
    return;
  }
  lexer_.expect("reducer");
  std::vector<std::pair<std::string, Type>> left, right;
  while (lexer_.take_if("(")) {
    for (auto* side : {&left, &right}) {
      if (lexer_.peek().kind != TokenKind::value) lexer_.reject("a parameter");
      std::string name = lexer_.take().text;
      lexer_.expect(":");
      side->emplace_back(name, attributes_.type(symbols_));
      if (lexer_.is("loc")) location(lexer_.peek().begin);
      if (side == &left) lexer_.expect(",");
    }
    lexer_.expect(")");
  }
  left.insert(left.end(), right.begin(), right.end());
  call.regions.push_back(region_with(scope, left));
}

// {stride = [1], pad = [[0, 0]], …}
MlirAttr Parser::window() {
  MlirAttr attr;
  lexer_.expect("{");
  while (!lexer_.is("}")) {
    std::string key = lexer_.take().text;
    lexer_.expect("=");
    attr.fields[key] = attributes_.field();
    if (!lexer_.take_if(",")) break;
  }
  lexer_.expect("}");
  return attr;
}

// (%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], …} {…} : (…) -> …
void Parser::convolution_form(ParsedCall& call, Scope& scope) {
  lexer_.expect("(");
  call.operands = values(scope);
  lexer_.expect(")");
  lexer_.expect("dim_numbers");
  lexer_.expect("=");
  call.attrs["dimension_numbers"] = attributes_.convolution_dimensions();
  while (lexer_.take_if(",")) {
    std::string key = lexer_.take().text;
    lexer_.expect("=");
    call.attrs[key] = key == "window" ? window() : attributes_.field();
  }
  if (lexer_.take_if("{"))
    for (auto& [name, attr] : attributes_.dictionary("}")) call.attrs[name] = std::move(attr);
  call_types(call);
}

// call @f(%x) : (…) -> …; custom_call @target(%x) {…} : …; composite "name" %x {…} : …
void Parser::call_form(ParsedCall& call, Scope& scope) {
  bool is_composite = call.op == Op::composite;
  if (lexer_.peek().kind != (is_composite ? TokenKind::text : TokenKind::symbol))
    lexer_.reject("the name of what is called");
  std::string target = lexer_.take().text;
  if (!is_composite) target = target.substr(1);
  bool parenthesized = lexer_.take_if("(");
  call.operands = values(scope);
  if (parenthesized) lexer_.expect(")");
  if (lexer_.take_if("{"))
    for (auto& [name, attr] : attributes_.dictionary("}")) call.attrs[name] = std::move(attr);
  lexer_.expect(":");
  call.set_results(attributes_.signature(symbols_));
  call.attrs[call.op == Op::custom_call ? "call_target_name" : "name"].text = target;
  called_computations(call);
  if (call.op == Op::call) call.regions.push_back({function_named(target, call.begin), 0, {}});
  if (is_composite) {
    auto named = call.attrs.find("decomposition");
    if (named == call.attrs.end() || !named->second.text) lexer_.reject("the attribute 'decomposition'");
    call.regions.push_back({function_named(*named->second.text, call.begin), 0, {}});
  }
}

// (%x, k = 2) : t -> (t, t)
void Parser::top_k_form(ParsedCall& call, Scope& scope) {
  lexer_.expect("(");
  call.operands.push_back(value(scope));
  lexer_.expect(",");
  attribute_clauses(call);
  lexer_.expect(")");
  lexer_.expect(":");
  attributes_.type(symbols_);
  lexer_.expect("->");
  lexer_.expect("(");
  do call.results.push_back(attributes_.type(symbols_));
  while (lexer_.take_if(","));
  lexer_.expect(")");
}

}  // namespace weft
