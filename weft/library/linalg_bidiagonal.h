// The real bidiagonal form of a matrix; included by linalg_*.cpp only.
#pragma once

#include "weft/library/linalg_reflector.h"

namespace weft::linalg {

// a = Q B P^H with B, `middle`, real, square and zero but on the diagonal and right above it; m >= n >= 1. What is
// below the rounding error of the largest entry of B is zero.
template <class T>
struct Bidiagonal {
  explicit Bidiagonal(const Matrix<T>& a)
      : vectors(a), row_vectors(a.cols(), a.cols()), taus(a.cols()), row_taus(a.cols() - 1) {
    const Index m = a.rows(), n = a.cols();
    Vector<T> workspace(m);
    middle.setZero(n, n);
    for (Index i = 0; i < n; ++i) {
      const Index right = n - i - 1;
      taus[i] = Reflectors<T>::make(vectors.col(i).tail(m - i));
      middle(i, i) = std::real(vectors(i, i));
      if (right == 0) break;
      Reflectors<T>::apply_left(vectors.col(i).tail(m - i - 1), Eigen::numext::conj(taus[i]),
                                vectors.bottomRightCorner(m - i, right), workspace.data());
      row_vectors.col(i).tail(right) = vectors.row(i).tail(right).adjoint();
      row_taus[i] = Reflectors<T>::make(row_vectors.col(i).tail(right));
      middle(i, i + 1) = std::real(row_vectors(i + 1, i));
      Reflectors<T>::apply_right(row_vectors.col(i).tail(right - 1), row_taus[i],
                                 vectors.bottomRightCorner(m - i - 1, right), workspace.data());
    }
    const Real<T> negligible = middle.cwiseAbs().maxCoeff() * std::numeric_limits<Real<T>>::epsilon() / 4;
    middle = (middle.cwiseAbs().array() < negligible).select(Real<T>(0), middle);
  }

  // Q (x 0; 0 1), or its first columns only.
  Matrix<T> left(const Matrix<Real<T>>& x, bool full) const {
    const Index m = vectors.rows();
    Matrix<T> result = Matrix<T>::Identity(m, full ? m : x.cols());
    result.topLeftCorner(x.rows(), x.cols()) = x.template cast<T>();
    Reflectors<T>::apply_all(vectors, taus, 0, result);
    return result;
  }

  // P x.
  Matrix<T> right(const Matrix<Real<T>>& x) const {
    Matrix<T> result = x.template cast<T>();
    Reflectors<T>::apply_all(row_vectors, row_taus, 1, result);
    return result;
  }

  Matrix<Real<T>> middle;
  Matrix<T> vectors, row_vectors;
  Vector<T> taus, row_taus;
};

}  // namespace weft::linalg
