// The real tridiagonal form of a Hermitian matrix; included by linalg_*.cpp only.
#pragma once

#include "weft/library/linalg_reflector.h"

namespace weft::linalg {

// a = Q T Q^H, as LAPACK's sytrd and hetrd make it from the lower triangle.
template <class T>
struct Tridiagonal {
  explicit Tridiagonal(Index n) : diagonal(n), below(std::max<Index>(n - 1, 0)), taus(below.size()) {}

  // Leaves T's diagonals and, below them, Householder vectors in a, whose upper triangle it leaves alone. Compiled
  // once, in linalg_reduce.cpp.
  void reduce(Matrix<T>& a);

  // x = Q x, of what reduce left in a.
  void apply(const Matrix<T>& a, Matrix<T>& x) const { Reflectors<T>::apply_all(a, taus, 1, x); }

  Vector<Real<T>> diagonal, below;
  Vector<T> taus;
};

}  // namespace weft::linalg
