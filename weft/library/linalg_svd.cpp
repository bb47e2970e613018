// Singular value decomposition.
#include "weft/library/linalg_svd.h"
#include "weft/library/linalg.h"
#include "weft/library/linalg_bidiagonal.h"
#include "weft/library/linalg_divided.h"
#include "weft/library/linalg_lapack.h"

namespace weft::linalg {
namespace {

// a = q r: r, and below it the Householder vectors of q.
template <class T>
void factor_triangle(Matrix<T>& a, Vector<T>& taus) {
  Vector<T> workspace(a.cols());
  taus.resize(std::min(a.rows(), a.cols()));
  for (Index i = 0; i < taus.size(); ++i) {
    const Index below = a.rows() - i;
    taus[i] = Reflectors<T>::make(a.col(i).tail(below));
    Reflectors<T>::apply_left(a.col(i).tail(below - 1), Eigen::numext::conj(taus[i]),
                              a.bottomRightCorner(below, a.cols() - i - 1), workspace.data());
  }
}

// The factors of a square bidiagonal matrix, with LAPACK's signs.
template <class R>
bool solve_upper(const Matrix<R>& middle, Factors<R>& into) {
  const Index n = middle.rows();
  const Vector<R> d = middle.diagonal(), e = middle.diagonal(1);
  if (n == 1) {
    into.s = d.cwiseAbs();
    into.u.setConstant(1, 1, std::copysign(R(1), d[0]));
    into.v.setOnes(1, 1);
    return true;
  }
  if (n <= smallest_divided) {
    into.u.setIdentity(n, n);
    into.v.setIdentity(n, n);
    Vector<R> rest = e;
    into.s = d;
    if (BidiagonalQr<R>(into.s, rest, into.u, into.v).solve()) return true;
  }
  const Wanted thin{true, true, false};
  if (!divide_and_conquer(middle, thin, into) && !jacobi(middle, thin, into)) return false;
  DividedSingularSigns<R> signs(d, e);
  for (Index i = 0; i < n; ++i) {
    const Vector<R> column = into.u.col(i);
    if (signs.is_turned(column)) {
      into.u.col(i) = -into.u.col(i);
      into.v.col(i) = -into.v.col(i);
    }
  }
  return true;
}

// The same of a lower bidiagonal matrix, which is the transpose of `upper`: rotations make it an upper one.
template <class R>
bool solve_lower(const Matrix<R>& upper, Factors<R>& into) {
  const Index n = upper.rows();
  Matrix<R> turned = upper;
  std::vector<Rotation<R>> rotations;
  for (Index i = 0; i + 1 < n; ++i) {
    const auto rotation = Rotation<R>::make(turned(i, i), turned(i, i + 1));
    rotations.push_back(rotation);
    turned(i, i) = rotation.r;
    turned(i, i + 1) = rotation.s * turned(i + 1, i + 1);
    turned(i + 1, i + 1) *= rotation.c;
  }
  if (!solve_upper(turned, into)) return false;
  for (Index i = n - 2; i >= 0; --i) {
    const R c = rotations[static_cast<size_t>(i)].c, s = rotations[static_cast<size_t>(i)].s;
    for (Index j = 0; j < n; ++j) {
      const R next = into.u(i + 1, j), here = into.u(i, j);
      into.u(i + 1, j) = c * next + s * here;
      into.u(i, j) = c * here - s * next;
    }
  }
  return true;
}

// Through a real bidiagonal matrix, as LAPACK's gesdd comes to it, without the numbers that divide and conquer stumbles
// over; complex solvers, slow to run and slower to compile, are not needed either. For m >= n.
template <class T>
bool decompose_tall(const Matrix<T>& a, bool full, Factors<T>& into) {
  const Bidiagonal<T> form(a);
  Factors<Real<T>> inner;
  if (!solve_upper(form.middle, inner)) return false;
  into.s = inner.s;
  into.u = form.left(inner.u, full);
  into.v = form.right(inner.v);
  return true;
}

template <class T>
bool decompose_wide(const Matrix<T>& a, bool full, Factors<T>& into) {
  const Bidiagonal<T> form(a.adjoint());
  Factors<Real<T>> inner;
  if (!solve_lower(form.middle, inner)) return false;
  into.s = inner.s;
  into.u = form.right(inner.u);
  into.v = form.left(inner.v, full);
  return true;
}

// q x beside q's other columns, if all are wanted; q as factor_triangle leaves it.
template <class T>
Matrix<T> product(const Matrix<T>& factors, const Vector<T>& taus, const Matrix<T>& x, bool full) {
  const Index rows = factors.rows();
  Matrix<T> result = Matrix<T>::Identity(rows, full ? rows : x.cols());
  result.topLeftCorner(x.rows(), x.cols()) = x;
  Reflectors<T>::apply_all(factors, taus, 0, result);
  return result;
}

template <class T>
bool decompose_with_vectors(const Matrix<T>& a, bool full, Factors<T>& into) {
  const Index m = a.rows(), n = a.cols(), least = std::min(m, n);
  // From these extents on a triangular factor is decomposed instead.
  const Index much = is_complex_type<T> ? least * 17 / 9 : least * 11 / 6;
  if (std::max(m, n) < much || m == n) return m >= n ? decompose_tall(a, full, into) : decompose_wide(a, full, into);
  Matrix<T> factors = m > n ? a : Matrix<T>(a.adjoint());
  Vector<T> taus;
  factor_triangle(factors, taus);
  Matrix<T> triangle = factors.topRows(least).template triangularView<Eigen::Upper>();
  if (m < n) triangle.adjointInPlace();
  if (!decompose_tall(triangle, false, into)) return false;
  Matrix<T>& side = m > n ? into.u : into.v;
  side = product<T>(factors, taus, side, full);
  return true;
}

template <class T>
bool decompose(const Matrix<T>& a, Wanted wanted, Factors<T>& into) {
  if constexpr (!is_complex_type<T>)
    if (!wanted.u && !wanted.v && divide_and_conquer(a, wanted, into)) return true;
  Matrix<T> scaled = a;
  const Real<T> largest = largest_part(a);
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  scale_by_power(scaled, -exponent);
  if (!wanted.u && !wanted.v) {
    const Bidiagonal<T> form(a.rows() < a.cols() ? Matrix<T>(scaled.adjoint()) : scaled);
    Factors<Real<T>> inner;
    if (!divide_and_conquer(form.middle, wanted, inner) && !jacobi(form.middle, wanted, inner)) return false;
    into.s = inner.s;
  } else if (!decompose_with_vectors(scaled, wanted.full, into)) {
    return false;
  }
  scale_by_power(into.s, exponent);
  return true;
}

// By LAPACK, where the process has one and the matrix is large; both sets of vectors or none.
template <class T>
std::optional<bool> decompose_by_lapack(const Matrix<T>& a, Wanted wanted, Factors<T>& into) {
  const Index size = std::min(a.rows(), a.cols());
  if (size < lapack_decomposes || wanted.u != wanted.v) return std::nullopt;
  Matrix<T> work = a, vt(wanted.v ? wanted.full ? a.cols() : size : 0, a.cols());
  into.u.resize(a.rows(), wanted.u ? wanted.full ? a.rows() : size : 0);
  into.s.resize(size);
  std::optional<Index> failed = gesdd<T>(work, !wanted.u ? 'N' : wanted.full ? 'A' : 'S', into.s, into.u, vt);
  if (!failed) return std::nullopt;
  into.v = vt.adjoint();
  return *failed == 0;
}

template <class T>
bool decompose_finite(const Matrix<T>& a, Wanted wanted, Factors<T>& into) {
  if (!a.allFinite()) return false;
  std::optional<bool> done = decompose_by_lapack(a, wanted, into);
  return done ? *done : decompose(a, wanted, into);
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
      factors.u.setIdentity(m, columns);
      factors.v.setIdentity(n, rows);
    } else if (!decompose_finite(work, {u != nullptr, vt != nullptr, full}, factors)) {
      factors.s.setConstant(size, not_a_number<Real<T>>);
      factors.u.setConstant(m, columns, not_a_number<T>);
      factors.v.setConstant(n, rows, not_a_number<T>);
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
