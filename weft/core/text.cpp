// Numbers as text.
#include "weft/core/text.h"

#include <cmath>

namespace weft {
namespace {

template <class T>
void append_float(std::string& out, T value) {
  if (std::isnan(value)) return append_text(out, "nan");
  if (std::isinf(value)) return append_text(out, value > 0 ? "inf" : "-inf");
  char buffer[40];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

}  // namespace

void append_text(std::string& out, double value) { append_float(out, value); }
void append_text(std::string& out, float value) { append_float(out, value); }

}  // namespace weft
