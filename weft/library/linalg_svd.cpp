// Singular value decomposition.
#include "weft/library/linalg_svd.h"
#include "weft/library/linalg.h"
#include "weft/library/linalg_bidiagonal.h"

namespace weft::linalg {
namespace {

// Through a real bidiagonal matrix, without the numbers that divide and conquer stumbles over; complex solvers, slow to
// run and slower to compile, are not needed either.
template <class T>
bool decompose_bidiagonal(const Matrix<T>& a, Wanted wanted, Factors<T>& into) {
  if (a.rows() < a.cols()) {
    const Matrix<T> adjoint = a.adjoint();
    std::swap(into.u, into.v);
    const bool done = decompose_bidiagonal<T>(adjoint, {wanted.v, wanted.u, wanted.full}, into);
    std::swap(into.u, into.v);
    return done;
  }
  Matrix<T> scaled = a;
  const Real<T> largest = largest_part(a);
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  scale_by_power(scaled, -exponent);
  const Bidiagonal<T> form(scaled);
  Factors<Real<T>> inner;
  const Wanted thin{wanted.u, wanted.v, false};
  if (!divide_and_conquer(form.middle, thin, inner) && !jacobi(form.middle, thin, inner)) return false;
  into.s = inner.s;
  scale_by_power(into.s, exponent);
  if (wanted.u) into.u = form.left(inner.u, wanted.full);
  if (wanted.v) into.v = form.right(inner.v);
  return true;
}

template <class T>
bool decompose(const Matrix<T>& a, Wanted wanted, Factors<T>& into) {
  if constexpr (!is_complex_type<T>)
    if (divide_and_conquer(a, wanted, into)) return true;
  return decompose_bidiagonal(a, wanted, into);
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
