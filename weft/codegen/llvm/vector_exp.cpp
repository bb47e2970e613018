// exp and its kin: x = n ln 2 + r (Cody and Waite), a polynomial for e**r, and 2**n into the exponent.
#include "weft/codegen/llvm/vector_math.h"

#include <cmath>

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

constexpr int fractions = 16;

// 2**(j / 16), j the low four bits of `whole`.
V fraction_of_two(const V& whole) {
  Writer& w = *whole.w;
  auto at = [](int j) { return std::exp2(j / static_cast<double>(fractions)); };
  int lanes = w.target().avx512 && w.lanes() >= fractions ? fractions : fractions / 2;
  if (w.lanes() < lanes) {
    V found = w.real(Elem::f32, 1);
    for (int j = 1; j < fractions; ++j)
      found = select(equal(whole & w.integer(Elem::i32, fractions - 1), w.integer(Elem::i32, j)),
                     w.real(Elem::f32, at(j)), found);
    return found;
  }
  // A register of the machine is the table, or two halves of one are.
  std::string type = cat("<", lanes, " x float>"), places = cat("<", lanes, " x i32>");
  std::string name = lanes == fractions ? "@llvm.x86.avx512.permvar.sf.512" : "@llvm.x86.avx2.permps";
  w.module().declare(cat("declare ", type, " ", name, "(", type, ", ", places, ")"));
  auto look_up = [&](int first) {
    std::string table = "<";
    for (int j = first; j < first + lanes; ++j)
      append(table, j == first ? "float " : ", float ", real_text(Elem::f32, at(j)));
    std::vector<std::string> parts = split(whole, lanes);
    for (std::string& part : parts)
      part = w.def(Elem::f32, "call ", type, " ", name, "(", type, " ", table, ">, ", places, " ", part, ")").name;
    return join(w, Elem::f32, std::move(parts), lanes);
  };
  V found = look_up(0);
  return lanes == fractions ? found : select(less(shl(whole, 28), w.zero(Elem::i32)), look_up(lanes), found);
}

// The same sign, and a magnitude of `most` where it was larger or NaN: whole registers of AVX-512.
V at_most(const V& x, double most) {
  Writer& w = *x.w;
  std::string type = "<16 x float>", name = "@llvm.x86.avx512.mask.range.ps.512";
  w.module().declare(cat("declare ", type, " ", name, "(", type, ", ", type, ", i32, ", type, ", i16, i32)"));
  std::vector<std::string> parts = split(x, 16);
  for (std::string& part : parts)
    part = w.def(Elem::f32, "call ", type, " ", name, "(", type, " ", part, ", ", type, " splat (float ",
                 real_text(Elem::f32, most), "), i32 2, ", type, " zeroinitializer, i16 -1, i32 4)")
               .name;
  return join(w, Elem::f32, std::move(parts), 16);
}

// x = (n + j / 16) ln 2 + r: |r| is so small that a polynomial of degree 3 will do. Where numbers are scaled by any
// power, infinite and NaN too, only r needs a bound, and has it where x `is_near`: no number beyond 2^17.
V exp_by_table(const V& x, bool is_near) {
  bool scales_by_any = x.w->target().avx512 && x.w->lanes() >= 16;
  V at = scales_by_any ? x : clamped(x, -104, 89), magic = x.w->real(x.elem, 0x1.8p23 / fractions),
    sum = mad(at, x.w->real(x.elem, 1.44269504), magic);
  V n = sum - magic, whole = bits(sum, Elem::i32), power = fraction_of_two(whole);
  V r = mad(n, -0x1.0bfbe8p-15, mad(n, -0x1.62ep-1, at));
  if (scales_by_any && !is_near) r = at_most(r, 0x1p-5);
  V e = mad(mad(mad(r, 0.166669816, x.w->real(x.elem, 0.500016212)), r, 1), power * r, power);
  return scaled(e, {n, ashr(whole - x.w->integer(Elem::i32, 0x49400000), 4)});
}

V exp_by_polynomial(const V& x) {
  auto [r, lo, n] = by_ln2(clamped(x, x.elem == Elem::f64 ? -746 : -104, x.elem == Elem::f64 ? 710 : 89));
  V tail = exp_tail(r), one = x.w->real(x.elem, 1);
  // Rounded twice a step, Horner's scheme to the end loses more.
  return scaled(x.w->target().fma ? mad(mad(tail, r, one), r, one) : mad(tail, r * r, r) + 1.0, n);
}

}  // namespace

Exponential exp_parts(const V& x, const V* more) {
  auto [r, lo, n] = by_ln2(x);
  if (more) {
    Pair sum = fast_sum(r, lo + *more);
    r = sum.hi;
    lo = sum.lo;
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

V exp(const V& x) { return x.elem == Elem::f32 && x.w->target().fma ? exp_by_table(x, false) : exp_by_polynomial(x); }
V exp_near(const V& x) { return exp_by_table(x, true); }

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

// H / (H + 1) for H = (e**(2|x|) - 1) / 2 = 2**n (e**(2r) - 1) / 2 + (2**n - 1) / 2, |x| = n ln(2) / 2 + r. Steps are
// few because halves are exact, and because what rounds to n leaves it in its last bits with the bias of exponents
// added.
V tanh_single(const V& x) {
  V a = clamped(abs_of(x), 0, 9.25), magic = x.w->real(x.elem, format_of(x.elem).magic + 127);
  V sum = mad(a, x.w->real(x.elem, 2 * 1.44269504), magic), scale = bits(shl(bits(sum, Elem::i32), 23), x.elem);
  V r = mad(sum - magic, x.w->real(x.elem, -0x1.62e43p-2), a);
  // 2 exp_tail(2r)
  V tail = polynomial(
      r, {64 * 0.000150081774, 32 * 0.00139309803, 16 * 0.00834154803, 8 * 0.0416665114, 4 * 0.166666359, 1});
  V half = mad(scale, mad(tail, r * r, r), mad(scale, x.w->real(x.elem, 0.5), x.w->real(x.elem, -0.5)));
  return copysign_of(half / (half + 1.0), x);
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
    V e = exp_by_polynomial(-abs_of(x));
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
