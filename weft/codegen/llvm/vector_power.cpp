// power, cbrt, hypot, the magnitude of complex numbers, and the next number.
#include <algorithm>

#include "weft/codegen/llvm/vector_math.h"

namespace weft {
namespace {

// log(x) of a positive number in two parts, within 2**-10 last places; needs fused multiply-add. Infinity and zero give
// what their product with the exponent needs.
Pair log_exact(const V& x) {
  Writer& w = *x.w;
  auto [f, k, exponent] = mantissa_of(x);
  V zero = w.zero(x.elem), two = w.real(x.elem, 2);
  Pair q = quotient_pair({f, zero}, fast_sum(two, f)), s = fast_sum(q.hi, q.lo);
  Pair z = exact_product(s.hi, s.hi);
  z.lo = mad(s.hi + s.hi, s.lo, z.lo);
  // log(1 + f) = 2 s + s**3 (2/3 + z (2/5 + …)): the first terms with twice the digits.
  V rest = polynomial(z.hi, {0.11981760079471238, 0.11675779911121068, 0.13336264537155482, 0.15384558427623174,
                             0.18181818844004216, 0.22222222217789681, 0.28571428571443841, 0.3999999999999998});
  Pair third = fast_sum(w.real(x.elem, 0x1.5555555555555p-1), mad(rest, z.hi, w.real(x.elem, 0x1.5555555555555p-55)));
  Pair cube = exact_product(z.hi, s.hi);
  cube.lo = mad(z.hi, s.lo, mad(z.lo, s.hi, cube.lo));
  Pair tail = exact_product(cube.hi, third.hi);
  tail.lo = mad(cube.hi, third.lo, mad(cube.lo, third.hi, tail.lo));
  Pair near = fast_sum(s.hi + s.hi, tail.hi);
  Pair whole = fast_sum(k * 0x1.62e42feep-1, near.hi);
  V lo = whole.lo + (near.lo + (tail.lo + (s.lo + s.lo)));
  Pair sum = fast_sum(whole.hi, mad(k, w.real(x.elem, 0x1.a39ef35793c76p-33), lo));
  V finite = w.compare("fcmp olt", x, infinity_like(x)), known = finite & w.compare("fcmp ogt", x, zero);
  V special = select(equal(x, 0), -infinity_like(x), x);
  return {select(known, sum.hi, special), select(known, sum.lo, zero)};
}

// x**y for x >= 0 in f64.
V power_wide(const V& x, const V& y) {
  Writer& w = *x.w;
  Pair log = log_exact(x), product = exact_product(log.hi, y);
  V in_range = less(abs_of(product.hi), 800);
  V lo = select(in_range, mad(log.lo, y, product.lo), w.zero(x.elem));
  auto [value, n] = exp_parts(clamped(product.hi, -746, 710), &lo);
  return scaled(value.hi + value.lo, n);
}

// x**y for x >= 0 in f32, by f64 with as many digits as show.
V power_single(const V& single_x, const V& single_y) {
  V x = wide(single_x), y = wide(single_y);
  Writer& w = *x.w;
  auto [f, k, exponent] = mantissa_of(x);
  V s = f / (f + 2.0), z = s * s;
  V tail = polynomial(z, {0.23582233524466542, 0.28537298669080685, 0.40000335361576578, 0.66666665645018852});
  V log = mad(k, w.real(Elem::f64, 0x1.62e42fefa39efp-1), mad(s * z, tail, s + s));
  V known = w.compare("fcmp olt", x, infinity_like(x)) & w.compare("fcmp ogt", x, w.zero(Elem::f64));
  log = select(known, log, select(equal(x, 0), -infinity_like(x), x));
  V bounded = clamped(log * y, -110, 95);
  Rounded n = rounded(bounded, w.real(Elem::f64, 1.4426950408889634));
  V r = mad(n.number, w.real(Elem::f64, -0x1.62e42fefa39efp-1), bounded);
  V p = polynomial(r, {0.00138369808, 0.00836914685, 0.0416681021, 0.166665167, 0.49999994, 1, 1});
  return narrow(p * power_of_two(n.integer));
}

// a**(halves / 2) of f64, a > -inf, by root, product and quotient with what each lost.
V power_by_root(const V& a, int halves) {
  Writer& w = *a.w;
  V one = w.real(a.elem, 1), root = sqrt_of(a), rest = mad(-root, root, a) * 0.5;  // of the root: rest / root
  Pair product{root, rest};
  if (halves != -1) {
    product.hi = a * root;
    product.lo = mad(rest, root, mad(a, root, -product.hi));
  }
  V plain = product.hi, exact = product.hi + product.lo;
  if (halves < 0) {
    plain = one / product.hi;
    V lost = halves == -1 ? product.lo * plain : product.lo;
    exact = mad(plain, mad(-plain, product.hi, one) - plain * lost, plain);
  }
  V known = w.compare("fcmp olt", a, infinity_like(a)) & w.compare("fcmp ogt", a, w.zero(a.elem));
  return select(known, exact, abs_of(plain));
}

// a**-0.5 of f64 within 2**-13, in 17 bits, by AVX-512's own instruction.
V short_inverse_root(const V& a) {
  Writer& w = *a.w;
  int lanes = std::clamp(w.lanes(), 2, 8);
  std::string type = cat("<", lanes, " x double>"), name = cat("@llvm.x86.avx512.rsqrt14.pd.", lanes * 64);
  w.module().declare(cat("declare ", type, " ", name, "(", type, ", ", type, ", i8)"));
  std::vector<std::string> parts;
  if (w.lanes() == 1)
    parts = {w.def(a.elem, "insertelement ", type, " zeroinitializer, double ", a.name, ", i32 0").name};
  else
    parts = split(a, lanes);
  for (std::string& part : parts)
    part = w.def(a.elem, "call ", type, " ", name, "(", type, " ", part, ", ", type, " zeroinitializer, i8 -1)").name;
  V estimate = w.lanes() == 1 ? w.def(a.elem, "extractelement ", type, " ", parts[0], ", i32 0")
                              : join(w, a.elem, std::move(parts), lanes);
  return bits(bits(estimate, Elem::i64) & w.integer(Elem::i64, -(int64_t{1} << 36)), Elem::f64);
}

// The same without root and quotient: by y = a**-0.5 in so few digits that y**2 and y**3 are exact, and the series of
// (1 - e)**(halves / 2) for e = 1 - a y**2.
V power_by_estimate(const V& a, int halves) {
  Writer& w = *a.w;
  V y = short_inverse_root(a), square = y * y, e = mad(-a, square, w.real(a.elem, 1));
  V series = halves == -3 ? polynomial(e, {315.0 / 128, 35.0 / 16, 15.0 / 8, 3.0 / 2})
                          : polynomial(e, {35.0 / 128, 5.0 / 16, 3.0 / 8, 1.0 / 2});
  series = e * series;
  V plain = halves == 3 ? select(less(a, 0), nan_like(a), a) : halves == -1 ? y : square * y;
  V exact = mad(plain, series, plain);
  if (halves == 3) {
    Pair root = exact_product(a, y), product = exact_product(a, root.hi);
    exact = product.hi + mad(product.hi, series, mad(a, root.lo, product.lo));
  }
  return select(w.compare("fcmp ord", e, e), exact, abs_of(plain));  // e of others than numbers above zero is NaN
}

// x**(halves / 2) for halves of 3, -1 and -3: of f32 in f64. Roots of negative numbers are NaN by themselves.
V power_of_root(const V& x, int halves) {
  Writer& w = *x.w;
  const bool estimates = w.target().avx512;
  V positive = select(equal(x, -__builtin_inf()), infinity_like(x), x), one = w.real(Elem::f64, 1);
  if (x.elem == Elem::f32) {
    V a = wide(positive);
    if (estimates) return narrow(power_by_estimate(a, halves));
    V root = sqrt_of(a), product = halves == -1 ? root : a * root;
    return narrow(abs_of(halves < 0 ? one / product : product));
  }
  // By powers of two where products would overflow or lose digits.
  V large = greater(x, 0x1p300), small = less(x, 0x1p-300);
  auto factor = [&](double above, double below) {
    return select(large, w.real(x.elem, above), select(small, w.real(x.elem, below), one));
  };
  double up = halves == 3 ? 0x1p900 : halves == -1 ? 0x1p-300 : 0x1p-900;
  V a = positive * factor(0x1p-600, 0x1p600);
  return (estimates ? power_by_estimate(a, halves) : power_by_root(a, halves)) * factor(up, 1 / up);
}

}  // namespace

namespace inlined {

V three_halves_power(const V& x) { return power_of_root(x, 3); }
V minus_half_power(const V& x) { return power_of_root(x, -1); }
V minus_three_halves_power(const V& x) { return power_of_root(x, -3); }

V power(const V& x, const V& y) {
  Writer& w = *x.w;
  V a = abs_of(x), one = w.real(x.elem, 1);
  V result = x.elem == Elem::f64 ? power_wide(a, y) : power_single(a, y);
  V whole = equal(w.intrinsic("llvm.floor", {y}), y), half = y * 0.5;
  V odd = whole & w.compare("fcmp une", w.intrinsic("llvm.floor", {half}), half);
  result = select(odd, copysign_of(result, x), result);
  V finite = w.compare("fcmp one", a, infinity_like(x));
  result = select(less(x, 0) & finite & ~whole, nan_like(x), result);
  V endless = equal(abs_of(y), __builtin_inf());
  return select(equal(y, 0) | equal(x, 1) | (equal(a, 1) & endless), one, result);
}

// x = 2**(3 q) m with m in (0.35, 2.83): m**(-1/3) by a polynomial and a step of fourth order, then the root and a
// correction by what its cube leaves.
V cbrt(const V& x) {
  Writer& w = *x.w;
  V a = abs_of(x), one = w.real(x.elem, 1);
  auto [f, k, exponent] = mantissa_of(a);
  Rounded q = rounded(k, pick(x, 1.0 / 3, 1.0 / 3));
  V j = mad(q.number, w.real(x.elem, -3), k), up = greater(j, 0.5), down = less(j, -0.5);
  auto by_third = [&](double above, double below) {
    return select(up, w.real(x.elem, above), select(down, w.real(x.elem, below), one));
  };
  V m = (f + 1.0) * by_third(2, 0.5);
  V r = polynomial(f, {0.12849799399803369, -0.1889290240694102, 0.22435701022353233, -0.33290099084948038,
                       0.99997657952126251}) *
        by_third(0.79370052598409979, 1.259921049894873);
  V left = mad(-m, r * r * r, one);
  r = mad(r * left, polynomial(left, {14.0 / 81, 2.0 / 9, 1.0 / 3}), r);
  V square = r * r, y = m * square;
  Pair twice = exact_product(y, y);
  V rest = mad(-twice.lo, y, mad(-twice.hi, y, m));
  V root = mad(rest * (1.0 / 3), square, y) * power_of_two(q.integer);
  V known = w.compare("fcmp olt", a, infinity_like(x)) & w.compare("fcmp ogt", a, w.zero(x.elem));
  return select(known, copysign_of(root, x), x);
}

// By powers of two where squares overflow or vanish; infinite if one is, even beside NaN.
V hypot(const V& x, const V& y) {
  Writer& w = *x.w;
  bool is_wide = x.elem == Elem::f64;
  V a = abs_of(x), b = abs_of(y), one = w.real(x.elem, 1), most = select(less(a, b), b, a);
  double high = is_wide ? 0x1p500 : 0x1p60, low = is_wide ? 0x1p-450 : 0x1p-50, down = is_wide ? 0x1p-600 : 0x1p-70,
         up = is_wide ? 0x1p600 : 0x1p100;  // the square of the least number is one
  V large = greater(most, high), small = less(most, low);
  auto factor = [&](double above, double below) {
    return select(large, w.real(x.elem, above), select(small, w.real(x.elem, below), one));
  };
  V scale = factor(down, up), u = a * scale, v = b * scale;
  V root = sqrt_of(mad(u, u, v * v)) * factor(1 / down, 1 / up);
  V endless = equal(a, __builtin_inf()) | equal(b, __builtin_inf());
  return select(endless, infinity_like(x), root);
}

// Of a complex number, as NumPy computes it (loops_unary_complex.dispatch.c.src): magnitudes that are the same there
// are the same here.
V magnitude(const V& re, const V& im) {
  Writer& w = *re.w;
  V a = abs_of(re), b = abs_of(im), is_less = less(a, b), most = select(is_less, b, a), least = select(is_less, a, b);
  V ratio = least / most, root = most * sqrt_of(mad(ratio, ratio, w.real(re.elem, 1)));
  V endless = equal(most, __builtin_inf()) | equal(least, __builtin_inf());
  return select(endless, infinity_like(re), select(equal(a + b, 0), w.zero(re.elem), root));
}

// Patterns of one sign are in the order of magnitudes.
V next_after(const V& x, const V& y) {
  Writer& w = *x.w;
  const Elem whole = format_of(x.elem).whole;
  V at = bits(x, whole), one = w.integer(whole, 1), rises = less(x, y), is_positive = greater(x, 0);
  V moved = bits(select(rises ^ is_positive, at - one, at + one), x.elem);
  V next = select(equal(x, 0), copysign_of(bits(one, x.elem), y), moved);
  return select(is_nan(x) | is_nan(y), x + y, select(equal(x, y), y, next));
}

}  // namespace inlined
}  // namespace weft
