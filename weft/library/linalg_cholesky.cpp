// Cholesky factorisation.
#include "weft/library/linalg.h"
#include "weft/library/linalg_lapack.h"

namespace weft::linalg {
namespace {

// Factors the lower triangle in place; the order of the first minor that is not positive, or 0.
template <class T>
Index factor_small(Part<T> a) {
  for (Index j = 0; j < a.rows(); ++j) {
    const auto row = a.row(j).head(j);
    const Real<T> square = std::real(a(j, j)) - row.squaredNorm();
    if (!(square > 0)) return j + 1;
    const Real<T> pivot = std::sqrt(square);
    a(j, j) = T(pivot);
    auto below = a.col(j).tail(a.rows() - j - 1);
    below.noalias() -= a.block(j + 1, 0, below.size(), j) * row.adjoint();
    below /= pivot;
  }
  return 0;
}

template <class T>
Index factor(Part<T> a) {
  const Index n = a.rows(), half = n / 2;
  if (n <= 32) return factor_small<T>(a);
  auto first = a.topLeftCorner(half, half), below = a.bottomLeftCorner(n - half, half);
  auto second = a.bottomRightCorner(n - half, n - half);
  if (const Index minor = factor<T>(first)) return minor;
  first.template triangularView<Eigen::Lower>().adjoint().template solveInPlace<Eigen::OnTheRight>(below);
  second.template selfadjointView<Eigen::Lower>().rankUpdate(below, Real<T>(-1));
  const Index minor = factor<T>(second);
  return minor ? half + minor : 0;
}

template <class T>
void run(Index batch, Index n, bool lower, const void* a, void* l, int32_t* info) {
  Matrix<T> work(n, n);
  for (Index item = 0; item < batch; ++item) {
    const auto in = read<T>(a, item, n, n);
    auto out = write<T>(l, item, n, n);
    work.setZero();
    if (lower)
      work.template triangularView<Eigen::Lower>() = in;
    else
      work.template triangularView<Eigen::Lower>() = in.adjoint();
    const std::optional<Index> found = potrf<T>(work);
    const Index minor = found ? *found : factor<T>(work);
    if (minor) work.template triangularView<Eigen::Lower>().setConstant(not_a_number<T>);
    if (lower)
      out = work;
    else
      out = work.adjoint();
    report(info, item, minor);
  }
}

}  // namespace

void cholesky(DType dtype, int64_t batch, int64_t n, bool lower, const void* a, void* l, int32_t* info) {
  by_dtype(dtype, [&]<class T>() { run<T>(batch, n, lower, a, l, info); });
}

}  // namespace weft::linalg
