// sin, cos and tan: x = quadrant * pi / 2 + r with r in two parts (Cody and Waite, with fused multiply-add),
// polynomials for both functions of r. Past 2**40 (f32: 2**17) the library reduces the argument, lane by lane.
#include "weft/codegen/llvm/vector_math.h"

namespace weft {
namespace {

struct Angle {
  Pair sine, cosine;
  V quadrant, far;
};

Angle angle_of(const V& x) {
  Writer& w = *x.w;
  Rounded n = rounded(x, pick(x, 0x1.45f306dc9c883p-1, 0x1.45f306p-1));
  // The first difference is exact: both sides are multiples of the last place of x, and it is less than 1.
  V near = mad(n.number, pick(x, -0x1.921fb54442d18p+0, -0x1.921fb6p+0), x);
  Pair more = exact_product(n.number, pick(x, 0x1.1a62633145c07p-54, -0x1.777a5cp-25));
  V r = near - more.hi;
  V lo = mad(n.number, pick(x, -0x1.f1976b7ed8fbcp-110, -0x1.ee59dap-50), more.lo);
  V rest = ((near - r) - more.hi) - lo;
  V z = r * r, half = z * 0.5;
  V s = polynomial(z,
                   {1.5894762066929029e-10, -2.5050723884766867e-08, 2.7557313480141094e-06, -0.00019841269829224081,
                    0.0083333333333217349, -0.1666666666666663},
                   {-0.00019507861, 0.00833210535, -0.166666538});
  V c = polynomial(z,
                   {-1.1358432857802108e-11, 2.0875700528158747e-09, -2.7557314190723776e-07, 2.4801587288944352e-05,
                    -0.0013888888888873301, 0.041666666666666595},
                   {2.4430663e-05, -0.00138873013, 0.0416666456});
  Pair cosine = fast_sum(w.real(x.elem, 1), -half);
  V tail = mad(-r, rest, mad(c, z * z, cosine.lo));
  V far = w.compare("fcmp ogt", abs_of(x), w.real(x.elem, x.elem == Elem::f64 ? 0x1p40 : 0x1p17));
  return {{r, mad(s, z * r, mad(-half, rest, rest))}, {cosine.hi, tail}, n.integer, far};
}

V is_odd(const V& n) { return n.w->compare("icmp ne", n & n.w->integer(n.elem, 1), n.w->integer(n.elem, 0)); }

V sin_or_cos(const V& x, const Angle& a, bool is_cos) {
  Writer& w = *x.w;
  Elem whole = a.quadrant.elem;
  V quadrant = is_cos ? a.quadrant + w.integer(whole, 1) : a.quadrant;
  V sign = shl(quadrant & w.integer(whole, 2), bits_of(whole) - 2);
  V odd = is_odd(quadrant);
  V size = select(odd, a.cosine.hi, a.sine.hi) + select(odd, a.cosine.lo, a.sine.lo);
  V result = bits(bits(size, whole) ^ sign, x.elem);
  if (!is_cos) result = select(equal(x, 0), x, result);
  return w.rare(a.far, is_cos ? "cos" : "sin", x, result);
}

}  // namespace

SinCos sin_cos(const V& x) {
  Angle a = angle_of(x);
  return {sin_or_cos(x, a, false), sin_or_cos(x, a, true)};
}

namespace inlined {

V sin(const V& x) { return sin_or_cos(x, angle_of(x), false); }
V cos(const V& x) { return sin_or_cos(x, angle_of(x), true); }

V tan(const V& x) {
  Angle a = angle_of(x);
  V odd = is_odd(a.quadrant);
  Pair sine = fast_sum(a.sine.hi, a.sine.lo), cosine = fast_sum(a.cosine.hi, a.cosine.lo);
  Pair above{select(odd, -cosine.hi, sine.hi), select(odd, -cosine.lo, sine.lo)};
  Pair below{select(odd, sine.hi, cosine.hi), select(odd, sine.lo, cosine.lo)};
  V result = quotient(above, below);
  return x.w->rare(a.far, "tan", x, select(equal(x, 0), x, result));
}

}  // namespace inlined
}  // namespace weft
