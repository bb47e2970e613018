// QR factorisation by Householder reflectors, and the matrices they make.
#include "weft/library/linalg.h"
#include "weft/library/linalg_lapack.h"
#include "weft/library/linalg_reflector.h"

namespace weft::linalg {
namespace {

// Eigen applies fewer than 48 reflectors one by one, more of them by matrix products.
constexpr Index panel_columns = 48;

// One reflector after the other, each applied to the columns right of it.
template <class T>
void factor_panel(Part<T> a, Eigen::Ref<Vector<T>> taus, T* workspace) {
  for (Index j = 0; j < taus.size(); ++j) {
    const Index below = a.rows() - j;
    taus[j] = Reflectors<T>::make(a.col(j).tail(below));
    const Part<T> right = a.bottomRightCorner(below, a.cols() - j - 1);
    Reflectors<T>::apply_left(a.col(j).tail(below - 1), Eigen::numext::conj(taus[j]), right, workspace);
  }
}

template <class T>
void factor(Matrix<T>& a, Vector<T>& taus) {
  const Index m = a.rows(), n = a.cols();
  Vector<T> workspace(n);
  for (Index j = 0; j < taus.size(); j += panel_columns) {
    const Index width = std::min(panel_columns, taus.size() - j), right = n - j - width;
    Part<T> panel = a.block(j, j, m - j, width);
    factor_panel<T>(panel, taus.segment(j, width), workspace.data());
    if (right == 0) continue;
    Reflectors<T>::apply_all_adjoint(panel, taus.segment(j, width), a.bottomRightCorner(m - j, right));
  }
}

template <class T>
void run_qr(Index batch, Index m, Index n, const void* a, void* factors, void* taus) {
  Matrix<T> work(m, n);
  Vector<T> tau(std::min(m, n));
  for (Index item = 0; item < batch; ++item) {
    copy_across(read<T>(a, item, m, n), work);
    if (!geqrf<T>(work, tau)) factor(work, tau);
    copy_across(work, write<T>(factors, item, m, n));
    write<T>(taus, item, tau.size(), 1) = tau;
  }
}

template <class T>
void run_product(Index batch, Index m, Index n, Index k, const void* factors, const void* taus, void* q) {
  Matrix<T> vectors(m, k), work(m, n);
  Vector<T> tau(k);
  for (Index item = 0; item < batch; ++item) {
    vectors = read<T>(factors, item, m, n).leftCols(k);
    tau = read<T>(taus, item, k, 1);
    if (!orgqr<T>(vectors, tau, work)) {
      work.setIdentity();
      if (k > 0) Reflectors<T>::apply_all(vectors, tau, 0, work, m == n);
    }
    write<T>(q, item, m, n) = work;
  }
}

}  // namespace

void qr(DType dtype, int64_t batch, int64_t m, int64_t n, const void* a, void* factors, void* taus) {
  by_dtype(dtype, [&]<class T>() { run_qr<T>(batch, m, n, a, factors, taus); });
}

void householder_product(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, const void* factors,
                         const void* taus, void* q) {
  check(k <= n && n <= m, "householder_product: wanted k <= n <= m, got k ", k, ", n ", n, ", m ", m);
  by_dtype(dtype, [&]<class T>() { run_product<T>(batch, m, n, k, factors, taus, q); });
}

}  // namespace weft::linalg
