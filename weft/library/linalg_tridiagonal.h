// The real tridiagonal form of a Hermitian matrix; included by linalg_*.cpp only.
#pragma once

#include <Eigen/Householder>

#include "weft/library/linalg_reflector.h"

namespace weft::linalg {

// a = Q T Q^H, as LAPACK's sytrd and hetrd make it from the lower triangle.
template <class T>
struct Tridiagonal {
  explicit Tridiagonal(Index n) : diagonal(n), below(std::max<Index>(n - 1, 0)), taus(below.size()) {}

  // Leaves T's diagonals and, below them, Householder vectors in a, whose upper triangle it leaves alone.
  void reduce(Matrix<T>& a) {
    const Index n = a.rows();
    Vector<T> update;
    for (Index i = 0; i + 1 < n; ++i) {
      auto column = a.col(i).tail(n - i - 1);
      taus[i] = make_reflector<T>(column);
      below[i] = std::real(column[0]);
      if (taus[i] == T(0)) continue;
      column[0] = T(1);
      auto rest = a.bottomRightCorner(n - i - 1, n - i - 1).template selfadjointView<Eigen::Lower>();
      update.noalias() = rest * (taus[i] * column);
      update += Real<T>(-0.5) * taus[i] * update.dot(column) * column;
      rest.rankUpdate(column, update, T(-1));
      column[0] = T(below[i]);
    }
    diagonal = a.diagonal().real();
  }

  // x = Q x, of what reduce left in a.
  void apply(const Matrix<T>& a, Matrix<T>& x) const {
    Vector<T> workspace;
    Eigen::householderSequence(a, taus).setLength(taus.size()).setShift(1).applyThisOnTheLeft(x, workspace);
  }

  Vector<Real<T>> diagonal, below;
  Vector<T> taus;
};

}  // namespace weft::linalg
