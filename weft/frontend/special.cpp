// The table of SciPy's special functions, and those that are no single op.
#include "weft/frontend/special.h"

#include <limits>
#include <numbers>

#include "weft/frontend/functions.h"
#include "weft/frontend/lowering.h"
#include "weft/frontend/promote.h"

namespace weft {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <Tensor (*form)(const Tensor&)>
std::vector<Tensor> of_number(const Ufunc&, std::span<const Tensor> x) {
  return {form(x[0])};
}
template <Tensor (*form)(const Tensor&, const Tensor&)>
std::vector<Tensor> of_numbers(const Ufunc&, std::span<const Tensor> x) {
  return {form(x[0], x[1])};
}

// What `values` are where x or y is a NaN.
Tensor unless_nan(const Tensor& x, const Tensor& y, const Tensor& values) {
  return where(isnan(x) | isnan(y), x + y, values);
}

// x times the logarithm that is given, and 0 for 0 but beside a NaN.
Tensor weighted(const Tensor& x, const Tensor& y, const Tensor& logarithm) {
  return where((x == 0) & ~isnan(y), 0, x * logarithm);
}
Tensor weighted_log(const Tensor& x, const Tensor& y) { return weighted(x, y, log(y)); }
Tensor weighted_log1p(const Tensor& x, const Tensor& y) { return weighted(x, y, log1p(y)); }

// Of f32 in f64, as SciPy computes what would lose digits.
template <Tensor (*form)(const Tensor&, const Tensor&)>
Tensor in_f64(const Tensor& x, const Tensor& y) {
  return cast_to(form(cast_to(x, DType::f64), cast_to(y, DType::f64)), x.dtype());
}

// The normal distribution.
Tensor normal_distribution(const Tensor& x) {
  return cast_to(erfc(cast_to(x, DType::f64) * (-std::numbers::sqrt2 / 2)) * 0.5, x.dtype());
}

// What the ops give but at poles, and at 0, whose sign SciPy drops.
Tensor scaled_bessel(const Tensor& x) { return where(x == 0, 0, bessel_i1e(x)); }
Tensor inverse_error_function(const Tensor& x) { return where(x == 0, 0, erf_inv(x)); }
Tensor log_of_gamma(const Tensor& x) { return where(x == -infinity, x, lgamma(x)); }
Tensor slope_of_log_gamma(const Tensor& x) { return where(x == 0, copysign(infinity, -x), digamma(x)); }

// Around 1/2, where x / (1 - x) is near 1, its logarithm is a difference of two of log1p.
Tensor log_of_odds(const Tensor& x) {
  const Tensor off = (x - 0.5) * 2;
  return where((x < 0.3) | (x > 0.65), log(x / (1 - x)), log1p(off) - log1p(-off));
}

Tensor log_of_logistic(const Tensor& x) { return where(x < 0, x, -0.0) - log1p(exp(-abs(x))); }

Tensor relative_exponential(const Tensor& x) {
  return where(abs(x) < 1e-16, 1, where(x > 717, infinity, expm1(x) / x));
}

Tensor power_of_ten(const Tensor& x) { return power(number(10, x.dtype()), x); }

Tensor entropy(const Tensor& x) { return unless_nan(x, x, where(x > 0, -x * log(x), where(x == 0, 0, -infinity))); }

Tensor relative_entropy(const Tensor& x, const Tensor& y) {
  const Tensor ratio = x / y;
  const Tensor near = x * log1p((x - y) / y), far = x * (log(x) - log(y));
  const Tensor is_normal = (ratio > std::numeric_limits<double>::min()) & (ratio < infinity);
  const Tensor both = where((ratio > 0.5) & (ratio < 2), near, where(is_normal, x * log(ratio), far));
  return unless_nan(x, y, where((x > 0) & (y > 0), both, where((x == 0) & (y >= 0), 0, infinity)));
}

// Kullback and Leibler's divergence of two elements.
Tensor divergence(const Tensor& x, const Tensor& y) {
  const Tensor both = x * log(x / y) - x + y;
  return unless_nan(x, y, where((x > 0) & (y > 0), both, where((x == 0) & (y >= 0), y, infinity)));
}

Tensor huber_loss(const Tensor& delta, const Tensor& residual) {
  const Tensor size = abs(residual);
  const Tensor loss = where(size <= delta, residual * residual * 0.5, delta * (size - delta * 0.5));
  return where(delta < 0, infinity, loss);
}

Tensor pseudo_huber_loss(const Tensor& delta, const Tensor& residual) {
  const Tensor ratio = residual / delta, loss = delta * delta * expm1(log1p(ratio * ratio) * 0.5);
  return where(delta < 0, infinity, where((delta == 0) | (residual == 0), 0, loss));
}

constexpr Ufunc of_scipy[] = {
    {"entr", 1, Least::floating, Most::real, of_number<entropy>},
    {"erf", 1, Least::floating, Most::real, single_op, Op::erf},
    {"erfc", 1, Least::floating, Most::real, single_op, Op::erfc},
    {"erfinv", 1, Least::floating, Most::real, of_number<inverse_error_function>},
    {"exp10", 1, Least::floating, Most::real, of_number<power_of_ten>},
    {"expit", 1, Least::floating, Most::real, single_op, Op::logistic},
    {"exprel", 1, Least::floating, Most::real, of_number<relative_exponential>},
    {"gammaln", 1, Least::floating, Most::real, of_number<log_of_gamma>},
    {"huber", 2, Least::floating, Most::real, of_numbers<huber_loss>},
    {"i1e", 1, Least::floating, Most::real, of_number<scaled_bessel>},
    {"kl_div", 2, Least::floating, Most::real, of_numbers<in_f64<divergence>>},
    {"log_expit", 1, Least::floating, Most::real, of_number<log_of_logistic>},
    {"logit", 1, Least::floating, Most::real, of_number<log_of_odds>},
    {"ndtr", 1, Least::floating, Most::real, of_number<normal_distribution>},
    {"pseudo_huber", 2, Least::floating, Most::real, of_numbers<in_f64<pseudo_huber_loss>>},
    {"psi", 1, Least::floating, Most::real, of_number<slope_of_log_gamma>},
    {"rel_entr", 2, Least::floating, Most::real, of_numbers<relative_entropy>},
    {"xlog1py", 2, Least::floating, Most::complex, of_numbers<weighted_log1p>},
    {"xlogy", 2, Least::floating, Most::complex, of_numbers<weighted_log>},
};

}  // namespace

std::span<const Ufunc> special_ufuncs() { return of_scipy; }

}  // namespace weft
