// The Hessenberg form of a square matrix; included by linalg_*.cpp only.
#pragma once

#include "weft/library/linalg_reflector.h"

namespace weft::linalg {

// a = Q H Q^H, as LAPACK's gehrd makes it.
template <class T>
struct Hessenberg {
  // Compiled once, in linalg_reduce.cpp.
  explicit Hessenberg(Matrix<T> a);

  Matrix<T> h() const {
    Matrix<T> result = packed.template triangularView<Eigen::Upper>();
    result.diagonal(-1) = packed.diagonal(-1);
    return result;
  }

  Matrix<T> q() const {
    Matrix<T> result = Matrix<T>::Identity(packed.rows(), packed.rows());
    Reflectors<T>::apply_all(packed, taus, 1, result, true);
    return result;
  }

  Matrix<T> packed;
  Vector<T> taus;
};

}  // namespace weft::linalg
