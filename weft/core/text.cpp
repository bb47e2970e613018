// Numbers as text.
#include "weft/core/text.h"

#include <charconv>
#include <cmath>

namespace weft {
namespace {

template <class T>
void append_number(std::string& out, T value) {
  char buffer[40];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

template <class T>
void append_float(std::string& out, T value) {
  if (std::isnan(value)) return append_text(out, "nan");
  if (std::isinf(value)) return append_text(out, value > 0 ? "inf" : "-inf");
  append_number(out, value);
}

}  // namespace

void append_text(std::string& out, std::string_view text) { out += text; }
void append_signed(std::string& out, int64_t value) { append_number(out, value); }
void append_unsigned(std::string& out, uint64_t value) { append_number(out, value); }
void append_text(std::string& out, double value) { append_float(out, value); }
void append_text(std::string& out, float value) { append_float(out, value); }

}  // namespace weft
