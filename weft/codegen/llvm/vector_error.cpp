// erf, erfc and the inverse of erf.
#include "weft/codegen/llvm/vector_math.h"

namespace weft {
namespace {

// erf(x) / x - 1 over z = x**2, for |x| <= 1
V erf_tail(const V& z) {
  return polynomial(
      z,
      {1.4391151966474005e-10, -1.6490106776595487e-09, 1.6019110020755654e-08, -1.6557907823022554e-07,
       1.6481123614496875e-06, -1.4926884980296823e-05, 0.00012055386318622115, -0.00085483285386575786,
       0.0052239776527320076, -0.026866170648034048, 0.11283791670971106, -0.37612638903184098, 0.12837916709551259},
      {7.8078825e-05, -0.000799807138, 0.00518717803, -0.0268533509, 0.112835787, -0.37612626, 0.128379166});
}

// erfc(x) for x from 3/4 on, by (x + 3) exp(x**2) erfc(x) over t = (x - 3) / (x + 3); needs fused multiply-add.
V erfc_far(const V& x) {
  Writer& w = *x.w;
  bool is_wide = x.elem == Elem::f64;
  V three = w.real(x.elem, 3), above = x - 3.0, sum = x + 3.0, is_large = less(three, x);
  Pair below{sum, select(is_large, three, x) - (sum - select(is_large, x, three))};
  V t = quotient({above, w.zero(x.elem)}, below);
  V slope =
      is_wide
          ? polynomial(
                t, {-2.0285960449905942e-08, 5.3709341471047801e-08, 7.236656262382947e-08,  -2.5171124033394673e-07,
                    -4.2160822107945797e-07, 1.0148166989590922e-06, 2.7680550063224861e-06, -4.7560119004942736e-06,
                    -1.7470318463512092e-05, 3.0399823025755873e-05, 0.00010756127443569788, -0.0002767780886331003,
                    -0.00054830965185657292, 0.0030340620219041188,  -0.0012124166306361082, -0.026827234625435747,
                    0.11952776128742205,     -0.31046726190054758,   0.59022835710410015,    -0.88339445316988374})
          : polynomial(t, {-0.000352584408, -0.00047571343, 0.00309695583, -0.00123157341, -0.026842529, 0.119530037,
                           -0.310465962, 0.59022826, -0.88339448});
  Pair g = fast_sum(pick(x, 0x1.12f21ddd9f5e2p+0, 0x1.12f21e0000000p+0), slope * t);
  Pair q = quotient_pair({g.hi, g.lo + pick(x, -0x1.962bf736a7417p-54, -0x1.1305100000000p-27)}, below);
  Pair square = exact_product(x, x);
  V low = -square.lo;
  auto [power, n] = exp_parts(-square.hi, &low);
  return scaled(mad(power.hi, q.hi, mad(power.hi, q.lo, power.lo * q.hi)), n);
}

}  // namespace

namespace inlined {

// From 1 on as 1 - exp(-x**2 + L(x)), where the digits of erfc that show are fewer than those of the result.
V erf(const V& x) {
  Writer& w = *x.w;
  bool is_wide = x.elem == Elem::f64;
  V a = abs_of(x);
  V b = clamped(a, 1, is_wide ? 6 : 4), u = b - 2.0;
  V l = is_wide
            ? polynomial(
                  u, {1.0142569082927435e-12, -1.0000388540411897e-11, 3.740209822155456e-11, -4.3718945730521983e-11,
                      -2.7419886590149845e-10, 2.540717225466399e-09, -1.3950898249643867e-08, 5.7794987339604137e-08,
                      -1.7320487629571921e-07, 2.0364422489347583e-07, 1.9521940898489614e-06, -2.0706433226915054e-05,
                      0.00013530933452258922, -0.00073239938563664849, 0.0035707563462021893, -0.016465118136868344,
                      0.076249158176192322, -0.41816080599441752, -1.3649412646166375})
            : polynomial(u, {0.000189840779, -0.000705056475, 0.0035450568, -0.0164911915, 0.0762449279, -0.418159425,
                             -1.364941});
  V far = w.real(x.elem, 1) - exp(mad(-b, b, l));
  return select(less(a, 1), mad(erf_tail(x * x), x, x), select(is_nan(x), x, copysign_of(far, x)));
}

V erfc(const V& x) {
  Writer& w = *x.w;
  bool is_wide = x.elem == Elem::f64;
  V a = abs_of(x), one = w.real(x.elem, 1);
  V far = erfc_far(clamped(a, 0.5, is_wide ? 28 : 11));
  Pair near = fast_sum(one, -x);
  V central = near.hi + (near.lo - x * erf_tail(x * x));
  return select(less(a, 0.75), central, select(less(x, 0), w.real(x.elem, 2) - far, far));
}

// By w = -log(1 - x**2) where it is less than 5, by its root beyond. In f64 that is a start for one step of Halley's
// method, on erf or, past y = 1, on erfc.
V erf_inv(const V& x) {
  Writer& w = *x.w;
  bool is_wide = x.elem == Elem::f64;
  V one = w.real(x.elem, 1), a = abs_of(x), beyond = w.compare("fcmp ugt", a, one), end = equal(a, 1);
  V inside = select(beyond | end, w.zero(x.elem), a);
  V l = -log1p(-inside * inside);
  l = select(greater(inside, 0.5), -log((one - inside) * (one + inside)), l);
  V central = l - 2.5, tail = sqrt_of(l) - (is_wide ? 4.0 : 3.0);
  V near = polynomial(
      central,
      {2.8533921692995503e-08, 3.4373299610008116e-07, -3.5288390736174131e-06, -4.3968291377285281e-06,
       0.00021860207882456822, -0.001253707428515302, -0.0041777075729043473, 0.24664072610888077, 1.5014094215738991},
      {-2.6584388e-09, -9.80687975e-09, 6.53141967e-08, 4.8117073e-07, -3.69570807e-06, -5.03708452e-06, 0.000218870511,
       -0.00125260779, -0.00417780178, 0.24664022, 1.50140941});
  V far = polynomial(
      tail,
      {1.8454633223253885e-05, -7.8884988630575746e-05, 8.6313329279784427e-05, -2.8334830443213819e-05,
       0.00026478502311827061, -0.00094034553641055983, 0.0012876796867308253, 1.0095100079018386, 3.839781934240575},
      {-3.7233749e-05, 0.000159606483, -0.000253792503, -0.000121685749, 0.00145364366, -0.00356519222, 0.00569517445,
       -0.00764317624, 0.00944441278, 1.00167525, 2.83297682});
  V y = select(less(l, 5), near, far) * inside;
  if (is_wide) {
    // Next to y itself erf(y) - y is small: the difference keeps its digits.
    V from_erf = mad(erf_tail(y * y), y, y - inside), from_erfc = (one - inside) - erfc_far(y);
    V slope = exp(y * y) * 0.88622692545275805;  // sqrt(pi) / 2 over e**(-y**2)
    V step = select(less(y, 1), from_erf, from_erfc) * slope;
    y = y - step / mad(y, step, one);
  }
  V result = copysign_of(select(end, infinity_like(x), y), x);
  return select(equal(x, 0), x, select(beyond, nan_like(x), result));
}

}  // namespace inlined
}  // namespace weft
