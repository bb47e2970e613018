// Element-wise operations made of others.
#include <cmath>
#include <limits>

#include "weft/ir/graph.h"
#include "weft/ops/composite.h"

namespace weft {
namespace {

using Values = std::vector<Value>;

// A splat of the type of `like`.
Value like(Builder& build, Value like, double value) { return build.splat(like.type(), value); }

Value compare(Builder& build, const char* direction, Value lhs, Value rhs) {
  return build(Op::compare, {lhs, rhs}, {{Attr::comparison_direction, std::string(direction)}});
}

// The unsigned integers that hold the bits of a float.
DType bits_type(DType dtype) {
  int bits = bit_width(dtype);
  return bits == 64 ? DType::u64 : bits == 32 ? DType::u32 : bits == 16 ? DType::u16 : DType::u8;
}

OpDef composite(std::string_view doc, int operands, InferFn infer, ExpandFn expand, Names names = {}) {
  return {.doc = doc,
          .operands = operands,
          .infer = infer,
          .expand = expand,
          .names = names,
          .traits = {.elementwise = true}};
}

// A scalar, of floats for the most part, that StableHLO lacks; other tools get what `expand` makes of it.
OpDef function(std::string_view doc, int operands, Scalar scalar, ExpandFn expand, Names names,
               InferFn infer = same_type<is_float>) {
  OpDef def = composite(doc, operands, infer, expand, names);
  def.scalar = scalar;
  return def;
}

// log(x) in another base, with the result pulled to the nearest integer where base**integer is x.
Values expand_log_base(Builder& build, Value given, double base, double rounded_base) {
  Value x = widened(build, given);
  Value quotient = build(Op::divide, {build(Op::log, {x}), like(build, x, rounded_base)});
  Value whole = build(Op::round_nearest_even, {quotient});
  Value power = build(Op::power, {like(build, x, base), whole});
  return {build.convert(build(Op::select, {compare(build, "EQ", power, x), whole, quotient}), given.type().dtype)};
}

Values expand_exp2(Builder& build, const Node& node) {
  Value x = widened(build, node.operand(0));
  return {build.convert(build(Op::power, {like(build, x, 2), x}), node.type().dtype)};
}

Values expand_is_inf(Builder& build, const Node& node) {
  Value x = node.operand(0);
  return {compare(build, "EQ", build(Op::abs, {x}), like(build, x, std::numeric_limits<double>::infinity()))};
}

Values expand_trunc(Builder& build, const Node& node) {
  Value x = node.operand(0);
  return {build(Op::select, {compare(build, "LT", x, like(build, x, 0)), build(Op::ceil, {x}), build(Op::floor, {x})})};
}

Value sign_bit(Builder& build, Value x) {
  DType bits = bits_type(x.type().dtype);
  Value pattern = build(Op::bitcast_convert, {x}, {{Attr::type, bits}});
  Value mask = build.broadcast_to(
      build.constant(Literal::scalar_int(bits, int64_t{1} << (bit_width(x.type().dtype) - 1))), x.type().dims);
  return build(Op::and_, {pattern, mask});
}

Values expand_signbit(Builder& build, const Node& node) {
  Value x = node.operand(0);
  if (is_signed(x.type().dtype)) return {compare(build, "LT", x, like(build, x, 0))};
  Value bit = sign_bit(build, x);
  return {compare(build, "NE", bit, like(build, bit, 0))};
}

Values expand_copysign(Builder& build, const Node& node) {
  Value x = node.operand(0);
  DType dtype = x.type().dtype;
  Value sign = sign_bit(build, build.broadcast_to(node.operand(1), node.type().dims));
  Value pattern = build(Op::bitcast_convert, {build(Op::abs, {x})}, {{Attr::type, bits_type(dtype)}});
  return {build(Op::bitcast_convert, {build(Op::or_, {pattern, sign})}, {{Attr::type, dtype}})};
}

// Scaled by the larger operand so that squares neither overflow nor vanish.
Values expand_hypot(Builder& build, const Node& node) {
  Value a = build(Op::abs, {widened(build, node.operand(0))}), b = build(Op::abs, {widened(build, node.operand(1))});
  Value inf = like(build, a, std::numeric_limits<double>::infinity()), zero = like(build, a, 0),
        one = like(build, a, 1);
  Value infinite = build(Op::or_, {compare(build, "EQ", a, inf), compare(build, "EQ", b, inf)});
  Value large = build(Op::maximum, {a, b}), small = build(Op::minimum, {a, b});
  Value ratio = build(Op::divide, {small, build(Op::select, {compare(build, "EQ", large, zero), one, large})});
  Value root = build(Op::sqrt, {build(Op::add, {one, build(Op::multiply, {ratio, ratio})})});
  return {build.convert(build(Op::select, {infinite, inf, build(Op::multiply, {large, root})}), node.type().dtype)};
}

Values expand_logaddexp(Builder& build, const Node& node) {
  Value a = widened(build, node.operand(0)), b = widened(build, node.operand(1));
  Value large = build(Op::maximum, {a, b}),
        difference = build(Op::negate, {build(Op::abs, {build(Op::subtract, {a, b})})});
  Value general = build(Op::add, {large, build(Op::log_plus_one, {build(Op::exponential, {difference})})});
  // Equal infinities have no difference.
  Value same = build(Op::add, {a, like(build, a, std::log(2.0))});
  return {build.convert(build(Op::select, {compare(build, "EQ", a, b), same, general}), node.type().dtype)};
}

Values expand_heaviside(Builder& build, const Node& node) {
  Value x = node.operand(0), zero = like(build, x, 0);
  Value step = build(Op::select, {compare(build, "LT", x, zero), zero, like(build, x, 1)});
  Value known = build(Op::select, {compare(build, "EQ", x, zero), node.operand(1), step});
  return {build(Op::select, {compare(build, "NE", x, x), x, known})};
}

// The operand that is a number where the other is NaN.
Values expand_nan_ignoring(Builder& build, const Node& node, Op op) {
  Value a = node.operand(0), b = node.operand(1);
  Value both = build(op, {a, b});
  Value without_b = build(Op::select, {compare(build, "NE", b, b), a, both});
  return {build(Op::select, {compare(build, "NE", a, a), b, without_b})};
}

// NumPy's floor division and modulus (npy_divmod): the modulus has the divisor's sign, the quotient is rounded so that
// quotient * divisor + modulus is the dividend.
struct DivMod {
  Value quotient, modulus;
};

DivMod float_divmod(Builder& build, Value a, Value b) {
  Value zero = like(build, a, 0), one = like(build, a, 1);
  Value mod = build(Op::remainder, {a, b});
  Value quotient = build(Op::divide, {build(Op::subtract, {a, mod}), b});
  Value nonzero = compare(build, "NE", mod, zero);
  Value opposite = build(Op::xor_, {compare(build, "LT", b, zero), compare(build, "LT", mod, zero)});
  Value adjust = build(Op::and_, {nonzero, opposite});
  Value signed_zero = build(Op::copysign, {zero, b});
  Value adjusted = build(Op::select, {adjust, build(Op::add, {mod, b}), mod});
  Value modulus = build(Op::select, {nonzero, adjusted, signed_zero});
  modulus = build(Op::select, {compare(build, "NE", mod, mod), mod, modulus});
  quotient = build(Op::select, {adjust, build(Op::subtract, {quotient, one}), quotient});
  Value floored = build(Op::floor, {quotient});
  Value above = compare(build, "GT", build(Op::subtract, {quotient, floored}), like(build, a, 0.5));
  floored = build(Op::select, {above, build(Op::add, {floored, one}), floored});
  Value tiny = build(Op::copysign, {zero, build(Op::divide, {a, b})});
  floored = build(Op::select, {compare(build, "EQ", quotient, zero), tiny, floored});
  // Division by zero keeps what IEEE division gives.
  Value by_zero = compare(build, "EQ", b, zero);
  return {build(Op::select, {by_zero, build(Op::divide, {a, b}), floored}), build(Op::select, {by_zero, mod, modulus})};
}

DivMod int_divmod(Builder& build, Value a, Value b) {
  Value zero = like(build, a, 0), one = like(build, a, 1);
  Value by_zero = compare(build, "EQ", b, zero);
  Value divisor = build(Op::select, {by_zero, one, b});
  Value quotient = build(Op::divide, {a, divisor}), modulus = build(Op::remainder, {a, divisor});
  if (is_signed(a.type().dtype)) {
    Value opposite = build(Op::xor_, {compare(build, "LT", divisor, zero), compare(build, "LT", modulus, zero)});
    Value adjust = build(Op::and_, {compare(build, "NE", modulus, zero), opposite});
    quotient = build(Op::select, {adjust, build(Op::subtract, {quotient, one}), quotient});
    modulus = build(Op::select, {adjust, build(Op::add, {modulus, divisor}), modulus});
  }
  return {build(Op::select, {by_zero, zero, quotient}), build(Op::select, {by_zero, zero, modulus})};
}

DivMod divmod(Builder& build, const Node& node) {
  Value a = node.operand(0), b = node.operand(1);
  DType dtype = node.type().dtype;
  if (!is_float(dtype)) return int_divmod(build, a, b);
  DivMod wide = float_divmod(build, widened(build, a), widened(build, b));
  return {build.convert(wide.quotient, dtype), build.convert(wide.modulus, dtype)};
}

bool is_byte_integer(DType dtype) { return is_integer(dtype) && bit_width(dtype) >= 8; }

// By Euclid's algorithm, in as many steps as the worst pair, neighbouring Fibonacci numbers, takes.
Values expand_gcd(Builder& build, const Node& node) {
  const DType dtype = node.type().dtype, words = bits_type(dtype);
  auto magnitude = [&](const Value& x) {
    if (is_unsigned(dtype)) return x;
    return build(Op::bitcast_convert, {build(Op::abs, {x})}, {{Attr::type, words}});
  };
  Value x = magnitude(node.operand(0)), y = magnitude(node.operand(1)), zero = like(build, x, 0),
        one = like(build, x, 1);
  const int bits = bit_width(dtype), steps = bits == 8 ? 12 : bits == 16 ? 24 : bits == 32 ? 47 : 93;
  for (int i = 0; i < steps; ++i) {
    Value done = compare(build, "EQ", y, zero), rest = build(Op::remainder, {x, build(Op::select, {done, one, y})});
    x = build(Op::select, {done, x, y});
    y = build(Op::select, {done, zero, rest});
  }
  return {is_unsigned(dtype) ? x : build(Op::bitcast_convert, {x}, {{Attr::type, dtype}})};
}

Values expand_gelu(Builder& build, const Node& node) {
  Value x = widened(build, node.operand(0));
  Value erf = build(Op::erf, {build(Op::multiply, {x, like(build, x, M_SQRT1_2)})});
  Value half = build(Op::multiply, {x, like(build, x, 0.5)});
  return {build.convert(build(Op::multiply, {half, build(Op::add, {erf, like(build, x, 1)})}), node.type().dtype)};
}

}  // namespace

OpDef define_exp2() {
  return function("2 to the power x.", 1, Scalar::exp2, expand_exp2,
                  {.stablehlo = "weft.exp2", .numpy = "exp2", .aten = "exp2"});
}
OpDef define_log2() {
  return function("Logarithm to the base 2; exact at powers of 2.", 1, Scalar::log2,
                  [](Builder& build, const Node& node) { return expand_log_base(build, node.operand(0), 2, M_LN2); },
                  {.stablehlo = "weft.log2", .numpy = "log2", .aten = "log2"});
}
OpDef define_log10() {
  return function("Logarithm to the base 10; exact at powers of 10.", 1, Scalar::log10,
                  [](Builder& build, const Node& node) { return expand_log_base(build, node.operand(0), 10, M_LN10); },
                  {.stablehlo = "weft.log10", .numpy = "log10", .aten = "log10"});
}
OpDef define_trunc() { return composite("The integer part.", 1, same_type<is_float>, expand_trunc, {.aten = "trunc"}); }
OpDef define_is_nan() {
  return composite("Whether NaN.", 1, same_type_to_bool<is_float_or_complex>,
                   [](Builder& build, const Node& node) -> Values {
                     return {compare(build, "NE", node.operand(0), node.operand(0))};
                   },
                   {.aten = "isnan"});
}
OpDef define_is_inf() {
  return composite("Whether infinite.", 1, same_type_to_bool<is_float>, expand_is_inf,
                   {.stablehlo = "chlo.is_inf", .aten = "isinf"});
}
OpDef define_signbit() {
  return composite("Whether the sign bit is set (-0 and NaN too).", 1, same_type_to_bool<is_signed_real>,
                   expand_signbit, {.numpy = "signbit", .aten = "signbit"});
}
OpDef define_copysign() {
  return composite("The magnitude of x with the sign of y.", 2, same_type<is_float>, expand_copysign,
                   {.numpy = "copysign", .aten = "copysign"});
}
OpDef define_hypot() {
  return function("sqrt(x*x + y*y) without overflow.", 2, Scalar::hypot, expand_hypot,
                  {.stablehlo = "weft.hypot", .numpy = "hypot", .aten = "hypot"});
}
OpDef define_gcd() {
  return function("The greatest common divisor of magnitudes, as the type holds it; that of 0 and 0 is 0.", 2,
                  Scalar::gcd, expand_gcd, {.stablehlo = "weft.gcd", .numpy = "gcd", .aten = "gcd"},
                  same_type<is_byte_integer>);
}
OpDef define_logaddexp() {
  return composite("log(exp(x) + exp(y)) without overflow.", 2, same_type<is_float>, expand_logaddexp,
                   {.numpy = "logaddexp", .aten = "logaddexp"});
}
OpDef define_heaviside() {
  return composite("0 below zero, 1 above, y at zero.", 2, same_type<is_float>, expand_heaviside,
                   {.numpy = "heaviside", .aten = "heaviside"});
}
OpDef define_fmax() {
  return composite("The greater; the number where the other is NaN.", 2, same_type<is_float>,
                   [](Builder& build, const Node& node) { return expand_nan_ignoring(build, node, Op::maximum); },
                   {.aten = "fmax"});
}
OpDef define_fmin() {
  return composite("The lesser; the number where the other is NaN.", 2, same_type<is_float>,
                   [](Builder& build, const Node& node) { return expand_nan_ignoring(build, node, Op::minimum); },
                   {.aten = "fmin"});
}
OpDef define_floor_divide() {
  return composite("The greatest integer not above x / y, as NumPy has it; integers by zero give 0.", 2,
                   same_type<is_real_number>,
                   [](Builder& build, const Node& node) -> Values { return {divmod(build, node).quotient}; },
                   {.aten = "floor_divide"});
}
OpDef define_mod() {
  return composite(
      "The rest of floor division, with the sign of y; integers by zero give 0.", 2, same_type<is_real_number>,
      [](Builder& build, const Node& node) -> Values { return {divmod(build, node).modulus}; }, {.aten = "remainder"});
}
OpDef define_gelu() {
  return composite("x * P(X <= x) for a standard normal X, by erf.", 1, same_type<is_float>, expand_gelu,
                   {.aten = "gelu"});
}
OpDef define_silu() {
  return composite("Sigmoid-weighted linear unit, x * logistic(x).", 1, same_type<is_float>,
                   [](Builder& build, const Node& node) -> Values {
                     Value x = node.operand(0);
                     return {build(Op::multiply, {x, build(Op::logistic, {x})})};
                   },
                   {.aten = "silu"});
}

}  // namespace weft
