// Building text: cat() appends anything that has an append_text overload.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/core/api.h"

namespace weft WEFT_API {

// Calls, not their bodies, stand in each message that is built.
void append_text(std::string& out, std::string_view text);
inline void append_text(std::string& out, const char* text) { append_text(out, std::string_view(text)); }
inline void append_text(std::string& out, const std::string& text) { append_text(out, std::string_view(text)); }
inline void append_text(std::string& out, char c) { append_text(out, std::string_view(&c, 1)); }
inline void append_text(std::string& out, bool value) { append_text(out, std::string_view(value ? "true" : "false")); }
void append_signed(std::string& out, int64_t value);
void append_unsigned(std::string& out, uint64_t value);
template <std::integral T>
void append_text(std::string& out, T value) {
  if constexpr (std::signed_integral<T>)
    append_signed(out, value);
  else
    append_unsigned(out, value);
}
// Shortest text that reads back as the same value; inf and nan by name.
void append_text(std::string& out, double value);
void append_text(std::string& out, float value);
template <class T>
void append_text(std::string& out, const std::vector<T>& values);

template <class T>
  requires requires(const T& value) { value.text(); }
void append_text(std::string& out, const T& value) {
  out += value.text();
}

template <class T>
void append_text(std::string& out, const std::vector<T>& values) {
  out += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out += ", ";
    append_text(out, values[i]);
  }
  out += ']';
}

template <class... Parts>
void append(std::string& out, const Parts&... parts) {
  (append_text(out, parts), ...);
}

template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  append(out, parts...);
  return out;
}

}  // namespace weft
