// log and its kin: x = 2**k (1 + f) with 1 + f next to 1, and log(1 + f) = 2 s + s**3 P(s**2) for s = f / (2 + f).
#include "weft/codegen/llvm/vector_math.h"

namespace weft {

// (log((1 + s) / (1 - s)) - 2 s) / s**3 as a polynomial in z = s**2
V log_tail(const V& z) {
  return polynomial(z,
                    {0.14795726014949134, 0.1531407741356125, 0.18183563065627165, 0.22222198602400542,
                     0.28571428742041316, 0.39999999999416619, 0.6666666666666734},
                    {0.298704058, 0.399775922, 0.666667759});
}

// The high part of ln 2 has so few bits that its products with k are exact.
V ln2_high(const V& x) { return pick(x, 0x1.62e42feep-1, 0x1.62ep-1); }
V ln2_low(const V& x) { return pick(x, 0x1.a39ef35793c76p-33, 0x1.0bfbe8p-15); }

Mantissa mantissa_of(const V& x) {
  Writer& w = *x.w;
  bool is_wide = x.elem == Elem::f64;
  const Format& format = format_of(x.elem);
  Elem whole = format.whole;
  double up = is_wide ? 0x1p54 : 0x1p25, least = is_wide ? 0x1p-1022 : 0x1p-126;
  V tiny = less(x, least);
  V pattern = bits(select(tiny, x * up, x), whole);
  // Exponents counted from sqrt(1/2), as a float made from bits: 2**mantissa + exponent.
  int64_t one = format.bias << format.mantissa, root = is_wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  V shifted = pattern + w.integer(whole, one - root);
  double base = static_cast<double>(int64_t{1} << format.mantissa);
  V exponent = lshr(shifted, format.mantissa);
  V k = bits(exponent | bits(w.real(x.elem, base), whole), x.elem) -
        select(tiny, w.real(x.elem, base + static_cast<double>(format.bias) + (is_wide ? 54 : 25)),
               w.real(x.elem, base + static_cast<double>(format.bias)));
  V m = bits((shifted & w.integer(whole, (int64_t{1} << format.mantissa) - 1)) + w.integer(whole, root), x.elem);
  return {m - 1.0, k, exponent};
}

namespace {

// What follows from the argument alone: log(0), of infinity, of NaN and of negative numbers.
V with_special(const V& x, const V& result, double zero) {
  V positive = x.w->compare("fcmp olt", x, infinity_like(x));
  V value = select(less(x, zero), nan_like(x), select(positive, result, x));
  return select(equal(x, zero), -infinity_like(x), value);
}

// log(1 + f) where `lost` belongs to f too: f minus what this returns.
V below(const V& f, const V& lost) {
  V s = f / (f + 2.0), z = s * s, half = f * f * 0.5;
  return half - mad(s, mad(z, log_tail(z), half), lost);
}

// log(1 + f) in two parts, within some 2**-6 last places; needs fused multiply-add.
Pair log_pair(const V& f) {
  V s = f / (f + 2.0), z = s * s, h = f * 0.5, half = f * h;
  V lost = mad(f, h, -half);
  Pair near = fast_sum(f, -half);
  return fast_sum(near.hi, near.lo - lost + s * mad(z, log_tail(z), half));
}

// k * unit + log(1 + f) * factor, both constants in two parts.
V log_base(const V& x, const V& unit_high, const V& unit_low, const V& factor_high, const V& factor_low) {
  auto [f, k, exponent] = mantissa_of(x);
  Pair log = log_pair(f), product = exact_product(log.hi, factor_high);
  Pair sum = fast_sum(k * unit_high, product.hi);
  V rest = mad(log.hi, factor_low, mad(log.lo, factor_high, product.lo));
  return with_special(x, sum.hi + (sum.lo + mad(k, unit_low, rest)), 0);
}

}  // namespace

V log_of_pair(const V& u, const V& lost, const V* doubled) {
  Writer& w = *u.w;
  auto [f, k, exponent] = mantissa_of(u);
  // lost / u, to the digits that show: 1 / (1 + f) is about 1 - f + f**2. Past 2**mantissa nothing is lost.
  const Format& format = format_of(u.elem);
  V scale = bits(shl(w.integer(format.whole, 2 * format.bias) - exponent, format.mantissa), u.elem);
  V scaled_loss = select(less(u, u.elem == Elem::f64 ? 0x1p60 : 0x1p30), lost * scale, w.zero(u.elem));
  V shown = mad(-scaled_loss, f * (w.real(u.elem, 1) - f), scaled_loss);
  if (doubled) k = select(*doubled, k + 1.0, k);
  return mad(k, ln2_high(u), f - below(f, mad(k, ln2_low(u), shown)));
}

namespace {

// log(1 + x) for x > -1 in two parts, plus ln 2 where `doubled`.
V log_plus(const Pair& x, const V* doubled = nullptr) {
  V u = x.hi + 1.0, back = u - x.hi;
  return log_of_pair(u, (x.hi - (u - back)) + (u.w->real(u.elem, 1) - back) + x.lo, doubled);
}

}  // namespace

namespace inlined {

V log(const V& x) {
  auto [f, k, exponent] = mantissa_of(x);
  return with_special(x, mad(k, ln2_high(x), f - below(f, k * ln2_low(x))), 0);
}

V log2(const V& x) {
  V one = x.w->real(x.elem, 1), zero = x.w->zero(x.elem);
  return log_base(x, one, zero, pick(x, 0x1.71547652b82fep+0, 0x1.715476p+0),
                  pick(x, 0x1.777d0ffda0d24p-56, 0x1.4ae0cp-26));
}

V log10(const V& x) {
  return log_base(x, pick(x, 0x1.34413508p-2, 0x1.344p-2), pick(x, 0x1.f79fef311f12bp-34, 0x1.3509f8p-18),
                  pick(x, 0x1.bcb7b1526e50ep-2, 0x1.bcb7b2p-2), pick(x, 0x1.95355baaafad3p-57, -0x1.5b235ep-27));
}

V log1p(const V& x) {
  V result = with_special(x, log_plus({x, x.w->zero(x.elem)}), -1);
  return select(equal(x, 0), x, result);
}

// log(x + sqrt(x**2 + 1)): what is added to 1 is x + x**2 / (1 + sqrt(x**2 + 1)).
V asinh(const V& x) {
  Writer& w = *x.w;
  V a = abs_of(x), large = less(w.real(x.elem, x.elem == Elem::f64 ? 0x1p28 : 0x1p13), a);
  V z = a * a, g = z / (sqrt_of(z + 1.0) + 1.0);
  Pair sum = fast_sum(a, g);
  // Large: log(2 a), as one more than a - 1.
  V size = log_plus({select(large, a - 1.0, sum.hi), select(large, w.zero(x.elem), sum.lo)}, &large);
  V finite = w.compare("fcmp olt", a, infinity_like(x));
  return select(equal(x, 0), x, copysign_of(select(finite, size, a), x));
}

// log(x + sqrt(x**2 - 1)): with t = x - 1 what is added to 1 is t + sqrt(t**2 + 2 t).
V acosh(const V& x) {
  Writer& w = *x.w;
  V large = less(w.real(x.elem, x.elem == Elem::f64 ? 0x1p28 : 0x1p13), x);
  V t = x - 1.0, p = t + t, square = mad(t, t, p), root = sqrt_of(square);
  // Half of what rounding the square lost, over the root, and what rounding the root lost.
  V lost = mad(t, t, p - square) + mad(-root, root, square);
  V correction = select(less(w.zero(x.elem), root), lost * 0.5 / root, w.zero(x.elem));
  Pair sum = fast_sum(root, t);
  Pair whole = fast_sum(sum.hi, sum.lo + correction);
  V size = log_plus({select(large, t, whole.hi), select(large, w.zero(x.elem), whole.lo)}, &large);
  V finite = w.compare("fcmp olt", x, infinity_like(x));
  return select(less(x, 1), nan_like(x), select(finite, size, x));
}

// log((1 + x) / (1 - x)) / 2 = log(1 + 2 x / (1 - x)) / 2
V atanh(const V& x) {
  Writer& w = *x.w;
  V a = abs_of(x), zero = w.zero(x.elem);
  Pair below_one = fast_sum(w.real(x.elem, 1), -a);
  Pair q = quotient_pair({a + a, zero}, below_one);
  V size = log_plus(fast_sum(q.hi, q.lo)) * 0.5;
  V edge = equal(a, 1);
  V result = select(edge, infinity_like(x), select(w.compare("fcmp ugt", a, w.real(x.elem, 1)), nan_like(x), size));
  return copysign_of(result, x);
}

}  // namespace inlined
}  // namespace weft
