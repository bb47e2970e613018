// f32: exp, log and their kin within 2 ULP, denormals, infinities and NaN included (tests/codegen/math_exhaustive.cpp).
#include "weft/codegen/llvm/vector_math.h"

namespace weft::f32 {
namespace {

// x rounded to an integer and clamped, as a float and as bits to shift.
struct Rounded {
  V number, integer;
};
Rounded rounded(const V& x) {
  constexpr double magic = 12582912.0;  // 1.5 * 2**23
  V sum = x + magic;
  return {sum - magic, bits(sum, Elem::i32) - x.w->integer(Elem::i32, 0x4B400000)};
}

V power_of_two(const V& n) { return bits(shl(n + n.w->integer(Elem::i32, 127), 23), Elem::f32); }

struct Reduced {
  V r, n, number;  // n as an integer and as a float
};
// x = n * ln 2 + r
Reduced by_ln2(const V& x) {
  Rounded n = rounded(x * 1.44269504088896341);
  V r = mad(n.number, -0.693359375, x);
  return {mad(n.number, 2.12194440e-4, r), n.integer, n.number};
}

// (e**r - 1 - r) / r**2
V exp_tail(const V& r) {
  return polynomial(
      r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
}

// e**r for |r| <= ln(2) / 2.
V exp_reduced(const V& r) { return mad(exp_tail(r), r * r, r) + 1.0; }

// e**x for x in [-87, 88], not NaN: the result is normal, its exponent is added to.
V exp_in_range(const V& x) {
  auto [r, n, number] = by_ln2(x);
  return bits(bits(exp_reduced(r), Elem::i32) + shl(n, 23), Elem::f32);
}

// p * 2**n in two factors, so that results below the normal range are rounded once and those above overflow.
V scaled(const V& p, const V& n) {
  V half = ashr(n, 1);
  return p * power_of_two(half) * power_of_two(n - half);
}

}  // namespace

V exp(const V& x) {
  Writer& w = *x.w;
  V in_range = clamped(x, -104, 89);
  auto [r, n, number] = by_ln2(in_range);
  V p = exp_reduced(r);
  if (!w.target().avx512 || w.lanes() != 16) return scaled(p, n);
  // The machine's own scaling does all of that; NaN comes with p.
  w.module().declare(
      "declare <16 x float> @llvm.x86.avx512.mask.scalef.ps.512(<16 x float>, <16 x float>, <16 x float>, i16, i32)");
  return w.def(Elem::f32, "call <16 x float> @llvm.x86.avx512.mask.scalef.ps.512(<16 x float> ", p.name,
               ", <16 x float> ", number.name, ", <16 x float> zeroinitializer, i16 -1, i32 4)");
}

V expm1(const V& x) {
  auto [r, n, number] = by_ln2(clamped(x, -18, 89));
  V p = mad(exp_tail(r), r * r, r);
  V scale = power_of_two(n - x.w->integer(Elem::i32, 1));
  V y = mad(scale, p, scale - 0.5);
  V result = y + y;
  return select(equal(n, x.w->integer(Elem::i32, 0)), select(equal(x, 0), x, p), result);
}

V log(const V& x) {
  Writer& w = *x.w;
  V tiny = less(x, 1.17549435e-38);
  V scaled = select(tiny, x * 8388608.0, x);
  V pattern = bits(scaled, Elem::i32);
  V k = ashr(pattern - w.integer(Elem::i32, 0x3f3504f3), 23);
  V m = bits(pattern - shl(k, 23), Elem::f32);
  V e = w.cast("sitofp", k, Elem::f32);
  e = select(tiny, e - 23.0, e);
  V f = m - 1.0, z = f * f;
  V y = polynomial(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                       -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  y = mad(e, -2.12194440e-4, y * f * z);
  y = mad(z, -0.5, y);
  V result = mad(e, 0.693359375, f + y);
  V infinity = w.real(Elem::f32, __builtin_inf());
  result = select(w.compare("fcmp olt", x, infinity), result, x);
  result = select(less(x, 0), w.real(Elem::f32, __builtin_nan("")), result);
  return select(equal(x, 0), w.real(Elem::f32, -__builtin_inf()), result);
}

V log1p(const V& x) {
  Writer& w = *x.w;
  V u = x + 1.0;
  V pattern = bits(u, Elem::i32);
  V k = ashr(pattern - w.integer(Elem::i32, 0x3f3504f3), 23);
  V e = w.cast("sitofp", k, Elem::f32);
  V m = bits(pattern - shl(k, 23), Elem::f32);
  // What rounding 1 + x lost, relative to it.
  V lost = select(less(x.w->real(Elem::f32, 1), x), w.real(Elem::f32, 1) - (u - x), x - (u - 1.0)) / u;
  V whole = equal(k, w.integer(Elem::i32, 0));
  V f = select(whole, x, m - 1.0), c = select(whole, w.zero(Elem::f32), lost), z = f * f;
  V y = polynomial(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                       -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  y = mad(e, -2.12194440e-4, mad(y * f, z, c));
  y = mad(z, -0.5, y);
  V result = mad(e, 0.693359375, f + y);
  result = select(w.compare("fcmp olt", x, w.real(Elem::f32, __builtin_inf())), result, x);
  result = select(less(x, -1), w.real(Elem::f32, __builtin_nan("")), result);
  result = select(equal(x, -1), w.real(Elem::f32, -__builtin_inf()), result);
  return select(less(abs_of(x), 1e-10), x, result);
}

// By e**2x - 1, which keeps its digits where x is small.
V tanh(const V& x) {
  Writer& w = *x.w;
  V a = abs_of(x), top = w.real(Elem::f32, 10);
  V bounded = select(w.compare("fcmp ogt", a, top), top, a);
  auto [r, n, number] = by_ln2(bounded + bounded);
  V scale = power_of_two(n);
  V e = mad(scale, mad(exp_tail(r), r * r, r), scale - 1.0);
  return copysign_of(e / (e + 2.0), x);
}

V logistic(const V& x) {
  Writer& w = *x.w;
  V e = exp(-abs_of(x));
  return select(less(x, 0), e, w.real(Elem::f32, 1)) / (e + 1.0);
}

V erf(const V& x) {
  V t = abs_of(x), s = x * x;
  V r = mad(t, -1.72853470e-5, x.w->real(Elem::f32, 3.83197126e-4));
  V u = mad(t, -3.88396438e-3, x.w->real(Elem::f32, 2.42546219e-2));
  r = mad(mad(mad(mad(r, s, u), t, -1.06777877e-1), t, -6.34846687e-1), t, -1.28717512e-1);
  r = mad(r, t, -t);
  V large = copysign_of(x.w->real(Elem::f32, 1) - exp_in_range(clamped(r, -87, 0)), x);
  V p = polynomial(s, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1});
  return select(greater(t, 0.927734375), large, mad(p, x, x));
}

namespace {

// x = quadrant * pi / 2 + an angle whose sine and cosine these are.
struct Angle {
  V sine, cosine, quadrant, far;
};
Angle angle_of(const V& x) {
  Writer& w = *x.w;
  Rounded j = rounded(x * 0.636619747);
  V r = mad(j.number, -1.57079601e+00, x);
  r = mad(j.number, -3.13916473e-07, r);
  r = mad(j.number, -5.39030253e-15, r);
  V s = r * r;
  V sine = mad(polynomial(s, {2.86567956e-6, -1.98559923e-4, 8.33338592e-3, -1.66666672e-1}), r * s, r);
  V cosine = polynomial(s, {2.44677067e-5, -1.38877297e-3, 4.16666567e-2, -5.00000000e-1, 1});
  // Past that the reduction loses too much: the library's turn.
  return {sine, cosine, j.integer, w.compare("fcmp ugt", abs_of(x), w.real(Elem::f32, 105000))};
}

V is_odd(const V& n) { return n.w->compare("icmp ne", n & n.w->integer(Elem::i32, 1), n.w->integer(Elem::i32, 0)); }

V sin_or_cos(const V& x, bool is_cos) {
  Writer& w = *x.w;
  Angle a = angle_of(x);
  V quadrant = is_cos ? a.quadrant + w.integer(Elem::i32, 1) : a.quadrant;
  V sign = shl(quadrant & w.integer(Elem::i32, 2), 30);
  V result = bits(bits(select(is_odd(quadrant), a.cosine, a.sine), Elem::i32) ^ sign, Elem::f32);
  return w.rare(a.far, is_cos ? "cos" : "sin", x, result);
}

V wide(const V& x) { return x.w->cast("fpext", x, Elem::f64); }
V narrow(const V& x) { return x.w->cast("fptrunc", x, Elem::f32); }

}  // namespace

V sin(const V& x) { return sin_or_cos(x, false); }
V cos(const V& x) { return sin_or_cos(x, true); }

V tan(const V& x) {
  Angle a = angle_of(x);
  V odd = is_odd(a.quadrant);
  V result = select(odd, -a.cosine, a.sine) / select(odd, a.sine, a.cosine);
  return x.w->rare(a.far, "tan", x, result);
}

// In f64 these are as exact as the result can show.
V sinh(const V& x) {
  V e = f64::exp(wide(x)), result = narrow((e - x.w->real(Elem::f64, 1) / e) * 0.5);
  return select(less(abs_of(x), 1e-4), x, result);
}
V cosh(const V& x) {
  V e = f64::exp(wide(x));
  return narrow((e + x.w->real(Elem::f64, 1) / e) * 0.5);
}
V cbrt(const V& x) { return copysign_of(narrow(f64::exp(f64::log(wide(abs_of(x))) * (1.0 / 3))), x); }

V pow(const V& x, const V& y) {
  Writer& w = *x.w;
  V a = abs_of(x), one = w.real(Elem::f32, 1);
  V result = narrow(f64::exp(wide(y) * f64::log(wide(a))));
  V whole = equal(w.intrinsic("llvm.floor", {y}), y), half = y * 0.5;
  V odd = whole & w.compare("fcmp une", w.intrinsic("llvm.floor", {half}), half);
  result = select(odd, copysign_of(result, x), result);
  V finite = w.compare("fcmp one", a, w.real(Elem::f32, __builtin_inf()));
  result = select(less(x, 0) & finite & ~whole, w.real(Elem::f32, __builtin_nan("")), result);
  V endless = equal(abs_of(y), __builtin_inf());
  return select(equal(y, 0) | equal(x, 1) | (equal(a, 1) & endless), one, result);
}

}  // namespace weft::f32
