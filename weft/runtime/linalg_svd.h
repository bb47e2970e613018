// The singular value decomposition of real matrices, the part of svd that is slow to compile; for linalg_*.cpp only.
#pragma once

#include <Eigen/SVD>

#include "weft/runtime/linalg_eigen.h"

namespace weft::linalg {

// What of u and v is wanted, and whether all of their columns are.
struct Wanted {
  bool u, v, full;
};

template <class T>
struct Factors {
  Vector<Real<T>> s;
  Matrix<T> u, v;
};

template <class R, class Solver>
bool solve(Solver solver, const Matrix<R>& a, Wanted wanted, Factors<R>& into) {
  const unsigned left = wanted.full ? Eigen::ComputeFullU : Eigen::ComputeThinU;
  const unsigned right = wanted.full ? Eigen::ComputeFullV : Eigen::ComputeThinV;
  solver.compute(a, (wanted.u ? left : 0u) | (wanted.v ? right : 0u));
  if (solver.info() != Eigen::Success) return false;
  into.s = solver.singularValues();
  if (wanted.u) into.u = solver.matrixU();
  if (wanted.v) into.v = solver.matrixV();
  return true;
}

// Whether the factors of a, neither empty nor with NaNs, were found: divide and conquer is fast, Jacobi's method sure.
template <class R>
bool real_svd(const Matrix<R>& a, Wanted wanted, Factors<R>& into) {
  return solve(Eigen::BDCSVD<Matrix<R>>(), a, wanted, into) || solve(Eigen::JacobiSVD<Matrix<R>>(), a, wanted, into);
}

// One source file each.
extern template bool real_svd<float>(const Matrix<float>&, Wanted, Factors<float>&);
extern template bool real_svd<double>(const Matrix<double>&, Wanted, Factors<double>&);

}  // namespace weft::linalg
