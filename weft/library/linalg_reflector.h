// Householder reflectors as LAPACK's larfg makes them; included by linalg_*.cpp only.
#pragma once

#include "weft/library/linalg_eigen.h"

namespace weft::linalg {

// The 2-norm, without overflow or underflow; NaN if there is one.
template <class Column>
auto safe_norm(const Column& x) {
  using R = typename Column::RealScalar;
  const R squared = x.squaredNorm();
  const R tiny = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  if (squared > tiny && squared <= std::numeric_limits<R>::max()) return std::sqrt(squared);
  return x.size() == 0 ? R(0) : x.stableNorm();
}

// Makes H = I - tau v v^H with v = (1, tail) and H^H column = (beta, 0 ...), beta real; leaves beta and the tail in
// column and returns tau. Needs a column of one element at least. Eigen's own squares the column, which loses short
// and long ones.
template <class T, class Column>
T make_reflector(Column column) {
  using R = Real<T>;
  auto tail = column.tail(column.size() - 1);
  const auto length = [&] { return std::hypot(std::real(column[0]), std::imag(column[0]), safe_norm(tail)); };
  R norm = safe_norm(tail);
  if (norm == R(0) && std::imag(column[0]) == R(0)) return T(0);
  const R smallest = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  R unscale = 1;
  R beta = length();
  for (int times = 0; beta < smallest && times < 20; ++times) {
    column /= smallest;
    unscale *= smallest;
    beta = length();
  }
  beta = -std::copysign(beta, std::real(column[0]));
  const T alpha = column[0];
  const T tau = (T(beta) - alpha) / beta;
  tail *= T(1) / (alpha - beta);
  column[0] = T(beta * unscale);
  return tau;
}

}  // namespace weft::linalg
