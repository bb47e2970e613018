// Tokens of MLIR text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/core/error.h"

namespace weft {

// How deep lists, types and locations may lie in each other.
inline constexpr int deepest_nesting = 100;

enum class TokenKind : uint8_t {
  end,
  word,    // bare identifiers and keywords: func.func, stablehlo.add, tensor, true, x
  value,   // %0, %arg1, %0#1
  symbol,  // @main
  block,   // ^bb0
  hash,    // #stablehlo.dot, #loc1
  bang,    // !type
  number,  // 12, -3 (also of "- 3"), 1.5e+00, 0x7F
  text,    // "…", without quotes and escapes
  mark,    // one of ( ) { } < > [ ] , = : ? * + - / and "->"
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  size_t begin = 0;
};

// Reads tokens one after the other; one may be looked at ahead.
class Lexer {
 public:
  Lexer(std::string_view source, std::string_view file);

  const Token& peek() const { return token_; }
  Token take();
  bool is(std::string_view mark) const {
    return (token_.kind == TokenKind::mark || token_.kind == TokenKind::word) && token_.text == mark;
  }
  bool take_if(std::string_view mark);
  void expect(std::string_view mark);
  // Dims of a tensor type are lexed apart: "2x3xf32" is one word to everybody else. Reads up to ',' or '>'.
  std::string take_shape();
  // Error(value) at the present token: what was wanted, and what stands there.
  [[noreturn]] void reject(std::string_view wanted) const;
  [[noreturn]] void fail_at(size_t begin, std::string_view label, const std::string& message) const;
  Location location(size_t begin) const;
  // The text from one offset up to another.
  std::string source(size_t begin, size_t end) const { return std::string(source_.substr(begin, end - begin)); }
  // Takes everything up to the mark that closes the one taken last: opaque attributes of other dialects.
  void skip_to_close(std::string_view open, std::string_view close);
  std::string_view file() const { return file_; }

 private:
  Token next();
  Token string_token(Token token);
  bool begins_number();
  Token number_token(Token token);
  char char_at(size_t at) const { return at < source_.size() ? source_[at] : '\0'; }
  void skip();
  std::string_view source_;
  std::string file_;
  std::shared_ptr<const std::vector<size_t>> lines_;  // where each line begins
  size_t at_ = 0;
  Token token_;
};

}  // namespace weft
