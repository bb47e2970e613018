// Functions of complex numbers by those of their parts. What is infinite, what NaN and which zeros are negative is as
// in C's Annex G. All is computed in f64: parts of complex64 are rounded once, where terms cancel too.
#include "weft/codegen/llvm/vector_math.h"

namespace weft {
namespace {

// Beyond it functions of e**|x| are e**|x| alone to the last place.
constexpr double far = 22;
constexpr double most = __builtin_inf();

V is_zero(const V& x) { return equal(x, 0); }
V is_infinite(const V& x) { return equal(abs_of(x), most); }
V is_finite(const V& x) { return less(abs_of(x), most); }
V signed_zero(const V& sign) { return copysign_of(sign.w->zero(sign.elem), sign); }

// e**x * factor / 2**halvings, where e**x alone may overflow. Past the bounds all products are infinite or zero.
struct Grown {
  Exponential e;
  explicit Grown(const V& x) : e(exp_parts(clamped(x, -1100, 1500))) {}

  V times(const V& factor, int halvings = 0) const {
    Writer& w = *factor.w;
    // Denormal factors as normal ones; with others no product is a number past the largest of two exponents.
    constexpr int up = 128, largest = 2046;
    V is_tiny = less(abs_of(factor), 0x1p-900), is_large = greater(e.n.number, largest);
    auto power = [&](const V& n, auto constant) {
      return select(is_tiny, n - constant(up + halvings), select(is_large, constant(largest), n - constant(halvings)));
    };
    Rounded n{power(e.n.number, [&](int i) { return w.real(factor.elem, i); }),
              power(e.n.integer, [&](int i) { return w.integer(e.n.integer.elem, i); })};
    V given = factor * select(is_tiny, w.real(factor.elem, __builtin_ldexp(1, up)), w.real(factor.elem, 1));
    return select(is_zero(factor), factor, scaled(mad(e.value.lo, given, e.value.hi * given), n));
  }
};

Complex exp(const Complex& z) {
  const auto& [x, y] = z;
  auto [sine, cosine] = sin_cos(y);
  Grown power(x);
  V re = power.times(cosine), im = select(is_zero(y), y, power.times(sine));
  // No angle: only the size of an infinite power is known.
  V lost = ~is_finite(y) & is_infinite(x), small = less(x, 0);
  V zero = x.w->zero(x.elem);
  return {select(lost, select(small, zero, infinity_like(x)), re), select(lost & small, signed_zero(y), im)};
}

// sinh and cosh of the real part, times the sine and the cosine of the imaginary one.
struct Hyperbolic {
  V sine_by_cosine, cosine_by_sine, cosine_by_cosine, sine_by_sine;
};
Hyperbolic hyperbolic(const V& x, const V& y) {
  auto [sine, cosine] = sin_cos(y);
  V is_far = greater(abs_of(x), far), sh = inlined::sinh(x), ch = inlined::cosh(x);
  Grown power(abs_of(x));
  V sign = copysign_of(x.w->real(x.elem, 1), x);
  auto part = [&](const V& near, const V& factor, const V& far_factor) {
    return select(is_far, power.times(far_factor, 1), near * factor);
  };
  return {part(sh, cosine, cosine * sign), part(ch, sine, sine), part(ch, cosine, cosine), part(sh, sine, sine * sign)};
}

Complex sinh(const Complex& z) {
  const auto& [x, y] = z;
  Hyperbolic h = hyperbolic(x, y);
  V lost = ~is_finite(y);
  V re = select(lost & is_zero(x), x, h.sine_by_cosine);
  return {select(lost & is_infinite(x), infinity_like(x), re), select(is_zero(y), y, h.cosine_by_sine)};
}

Complex cosh(const Complex& z) {
  const auto& [x, y] = z;
  Hyperbolic h = hyperbolic(x, y);
  V lost = ~is_finite(y), zero = x.w->zero(x.elem);
  V re = select(lost & is_infinite(x), abs_of(x), h.cosine_by_cosine);
  V is_real = is_zero(y) & is_nan(x);
  return {re, select(is_real, y, select(lost & is_zero(x), zero, h.sine_by_sine))};
}

// With both parts exchanged, before and after, sinh is sin and tanh is tan; cos z = cosh(i z).
Complex sin(const Complex& z) {
  Complex exchanged = sinh({z.im, z.re});
  return {exchanged.im, exchanged.re};
}
Complex cos(const Complex& z) { return cosh({-z.im, z.re}); }

// (sinh x cosh x + i sin y cos y) / (sinh(x)**2 + cos(y)**2)
Complex tanh(const Complex& z) {
  const auto& [x, y] = z;
  V one = x.w->real(x.elem, 1), a = abs_of(x), is_far = greater(a, far);
  auto [sine, cosine] = sin_cos(y);
  V bounded = clamped(a, 0, far), sh = inlined::sinh(bounded), ch = sqrt_of(mad(sh, sh, one));
  V below = mad(sh, sh, cosine * cosine), round = sine * cosine;
  // Far: 4 sin y cos y e**(-2 |x|).
  V im = select(is_far, Grown(a * -2.0).times(round * 4.0), round / below);
  V re = select(is_far, one, sh * ch / below);
  V lost = ~is_finite(y);
  V rest = select(is_infinite(x) & lost, signed_zero(y), im);
  V real = copysign_of(re, x);
  real = select(is_nan(x), x, select(lost & ~is_infinite(x), select(is_zero(x), x, nan_like(x)), real));
  return {real, select(is_zero(y), y, select(is_nan(x), nan_like(x), rest))};
}
Complex tan(const Complex& z) {
  Complex exchanged = tanh({z.im, z.re});
  return {exchanged.im, exchanged.re};
}

// Magnitudes of both parts, the larger one first, and the power of two that makes numbers of their squares.
struct Magnitudes {
  V large, small, is_huge, is_tiny;
  explicit Magnitudes(const Complex& z) {
    V a = abs_of(z.re), b = abs_of(z.im), is_less = less(a, b);
    large = select(is_less, b, a);
    small = select(is_less, a, b);
    is_huge = greater(large, 0x1p500);
    is_tiny = less(large, 0x1p-400);
  }
  V by_size(double of_huge, double of_tiny, double of_others) const {
    auto constant = [&](double value) { return large.w->real(large.elem, value); };
    return select(is_huge, constant(of_huge), select(is_tiny, constant(of_tiny), constant(of_others)));
  }
  V scale() const { return by_size(0x1p-600, 0x1p600, 1); }
};

// log |z| is half of log(x**2 + y**2), the sum of both squares in two parts.
Complex log(const Complex& z) {
  Writer& w = *z.re.w;
  const Magnitudes magnitudes(z);
  V scale = magnitudes.scale(), large = magnitudes.large * scale, small = magnitudes.small * scale;
  Pair square = exact_product(large, large), other = exact_product(small, small);
  Pair sum = fast_sum(square.hi, other.hi);
  sum = fast_sum(sum.hi, sum.lo + (square.lo + other.lo));
  constexpr double of_scale = 0x1.9fe3682cd3be4p+8;  // 600 ln 2
  V re = mad(log_of_pair(sum.hi, sum.lo), w.real(z.re.elem, 0.5), magnitudes.by_size(of_scale, -of_scale, 0));
  V size = select(is_infinite(z.re) | is_infinite(z.im), infinity_like(z.re),
                  select(is_nan(z.re) | is_nan(z.im), nan_like(z.re), re));
  return {select(is_zero(z.re) & is_zero(z.im), -infinity_like(z.re), size), inlined::atan2(z.im, z.re)};
}

// t = sqrt((|x| + |z|) / 2) and y / (2 t)
Complex sqrt(const Complex& z) {
  Writer& w = *z.re.w;
  const Magnitudes magnitudes(z);
  V scale = magnitudes.scale(), back = magnitudes.by_size(0x1p300, 0x1p-300, 1);
  V x = abs_of(z.re) * scale, y = z.im * scale, size = sqrt_of(mad(x, x, y * y));
  V t = sqrt_of((x + select(is_infinite(x), x, size)) * 0.5), u = y / (t + t);
  V is_left = less(z.re, 0), wide = is_infinite(z.im), none = is_zero(z.re) & is_zero(z.im);
  V re = select(is_left, abs_of(u), t) * back, im = select(is_left, copysign_of(t, z.im), u) * back;
  re = select(none, w.zero(z.re.elem), select(wide, infinity_like(z.re), re));
  return {re, select(none | wide, z.im, im)};
}

struct Named {
  std::string_view name;
  ComplexFunction function;
};
constexpr Named functions[] = {{"exp", exp}, {"log", log},   {"sqrt", sqrt}, {"sin", sin},  {"cos", cos},
                               {"tan", tan}, {"sinh", sinh}, {"cosh", cosh}, {"tanh", tanh}};

}  // namespace

ComplexFunction complex_function(std::string_view name) {
  for (const Named& known : functions)
    if (known.name == name) return known.function;
  return nullptr;
}

}  // namespace weft
