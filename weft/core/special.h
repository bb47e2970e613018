// Special functions that the C++ library lacks, in double precision.
#pragma once

namespace weft {

// Derivative of log |gamma(x)|; NaN at 0 and the negative integers.
double digamma(double x);
// The inverse of erf on (-1, 1); infinite at the ends, NaN outside.
double erf_inv(double x);
// exp(-|x|) times the modified Bessel function of the first kind of order 1.
double bessel_i1e(double x);
// Hurwitz's zeta function: the sum of (q + k)^-x over k from 0, for x > 1.
double zeta(double x, double q);
// The derivative of digamma of that order (an integer from 0).
double polygamma(double order, double x);

}  // namespace weft
