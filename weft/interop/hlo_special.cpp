// Special functions that HLO has no opcode for, as HLO arithmetic on f32 and f64.
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <span>

#include "weft/interop/hlo_math.h"

namespace weft {
namespace {

constexpr double pi = std::numbers::pi;

HloNumber polynomial(const HloNumber& x, std::span<const double> coefficients) {
  HloNumber sum = x.of(coefficients[0]);
  for (double coefficient : coefficients.subspan(1)) sum = sum * x + coefficient;
  return sum;
}

// The rational approximations of erfc(x) exp(x * x) for 1 <= x < 8 and beyond, of the Cephes library.
constexpr double erfc_p[] = {2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687,
                             4.86371970985681366614e1,   1.96520832956077098242e2,  5.26445194995477358631e2,
                             9.34528527171957607540e2,   1.02755188689515710272e3,  5.57535335369399327526e2};
constexpr double erfc_q[] = {1.0,
                             1.32281951154744992508e1,
                             8.67072140885989742329e1,
                             3.54937778887819891062e2,
                             9.75708501743205489753e2,
                             1.82390916687909736289e3,
                             2.24633760818710981792e3,
                             1.65666309194161350182e3,
                             5.57535340817727675546e2};
constexpr double erfc_r[] = {5.64189583547755073984e-1, 1.27536670759978104416, 5.01905042251180477414,
                             6.16021097993053585195,    7.40974269950448939160, 2.97886665372100240670};
constexpr double erfc_s[] = {1.0,
                             2.26052863220117276590,
                             9.39603524938001434673,
                             1.20489539808096656605e1,
                             1.70814450747565897222e1,
                             9.60896809063285878198,
                             3.36907645100081516050};

// Giles' approximation of erf_inv(x) / x for f32: a polynomial in w - 2.5 below w = 5, in sqrt(w) - 3 beyond, where
// w = -log(1 - x * x).
constexpr double giles_centre[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                   -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
constexpr double giles_tail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                 -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};

// Lanczos' approximation of the gamma function with g = 7.
constexpr double lanczos_g = 7, lanczos_base = 0.99999999999980993;
constexpr double lanczos[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                              771.3234287776530788486528258894,   -176.61502916214059906584551354,
                              12.507343278686904814458936853,     -0.13857109526572011689554707,
                              9.984369578019570859563e-6,         1.50563273514931155834e-7};

// What lgamma and digamma share: x reflected to z >= -0.5, and the logarithm of z + 7.5.
struct Reflected {
  HloNumber mirrored, z, shifted, log_shifted;
};

Reflected reflected(const HloNumber& x) {
  HloNumber mirrored = x < 0.5;
  HloNumber z = select(mirrored, -x, x - 1);
  HloNumber log_shifted = call("log-plus-one", z / (lanczos_g + 0.5)) + std::log(lanczos_g + 0.5);
  return {mirrored, z, z + (lanczos_g + 0.5), log_shifted};
}

}  // namespace

HloNumber erfc(const HloNumber& x) {
  HloNumber a = call("abs", x), zero = x.of(0);
  HloNumber decay = call("exponential", -(a * a));
  HloNumber middle = decay * polynomial(a, erfc_p) / polynomial(a, erfc_q);
  HloNumber far = decay * polynomial(a, erfc_r) / polynomial(a, erfc_s);
  HloNumber tail = select(a < 8, middle, select(a > 28, zero, far));
  return select(a < 1, 1 - call("erf", x), select(x < 0, 2 - tail, select(x == x, tail, x)));
}

HloNumber erf_inv(const HloNumber& x) {
  HloNumber a = call("abs", x), w = -call("log-plus-one", -(a * a));
  HloNumber centre = polynomial(w - 2.5, giles_centre), tail = polynomial(call("sqrt", w) - 3, giles_tail);
  HloNumber guess = a * select(w < 5, centre, tail);
  if (x.type().dtype == DType::f64) {
    // Newton's steps: on erf near 0, on the logarithm of erfc far from it, where erf itself says too little.
    HloNumber near = guess, far = guess, wanted = call("log-plus-one", -a);
    for (int step = 0; step < 2; ++step)
      near = near - (call("erf", near) - a) * call("exponential", near * near) * (std::sqrt(pi) / 2);
    for (int step = 0; step < 4; ++step) {
      HloNumber rest = erfc(far);
      far = far + (call("log", rest) - wanted) * rest * call("exponential", far * far) * (std::sqrt(pi) / 2);
    }
    guess = select(a < 0.5, near, far);
  }
  HloNumber infinity = x.of(std::numeric_limits<double>::infinity());
  return call("sign", x) * select(a == 1, infinity, guess);
}

HloNumber lgamma(const HloNumber& x) {
  Reflected r = reflected(x);
  HloNumber sum = x.of(lanczos_base);
  for (size_t i = 0; i < std::size(lanczos); ++i) sum = sum + lanczos[i] / (r.z + static_cast<double>(i + 1));
  HloNumber value = (r.z + 0.5 - r.shifted / r.log_shifted) * r.log_shifted + std::log(2 * pi) / 2 + call("log", sum);
  // The reflection: lgamma(x) = log(pi) - log|sin(pi x)| - lgamma(1 - x), infinite at 0, -1, -2 …
  HloNumber a = call("abs", x), fraction = a - call("floor", a);
  HloNumber near = select(fraction > 0.5, 1 - fraction, fraction);
  HloNumber sine = call("log", call("sine", pi * near));
  HloNumber infinity = x.of(std::numeric_limits<double>::infinity());
  HloNumber mirrored = select(near == 0, infinity, std::log(pi) - sine - value);
  return select(a == infinity, infinity, select(r.mirrored, mirrored, value));
}

HloNumber digamma(const HloNumber& x) {
  Reflected r = reflected(x);
  HloNumber sum = x.of(lanczos_base), slope = x.of(0);
  for (size_t i = 0; i < std::size(lanczos); ++i) {
    HloNumber shifted = r.z + static_cast<double>(i + 1);
    sum = sum + lanczos[i] / shifted;
    slope = slope - lanczos[i] / (shifted * shifted);
  }
  HloNumber value = r.log_shifted + slope / sum - lanczos_g / r.shifted;
  // The reflection: digamma(x) = digamma(1 - x) - pi / tan(pi x), undefined at -1, -2 …
  HloNumber fraction = x - call("floor", x + 0.5);
  HloNumber angle = pi * fraction;
  HloNumber mirrored = select(fraction == 0, x.of(NAN), value - pi * call("cosine", angle) / call("sine", angle));
  HloNumber infinity = x.of(std::numeric_limits<double>::infinity());
  HloNumber finite = select(r.mirrored, mirrored, value);
  return select(x == 0, -call("sign", 1 / x) * infinity, select(x == infinity, infinity, finite));
}

// Floats of one sign are ordered as the integers of their bits.
HloValues next_after(HloComputation& hlo, const Node&, const HloValues& operands) {
  HloNumber x{&hlo, operands[0]}, y{&hlo, operands[1]};
  bool wide = x.type().dtype == DType::f64;
  HloNumber bits = x.bits(wide ? DType::i64 : DType::i32), one = bits.of(1);
  HloNumber away = call("abs", x) < call("abs", y), same_sign = compare("EQ", x < 0, y < 0);
  HloNumber grows = call("and", away, same_sign);
  HloNumber moved = select(grows, bits + one, bits - one).bits(x.type().dtype);
  double least = wide ? std::numeric_limits<double>::denorm_min() : std::numeric_limits<float>::denorm_min();
  HloNumber from_zero = select(y < 0, x.of(-least), x.of(least));
  HloNumber known = select(x == y, y, select(x == 0, from_zero, moved));
  return {select(call("and", x == x, y == y), known, x + y).value};
}

}  // namespace weft
