// Constants as text.
#include "weft/ir/dense.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace weft {
namespace {

constexpr int64_t most_listed = 256;

void append_hex(std::string& out, uint64_t bits, int digits) {
  out += "0x";
  for (int i = digits - 1; i >= 0; --i) out += "0123456789ABCDEF"[(bits >> (4 * i)) & 15];
}

// MLIR wants a point in every decimal; what has no decimal is written as its bits.
void append_float(std::string& out, const std::byte* at, double value, DType dtype) {
  if (!std::isfinite(value)) {
    // As they lie there: a NaN keeps what it carries.
    uint64_t bits = 0;
    std::memcpy(&bits, at, static_cast<size_t>(size_of(dtype)));
    return append_hex(out, bits, static_cast<int>(size_of(dtype)) * 2);
  }
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string text(buffer, end);
  if (text.find('.') == std::string::npos) text.insert(text.find('e'), ".0");
  out += text;
}

void append_element(std::string& out, const Literal& literal, int64_t i) {
  DType dtype = literal.dtype();
  const std::byte* at = literal.bytes().data() + i * size_of(dtype);
  if (is_bool(dtype)) {
    out += literal.as_int(i) ? "true" : "false";
  } else if (is_unsigned(dtype)) {
    append(out, static_cast<uint64_t>(literal.as_int(i)));
  } else if (is_integer(dtype)) {
    append(out, literal.as_int(i));
  } else if (is_complex(dtype)) {
    out += '(';
    DType real = real_type(dtype);
    append_float(out, at, literal.as_complex(i).real(), real);
    out += ", ";
    append_float(out, at + size_of(real), literal.as_complex(i).imag(), real);
    out += ')';
  } else {
    append_float(out, at, literal.as_double(i), dtype);
  }
}

void append_nested(std::string& out, const Literal& literal, const Ints& dims, size_t axis, int64_t& at) {
  if (axis == dims.size()) return append_element(out, literal, at++);
  out += '[';
  for (int64_t i = 0; i < dims[axis]; ++i) {
    if (i) out += ", ";
    append_nested(out, literal, dims, axis + 1, at);
  }
  out += ']';
}

}  // namespace

std::string decimal_text(double value) {
  std::string out;
  append_element(out, Literal::scalar(DType::f64, value), 0);
  return out;
}

std::string dense_text(const Literal& literal) {
  std::string out = "dense<";
  if (literal.count() == 0) return out + ">";
  if (literal.is_splat()) {
    append_element(out, literal, 0);
  } else if (literal.count() > most_listed && bit_width(literal.dtype()) >= 8) {
    out += "\"0x";
    for (std::byte byte : literal.bytes()) {
      out += "0123456789ABCDEF"[static_cast<unsigned>(byte) >> 4];
      out += "0123456789ABCDEF"[static_cast<unsigned>(byte) & 15];
    }
    out += '"';
  } else {
    int64_t at = 0;
    append_nested(out, literal, literal.type().static_dims(), 0, at);
  }
  return out + ">";
}

}  // namespace weft
