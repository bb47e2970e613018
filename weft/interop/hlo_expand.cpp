// Ops that HLO has no opcode for, or that compilers of HLO do not implement, as HLO arithmetic.
#include <cmath>
#include <map>
#include <numbers>

#include "weft/interop/hlo_math.h"

namespace weft {
namespace {

using Function = HloNumber (*)(const HloNumber& x);

struct Parts {
  HloNumber real, imag;
};

bool is_double(const HloNumber& x) { return x.type().dtype == DType::f64; }
double epsilon(const HloNumber& x) { return is_double(x) ? 0x1p-52 : 0x1p-23; }
// Beyond it exp(x) overflows; exp(x) / 2 does not yet.
double exp_limit(const HloNumber& x) { return is_double(x) ? 709 : 88; }

HloNumber sqrt(const HloNumber& x) { return call("sqrt", x); }
HloNumber log(const HloNumber& x) { return call("log", x); }
HloNumber log1p(const HloNumber& x) { return call("log-plus-one", x); }
HloNumber exp(const HloNumber& x) { return call("exponential", x); }
HloNumber abs(const HloNumber& x) { return call("abs", x); }
HloNumber sign(const HloNumber& x) { return call("sign", x); }
HloNumber atan2(const HloNumber& y, const HloNumber& x) { return call("atan2", y, x); }

HloNumber acos(const HloNumber& x) { return atan2(sqrt((1 - x) * (1 + x)), x); }
HloNumber asin(const HloNumber& x) { return atan2(x, sqrt((1 - x) * (1 + x))); }
HloNumber atan(const HloNumber& x) { return atan2(x, x.of(1)); }
HloNumber atanh(const HloNumber& x) { return 0.5 * (log1p(x) - log1p(-x)); }

// Where the square of x no longer counts the 1, and before it overflows: log(2x).
HloNumber acosh(const HloNumber& x) {
  HloNumber t = x - 1;
  HloNumber general = select(x > 1 / std::sqrt(epsilon(x)), log(x) + std::numbers::ln2, log1p(t + sqrt(t * (t + 2))));
  return select(x < 1, x.of(NAN), general);
}

HloNumber asinh(const HloNumber& x) {
  HloNumber a = abs(x), square = a * a;
  HloNumber near = log1p(a + square / (1 + sqrt(square + 1)));
  return sign(x) * select(a > 1 / std::sqrt(epsilon(x)), log(a) + std::numbers::ln2, near);
}

// exp(a) / 2 in two steps, for an exp(a) that overflows.
HloNumber half_exp(const HloNumber& a) {
  HloNumber half = exp(0.5 * a);
  return (0.5 * half) * half;
}

HloNumber cosh(const HloNumber& x) {
  HloNumber a = abs(x), e = exp(a);
  return select(a > exp_limit(x), half_exp(a), 0.5 * e + 0.5 / e);
}

HloNumber sinh(const HloNumber& x) {
  HloNumber a = abs(x), e = call("exponential-minus-one", a);
  return sign(x) * select(a > exp_limit(x), half_exp(a), 0.5 * (e + e / (e + 1)));
}

// Complex functions from real ones, after Kahan, "Branch Cuts for Complex Elementary Functions".
Parts parts(const HloNumber& z) {
  Type real{real_type(z.type().dtype), z.type().dims};
  return {{z.hlo, z.hlo->add("real", real, {z.value})}, {z.hlo, z.hlo->add("imag", real, {z.value})}};
}

HloNumber join(const HloNumber& real, const HloNumber& imag) {
  return {real.hlo,
          real.hlo->add("complex", {complex_type(real.type().dtype), real.type().dims}, {real.value, imag.value})};
}

// The square root with a positive real part, on the side of the cut that the sign of a zero names.
Parts root(const HloNumber& real, const HloNumber& imag) {
  Parts root = parts(sqrt(join(real, imag)));
  HloNumber size = abs(root.imag), below = call("or", imag < 0, 1 / imag < 0);
  return {root.real, select(below, -size, size)};
}

HloNumber complex_acos(const HloNumber& z) {
  auto [x, y] = parts(z);
  Parts minus = root(1 - x, -y), plus = root(1 + x, y);
  return join(2 * atan2(minus.real, plus.real), asinh(plus.real * minus.imag - plus.imag * minus.real));
}

HloNumber complex_asin(const HloNumber& z) {
  auto [x, y] = parts(z);
  Parts minus = root(1 - x, -y), plus = root(1 + x, y);
  return join(atan2(x, minus.real * plus.real - minus.imag * plus.imag),
              asinh(minus.real * plus.imag - minus.imag * plus.real));
}

HloNumber complex_acosh(const HloNumber& z) {
  auto [x, y] = parts(z);
  Parts minus = root(x - 1, y), plus = root(x + 1, y);
  return join(asinh(minus.real * plus.real + minus.imag * plus.imag), 2 * atan2(minus.imag, plus.real));
}

HloNumber complex_atanh(const HloNumber& z) {
  auto [x, y] = parts(z);
  HloNumber a = abs(x), distance = 1 - a;
  HloNumber real = 0.25 * log1p(4 * a / (distance * distance + y * y));
  return join(sign(x) * real, 0.5 * atan2(2 * y, distance * (1 + a) - y * y));
}

// asinh(z) is i asin(-i z), atan(z) is -i atanh(i z).
HloNumber complex_asinh(const HloNumber& z) {
  auto [x, y] = parts(z);
  auto [real, imag] = parts(complex_asin(join(y, -x)));
  return join(-imag, real);
}

HloNumber complex_atan(const HloNumber& z) {
  auto [x, y] = parts(z);
  auto [real, imag] = parts(complex_atanh(join(-y, x)));
  return join(imag, -real);
}

HloNumber complex_cosh(const HloNumber& z) {
  auto [x, y] = parts(z);
  return join(cosh(x) * call("cosine", y), sinh(x) * call("sine", y));
}

HloNumber complex_sinh(const HloNumber& z) {
  auto [x, y] = parts(z);
  return join(sinh(x) * call("cosine", y), cosh(x) * call("sine", y));
}

// Floats below f32 are computed in f32.
template <Function real, Function complex>
HloValues apply(HloComputation& hlo, const Node& node, const HloValues& operands) {
  DType dtype = node.type().dtype;
  HloNumber x{&hlo, operands[0]};
  if constexpr (complex != nullptr)
    if (is_complex(dtype)) return {complex(x).value};
  return {real(bit_width(dtype) < 32 ? x.as(DType::f32) : x).as(dtype).value};
}

}  // namespace

HloRule expansion(Op op) {
  static const std::map<Op, HloRule> table = {
      {Op::acos, apply<acos, complex_acos>}, {Op::acosh, apply<acosh, complex_acosh>},
      {Op::asin, apply<asin, complex_asin>}, {Op::asinh, apply<asinh, complex_asinh>},
      {Op::atan, apply<atan, complex_atan>}, {Op::atanh, apply<atanh, complex_atanh>},
      {Op::cosh, apply<cosh, complex_cosh>}, {Op::sinh, apply<sinh, complex_sinh>},
      {Op::erfc, apply<erfc, nullptr>},      {Op::erf_inv, apply<erf_inv, nullptr>},
      {Op::lgamma, apply<lgamma, nullptr>},  {Op::digamma, apply<digamma, nullptr>},
      {Op::next_after, next_after},
  };
  auto row = table.find(op);
  return row == table.end() ? nullptr : row->second;
}

}  // namespace weft
