// Eigenvalues and eigenvectors of Hermitian matrices.
#include <Eigen/Eigenvalues>

#include "weft/library/linalg.h"
#include "weft/library/linalg_divided.h"
#include "weft/library/linalg_lapack.h"
#include "weft/library/linalg_tridiagonal.h"

namespace weft::linalg {
namespace {

// Of a tridiagonal matrix, with LAPACK's signs.
template <class R>
bool solve(const Vector<R>& d, const Vector<R>& e, Vector<R>& values, Matrix<R>* vectors) {
  if (d.size() <= smallest_divided) {
    Vector<R> rest = e;
    Matrix<R> none(0, d.size());
    values = d;
    if (vectors) vectors->setIdentity(d.size(), d.size());
    return TridiagonalQl<R>(values, rest, vectors ? *vectors : none).solve();
  }
  Eigen::SelfAdjointEigenSolver<Matrix<R>> solver(d.size());
  solver.computeFromTridiagonal(d, e, vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) return false;
  values = solver.eigenvalues();
  if (!vectors) return true;
  *vectors = solver.eigenvectors();
  DividedSigns<R>(d, e).apply(*vectors);
  return true;
}

// Of the lower triangle of a, zeros above it; of an upper one it holds the rows and columns in reverse. False when it
// did not come to an end.
template <class T>
bool decompose(Matrix<T>& a, bool lower, Vector<Real<T>>& w, Matrix<T>* v) {
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
  // From the upper triangle LAPACK starts at the end.
  if (!lower) {
    form.diagonal.reverseInPlace();
    form.below.reverseInPlace();
  }
  Matrix<Real<T>> vectors;
  if (!solve(form.diagonal, form.below, w, v ? &vectors : nullptr)) return false;
  scale_by_power(w, exponent);
  if (v) {
    *v = vectors.template cast<T>();
    if (!lower) v->colwise().reverseInPlace();
    form.apply(a, *v);
    if (!lower) v->colwise().reverseInPlace();
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
      work.template triangularView<Eigen::Lower>() = read<T>(a, item, n, n).reverse();
    work.diagonal() = work.diagonal().real().template cast<T>();
    std::optional<Index> failed;
    if (n >= lapack_decomposes && work.allFinite()) {
      Matrix<T> whole = read<T>(a, item, n, n);
      failed = syevd<T>(whole, lower, v != nullptr, values);
      if (v && failed) vectors = whole;
    }
    const bool done = failed ? *failed == 0 : decompose<T>(work, lower, values, v ? &vectors : nullptr);
    if (!done) {
      values.setConstant(not_a_number<Real<T>>);
      vectors.setConstant(not_a_number<T>);
    }
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
