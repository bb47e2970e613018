// StableHLO text in: locations and their names.
#include "weft/ir/parser.h"

namespace weft {
namespace {

constexpr int max_callers = 64;

// The same chain with more callers at its end; no more than can be of use.
Location called_from(const Location& inner, const Location& caller, int depth = 0) {
  if (!inner) return caller;
  if (depth == max_callers) return {};
  return Location(inner.file(), inner.line(), inner.function(), called_from(inner.caller(), caller, depth + 1),
                  inner.column());
}

Location named(const Location& loc, const std::string& function) {
  if (!loc.function().empty()) return loc;
  return Location(loc.file(), loc.line(), function, loc.caller(), loc.column());
}

}  // namespace

void Parser::location_alias() {
  size_t begin = lexer_.peek().begin;
  std::string name = lexer_.take().text;
  lexer_.expect("=");
  if (!lexer_.take_if("loc")) lexer_.reject("loc(…)");
  if (!aliases_.emplace(name, LocationAlias{lexer_}).second)
    lexer_.fail_at(begin, "redefinition", cat("the location ", name, " is defined twice"));
  lexer_.expect("(");
  lexer_.skip_to_close("(", ")");
}

Location Parser::location(size_t begin) {
  Location text = lexer_.location(begin);
  if (!lexer_.take_if("loc")) return text;
  lexer_.expect("(");
  Location found = location_in(text, 0);
  lexer_.expect(")");
  return found ? found : text;
}

Location Parser::location_named(const std::string& name, size_t begin, const Location& otherwise, int depth) {
  auto found = aliases_.find(name);
  if (found == aliases_.end()) lexer_.fail_at(begin, "undefined", cat("the location ", name, " is not defined"));
  LocationAlias& alias = found->second;
  if (alias.location) return *alias.location;
  if (alias.is_open) lexer_.fail_at(begin, "recursion", cat("the location ", name, " contains itself"));
  alias.is_open = true;
  Lexer here = std::exchange(lexer_, alias.at);
  lexer_.expect("(");
  alias.location = location_in(otherwise, depth);
  lexer_.expect(")");
  lexer_ = here;
  alias.is_open = false;
  return *alias.location;
}

// "file":1:2, "name"(…), callsite(… at …), fused<…>[…, …], unknown, or a name; nothing where it tells none.
Location Parser::location_in(const Location& otherwise, int depth) {
  if (depth > deepest_nesting) lexer_.reject("less nesting");
  size_t begin = lexer_.peek().begin;
  if (lexer_.peek().kind == TokenKind::hash) {
    std::string name = lexer_.take().text;
    return location_named(name, begin, otherwise, depth + 1);
  }
  if (lexer_.take_if("unknown")) return {};
  if (lexer_.take_if("callsite")) {
    lexer_.expect("(");
    Location inner = location_in(otherwise, depth + 1);
    lexer_.expect("at");
    Location caller = location_in(otherwise, depth + 1);
    lexer_.expect(")");
    return called_from(inner, caller);
  }
  if (lexer_.take_if("fused")) {
    if (lexer_.take_if("<")) lexer_.skip_to_close("<", ">");
    lexer_.expect("[");
    Location first;
    while (!lexer_.is("]")) {
      Location each = location_in(otherwise, depth + 1);
      if (!first) first = each;
      if (!lexer_.take_if(",")) break;
    }
    lexer_.expect("]");
    return first;
  }
  if (lexer_.peek().kind != TokenKind::text) lexer_.reject("a location");
  std::string text = lexer_.take().text;
  if (lexer_.take_if("(")) {
    Location inner = location_in(otherwise, depth + 1);
    lexer_.expect(")");
    return named(inner ? inner : otherwise, text);
  }
  auto number = [&] {
    size_t at = lexer_.peek().begin;
    bool is_negative = lexer_.peek().text.starts_with('-');
    int64_t value = attributes_.integer();
    if (is_negative || value > INT32_MAX)
      lexer_.fail_at(at, "number", cat("a line or column number was wanted, got ", value));
    return static_cast<int>(value);
  };
  if (!lexer_.take_if(":")) return named(otherwise, text);
  int line = number();
  int column = lexer_.take_if(":") ? number() : 0;
  // Where a range ends is not kept.
  if (lexer_.take_if("to")) {
    if (!lexer_.is(":")) number();
    if (lexer_.take_if(":")) number();
  }
  if (line == 0) return {};
  return Location(text, line, {}, {}, column);
}

}  // namespace weft
