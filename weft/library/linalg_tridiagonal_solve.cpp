// Systems of equations with a tridiagonal matrix.
#include "weft/library/linalg.h"
#include "weft/library/linalg_eigen.h"

namespace weft::linalg {
namespace {

// The diagonals of a; elimination with row swaps fills a fourth one, two right of the main one, into `below`.
template <class T>
struct Diagonals {
  Vector<T> below, main, above;
};

template <class T>
bool is_larger(T x, T y) {
  return std::abs(std::real(x)) + std::abs(std::imag(x)) > std::abs(std::real(y)) + std::abs(std::imag(y));
}

// Makes a upper triangular, and x what goes with it. False when a pivot is zero.
template <class T, class Rows>
bool eliminate(Diagonals<T>& a, Rows x) {
  const Index n = a.main.size();
  for (Index i = 0; i + 1 < n; ++i) {
    T& pivot = a.main[i];
    const T under = a.below[i + 1];
    a.below[i + 1] = T(0);
    if (is_larger(under, pivot)) {
      const T factor = pivot / under, beside = a.main[i + 1];
      pivot = under;
      a.main[i + 1] = a.above[i] - factor * beside;
      a.above[i] = beside;
      if (i + 2 < n) {
        a.below[i + 1] = a.above[i + 1];
        a.above[i + 1] *= -factor;
      }
      x.row(i).swap(x.row(i + 1));
      x.row(i + 1) -= factor * x.row(i);
    } else if (pivot == T(0)) {
      return false;
    } else {
      const T factor = under / pivot;
      a.main[i + 1] -= factor * a.above[i];
      x.row(i + 1) -= factor * x.row(i);
    }
  }
  return n == 0 || a.main[n - 1] != T(0);
}

template <class T>
void run(Index batch, Index n, Index nrhs, const void* dl, const void* d, const void* du, const void* b, void* x) {
  for (Index item = 0; item < batch; ++item) {
    Diagonals<T> a{read<T>(dl, item, n, 1), read<T>(d, item, n, 1), read<T>(du, item, n, 1)};
    auto out = write<T>(x, item, n, nrhs);
    out = read<T>(b, item, n, nrhs);
    if (!eliminate(a, out)) {
      out.setConstant(not_a_number<T>);
      continue;
    }
    for (Index i = n - 1; i >= 0; --i) {
      if (i + 1 < n) out.row(i) -= a.above[i] * out.row(i + 1);
      if (i + 2 < n) out.row(i) -= a.below[i + 1] * out.row(i + 2);
      out.row(i) /= a.main[i];
    }
  }
}

}  // namespace

void tridiagonal_solve(DType dtype, int64_t batch, int64_t n, int64_t nrhs, const void* dl, const void* d,
                       const void* du, const void* b, void* x) {
  by_dtype(dtype, [&]<class T>() { run<T>(batch, n, nrhs, dl, d, du, b, x); });
}

}  // namespace weft::linalg
