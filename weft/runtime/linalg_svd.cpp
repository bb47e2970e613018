// Singular value decomposition.
#include "weft/runtime/linalg_svd.h"
#include "weft/runtime/linalg.h"
#include "weft/runtime/linalg_bidiagonal.h"

namespace weft::linalg {
namespace {

template <class R>
bool decompose(const Matrix<R>& a, Wanted wanted, Factors<R>& into) {
  return real_svd<R>(a, wanted, into);
}

// Complex matrices become real bidiagonal ones first, so that the solvers need no complex variants, which are slow to
// run and slower to compile.
template <class R>
bool decompose(const Matrix<std::complex<R>>& a, Wanted wanted, Factors<std::complex<R>>& into) {
  if (a.rows() < a.cols()) {
    const Matrix<std::complex<R>> adjoint = a.adjoint();
    std::swap(into.u, into.v);
    const bool done = decompose<R>(adjoint, {wanted.v, wanted.u, wanted.full}, into);
    std::swap(into.u, into.v);
    return done;
  }
  Matrix<std::complex<R>> scaled = a;
  const R largest = largest_part(a);
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  scale_by_power(scaled, -exponent);
  Bidiagonal<std::complex<R>> form(scaled);
  Factors<R> inner;
  if (!real_svd<R>(form.middle, {wanted.u, wanted.v, false}, inner)) return false;
  into.s = inner.s;
  scale_by_power(into.s, exponent);
  if (wanted.u) into.u = form.left(inner.u, wanted.full);
  if (wanted.v) into.v = form.right(inner.v);
  return true;
}

template <class T>
void run(Index batch, Index m, Index n, bool full, const void* a, void* s, void* u, void* vt, int32_t* info) {
  const Index size = std::min(m, n), columns = full ? m : size, rows = full ? n : size;
  Matrix<T> work(m, n);
  Factors<T> factors;
  for (Index item = 0; item < batch; ++item) {
    work = read<T>(a, item, m, n);
    bool done = true;
    if (size == 0) {
      factors.u.setIdentity(m, columns), factors.v.setIdentity(n, rows);
    } else if (!work.allFinite() || !decompose(work, {u != nullptr, vt != nullptr, full}, factors)) {
      factors.s.setConstant(size, not_a_number<Real<T>>);
      factors.u.setConstant(m, columns, not_a_number<T>), factors.v.setConstant(n, rows, not_a_number<T>);
      done = false;
    }
    report(info, item, done ? 0 : 1);
    write<Real<T>>(s, item, size, 1) = factors.s;
    if (u) write<T>(u, item, m, columns) = factors.u;
    if (vt) write<T>(vt, item, rows, n) = factors.v.adjoint();
  }
}

}  // namespace

void svd(DType dtype, int64_t batch, int64_t m, int64_t n, bool full_matrices, const void* a, void* s, void* u,
         void* vt, int32_t* info) {
  by_dtype(dtype, [&]<class T>() { run<T>(batch, m, n, full_matrices, a, s, u, vt, info); });
}

}  // namespace weft::linalg
