// log and its kin, erf, cbrt and power.
#include "weft/codegen/llvm/vector_math.h"

namespace weft::inlined {
namespace {

V log_single(const V& x) {
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

V log_wide(const V& x) {
  Writer& w = *x.w;
  V tiny = less(x, 2.2250738585072014e-308);
  V pattern = bits(select(tiny, x * 18014398509481984.0, x), Elem::i64);
  // Exponents counted from sqrt(1/2), as a float made from bits: 2**52 + exponent.
  V shifted = pattern + w.integer(Elem::i64, 0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
  V biased = lshr(shifted, 52);
  V k = bits(biased | w.integer(Elem::i64, 0x4330000000000000), Elem::f64) - (4503599627370496.0 + 1023.0);
  V m =
      bits((shifted & w.integer(Elem::i64, 0x000fffffffffffff)) + w.integer(Elem::i64, 0x3fe6a09e667f3bcd), Elem::f64);
  k = select(tiny, k - 54.0, k);
  V f = m - 1.0, s = f / (f + 2.0), z = s * s, v = z * z;
  V t1 = v * polynomial(v, {1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01});
  V t2 = z * polynomial(v, {1.479819860511658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01,
                            6.666666666666735130e-01});
  V half = f * f * 0.5;
  V tail = mad(s, half + (t1 + t2), k * 1.90821492927058770002e-10);
  V result = mad(k, 6.93147180369123816490e-01, f - (half - tail));
  result = select(w.compare("fcmp olt", x, w.real(Elem::f64, __builtin_inf())), result, x);
  result = select(less(x, 0), w.real(Elem::f64, __builtin_nan("")), result);
  return select(equal(x, 0), w.real(Elem::f64, -__builtin_inf()), result);
}

}  // namespace

V log(const V& x) { return x.elem == Elem::f64 ? log_wide(x) : log_single(x); }

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

V erf(const V& x) {
  V t = abs_of(x), s = x * x;
  V r = mad(t, -1.72853470e-5, x.w->real(Elem::f32, 3.83197126e-4));
  V u = mad(t, -3.88396438e-3, x.w->real(Elem::f32, 2.42546219e-2));
  r = mad(mad(mad(mad(r, s, u), t, -1.06777877e-1), t, -6.34846687e-1), t, -1.28717512e-1);
  r = mad(r, t, -t);
  V large = copysign_of(x.w->real(Elem::f32, 1) - exp(r), x);
  V p = polynomial(s, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1});
  return select(greater(t, 0.927734375), large, mad(p, x, x));
}

V cbrt(const V& x) { return copysign_of(narrow(exp(log(wide(abs_of(x))) * (1.0 / 3))), x); }

V power(const V& x, const V& y) {
  Writer& w = *x.w;
  V a = abs_of(x), one = w.real(Elem::f32, 1);
  V result = narrow(exp(wide(y) * log(wide(a))));
  V whole = equal(w.intrinsic("llvm.floor", {y}), y), half = y * 0.5;
  V odd = whole & w.compare("fcmp une", w.intrinsic("llvm.floor", {half}), half);
  result = select(odd, copysign_of(result, x), result);
  V finite = w.compare("fcmp one", a, w.real(Elem::f32, __builtin_inf()));
  result = select(less(x, 0) & finite & ~whole, w.real(Elem::f32, __builtin_nan("")), result);
  V endless = equal(abs_of(y), __builtin_inf());
  return select(equal(y, 0) | equal(x, 1) | (equal(a, 1) & endless), one, result);
}

}  // namespace weft::inlined
