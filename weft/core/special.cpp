// Special functions: series and asymptotic expansions from Abramowitz and Stegun, chapters 6, 9 and 23.
#include "weft/core/special.h"

#include <cmath>
#include <limits>

namespace weft {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

// Asymptotic series after shifting the argument above 10; reflection below zero.
double digamma(double x) {
  if (std::isnan(x) || x == -infinity) return nan;
  if (x <= 0) {
    if (x == std::floor(x)) return nan;
    return digamma(1 - x) - M_PI / std::tan(M_PI * (x - std::round(x)));
  }
  const int steps = x < 10 ? static_cast<int>(std::ceil(10 - x)) : 0;
  double shift = 0;
  for (int k = steps - 1; k >= 0; --k) shift += 1 / (x + k);  // the least first
  x += steps;
  const double r = 1 / (x * x);
  constexpr double terms[] = {1.0 / 12, 691.0 / 32760, 1.0 / 132, 1.0 / 240, 1.0 / 252, 1.0 / 120, 1.0 / 12};
  double series = 0;
  for (double term : terms) series = term - r * series;
  return std::log(x) - 0.5 / x - r * series - shift;
}

// Newton's method with the second derivative (Halley), on erfc in the tails, from a rough start (Winitzki 2008).
double erf_inv(double x) {
  if (std::isnan(x) || x < -1 || x > 1) return nan;
  if (x == 1 || x == -1) return x * infinity;
  if (x == 0) return x;
  constexpr double a = 0.147;
  double size = std::fabs(x), l = std::log1p(-size * size), t = 2 / (M_PI * a) + l / 2;
  double y = std::sqrt(std::sqrt(t * t - l / a) - t);
  if (size < 0.1) y = size * std::sqrt(M_PI) / 2;
  for (int i = 0; i < 4; ++i) {
    double error = size < 0.5 ? std::erf(y) - size : (1 - size) - std::erfc(y);
    double step = error / (2 / std::sqrt(M_PI) * std::exp(-y * y));
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

double bessel_i1e(double x) {
  double size = std::fabs(x);
  if (std::isnan(x)) return x;
  if (size == infinity) return std::copysign(0.0, x);
  double result = 0;
  if (size < 30) {
    // All terms are positive: nothing cancels.
    double term = size / 2, quarter = size * size / 4;
    for (int k = 0; term > result * 1e-18; ++k) {
      result += term;
      term *= quarter / ((k + 1.0) * (k + 2.0));
    }
    result *= std::exp(-size);
  } else {
    double term = 1;
    for (int k = 1; k < 20; ++k) {
      result += term;
      double odd = 2 * k - 1;
      term *= -(4 - odd * odd) / (k * 8 * size);
    }
    result /= std::sqrt(2 * M_PI * size);
  }
  return std::copysign(result, x);
}

// Euler and Maclaurin's sum after the first terms.
double zeta(double x, double q) {
  if (std::isnan(x) || std::isnan(q) || x < 1) return nan;
  if (x == 1) return infinity;
  if (q <= 0) {
    if (q == std::floor(q)) return infinity;
    if (x != std::floor(x)) return nan;
  }
  if (q == infinity) return 0;
  constexpr int shifted = 12;
  double sum = 0;
  for (int k = 0; k < shifted || q < shifted; ++k, q += 1) sum += std::pow(q, -x);
  sum += std::pow(q, 1 - x) / (x - 1) + 0.5 * std::pow(q, -x);
  // Bernoulli numbers B(2k) over (2k)!.
  constexpr double factors[] = {1.0 / 12,
                                -1.0 / 720,
                                1.0 / 30240,
                                -1.0 / 1209600,
                                1.0 / 47900160,
                                -691.0 / 1307674368000.0,
                                1.0 / 74724249600.0,
                                -3617.0 / 10670622842880000.0};
  double rising = x, power = std::pow(q, -x - 1);
  for (int k = 0; k < 8; ++k) {
    sum += factors[k] * rising * power;
    rising *= (x + 2 * k + 1) * (x + 2 * k + 2);
    power /= q * q;
  }
  return sum;
}

double polygamma(double order, double x) {
  if (order < 0 || order != std::floor(order)) return nan;
  if (order == 0) return digamma(x);
  double sign = std::fmod(order, 2) == 1 ? 1 : -1;
  return sign * std::exp(std::lgamma(order + 1)) * zeta(order + 1, x);
}

}  // namespace weft
