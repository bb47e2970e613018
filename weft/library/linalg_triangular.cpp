// Systems of equations with a triangular matrix.
#include "weft/library/linalg.h"
#include "weft/library/linalg_lapack.h"

namespace weft::linalg {
namespace {

// Copying a puts every case into one form, which keeps Eigen's kernels to two for each dtype:
// matrix * X = B with X and B column-major. x a = b is a^T x^T = b^T, and b^T column-major is b row-major.
template <class T>
void run(Index batch, Index n, Index nrhs, Side side, const void* a, const void* b, void* x) {
  const bool transposed = side.transposed == side.left;
  Matrix<T> matrix(n, n), right(n, nrhs);
  for (Index item = 0; item < batch; ++item) {
    if (trsm<T>(n, nrhs, side, static_cast<const T*>(a) + item * n * n, static_cast<const T*>(b) + item * n * nrhs,
                static_cast<T*>(x) + item * n * nrhs))
      continue;
    const auto in = read<T>(a, item, n, n);
    if (transposed)
      matrix = in.transpose();
    else
      matrix = in;
    if (side.conjugate) matrix = matrix.conjugate().eval();
    if (side.unit) matrix.diagonal().setOnes();
    if (side.left)
      right = read<T>(b, item, n, nrhs);
    else
      right = read<T>(b, item, nrhs, n).transpose();
    if (side.lower != transposed)
      matrix.template triangularView<Eigen::Lower>().solveInPlace(right);
    else
      matrix.template triangularView<Eigen::Upper>().solveInPlace(right);
    if (side.left)
      write<T>(x, item, n, nrhs) = right;
    else
      write<T>(x, item, nrhs, n) = right.transpose();
  }
}

}  // namespace

void triangular_solve(DType dtype, int64_t batch, int64_t n, int64_t nrhs, bool left_side, bool lower,
                      bool unit_diagonal, int transpose, const void* a, const void* b, void* x) {
  const Side side{left_side, lower, unit_diagonal, transpose != 0, transpose == 2};
  by_dtype(dtype, [&]<class T>() { run<T>(batch, n, nrhs, side, a, b, x); });
}

}  // namespace weft::linalg
