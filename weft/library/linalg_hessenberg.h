// The Hessenberg form of a square matrix; included by linalg_*.cpp only.
#pragma once

#include <Eigen/Householder>

#include "weft/library/linalg_reflector.h"

namespace weft::linalg {

// a = Q H Q^H, as LAPACK's gehrd makes it.
template <class T>
struct Hessenberg {
  explicit Hessenberg(Matrix<T> a) : packed(std::move(a)), taus(std::max<Index>(packed.rows() - 1, 0)) {
    const Index n = packed.rows();
    Vector<T> workspace(n);
    for (Index i = 0; i < taus.size(); ++i) {
      const Index below = n - i - 1;
      taus[i] = make_reflector<T>(packed.col(i).tail(below));
      const auto essential = packed.col(i).tail(below - 1);
      packed.rightCols(below).applyHouseholderOnTheRight(essential, taus[i], workspace.data());
      packed.bottomRightCorner(below, below)
          .applyHouseholderOnTheLeft(essential, Eigen::numext::conj(taus[i]), workspace.data());
    }
  }

  Matrix<T> h() const {
    Matrix<T> result = packed.template triangularView<Eigen::Upper>();
    result.diagonal(-1) = packed.diagonal(-1);
    return result;
  }

  Matrix<T> q() const {
    Matrix<T> result = Matrix<T>::Identity(packed.rows(), packed.rows());
    Vector<T> workspace;
    Eigen::householderSequence(packed, taus)
        .setLength(taus.size())
        .setShift(1)
        .applyThisOnTheLeft(result, workspace, true);
    return result;
  }

  Matrix<T> packed;
  Vector<T> taus;
};

}  // namespace weft::linalg
