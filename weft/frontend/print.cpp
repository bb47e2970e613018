// Elements of tensors as text.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

#include "weft/frontend/record.h"

namespace weft {
namespace {

constexpr int64_t most_elements = 1000, edge = 3;

std::string real_text(double value, bool wide) {
  if (std::isnan(value)) return "nan";
  char buffer[32];
  int size = std::snprintf(buffer, sizeof buffer, wide ? "%.8g" : "%.7g", value);
  std::string text(buffer, static_cast<size_t>(size));
  return text.find_first_of(".einf") == text.npos ? text + "." : text;
}

std::string element_text(const Literal& literal, int64_t at) {
  DType dtype = literal.dtype();
  bool wide = bit_width(real_type(dtype)) == 64;
  if (is_bool(dtype)) return literal.as_int(at) ? "true" : "false";
  if (is_unsigned(dtype)) return cat(static_cast<uint64_t>(literal.as_int(at)));
  if (is_integer(dtype)) return cat(literal.as_int(at));
  if (!is_complex(dtype)) return real_text(literal.as_double(at), wide);
  std::complex<double> value = literal.as_complex(at);
  return cat(real_text(value.real(), wide), std::signbit(value.imag()) && !std::isnan(value.imag()) ? "" : "+",
             real_text(value.imag(), wide), "j");
}

// Rows in brackets, elements as wide as the widest; of long axes the first and last few.
struct Rows {
  const Literal& literal;
  Ints dims, strides;
  bool cut;
  size_t width = 0;
  std::string text = {};

  // Calls visit(place, whether elements are left out before it) along an axis.
  template <class Visit>
  void along(size_t axis, const Visit& visit) const {
    bool gap = cut && dims[axis] > 2 * edge;
    for (int64_t i = 0; i < dims[axis]; ++i) {
      if (gap && i == edge) i = dims[axis] - edge;
      visit(i, gap && i == dims[axis] - edge);
    }
  }

  void measure(size_t axis, int64_t at) {
    if (axis == dims.size())
      width = std::max(width, element_text(literal, at).size());
    else
      along(axis, [&](int64_t i, bool) { measure(axis + 1, at + i * strides[axis]); });
  }

  void write(size_t axis, int64_t at) {
    if (axis == dims.size()) {
      std::string element = element_text(literal, at);
      text.append(width - element.size(), ' ');
      text += element;
      return;
    }
    size_t below = dims.size() - axis - 1;
    std::string between = below ? std::string(below, '\n') + std::string(axis + 1, ' ') : " ";
    text += '[';
    along(axis, [&](int64_t i, bool gap) {
      if (gap) append(text, between, "...");
      if (i > 0) text += between;
      write(axis + 1, at + i * strides[axis]);
    });
    text += ']';
  }
};

}  // namespace

std::string Tensor::text() const {
  const Buffer& value = eval();
  Literal literal(type(), value.data(), nullptr);
  Rows rows{literal, value.dims(), row_major_strides(value.dims()), value.count() > most_elements};
  rows.measure(0, 0);
  rows.write(0, 0);
  return std::move(rows.text);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.text(); }
void print(const Tensor& tensor) { std::puts(tensor.text().c_str()); }

}  // namespace weft
