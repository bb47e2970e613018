// LU factorisation with row swaps.
#include "weft/library/linalg.h"
#include "weft/library/linalg_lapack.h"

namespace weft::linalg {
namespace {

// How LAPACK compares candidates: |re| + |im|, so that complex pivots are the same ones.
template <class T>
Real<T> weight(T x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

// Both factor in place, note the swap of each of the first min(m, n) rows, and return the first zero pivot, from 1.
template <class T>
Index factor_small(Part<T> a, int32_t* pivots) {
  const Index m = a.rows(), n = a.cols();
  Index zero = 0;
  for (Index j = 0; j < std::min(m, n); ++j) {
    Index pivot = j;
    for (Index i = j + 1; i < m; ++i)
      if (weight(a(i, j)) > weight(a(pivot, j))) pivot = i;
    pivots[j] = static_cast<int32_t>(pivot);
    if (a(pivot, j) == T(0)) {
      if (!zero) zero = j + 1;
      continue;
    }
    if (pivot != j) a.row(j).swap(a.row(pivot));
    auto below = a.col(j).tail(m - j - 1);
    below /= a(j, j);
    a.bottomRightCorner(m - j - 1, n - j - 1).noalias() -= below * a.row(j).tail(n - j - 1);
  }
  return zero;
}

template <class T>
void swap_rows(Part<T> a, const int32_t* pivots, Index first, Index last) {
  for (Index i = first; i < last; ++i)
    if (pivots[i] != i) a.row(i).swap(a.row(pivots[i]));
}

template <class T>
Index factor(Part<T> a, int32_t* pivots) {
  const Index m = a.rows(), n = a.cols(), size = std::min(m, n), half = size / 2;
  if (size <= 16) return factor_small<T>(a, pivots);
  auto left = a.leftCols(half), right = a.rightCols(n - half);
  const Index zero = factor<T>(left, pivots);
  swap_rows<T>(right, pivots, 0, half);
  auto above = right.topRows(half), rest = right.bottomRows(m - half);
  left.topRows(half).template triangularView<Eigen::UnitLower>().solveInPlace(above);
  rest.noalias() -= left.bottomRows(m - half) * above;
  const Index later = factor<T>(rest, pivots + half);
  for (Index i = half; i < size; ++i) pivots[i] += static_cast<int32_t>(half);
  swap_rows<T>(left, pivots, half, size);
  return zero || !later ? zero : half + later;
}

template <class T>
void run(Index batch, Index m, Index n, const void* a, void* lu, int32_t* pivots, int32_t* info) {
  Matrix<T> work(m, n);
  for (Index item = 0; item < batch; ++item) {
    copy_across(read<T>(a, item, m, n), work);
    int32_t* swaps = pivots + item * std::min(m, n);
    const std::optional<Index> zero = getrf<T>(work, swaps);
    report(info, item, zero ? *zero : factor<T>(work, swaps));
    copy_across(work, write<T>(lu, item, m, n));
  }
}

}  // namespace

void lu(DType dtype, int64_t batch, int64_t m, int64_t n, const void* a, void* lu, int32_t* pivots, int32_t* info) {
  by_dtype(dtype, [&]<class T>() { run<T>(batch, m, n, a, lu, pivots, info); });
}

}  // namespace weft::linalg
