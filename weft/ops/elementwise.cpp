// Element-wise operations of one scalar each.
#include "weft/ops/infer.h"

namespace weft {
namespace {

OpDef unary(std::string_view doc, Scalar scalar, InferFn infer, Names names) {
  return {.doc = doc, .infer = infer, .scalar = scalar, .names = names, .traits = {.elementwise = true}};
}

OpDef binary(std::string_view doc, Scalar scalar, InferFn infer, Names names, bool commutative = false) {
  return {.doc = doc,
          .operands = 2,
          .infer = infer,
          .scalar = scalar,
          .names = names,
          .traits = {.commutative = commutative, .elementwise = true}};
}

constexpr auto floats = same_type<is_float>;
constexpr auto inexact = same_type<is_float_or_complex>;
constexpr auto bits = same_type<is_bits>;
constexpr auto integers = same_type<is_integer>;

}  // namespace

OpDef define_abs() {
  return unary("Absolute value; of a complex number its magnitude.", Scalar::abs, to_real<is_signed_number>,
               {.stablehlo = "abs", .hlo = "abs", .aten = "abs"});
}
OpDef define_cbrt() {
  return unary("Cube root.", Scalar::cbrt, floats, {.stablehlo = "cbrt", .hlo = "cbrt", .numpy = "cbrt"});
}
OpDef define_ceil() {
  return unary("The least integer that is not less.", Scalar::ceil, floats,
               {.stablehlo = "ceil", .hlo = "ceil", .aten = "ceil"});
}
OpDef define_cosine() {
  return unary("Cosine.", Scalar::cos, inexact,
               {.stablehlo = "cosine", .hlo = "cosine", .numpy = "cos", .aten = "cos"});
}
OpDef define_count_leading_zeros() {
  return unary("Leading zero bits.", Scalar::count_leading_zeros, integers,
               {.stablehlo = "count_leading_zeros", .hlo = "count-leading-zeros"});
}
OpDef define_exponential() {
  return unary("e to the power x.", Scalar::exp, inexact,
               {.stablehlo = "exponential", .hlo = "exponential", .numpy = "exp", .aten = "exp"});
}
OpDef define_exponential_minus_one() {
  return unary(
      "e to the power x, minus one, accurate near zero.", Scalar::expm1, inexact,
      {.stablehlo = "exponential_minus_one", .hlo = "exponential-minus-one", .numpy = "expm1", .aten = "expm1"});
}
OpDef define_floor() {
  return unary("The greatest integer that is not greater.", Scalar::floor, floats,
               {.stablehlo = "floor", .hlo = "floor", .aten = "floor"});
}
OpDef define_imag() {
  return unary("Imaginary part.", Scalar::imag, to_real<is_float_or_complex>, {.stablehlo = "imag", .hlo = "imag"});
}
OpDef define_is_finite() {
  return unary("Whether neither infinite nor NaN.", Scalar::is_finite, same_type_to_bool<is_float>,
               {.stablehlo = "is_finite", .hlo = "is-finite"});
}
OpDef define_log() {
  return unary("Natural logarithm.", Scalar::log, inexact,
               {.stablehlo = "log", .hlo = "log", .numpy = "log", .aten = "log"});
}
OpDef define_log_plus_one() {
  return unary("Natural logarithm of one plus x, accurate near zero.", Scalar::log1p, inexact,
               {.stablehlo = "log_plus_one", .hlo = "log-plus-one", .numpy = "log1p", .aten = "log1p"});
}
OpDef define_logistic() {
  return unary("1 / (1 + exp(-x)).", Scalar::logistic, inexact,
               {.stablehlo = "logistic", .hlo = "logistic", .aten = "sigmoid"});
}
OpDef define_negate() {
  return unary("-x; integers wrap.", Scalar::negate, same_type<is_number>,
               {.stablehlo = "negate", .hlo = "negate", .numpy = "negative", .aten = "neg"});
}
OpDef define_not_() {
  return unary("Bitwise complement; of booleans negation.", Scalar::bit_not, bits,
               {.stablehlo = "not", .hlo = "not", .aten = "bitwise_not"});
}
OpDef define_popcnt() {
  return unary("Bits that are set.", Scalar::popcount, integers, {.stablehlo = "popcnt", .hlo = "popcnt"});
}
OpDef define_real() {
  return unary("Real part.", Scalar::real, to_real<is_float_or_complex>, {.stablehlo = "real", .hlo = "real"});
}
OpDef define_round_nearest_afz() {
  return unary("The nearest integer, halves away from zero.", Scalar::round_away, floats,
               {.stablehlo = "round_nearest_afz", .hlo = "round-nearest-afz"});
}
OpDef define_round_nearest_even() {
  return unary("The nearest integer, halves to even.", Scalar::round_even, floats,
               {.stablehlo = "round_nearest_even", .hlo = "round-nearest-even", .aten = "round"});
}
OpDef define_rsqrt() {
  return unary("1 / sqrt(x).", Scalar::rsqrt, inexact, {.stablehlo = "rsqrt", .hlo = "rsqrt", .aten = "rsqrt"});
}
OpDef define_sign() {
  return unary("-1, 0 or 1; NaN and signed zeros stay; of a complex number x / |x|.", Scalar::sign,
               same_type<is_signed_number>, {.stablehlo = "sign", .hlo = "sign", .aten = "sign"});
}
OpDef define_sine() {
  return unary("Sine.", Scalar::sin, inexact, {.stablehlo = "sine", .hlo = "sine", .numpy = "sin", .aten = "sin"});
}
OpDef define_sqrt() {
  return unary("Square root.", Scalar::sqrt, inexact,
               {.stablehlo = "sqrt", .hlo = "sqrt", .numpy = "sqrt", .aten = "sqrt"});
}
OpDef define_tan() {
  return unary("Tangent.", Scalar::tan, inexact, {.stablehlo = "tan", .hlo = "tan", .numpy = "tan", .aten = "tan"});
}
OpDef define_tanh() {
  return unary("Hyperbolic tangent.", Scalar::tanh, inexact,
               {.stablehlo = "tanh", .hlo = "tanh", .numpy = "tanh", .aten = "tanh"});
}
OpDef define_acos() {
  return unary("Inverse cosine.", Scalar::acos, inexact, {.stablehlo = "chlo.acos", .numpy = "arccos", .aten = "acos"});
}
OpDef define_acosh() {
  return unary("Inverse hyperbolic cosine.", Scalar::acosh, inexact,
               {.stablehlo = "chlo.acosh", .numpy = "arccosh", .aten = "acosh"});
}
OpDef define_asin() {
  return unary("Inverse sine.", Scalar::asin, inexact, {.stablehlo = "chlo.asin", .numpy = "arcsin", .aten = "asin"});
}
OpDef define_asinh() {
  return unary("Inverse hyperbolic sine.", Scalar::asinh, inexact,
               {.stablehlo = "chlo.asinh", .numpy = "arcsinh", .aten = "asinh"});
}
OpDef define_atan() {
  return unary("Inverse tangent.", Scalar::atan, inexact,
               {.stablehlo = "chlo.atan", .numpy = "arctan", .aten = "atan"});
}
OpDef define_atanh() {
  return unary("Inverse hyperbolic tangent.", Scalar::atanh, inexact,
               {.stablehlo = "chlo.atanh", .numpy = "arctanh", .aten = "atanh"});
}
OpDef define_cosh() {
  return unary("Hyperbolic cosine.", Scalar::cosh, inexact,
               {.stablehlo = "chlo.cosh", .numpy = "cosh", .aten = "cosh"});
}
OpDef define_sinh() {
  return unary("Hyperbolic sine.", Scalar::sinh, inexact, {.stablehlo = "chlo.sinh", .numpy = "sinh", .aten = "sinh"});
}
OpDef define_erf() {
  return unary("Error function.", Scalar::erf, floats, {.stablehlo = "chlo.erf", .hlo = "erf", .aten = "erf"});
}
OpDef define_erfc() {
  return unary("Complementary error function.", Scalar::erfc, floats, {.stablehlo = "chlo.erfc", .aten = "erfc"});
}
OpDef define_lgamma() {
  return unary("Logarithm of the absolute value of the gamma function.", Scalar::lgamma, floats,
               {.stablehlo = "chlo.lgamma", .aten = "lgamma"});
}
OpDef define_digamma() {
  return unary("Derivative of lgamma.", Scalar::digamma, floats, {.stablehlo = "chlo.digamma", .aten = "digamma"});
}
OpDef define_erf_inv() {
  return unary("Inverse error function.", Scalar::erf_inv, floats, {.stablehlo = "chlo.erf_inv", .aten = "erfinv"});
}
OpDef define_bessel_i1e() {
  return unary("exp(-|x|) times the modified Bessel function of the first kind of order 1.", Scalar::bessel_i1e, floats,
               {.stablehlo = "chlo.bessel_i1e", .aten = "special_i1e"});
}
OpDef define_polygamma() {
  return binary("The derivative of digamma of order n at x.", Scalar::polygamma, floats,
                {.stablehlo = "chlo.polygamma"});
}
OpDef define_zeta() {
  return binary("Hurwitz's zeta function: the sum of (q + k)^-x over k from 0.", Scalar::zeta, floats,
                {.stablehlo = "chlo.zeta"});
}
OpDef define_convert() {
  return {.doc = "The nearest value of another element type; floats to integers truncate and saturate.",
          .attrs = {{Attr::type, AttrKind::dtype}},
          .infer = [](const Call& call) -> Types { return {{call.attrs.dtype(Attr::type), call.operand(0).dims}}; },
          .scalar = Scalar::convert,
          .names = {.stablehlo = "convert", .hlo = "convert", .aten = "_to_copy"},
          .traits = {.elementwise = true}};
}

OpDef define_add() {
  return binary("x + y; of booleans or.", Scalar::add, same_type<any_type>,
                {.stablehlo = "add", .hlo = "add", .aten = "add"}, true);
}
OpDef define_and_() {
  return binary("Bitwise and.", Scalar::bit_and, bits, {.stablehlo = "and", .hlo = "and", .aten = "bitwise_and"}, true);
}
OpDef define_atan2() {
  return binary("Angle of the point (y, x).", Scalar::atan2, floats,
                {.stablehlo = "atan2", .hlo = "atan2", .numpy = "arctan2", .aten = "atan2"});
}
OpDef define_complex() {
  return binary("The complex number of a real and an imaginary part.", Scalar::complex,
                [](const Call& call) -> Types {
                  Type x = same_type<is_float>(call)[0];
                  call.require(x.dtype == DType::f32 || x.dtype == DType::f64, "dtype", "takes f32 or f64, got ",
                               name(x.dtype));
                  return {{complex_type(x.dtype), x.dims}};
                },
                {.stablehlo = "complex", .hlo = "complex"});
}
OpDef define_divide() {
  return binary("x / y; integers truncate, x / 0 is -1.", Scalar::divide, same_type<is_number>,
                {.stablehlo = "divide", .hlo = "divide", .aten = "div"});
}
OpDef define_maximum() {
  return binary("The greater; NaN if either is.", Scalar::maximum, same_type<is_ordered>,
                {.stablehlo = "maximum", .hlo = "maximum", .aten = "maximum"}, true);
}
OpDef define_minimum() {
  return binary("The lesser; NaN if either is.", Scalar::minimum, same_type<is_ordered>,
                {.stablehlo = "minimum", .hlo = "minimum", .aten = "minimum"}, true);
}
OpDef define_multiply() {
  return binary("x * y; of booleans and.", Scalar::multiply, same_type<any_type>,
                {.stablehlo = "multiply", .hlo = "multiply", .aten = "mul"}, true);
}
OpDef define_next_after() {
  return binary("The next value after x towards y.", Scalar::next_after,
                [](const Call& call) -> Types {
                  Type x = same_type<is_float>(call)[0];
                  call.require(bit_width(x.dtype) >= 16, "dtype", "takes floats of at least 16 bits, got ",
                               name(x.dtype));
                  return {x};
                },
                {.stablehlo = "chlo.next_after", .numpy = "nextafter"});
}
OpDef define_or_() {
  return binary("Bitwise or.", Scalar::bit_or, bits, {.stablehlo = "or", .hlo = "or", .aten = "bitwise_or"}, true);
}
OpDef define_power() {
  return binary("x to the power y.", Scalar::power, same_type<is_number>,
                {.stablehlo = "power", .hlo = "power", .aten = "pow"});
}
OpDef define_remainder() {
  return binary("The rest of the truncating division, with the sign of x.", Scalar::remainder,
                same_type<is_real_number>, {.stablehlo = "remainder", .hlo = "remainder", .aten = "fmod"});
}
OpDef define_shift_left() {
  return binary("Shifts bits up; by the width or more gives 0.", Scalar::shift_left, integers,
                {.stablehlo = "shift_left", .hlo = "shift-left"});
}
OpDef define_shift_right_arithmetic() {
  return binary("Shifts bits down, filling with the sign.", Scalar::shift_right_arithmetic, integers,
                {.stablehlo = "shift_right_arithmetic", .hlo = "shift-right-arithmetic"});
}
OpDef define_shift_right_logical() {
  return binary("Shifts bits down, filling with zeros.", Scalar::shift_right_logical, integers,
                {.stablehlo = "shift_right_logical", .hlo = "shift-right-logical"});
}
OpDef define_subtract() {
  return binary("x - y.", Scalar::subtract, same_type<is_number>,
                {.stablehlo = "subtract", .hlo = "subtract", .numpy = "subtract", .aten = "sub"});
}
OpDef define_xor_() {
  return binary("Bitwise exclusive or.", Scalar::bit_xor, bits,
                {.stablehlo = "xor", .hlo = "xor", .aten = "bitwise_xor"}, true);
}

OpDef define_compare() {
  return {.doc =
              "Whether x stands in the relation to y: EQ NE LT LE GT GE. IEEE for floats, or TOTALORDER: -NaN < -inf < "
              "-0 < 0 < inf < "
              "NaN; complex numbers EQ and NE only.",
          .operands = 2,
          .attrs = {{Attr::comparison_direction, AttrKind::text}, {Attr::compare_type, AttrKind::text, true}},
          .infer = [](const Call& call) -> Types {
            Type x = same_type<any_type>(call)[0];
            const std::string& direction = call.attrs.text(Attr::comparison_direction);
            bool known = direction == "EQ" || direction == "NE" || direction == "LT" || direction == "LE" ||
                         direction == "GT" || direction == "GE";
            call.require(known, "direction", "direction must be EQ, NE, LT, LE, GT or GE, got '", direction, "'");
            call.require(!call.attrs.find(Attr::compare_type) ||
                             (is_float(x.dtype) && call.attrs.text(Attr::compare_type) == "TOTALORDER"),
                         "c3", "compare_type must be TOTALORDER and operands floats, got ", x);
            call.require(!is_complex(x.dtype) || direction == "EQ" || direction == "NE", "c4",
                         "complex numbers have no order");
            return {{DType::boolean, x.dims}};
          },
          .scalar = Scalar::eq,
          .names = {.stablehlo = "compare", .hlo = "compare"},
          .traits = {.elementwise = true}};
}

OpDef define_select() {
  return {.doc = "on_true where the predicate holds, on_false elsewhere.",
          .operands = 3,
          .infer = [](const Call& call) -> Types {
            call.require(is_bool(call.operand(0).dtype), "predicate", "the predicate must be boolean, got ",
                         call.operand(0));
            call.require(call.operand(0).dims == call.operand(1).dims, "c1", "the predicate ", call.operand(0),
                         " must have the shape of ", call.operand(1));
            call.require(call.operand(1) == call.operand(2), "c2", "operands must agree, got ", call.operand(1),
                         " and ", call.operand(2));
            return {call.operand(1)};
          },
          .scalar = Scalar::select,
          .names = {.stablehlo = "select", .hlo = "select", .aten = "where"},
          .traits = {.elementwise = true}};
}

OpDef define_clamp() {
  return {.doc = "min(max(x, low), high), operands in the order low, x, high.",
          .operands = 3,
          .infer = same_type<is_ordered>,
          .scalar = Scalar::clamp,
          .names = {.stablehlo = "clamp", .hlo = "clamp"},
          .traits = {.elementwise = true}};
}

}  // namespace weft
