// exp and its kin: x = n ln 2 + r (Cody and Waite), a polynomial for e**r, and 2**n into the exponent.
#include "weft/codegen/llvm/vector_math.h"

namespace weft {
namespace {

struct Reduced {
  V r, lo;  // lo: what rounding r lost
  Rounded n;
};

// The high part of ln 2 has so few bits that its products with n are exact.
Reduced by_ln2(const V& x) {
  Rounded n = rounded(x, pick(x, 1.4426950408889634, 1.44269504));
  V near = mad(n.number, pick(x, -0x1.62e42feep-1, -0x1.62ep-1), x);
  V low = pick(x, -0x1.a39ef35793c76p-33, -0x1.0bfbe8p-15);
  V r = mad(n.number, low, near);
  return {r, mad(n.number, low, near - r), n};
}

// (e**r - 1 - r) / r**2 for |r| <= ln(2) / 2
V exp_tail(const V& r) {
  return polynomial(r,
                    {2.0896737317507986e-09, 2.5108668266996514e-08, 2.7557313607390571e-07, 2.7557245172975301e-06,
                   2.48015873021686e-05, 0.0001984126988541332, 0.0013888888888882809, 0.0083333333333217262,
                   0.041666666666666692, 0.16666666666666677, 0.5},
                    {0.000150081774, 0.00139309803, 0.00834154803, 0.0416665114, 0.166666359, 0.5});
}

}  // namespace

Exponential exp_parts(const V& x, const V* more) {
  auto [r, lo, n] = by_ln2(x);
  if (more) {
    Pair sum = fast_sum(r, lo + *more);
    r = sum.hi, lo = sum.lo;
  }
  Pair near = fast_sum(r.w->real(r.elem, 1), r);
  return {fast_sum(near.hi, near.lo + mad(exp_tail(r), r * r, lo)), n};
}

Pair expm1_parts(const V& x) {
  auto [r, lo, n] = by_ln2(x);
  V scale = power_of_two(n.integer);
  V less_one = scale - 1.0, lost = scale - (less_one + 1.0);
  Pair near = fast_sum(less_one, scale * r);
  return fast_sum(near.hi, mad(scale, mad(exp_tail(r), r * r, lo), near.lo + lost));
}

namespace inlined {

V exp(const V& x) {
  auto [r, lo, n] = by_ln2(clamped(x, x.elem == Elem::f64 ? -746 : -104, x.elem == Elem::f64 ? 710 : 89));
  V tail = exp_tail(r), one = x.w->real(x.elem, 1);
  // Rounded twice a step, Horner's scheme to the end loses more.
  return scaled(x.w->target().fma ? mad(mad(tail, r, one), r, one) : mad(tail, r * r, r) + 1.0, n);
}

V exp2(const V& x) {
  V bounded = clamped(x, x.elem == Elem::f64 ? -1076 : -151, x.elem == Elem::f64 ? 1025 : 129);
  Rounded n = rounded(bounded, x.w->real(x.elem, 1));
  V r = bounded - n.number;
  V p = polynomial(r,
                   {4.4952498159233971e-10, 7.0753235888980006e-09, 1.0177764332015664e-07, 1.3215425510567966e-06,
                   1.52527345989683e-05, 0.00015403530478102991, 0.0013333558145611688, 0.0096181291075769677,
                   0.055504108664824574, 0.24022650695910172, 0.69314718055994529},
                   {0.000133059482, 0.00133902614, 0.00962541997, 0.0555036627, 0.240225941, 0.693147182});
  return scaled(mad(p, r, x.w->real(x.elem, 1)), n);
}

V expm1(const V& x) {
  bool is_wide = x.elem == Elem::f64;
  auto [r, lo, n] = by_ln2(clamped(x, is_wide ? -40 : -18, is_wide ? 710 : 89));
  // Half of everything, as 2**1024 is no number.
  V half = power_of_two(n.integer - x.w->integer(n.integer.elem, 1));
  Pair near = fast_sum(half - 0.5, half * r);
  V y = near.hi + mad(half, mad(exp_tail(r), r * r, lo), near.lo);
  return select(less(abs_of(x), is_wide ? 1e-17 : 1e-9), x, y + y);
}

// E / (E + 2) for E = e**(2|x|) - 1 = 2**n (e**r - 1) + (2**n - 1).
V tanh_single(const V& x) {
  V a = clamped(abs_of(x), 0, 9.25), twice = a + a;
  Rounded n = rounded(twice, x.w->real(x.elem, 1.44269504));
  V r = mad(n.number, x.w->real(x.elem, -0x1.62e43p-1), twice), scale = power_of_two(n.integer);
  V e = mad(scale, mad(exp_tail(r), r * r, r), scale - 1.0);
  return copysign_of(e / (e + 2.0), x);
}

V tanh(const V& x) {
  if (x.elem == Elem::f32) return tanh_single(x);
  V a = abs_of(x), m = -clamped(a, 0, 22);
  Pair e = expm1_parts(m + m);  // tanh |x| = -e / (e + 2)
  Pair sum = fast_sum(x.w->real(x.elem, 2), e.hi);
  V t = quotient({-e.hi, -e.lo}, {sum.hi, sum.lo + e.lo});
  return select(less(a, 1e-17), x, copysign_of(t, x));
}

V logistic(const V& x) {
  V one = x.w->real(x.elem, 1), zero = x.w->zero(x.elem), negative = less(x, 0);
  if (x.elem == Elem::f32) {
    V e = exp(-abs_of(x));
    return select(negative, e, one) / (e + 1.0);
  }
  auto [e, n] = exp_parts(clamped(-abs_of(x), -746, 0));
  // e**-|x| next to 1: past so many digits it does not show.
  V least = x.w->integer(n.integer.elem, -64);
  V scale = power_of_two(select(less(n.integer, least), least, n.integer));
  Pair sum = fast_sum(one, e.hi * scale);
  V q = quotient({select(negative, e.hi, one), select(negative, e.lo, zero)}, {sum.hi, mad(e.lo, scale, sum.lo)});
  V whole = x.w->zero(n.integer.elem);
  return scaled(q, {select(negative, n.number, zero), select(negative, n.integer, whole)});
}

namespace {

// e**|x| / 2 and e**-|x| / 2 over a common power of two.
struct Halves {
  Pair grown;
  V shrunk;
  Rounded n;
};
Halves halves(const V& x) {
  bool is_wide = x.elem == Elem::f64;
  auto [e, n] = exp_parts(clamped(abs_of(x), 0, is_wide ? 711 : 90));
  V most = x.w->integer(n.integer.elem, is_wide ? 64 : 32);
  V bounded = select(less(most, n.integer), most, n.integer);
  V scale = power_of_two(-(bounded + bounded));
  Rounded less_one{n.number - 1.0, n.integer - x.w->integer(n.integer.elem, 1)};
  return {e, scale / e.hi, less_one};
}

}  // namespace

V sinh(const V& x) {
  V z = x * x;
  V p = polynomial(z,
                   {6.4744749049353824e-15, 7.5032994977955835e-13, 1.6061338620629009e-10, 2.5052089417086759e-08,
                   2.755731931007404e-06, 0.00019841269841061184, 0.0083333333333335726, 0.16666666666666666},
                   {2.78219431e-06, 0.00019842897, 0.00833331048, 0.166666672});
  auto [grown, shrunk, n] = halves(x);
  V large = copysign_of(scaled(grown.hi + (grown.lo - shrunk), n), x);
  return select(less(abs_of(x), 1), mad(p * z, x, x), large);
}

V cosh(const V& x) {
  auto [grown, shrunk, n] = halves(x);
  return scaled(grown.hi + (grown.lo + shrunk), n);
}

}  // namespace inlined
}  // namespace weft
