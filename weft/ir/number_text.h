// Numbers in text: the one place where digits become a value. What does not fit its type is no number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "weft/core/dtype.h"

namespace weft {

// Of i8 both -1 and 255 are elements, and the same; si8 and index have one spelling for each, ui8 has no minus.
enum class Sign : uint8_t { either, with, without };

struct IntegerType {
  int bits = 64;
  Sign sign = Sign::either;
};

// i8, si8, ui8, index; nothing where the name is another.
std::optional<IntegerType> integer_type(std::string_view name);

// A plain integer within 64 bits and a sign, decimal or hexadecimal: "12", "-0x1F".
std::optional<int64_t> integer_of(std::string_view text);
// One of a type, by MLIR's rules: "-0" is none. Wider types than 64 bits have here the values of 64.
std::optional<int64_t> integer_of(std::string_view text, IntegerType type);
// "1.5e3": has a point. What is too large is infinite, what is too small is 0, as in MLIR.
std::optional<double> decimal_of(std::string_view text);
// The bits of a float of that type: the nearest to a decimal, or all of them in hexadecimal.
std::optional<uint64_t> float_bits_of(std::string_view text, DType dtype);
double float_from_bits(uint64_t bits, DType dtype);

}  // namespace weft
