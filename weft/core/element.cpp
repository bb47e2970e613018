// Elements: memory, conversion, integer and boolean operations.
#include "weft/core/element.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "weft/core/element_float.h"
#include "weft/core/error.h"
#include "weft/core/half.h"

namespace weft {
namespace {

int64_t wrap(DType dtype, int64_t value) {
  int bits = bit_width(dtype);
  if (is_bool(dtype)) return value & 1;
  if (bits >= 64) return value;
  uint64_t masked = static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
  if (is_unsigned(dtype) || !(masked >> (bits - 1))) return static_cast<int64_t>(masked);
  return static_cast<int64_t>(masked | ~((uint64_t{1} << bits) - 1));
}

template <class T>
T read(const std::byte* memory) {
  T value;
  std::memcpy(&value, memory, sizeof value);
  return value;
}

template <class T>
void write(std::byte* memory, T value) {
  std::memcpy(memory, &value, sizeof value);
}

double round_to(DType dtype, double value) {
  if (dtype == DType::f64 || dtype == DType::c128) return value;
  if (dtype == DType::f32 || dtype == DType::c64) return static_cast<float>(value);
  return small_to_float(double_to_small(value, dtype), dtype);
}

int64_t saturate(DType dtype, double value) {
  if (std::isnan(value)) return 0;
  int bits = bit_width(dtype);
  if (is_unsigned(dtype)) {
    if (value <= 0) return 0;
    if (value >= std::ldexp(1.0, bits)) return bits == 64 ? -1 : (int64_t{1} << bits) - 1;
    return static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  double limit = std::ldexp(1.0, bits - 1);
  if (value >= limit) return static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  if (value < -limit) return static_cast<int64_t>(~uint64_t{0} << (bits - 1));
  return static_cast<int64_t>(value);
}

double as_double(const Element& e) {
  if (is_unsigned(e.dtype)) return static_cast<double>(e.u());
  return static_cast<double>(e.i);
}

int64_t integer_power(int64_t base, int64_t exponent, bool exponent_negative) {
  if (exponent_negative) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  uint64_t result = 1, b = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e; e >>= 1, b *= b)
    if (e & 1) result *= b;
  return static_cast<int64_t>(result);
}

int64_t greatest_divisor(const Element& a, const Element& b) {
  auto magnitude = [](const Element& e) { return is_signed(e.dtype) && e.i < 0 ? 0 - e.u() : e.u(); };
  return static_cast<int64_t>(std::gcd(magnitude(a), magnitude(b)));
}

int64_t divide(const Element& a, const Element& b) {
  if (b.i == 0) return -1;
  if (is_unsigned(a.dtype)) return static_cast<int64_t>(a.u() / b.u());
  return b.i == -1 ? static_cast<int64_t>(0 - a.u()) : a.i / b.i;
}

int64_t remainder(const Element& a, const Element& b) {
  if (b.i == 0) return a.i;
  if (is_unsigned(a.dtype)) return static_cast<int64_t>(a.u() % b.u());
  return b.i == -1 ? 0 : a.i % b.i;
}

bool less(const Element& a, const Element& b) { return is_signed(a.dtype) ? a.i < b.i : a.u() < b.u(); }

int64_t shift(Scalar op, const Element& a, const Element& b) {
  int bits = bit_width(a.dtype);
  bool past = b.u() >= static_cast<uint64_t>(bits);
  uint64_t low = bits == 64 ? a.u() : a.u() & ((uint64_t{1} << bits) - 1);
  switch (op) {
    case Scalar::shift_left:
      return past ? 0 : static_cast<int64_t>(low << b.i);
    case Scalar::shift_right_logical:
      return past ? 0 : static_cast<int64_t>(low >> b.i);
    default: {
      int64_t sign_extended = static_cast<int64_t>(low << (64 - bits)) >> (64 - bits);
      return sign_extended >> (past ? 63 : b.i);
    }
  }
}

int64_t unary_int(Scalar op, const Element& a) {
  int bits = bit_width(a.dtype);
  uint64_t low = bits == 64 ? a.u() : a.u() & ((uint64_t{1} << bits) - 1);
  switch (op) {
    case Scalar::abs:
      return is_signed(a.dtype) && a.i < 0 ? static_cast<int64_t>(0 - a.u()) : a.i;
    case Scalar::negate:
      return static_cast<int64_t>(0 - a.u());
    case Scalar::bit_not:
      return ~a.i;
    case Scalar::popcount:
      return std::popcount(low);
    case Scalar::count_leading_zeros:
      return std::countl_zero(low) - (64 - bits);
    case Scalar::sign:
      return a.i == 0 ? 0 : is_signed(a.dtype) && a.i < 0 ? -1 : 1;
    case Scalar::real:
      return a.i;
    case Scalar::imag:
      return 0;
    default:
      fail(ErrorKind::unsupported, "scalar", name(op), " has no meaning for ", name(a.dtype));
  }
}

int64_t binary_int(Scalar op, const Element& a, const Element& b) {
  switch (op) {
    case Scalar::add:
      return is_bool(a.dtype) ? a.i | b.i : static_cast<int64_t>(a.u() + b.u());
    case Scalar::subtract:
      return static_cast<int64_t>(a.u() - b.u());
    case Scalar::multiply:
      return static_cast<int64_t>(a.u() * b.u());
    case Scalar::divide:
      return divide(a, b);
    case Scalar::remainder:
      return remainder(a, b);
    case Scalar::power:
      return integer_power(a.i, b.i, is_signed(b.dtype) && b.i < 0);
    case Scalar::gcd:
      return greatest_divisor(a, b);
    case Scalar::maximum:
      return less(a, b) ? b.i : a.i;
    case Scalar::minimum:
      return less(b, a) ? b.i : a.i;
    case Scalar::bit_and:
      return a.i & b.i;
    case Scalar::bit_or:
      return a.i | b.i;
    case Scalar::bit_xor:
      return a.i ^ b.i;
    case Scalar::shift_left:
    case Scalar::shift_right_arithmetic:
    case Scalar::shift_right_logical:
      return shift(op, a, b);
    default:
      fail(ErrorKind::unsupported, "scalar", name(op), " has no meaning for ", name(a.dtype));
  }
}

bool compare(Scalar op, const Element& a, const Element& b) {
  if (is_complex(a.dtype)) return op == Scalar::eq ? a.c == b.c : a.c != b.c;
  if (is_float(a.dtype)) {
    double x = a.real(), y = b.real();
    switch (op) {
      case Scalar::eq:
        return x == y;
      case Scalar::ne:
        return x != y;
      case Scalar::lt:
        return x < y;
      case Scalar::le:
        return x <= y;
      case Scalar::gt:
        return x > y;
      default:
        return x >= y;
    }
  }
  switch (op) {
    case Scalar::eq:
      return a.i == b.i;
    case Scalar::ne:
      return a.i != b.i;
    case Scalar::lt:
      return less(a, b);
    case Scalar::le:
      return !less(b, a);
    case Scalar::gt:
      return less(b, a);
    default:
      return !less(a, b);
  }
}

}  // namespace

Element Element::of_int(DType dtype, int64_t value) { return {dtype, wrap(dtype, value), {}}; }
Element Element::of_double(DType dtype, double value) { return {dtype, 0, {round_to(dtype, value), 0}}; }
Element Element::of_complex(DType dtype, std::complex<double> value) {
  return {dtype, 0, {round_to(dtype, value.real()), round_to(dtype, value.imag())}};
}

Element load(const std::byte* memory, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return {dtype, 0, {read<float>(memory), 0}};
    case DType::f64:
      return {dtype, 0, {read<double>(memory), 0}};
    case DType::c64:
      return {dtype, 0, {read<float>(memory), read<float>(memory + 4)}};
    case DType::c128:
      return {dtype, 0, {read<double>(memory), read<double>(memory + 8)}};
    case DType::bf16:
      return {dtype, 0, {bf16_to_float(read<uint16_t>(memory)), 0}};
    case DType::f16:
      return {dtype, 0, {small_to_float(read<uint16_t>(memory), dtype), 0}};
    case DType::boolean:
      return {dtype, read<uint8_t>(memory) != 0, {}};
    default:
      break;
  }
  if (is_float(dtype)) return {dtype, 0, {small_to_float(read<uint8_t>(memory), dtype), 0}};
  switch (size_of(dtype)) {
    case 1:
      return Element::of_int(dtype, read<int8_t>(memory));
    case 2:
      return Element::of_int(dtype, read<int16_t>(memory));
    case 4:
      return Element::of_int(dtype, read<int32_t>(memory));
    default:
      return Element::of_int(dtype, read<int64_t>(memory));
  }
}

