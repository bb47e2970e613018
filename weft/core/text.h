// Building text: cat() appends anything that has an append_text overload.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/core/api.h"

namespace weft WEFT_API {

inline void append_text(std::string& out, std::string_view text) { out += text; }
inline void append_text(std::string& out, const char* text) { out += text; }
inline void append_text(std::string& out, const std::string& text) { out += text; }
inline void append_text(std::string& out, char c) { out += c; }
inline void append_text(std::string& out, bool value) { out += value ? "true" : "false"; }
template <std::integral T>
void append_text(std::string& out, T value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
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
