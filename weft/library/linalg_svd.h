// The singular value decomposition of real matrices, the part of svd that is slow to compile; for linalg_*.cpp only.
#pragma once

#include <Eigen/SVD>

#include "weft/library/linalg_eigen.h"

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

// Whether the columns of q are orthonormal, asked of one combination of them.
template <class R>
bool is_orthogonal(const Matrix<R>& q) {
  Vector<R> x(q.cols());
  uint32_t bits = 1;
  for (R& entry : x) {
    bits = bits * 1664525u + 1013904223u;
    entry = R(1) + static_cast<R>(bits >> 16) / 65536;
  }
  const Vector<R> image = q * x;
  const R difference = (q.transpose() * image - x).norm();
  return difference <= 100 * std::numeric_limits<R>::epsilon() * static_cast<R>(q.rows() + 10) * x.norm();
}

// Both: whether the factors of a, neither empty nor with NaNs, were found. Divide and conquer is fast, but it loses
// orthogonality where squares of small singular values underflow; Jacobi's method is slow and sure.
template <class R>
bool divide_and_conquer(const Matrix<R>& a, Wanted wanted, Factors<R>& into) {
  return solve(Eigen::BDCSVD<Matrix<R>>(), a, wanted, into) && (!wanted.u || is_orthogonal(into.u)) &&
         (!wanted.v || is_orthogonal(into.v));
}
template <class R>
bool jacobi(const Matrix<R>& a, Wanted wanted, Factors<R>& into) {
  return solve(Eigen::JacobiSVD<Matrix<R>>(), a, wanted, into);
}

// One source file for each type.
extern template bool divide_and_conquer<float>(const Matrix<float>&, Wanted, Factors<float>&);
extern template bool divide_and_conquer<double>(const Matrix<double>&, Wanted, Factors<double>&);
extern template bool jacobi<float>(const Matrix<float>&, Wanted, Factors<float>&);
extern template bool jacobi<double>(const Matrix<double>&, Wanted, Factors<double>&);

}  // namespace weft::linalg
