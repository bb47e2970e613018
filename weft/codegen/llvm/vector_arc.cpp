// The inverses of sin, cos and tan.
#include "weft/codegen/llvm/vector_math.h"

namespace weft {
namespace {

// atan(t) / t - 1 over z = t**2, for |t| <= tan(pi / 8)
V atan_tail(const V& z) {
  return z * polynomial(z,
                        {-0.017908709267224297, 0.038065760500326958, -0.050393451737858454, 0.058478968117980965,
                         -0.066631048910916063, 0.076920602753560899, -0.090908977607857877, 0.1111111078358718,
                         -0.1428571428020092, 0.1999999999995368, -0.33333333333333198},
                        {-0.0609027706, 0.10599231, -0.142443955, 0.199985281, -0.333333164});
}

// asin(t) / t - 1 over z = t**2, for |t| <= 1/2
V asin_tail(const V& z) {
  return z * polynomial(z,
                        {0.032625101245766411, -0.020993317810448133, 0.021703297253310119, 0.0037081577251053769,
                         0.010779776019045064, 0.011399000288466615, 0.013980809321544434, 0.017351613000687507,
                         0.022372214928845238, 0.030381942710066567, 0.044642857174558043, 0.074999999999708675,
                         0.1666666666666676},
                        {0.0421569049, 0.0241854992, 0.045469027, 0.0749531016, 0.166667521});
}

V half_pi(const V& x) { return pick(x, 0x1.921fb54442d18p+0, 0x1.921fb6p+0); }
V half_pi_low(const V& x) { return pick(x, 0x1.1a62633145c07p-54, -0x1.777a5cp-25); }

// The angle of the point (x, y) for positive numbers: in a sector next to an axis atan of the quotient, between them
// from the diagonal, atan((y - x) / (y + x)) + pi / 4. One division.
V angle(const V& y, const V& x) {
  Writer& w = *x.w;
  V low = less(y, x * 0.41421356237309503), high = less(x, y * 0.41421356237309503);
  Pair sum = fast_sum(w.select(less(x, y), y, x), w.select(less(x, y), x, y));
  V difference = y - x;
  V zero = w.zero(x.elem), one = w.real(x.elem, 1);
  V above = select(low, y, select(high, -x, difference)), below = select(low, x, select(high, y, sum.hi));
  // What the difference and the sum lost counts where they are used.
  V taken = y - difference;
  V lost = select(low | high, zero, (y - (difference + taken)) + (taken - x)), more = select(low | high, zero, sum.lo);
  Pair t = quotient_pair({above, lost}, {below, more});
  V base = select(low, zero, select(high, one, w.real(x.elem, 0.5)));
  V tail = mad(t.hi, atan_tail(t.hi * t.hi), t.lo);
  Pair near = fast_sum(base * half_pi(x), t.hi);
  return near.hi + (near.lo + mad(base, half_pi_low(x), tail));
}

// sqrt((1 - a) / 2) in two parts.
Pair half_angle_root(const V& z) {
  V root = sqrt_of(z), rest = mad(-root, root, z);
  return {root, select(less(z.w->zero(z.elem), z), rest * 0.5 / root, z.w->zero(z.elem))};
}

}  // namespace

namespace inlined {

V atan(const V& x) {
  Writer& w = *x.w;
  V a = abs_of(x), one = w.real(x.elem, 1);
  V most = w.real(x.elem, x.elem == Elem::f64 ? 0x1p60 : 0x1p30);
  V result = angle(select(less(most, a), most, a), one);
  return select(less(a, x.elem == Elem::f64 ? 1e-9 : 1e-5), x, copysign_of(result, x));
}

V atan2(const V& y, const V& x) {
  Writer& w = *x.w;
  V a = abs_of(y), b = abs_of(x), zero = w.zero(x.elem), one = w.real(x.elem, 1);
  bool is_wide = x.elem == Elem::f64;
  // An infinite one outweighs a finite one, two make the diagonal; two zeros are on the axis.
  V a_endless = equal(a, __builtin_inf()), b_endless = equal(b, __builtin_inf()), endless = a_endless | b_endless;
  V none = equal(a, 0) & equal(b, 0);
  // Scaled where the sum overflows or digits are missing.
  V large = greater(a, is_wide ? 0x1p1000 : 0x1p120) | greater(b, is_wide ? 0x1p1000 : 0x1p120);
  V small = less(a, is_wide ? 0x1p-900 : 0x1p-90) & less(b, is_wide ? 0x1p-900 : 0x1p-90);
  V factor = select(large, w.real(x.elem, is_wide ? 0x1p-100 : 0x1p-20),
                    select(small, w.real(x.elem, is_wide ? 0x1p200 : 0x1p60), one));
  V up = select(endless, select(a_endless, one, zero), a * factor);
  V right = select(endless, select(b_endless, one, zero), select(none, one, b * factor));
  V first = angle(up, right);
  V negative = less(bits(x, format_of(x.elem).whole), w.zero(format_of(x.elem).whole));
  Pair turned = fast_sum(half_pi(x) * 2.0, -first);
  V second = turned.hi + (turned.lo + half_pi_low(x) * 2.0);
  V result = copysign_of(select(negative, second, first), y);
  V known = w.compare("fcmp ord", x, y);
  return select(known, result, nan_like(x));
}

// Past 1/2: asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)).
V asin(const V& x) {
  Writer& w = *x.w;
  V a = abs_of(x), large = greater(a, 0.5), one = w.real(x.elem, 1);
  V z = select(large, (one - a) * 0.5, a * a);
  Pair root = half_angle_root(z);
  V t = select(large, root.hi, a), lo = select(large, root.lo, w.zero(x.elem));
  V tail = mad(t, asin_tail(z), lo);
  Pair near = fast_sum(half_pi(x), -(t + t));
  V far = near.hi + (near.lo + (half_pi_low(x) - (tail + tail)));
  return copysign_of(select(large, far, t + tail), x);
}

V acos(const V& x) {
  Writer& w = *x.w;
  V a = abs_of(x), large = greater(a, 0.5), one = w.real(x.elem, 1), zero = w.zero(x.elem);
  V z = select(large, (one - a) * 0.5, a * a);
  Pair root = half_angle_root(z);
  V t = select(large, root.hi, x), lo = select(large, root.lo, zero);
  V tail = mad(t, asin_tail(z), lo);
  // pi / 2 - (t + tail); 2 (t + tail); pi - 2 (t + tail)
  V negative = less(x, 0), two_t = t + t, two_tail = tail + tail;
  V scale = select(large, w.real(x.elem, 2), one);
  V used = select(large, two_t, t), used_tail = select(large, two_tail, tail);
  Pair near = fast_sum(half_pi(x) * scale, -used);
  V far = near.hi + (near.lo + (half_pi_low(x) * scale - used_tail));
  return select(large & ~negative, two_t + two_tail, far);
}

}  // namespace inlined
}  // namespace weft
