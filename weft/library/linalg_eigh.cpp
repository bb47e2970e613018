// Eigenvalues and eigenvectors of Hermitian matrices.
#include <Eigen/Eigenvalues>

#include "weft/library/linalg.h"
#include "weft/library/linalg_tridiagonal.h"

namespace weft::linalg {
namespace {

// Of the lower triangle of a, zeros above it. False when it did not come to an end.
template <class T>
bool decompose(Matrix<T>& a, Vector<Real<T>>& w, Matrix<T>* v) {
  const Index n = a.rows();
  if (n == 0) return true;
  if (n == 1) {
    w[0] = std::real(a(0, 0));
    if (v) v->setOnes();
    return true;
  }
  if (!a.allFinite()) return false;
  // Eigen drops off-diagonal elements by a rule that only suits matrices of about size one.
  const Real<T> largest = largest_part(a);
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  scale_by_power(a, -exponent);
  Tridiagonal<T> form(n);
  form.reduce(a);
  Eigen::SelfAdjointEigenSolver<Matrix<Real<T>>> solver(n);
  solver.computeFromTridiagonal(form.diagonal, form.below, v ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) return false;
  w = solver.eigenvalues();
  scale_by_power(w, exponent);
  if (v) {
    *v = solver.eigenvectors().template cast<T>();
    form.apply(a, *v);
  }
  return true;
}

template <class T>
void run(Index batch, Index n, bool lower, const void* a, void* w, void* v, int32_t* info) {
  Matrix<T> work(n, n), vectors(v ? n : 0, v ? n : 0);
  Vector<Real<T>> values(n);
  for (Index item = 0; item < batch; ++item) {
    work.setZero();
    if (lower)
      work.template triangularView<Eigen::Lower>() = read<T>(a, item, n, n);
    else
      work.template triangularView<Eigen::Lower>() = read<T>(a, item, n, n).adjoint();
    work.diagonal() = work.diagonal().real().template cast<T>();
    const bool done = decompose<T>(work, values, v ? &vectors : nullptr);
    if (!done) values.setConstant(not_a_number<Real<T>>), vectors.setConstant(not_a_number<T>);
    write<Real<T>>(w, item, n, 1) = values;
    if (v) write<T>(v, item, n, n) = vectors;
    report(info, item, done ? 0 : 1);
  }
}

}  // namespace

void eigh(DType dtype, int64_t batch, int64_t n, bool lower, const void* a, void* w, void* v, int32_t* info) {
  by_dtype(dtype, [&]<class T>() { run<T>(batch, n, lower, a, w, v, info); });
}

}  // namespace weft::linalg
