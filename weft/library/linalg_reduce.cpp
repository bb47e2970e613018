// Reductions to Hessenberg and tridiagonal form.
#include "weft/library/linalg.h"
#include "weft/library/linalg_hessenberg.h"
#include "weft/library/linalg_tridiagonal.h"

namespace weft::linalg {

template <class T>
Hessenberg<T>::Hessenberg(Matrix<T> a) : packed(std::move(a)), taus(std::max<Index>(packed.rows() - 1, 0)) {
  const Index n = packed.rows();
  Vector<T> workspace(n);
  for (Index i = 0; i < taus.size(); ++i) {
    const Index below = n - i - 1;
    taus[i] = Reflectors<T>::make(packed.col(i).tail(below));
    const auto tail = packed.col(i).tail(below - 1);
    Reflectors<T>::apply_right(tail, taus[i], packed.rightCols(below), workspace.data());
    Reflectors<T>::apply_left(tail, Eigen::numext::conj(taus[i]), packed.bottomRightCorner(below, below),
                              workspace.data());
  }
}

template <class T>
void Tridiagonal<T>::reduce(Matrix<T>& a) {
  const Index n = a.rows();
  Vector<T> update;
  for (Index i = 0; i + 1 < n; ++i) {
    auto column = a.col(i).tail(n - i - 1);
    taus[i] = Reflectors<T>::make(column);
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

template struct Hessenberg<float>;
template struct Hessenberg<double>;
template struct Hessenberg<std::complex<float>>;
template struct Hessenberg<std::complex<double>>;
template struct Tridiagonal<float>;
template struct Tridiagonal<double>;
template struct Tridiagonal<std::complex<float>>;
template struct Tridiagonal<std::complex<double>>;

namespace {

template <class T>
void run_hessenberg(Index batch, Index n, const void* a, void* h_factors, void* taus) {
  for (Index item = 0; item < batch; ++item) {
    const Hessenberg<T> form(read<T>(a, item, n, n));
    write<T>(h_factors, item, n, n) = form.packed;
    write<T>(taus, item, form.taus.size(), 1) = form.taus;
  }
}

// LAPACK reduces an upper triangle from its last column to its first: the lower one with rows and columns reversed.
template <class T>
void run_tridiagonal(Index batch, Index n, bool lower, const void* a, void* factors, void* d, void* e, void* taus) {
  Matrix<T> work(n, n);
  Tridiagonal<T> form(n);
  for (Index item = 0; item < batch; ++item) {
    work = read<T>(a, item, n, n);
    if (!lower) work = work.reverse().eval();
    work.diagonal() = work.diagonal().real().template cast<T>();
    form.reduce(work);
    auto out = write<T>(factors, item, n, n);
    auto diagonal = write<Real<T>>(d, item, n, 1);
    auto beside = write<Real<T>>(e, item, form.below.size(), 1);
    auto tau = write<T>(taus, item, form.taus.size(), 1);
    if (lower) {
      out = work;
      diagonal = form.diagonal;
      beside = form.below;
      tau = form.taus;
    } else {
      out = work.reverse();
      diagonal = form.diagonal.reverse();
      beside = form.below.reverse();
      tau = form.taus.reverse();
    }
  }
}

}  // namespace

void hessenberg(DType dtype, int64_t batch, int64_t n, const void* a, void* h_factors, void* taus) {
  by_dtype(dtype, [&]<class T>() { run_hessenberg<T>(batch, n, a, h_factors, taus); });
}

void tridiagonal(DType dtype, int64_t batch, int64_t n, bool lower, const void* a, void* factors, void* d, void* e,
                 void* taus) {
  by_dtype(dtype, [&]<class T>() { run_tridiagonal<T>(batch, n, lower, a, factors, d, e, taus); });
}

}  // namespace weft::linalg
