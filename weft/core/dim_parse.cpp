// Reading extents back from text.
#include <algorithm>
#include <string_view>

#include "weft/core/dim.h"
#include "weft/core/error.h"
#include "weft/core/symbol_name.h"

namespace weft {
namespace {

using Symbols = std::map<std::string, Symbol, std::less<>>;

constexpr int max_depth = 64;
constexpr size_t longest_name = 120;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.'; }

class Parser {
 public:
  Parser(std::string_view text, const Symbols& symbols) : text_(text), symbols_(symbols) {}

  Dim whole() {
    Dim dim = sum(0);
    skip_spaces();
    if (at_ < text_.size()) reject("an operator");
    return dim;
  }

 private:
  Dim sum(int depth) {
    if (depth > max_depth) reject("fewer parentheses");
    bool negative = take('-');
    Dim total = product(depth);
    if (negative) total = total * Dim(-1);
    for (;;) {
      if (take('+'))
        total = total + product(depth);
      else if (take('-'))
        total = total - product(depth);
      else
        return total;
    }
  }

  Dim product(int depth) {
    Dim total = factor(depth);
    while (take('*')) total = total * factor(depth);
    return total;
  }

  Dim factor(int depth) {
    skip_spaces();
    if (at_ < text_.size() && is_digit(text_[at_])) return number();
    size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) reject("a number or name");
    if (!take('(')) return symbol(word);
    Dim lhs = sum(depth + 1);
    if (!take(',')) reject("','");
    Dim rhs = sum(depth + 1);
    if (!take(')')) reject("')'");
    if (word == "floordiv") return floordiv(lhs, rhs);
    if (word == "mod") return mod(lhs, rhs);
    if (word == "min") return min(lhs, rhs);
    if (word == "max") return max(lhs, rhs);
    reject("floordiv, mod, min or max");
  }

  Dim number() {
    int64_t value = 0;
    while (at_ < text_.size() && is_digit(text_[at_]))
      value = checked_add(checked_multiply(value, 10), text_[at_++] - '0');
    return value;
  }

  Dim symbol(std::string_view word) {
    auto found = symbols_.find(word);
    if (found != symbols_.end()) return Dim(found->second);
    return Dim(Symbol{std::string(word)});
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void reject(std::string_view wanted) {
    fail(ErrorKind::value, "dim_syntax", "extent '", text_, "': ", wanted, " was wanted at character ", at_ + 1);
  }

  std::string_view text_;
  const Symbols& symbols_;
  size_t at_ = 0;
};

}  // namespace

void require_symbol_name(std::string_view name) {
  if (name.empty() || name.size() > longest_name || is_digit(name[0]) || !std::ranges::all_of(name, is_name))
    fail(ErrorKind::value, "dim_name", "the name of a symbolic extent must be letters, digits, '_' and '.', ",
         longest_name, " at most, got '", name, "'");
}

void require_symbol(const Symbol& symbol) {
  require_symbol_name(symbol.name);
  if (symbol.min < 0 || symbol.min > symbol.opt || symbol.opt > symbol.max)
    fail(ErrorKind::value, "dim_range", "extent '", symbol.name, "' must have 0 <= min <= opt <= max, got ", symbol.min,
         ", ", symbol.opt, ", ", symbol.max);
}

Dim parse_dim(std::string_view text, const Symbols& symbols) { return Parser(text, symbols).whole(); }

}  // namespace weft
