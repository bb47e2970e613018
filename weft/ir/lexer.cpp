// Tokens.
#include "weft/ir/lexer.h"

#include <algorithm>

namespace weft {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '$'; }
int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Lexer::Lexer(std::string_view source, std::string_view file) : source_(source), file_(file) {
  auto lines = std::make_shared<std::vector<size_t>>(1, 0);
  for (size_t i = 0; i < source.size(); ++i)
    if (source[i] == '\n') lines->push_back(i + 1);
  lines_ = std::move(lines);
  token_ = next();
}

Location Lexer::location(size_t begin) const {
  begin = std::min(begin, source_.size());
  auto line = std::upper_bound(lines_->begin(), lines_->end(), begin) - lines_->begin();
  auto column = static_cast<int>(begin - (*lines_)[static_cast<size_t>(line - 1)]) + 1;
  return Location(file_, static_cast<int>(line), {}, {}, column);
}

void Lexer::skip_to_close(std::string_view open, std::string_view close) {
  for (int depth = 1; depth > 0;) {
    if (token_.kind == TokenKind::end) reject(cat("'", close, "'"));
    if (is(open)) ++depth;
    if (is(close)) --depth;
    take();
  }
}

void Lexer::fail_at(size_t begin, std::string_view label, const std::string& message) const {
  raise({ErrorKind::value, message, std::string(label), location(begin)});
}

void Lexer::reject(std::string_view wanted) const {
  std::string found =
      token_.kind == TokenKind::end ? std::string("the end of the text") : cat("'", token_.text.substr(0, 40), "'");
  fail_at(token_.begin, "syntax", cat(wanted, " was wanted, got ", found));
}

Token Lexer::take() {
  Token taken = std::move(token_);
  token_ = next();
  return taken;
}

bool Lexer::take_if(std::string_view mark) {
  if (!is(mark)) return false;
  take();
  return true;
}

void Lexer::expect(std::string_view mark) {
  if (!is(mark)) reject(cat("'", mark, "'"));
  take();
}

void Lexer::skip() {
  while (at_ < source_.size()) {
    char c = source_[at_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '/' && at_ + 1 < source_.size() && source_[at_ + 1] == '/') {
      while (at_ < source_.size() && source_[at_] != '\n') ++at_;
    } else {
      return;
    }
  }
}

std::string Lexer::take_shape() {
  // The token read ahead is given back.
  at_ = token_.begin;
  size_t begin = at_;
  int depth = 0;
  while (at_ < source_.size()) {
    char c = source_[at_];
    if (c == '<') ++depth;
    if (c == '>' && depth-- == 0) break;
    if (c == ',' && depth == 0) break;
    ++at_;
  }
  std::string shape(source_.substr(begin, at_ - begin));
  token_ = next();
  return shape;
}

// "…" with escapes, or @"…".
Token Lexer::string_token(Token token) {
  bool is_symbol = source_[at_] == '@';
  token.kind = is_symbol ? TokenKind::symbol : TokenKind::text;
  if (is_symbol) token.text = "@";
  at_ += is_symbol ? 2 : 1;
  for (;;) {
    if (at_ >= source_.size()) fail_at(token.begin, "syntax", "the string has no end");
    char s = source_[at_++];
    if (s == '"') return token;
    if (s != '\\') {
      token.text += s;
      continue;
    }
    if (at_ >= source_.size()) fail_at(token.begin, "syntax", "the string has no end");
    char e = source_[at_++];
    bool is_hex = hex_digit(e) >= 0 && at_ < source_.size() && hex_digit(source_[at_]) >= 0;
    if (e == 'n')
      token.text += '\n';
    else if (e == 't')
      token.text += '\t';
    else if (is_hex)
      token.text += static_cast<char>(hex_digit(e) * 16 + hex_digit(source_[at_++]));
    else
      token.text += e;
  }
}

// A digit, or a minus and one, which need not stand together.
bool Lexer::begins_number() {
  if (is_digit(source_[at_])) return true;
  if (source_[at_] != '-') return false;
  size_t begin = at_++;
  skip();
  bool found = is_digit(char_at(at_));
  at_ = begin;
  return found;
}

// 12, 0x1F, 1.5, 1.e-3; of "0xyz" and "1.5east" what can be a number.
Token Lexer::number_token(Token token) {
  token.kind = TokenKind::number;
  if (source_[at_] == '-') {
    token.text = "-";
    ++at_;
    skip();
  }
  size_t end = at_;
  auto digits = [&](auto accept) {
    while (accept(char_at(end))) ++end;
  };
  if (char_at(end) == '0' && char_at(end + 1) == 'x' && hex_digit(char_at(end + 2)) >= 0) {
    end += 2;
    digits([](char x) { return hex_digit(x) >= 0; });
  } else {
    digits(is_digit);
    if (char_at(end) == '.') {
      ++end;
      digits(is_digit);
      char mark = char_at(end), after = char_at(end + 1);
      bool has_sign = after == '+' || after == '-';
      if ((mark == 'e' || mark == 'E') && is_digit(char_at(has_sign ? end + 2 : end + 1))) {
        end += has_sign ? 2 : 1;
        digits(is_digit);
      }
    }
  }
  token.text += source_.substr(at_, end - at_);
  at_ = end;
  return token;
}

Token Lexer::next() {
  skip();
  Token token;
  token.begin = at_;
  if (at_ >= source_.size()) return token;
  char c = source_[at_];
  auto run = [&](TokenKind kind, size_t start, auto accept) {
    size_t end = start;
    while (end < source_.size() && accept(source_[end])) ++end;
    token.kind = kind;
    token.text = std::string(source_.substr(at_, end - at_));
    at_ = end;
    return token;
  };
  if (is_letter(c)) return run(TokenKind::word, at_, is_name);
  if (c == '%') {
    run(TokenKind::value, at_ + 1, [](char x) { return is_name(x) || x == '#' || x == '-'; });
    // Of "%0#01" what follows the mark is a number.
    if (size_t mark = token.text.find('#'); mark != std::string::npos)
      while (mark + 2 < token.text.size() && token.text[mark + 1] == '0') token.text.erase(mark + 1, 1);
    return token;
  }
  if (c == '^') return run(TokenKind::block, at_ + 1, is_name);
  if (c == '#') return run(TokenKind::hash, at_ + 1, is_name);
  if (c == '!') return run(TokenKind::bang, at_ + 1, is_name);
  if (c == '@' && at_ + 1 < source_.size() && source_[at_ + 1] != '"') return run(TokenKind::symbol, at_ + 1, is_name);
  if (begins_number()) return number_token(std::move(token));
  if (c == '"' || c == '@') return string_token(std::move(token));
  token.kind = TokenKind::mark;
  token.text = c == '-' && at_ + 1 < source_.size() && source_[at_ + 1] == '>' ? "->" : std::string(1, c);
  at_ += token.text.size();
  return token;
}

}  // namespace weft
