// f64: exp, log and their kin within 2 ULP.
#include "weft/codegen/llvm/vector_math.h"

namespace weft::f64 {
namespace {

V power_of_two(const V& n) { return bits(shl(n + n.w->integer(Elem::i64, 1023), 52), Elem::f64); }

struct Reduced {
  V r, n;
};
Reduced by_ln2(const V& x) {
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2**52
  V sum = mad(x, 1.4426950408889634, x.w->real(Elem::f64, magic));
  V number = sum - magic;
  V r = mad(number, -6.93147180369123816490e-01, x);
  return {mad(number, -1.90821492927058770002e-10, r),
          bits(sum, Elem::i64) - x.w->integer(Elem::i64, 0x4338000000000000)};
}

// (e**r - 1 - r) / r**2 for |r| <= ln(2) / 2
V exp_tail(const V& r) {
  return polynomial(r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                        1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
}

}  // namespace

V exp(const V& x) {
  auto [r, n] = by_ln2(clamped(x, -746, 710));
  V p = mad(exp_tail(r), r * r, r) + 1.0;
  // An arithmetic shift of 64 bits is slow before AVX-512: half of n + 2048 is half of n, plus 1024.
  V half = lshr(n + x.w->integer(Elem::i64, 2048), 1) - x.w->integer(Elem::i64, 1024);
  return p * power_of_two(half) * power_of_two(n - half);
}

V expm1(const V& x) {
  auto [r, n] = by_ln2(clamped(x, -40, 710));
  V p = mad(exp_tail(r), r * r, r);
  V scale = power_of_two(n - x.w->integer(Elem::i64, 1));
  V y = mad(scale, p, scale - 0.5);
  return select(equal(n, x.w->integer(Elem::i64, 0)), select(equal(x, 0), x, p), y + y);
}

V log(const V& x) {
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

V tanh(const V& x) {
  V a = abs_of(x), e = expm1(clamped(a + a, 0, 60));
  return select(less(a, 1e-9), x, copysign_of(e / (e + 2.0), x));
}

V logistic(const V& x) {
  V e = exp(-abs_of(x));
  return select(less(x, 0), e, x.w->real(Elem::f64, 1)) / (e + 1.0);
}

}  // namespace weft::f64
