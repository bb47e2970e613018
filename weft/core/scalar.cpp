// Scalar operations by name.
#include "weft/core/scalar.h"

namespace weft {

int arity(Scalar scalar) {
  if (scalar == Scalar::none) return 0;
  if (scalar >= Scalar::abs && scalar <= Scalar::bessel_i1e) return 1;
  if (scalar == Scalar::convert || scalar == Scalar::bitcast) return 1;
  if (scalar == Scalar::select || scalar == Scalar::clamp || scalar == Scalar::fma) return 3;
  return 2;
}

bool is_comparison(Scalar scalar) { return scalar >= Scalar::eq && scalar <= Scalar::ge; }

std::string_view name(Scalar scalar) {
  switch (scalar) {
    case Scalar::none:
      return "none";
    case Scalar::abs:
      return "abs";
    case Scalar::cbrt:
      return "cbrt";
    case Scalar::ceil:
      return "ceil";
    case Scalar::cos:
      return "cos";
    case Scalar::count_leading_zeros:
      return "count_leading_zeros";
    case Scalar::exp:
      return "exp";
    case Scalar::expm1:
      return "expm1";
    case Scalar::floor:
      return "floor";
    case Scalar::is_finite:
      return "is_finite";
    case Scalar::log:
      return "log";
    case Scalar::log1p:
      return "log1p";
    case Scalar::logistic:
      return "logistic";
    case Scalar::negate:
      return "negate";
    case Scalar::bit_not:
      return "bit_not";
    case Scalar::popcount:
      return "popcount";
    case Scalar::round_away:
      return "round_away";
    case Scalar::round_even:
      return "round_even";
    case Scalar::rsqrt:
      return "rsqrt";
    case Scalar::sign:
      return "sign";
    case Scalar::sin:
      return "sin";
    case Scalar::sqrt:
      return "sqrt";
    case Scalar::tan:
      return "tan";
    case Scalar::tanh:
      return "tanh";
    case Scalar::real:
      return "real";
    case Scalar::imag:
      return "imag";
    case Scalar::acos:
      return "acos";
    case Scalar::acosh:
      return "acosh";
    case Scalar::asin:
      return "asin";
    case Scalar::asinh:
      return "asinh";
    case Scalar::atan:
      return "atan";
    case Scalar::atanh:
      return "atanh";
    case Scalar::cosh:
      return "cosh";
    case Scalar::sinh:
      return "sinh";
    case Scalar::erf:
      return "erf";
    case Scalar::erfc:
      return "erfc";
    case Scalar::lgamma:
      return "lgamma";
    case Scalar::digamma:
      return "digamma";
    case Scalar::erf_inv:
      return "erf_inv";
    case Scalar::exp2:
      return "exp2";
    case Scalar::log2:
      return "log2";
    case Scalar::log10:
      return "log10";
    case Scalar::bessel_i1e:
      return "bessel_i1e";
    case Scalar::polygamma:
      return "polygamma";
    case Scalar::zeta:
      return "zeta";
    case Scalar::add:
      return "add";
    case Scalar::subtract:
      return "subtract";
    case Scalar::multiply:
      return "multiply";
    case Scalar::divide:
      return "divide";
    case Scalar::remainder:
      return "remainder";
    case Scalar::power:
      return "power";
    case Scalar::atan2:
      return "atan2";
    case Scalar::hypot:
      return "hypot";
    case Scalar::gcd:
      return "gcd";
    case Scalar::maximum:
      return "maximum";
    case Scalar::minimum:
      return "minimum";
    case Scalar::bit_and:
      return "bit_and";
    case Scalar::bit_or:
      return "bit_or";
    case Scalar::bit_xor:
      return "bit_xor";
    case Scalar::shift_left:
      return "shift_left";
    case Scalar::shift_right_arithmetic:
      return "shift_right_arithmetic";
    case Scalar::shift_right_logical:
      return "shift_right_logical";
    case Scalar::complex:
      return "complex";
    case Scalar::next_after:
      return "next_after";
    case Scalar::eq:
      return "eq";
    case Scalar::ne:
      return "ne";
    case Scalar::lt:
      return "lt";
    case Scalar::le:
      return "le";
    case Scalar::gt:
      return "gt";
    case Scalar::ge:
      return "ge";
    case Scalar::select:
      return "select";
    case Scalar::clamp:
      return "clamp";
    case Scalar::fma:
      return "fma";
    case Scalar::convert:
      return "convert";
    case Scalar::bitcast:
      return "bitcast";
  }
  return "";
}

}  // namespace weft
