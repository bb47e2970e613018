// Digits and their values.
#include "weft/ir/number_text.h"

#include <bit>
#include <charconv>
#include <limits>

#include "weft/core/half.h"

namespace weft {
namespace {

constexpr int widest_integer = 16777215;  // bits that MLIR allows

struct Magnitude {
  uint64_t value = 0;
  bool negative = false;
};

// Digits are all there is: no plus, no space.
std::optional<uint64_t> digits_of(std::string_view text, int base) {
  uint64_t value = 0;
  auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || at != text.data() + text.size()) return std::nullopt;
  return value;
}

bool take_minus(std::string_view& text) {
  bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  return negative;
}

std::optional<Magnitude> magnitude_of(std::string_view text) {
  Magnitude result;
  result.negative = take_minus(text);
  bool hex = text.starts_with("0x");
  auto value = digits_of(hex ? text.substr(2) : text, hex ? 16 : 10);
  if (!value) return std::nullopt;
  result.value = *value;
  return result;
}

int64_t signed_value(Magnitude number) {
  return static_cast<int64_t>(number.negative ? ~number.value + 1 : number.value);
}

// Of a decimal that no double is near to: whether it is larger than all.
bool is_large(std::string_view text) {
  size_t exponent_at = text.find_first_of("eE"), point = text.find('.');
  std::string_view mantissa = text.substr(0, exponent_at),
                   exponent = exponent_at == std::string_view::npos ? "0" : text.substr(exponent_at + 1);
  bool negative = take_minus(exponent);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  auto place = static_cast<int64_t>(point) - static_cast<int64_t>(first);
  auto power = digits_of(exponent, 10);
  if (!power || *power > uint64_t{1} << 62) return !negative;
  return place + (negative ? -static_cast<int64_t>(*power) : static_cast<int64_t>(*power)) > 0;
}

}  // namespace

std::optional<IntegerType> integer_type(std::string_view name) {
  if (name == "index") return IntegerType{64, Sign::with};
  Sign sign = name.starts_with("si") ? Sign::with : name.starts_with("ui") ? Sign::without : Sign::either;
  if (sign != Sign::either) name.remove_prefix(1);
  if (!name.starts_with('i')) return std::nullopt;
  auto bits = digits_of(name.substr(1), 10);
  if (!bits || *bits == 0 || *bits > widest_integer) return std::nullopt;
  return IntegerType{static_cast<int>(*bits), sign};
}

std::optional<int64_t> integer_of(std::string_view text) {
  auto number = magnitude_of(text);
  constexpr auto greatest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!number || number->value > greatest + (number->negative ? 1 : 0)) return std::nullopt;
  return signed_value(*number);
}

std::optional<int64_t> integer_of(std::string_view text, IntegerType type) {
  auto number = magnitude_of(text);
  if (!number || (number->negative && (type.sign == Sign::without || number->value == 0))) return std::nullopt;
  // The greatest magnitude: half of all patterns for what is negative or has a sign.
  bool halved = number->negative || type.sign == Sign::with;
  int bits = (type.bits > 64 ? 64 : type.bits) - (halved ? 1 : 0);
  uint64_t greatest = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (number->negative) ++greatest;
  if (number->value > greatest) return std::nullopt;
  return signed_value(*number);
}

std::optional<double> decimal_of(std::string_view text) {
  std::string_view digits = text;
  take_minus(digits);
  if (digits.empty() || digits[0] < '0' || digits[0] > '9' || digits.find('.') == std::string_view::npos)
    return std::nullopt;
  double value = 0;
  auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (at != text.data() + text.size()) return std::nullopt;
  if (error == std::errc()) return value;
  value = is_large(digits) ? std::numeric_limits<double>::infinity() : 0;
  return text.starts_with('-') ? -value : value;
}

std::optional<uint64_t> float_bits_of(std::string_view text, DType dtype) {
  if (text.starts_with("0x")) {
    auto bits = digits_of(text.substr(2), 16);
    int width = bit_width(dtype);
    if (!bits || (width < 64 && *bits >> width != 0)) return std::nullopt;
    return bits;
  }
  auto value = decimal_of(text);
  if (!value) return std::nullopt;
  if (dtype == DType::f64) return std::bit_cast<uint64_t>(*value);
  if (dtype == DType::f32) return std::bit_cast<uint32_t>(static_cast<float>(*value));
  return double_to_small(*value, dtype);
}

double float_from_bits(uint64_t bits, DType dtype) {
  if (dtype == DType::f64) return std::bit_cast<double>(bits);
  if (dtype == DType::f32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return small_to_float(static_cast<uint32_t>(bits), dtype);
}

}  // namespace weft