void store(std::byte* memory, const Element& e) {
  switch (e.dtype) {
    case DType::f32:
      return write(memory, static_cast<float>(e.real()));
    case DType::f64:
      return write(memory, e.real());
    case DType::c64:
      return write(memory, std::complex<float>(e.c));
    case DType::c128:
      return write(memory, e.c);
    case DType::bf16:
      return write(memory, float_to_bf16(static_cast<float>(e.real())));
    case DType::f16:
      return write(memory, static_cast<uint16_t>(double_to_small(e.real(), e.dtype)));
    default:
      break;
  }
  if (is_float(e.dtype)) return write(memory, static_cast<uint8_t>(double_to_small(e.real(), e.dtype)));
  switch (size_of(e.dtype)) {
    case 1:
      return write(memory, static_cast<int8_t>(e.i));
    case 2:
      return write(memory, static_cast<int16_t>(e.i));
    case 4:
      return write(memory, static_cast<int32_t>(e.i));
    default:
      return write(memory, e.i);
  }
}

Element convert(const Element& e, DType dtype) {
  bool from_float = is_float(e.dtype) || is_complex(e.dtype), to_float = is_float(dtype) || is_complex(dtype);
  if (is_bool(dtype)) return {dtype, from_float ? e.c != std::complex<double>() : e.i != 0, {}};
  if (!from_float && !to_float) return Element::of_int(dtype, e.i);
  if (!from_float) {
    // One rounding: 64-bit integers do not pass through f64 on their way to f32.
    if (dtype == DType::f32 || dtype == DType::c64)
      return {dtype, 0, {is_unsigned(e.dtype) ? static_cast<float>(e.u()) : static_cast<float>(e.i), 0}};
    return Element::of_double(dtype, as_double(e));
  }
  if (!to_float) return Element::of_int(dtype, saturate(dtype, e.real()));
  if (is_complex(dtype))
    return Element::of_complex(dtype, is_complex(e.dtype) ? e.c : std::complex<double>(e.real(), 0));
  return Element::of_double(dtype, e.real());
}

Element bitcast(const Element& e, DType dtype) {
  alignas(16) std::byte memory[16];
  store(memory, e);
  return load(memory, dtype);
}

Element apply(Scalar op, DType result, const Element* operands) {
  const Element& a = operands[0];
  if (op == Scalar::convert) return convert(a, result);
  if (op == Scalar::bitcast) return bitcast(a, result);
  if (op == Scalar::select) return a.i ? operands[1] : operands[2];
  if (is_comparison(op)) return {DType::boolean, compare(op, a, operands[1]), {}};
  if (op == Scalar::clamp) {
    Element raised[2] = {operands[1], operands[0]};
    Element lowered[2] = {apply(Scalar::maximum, a.dtype, raised), operands[2]};
    return apply(Scalar::minimum, a.dtype, lowered);
  }
  if (is_float(a.dtype) || is_complex(a.dtype)) return apply_float(op, result, operands);
  if (op == Scalar::is_finite) return {DType::boolean, 1, {}};
  return Element::of_int(a.dtype, arity(op) == 1 ? unary_int(op, a) : binary_int(op, a, operands[1]));
}

}  // namespace weft
