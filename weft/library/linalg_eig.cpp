// Eigenvalues and eigenvectors of general matrices.
#include "weft/library/linalg.h"
#include "weft/library/linalg_balance.h"
#include "weft/library/linalg_schur.h"

namespace weft::linalg {
namespace {

// What a divisor must not go below, and what counts as growing out of range.
template <class R>
struct Limits {
  R smallest, largest;
};

// Takes numbers out of the way of an overflow when the entries [i, i + count) of x are divided by `divisor`.
template <class V, class R>
void make_room(Vector<V>& x, Index i, Index count, R divisor, Limits<R> limits) {
  const R size = x.segment(i, count).cwiseAbs().maxCoeff();
  if (size > limits.largest * divisor) x /= size;
}

// x[i] /= divisor.
template <class V, class R>
void solve_one(Vector<V>& x, Index i, V divisor, Limits<R> limits) {
  if (std::abs(divisor) < limits.smallest) divisor = V(limits.smallest);
  make_room(x, i, 1, std::abs(divisor), limits);
  x[i] /= divisor;
}

// The same for x[i] and x[i + 1] and t's block there less `value`, by elimination with a row swap.
template <class T, class V, class R>
void solve_pair(const Matrix<T>& t, Vector<V>& x, Index i, V value, Limits<R> limits) {
  V a = V(t(i, i)) - value, b = t(i, i + 1), c = t(i + 1, i), d = V(t(i + 1, i + 1)) - value;
  if (std::abs(c) > std::abs(a)) {
    std::swap(a, c);
    std::swap(b, d);
    std::swap(x[i], x[i + 1]);
  }
  const V factor = c / a;
  V pivot = d - factor * b;
  if (std::abs(pivot) < limits.smallest) pivot = V(limits.smallest);
  make_room(x, i, 2, std::min(std::abs(a), std::abs(pivot)), limits);
  x[i + 1] = (x[i + 1] - factor * x[i]) / pivot;
  x[i] = (x[i] - b * x[i + 1]) / a;
}

// The eigenvector x for `value`, an eigenvalue at t's diagonal entry k (the lower one of its block), by substitution
// from x[k] up. V is real for real eigenvalues.
template <class T, class V, class R>
Vector<V> substitute(const Matrix<T>& t, Index k, V value, Limits<R> limits) {
  Vector<V> x = Vector<V>::Zero(t.rows());
  const auto subtract = [&](Index i) { x.head(i) -= x[i] * t.col(i).head(i).template cast<V>(); };
  Index i = k;
  x[k] = V(1);
  if (k > 0 && t(k, k - 1) != T(0)) {
    // One row of the block says how its two entries relate; the one with the larger coupling says it best.
    if (std::abs(t(k - 1, k)) >= std::abs(t(k, k - 1))) {
      x[k - 1] = V(1);
      x[k] = (value - V(t(k - 1, k - 1))) / V(t(k - 1, k));
    } else
      x[k - 1] = (value - V(t(k, k))) / V(t(k, k - 1));
    x.head(k - 1) -= x[k] * t.col(k).head(k - 1).template cast<V>();
    i = k - 1;
  }
  subtract(i);
  while (--i >= 0) {
    if (i > 0 && t(i, i - 1) != T(0)) {
      solve_pair(t, x, i - 1, value, limits);
      make_room(x, i - 1, 2, R(1), limits);
      x.head(i - 1) -= x[i] * t.col(i).head(i - 1).template cast<V>();
      --i;
    } else {
      solve_one(x, i, V(t(i, i)) - value, limits);
      make_room(x, i, 1, R(1), limits);
    }
    subtract(i);
  }
  return x;
}

// The eigenvectors of a quasi-triangular t with eigenvalues w, as columns.
template <class T>
Matrix<Complex<T>> substitute_all(const Matrix<T>& t, const Vector<Complex<T>>& w) {
  using R = Real<T>;
  const Index n = t.rows();
  const R unit = std::numeric_limits<R>::epsilon();
  const R tiny = std::numeric_limits<R>::min() / unit * static_cast<R>(n);
  Matrix<Complex<T>> x(n, n);
  for (Index k = 0; k < n; ++k) {
    const Limits<R> limits{std::max(unit * std::abs(w[k]), tiny), 1 / (unit * unit)};
    if constexpr (is_complex_type<T>) {
      x.col(k) = substitute<T, T, R>(t, k, w[k], limits);
    } else if (w[k].imag() == 0) {
      x.col(k) = substitute<T, T, R>(t, k, w[k].real(), limits).template cast<Complex<T>>();
    } else {
      x.col(k) = substitute<T, Complex<T>, R>(t, k + 1, w[k], limits);
      x.col(k + 1) = x.col(k).conjugate();
      ++k;
    }
  }
  return x;
}

// u x, of 2-norm 1 by column after balancing is undone, the largest entry of complex vectors real.
template <class T>
void finish(const Matrix<T>& u, const Matrix<Complex<T>>& x, const Vector<Complex<T>>& w, const Balance<T>& balance,
            bool left, Matrix<Complex<T>>& v) {
  v.resize(x.rows(), x.cols());
  if constexpr (is_complex_type<T>) {
    v.noalias() = u * x;
  } else {
    v.real().noalias() = u * x.real();
    v.imag().noalias() = u * x.imag();
  }
  balance.undo(v, left);
  for (Index k = 0; k < v.cols(); ++k) {
    if (!is_complex_type<T> && w[k].imag() < 0) {
      v.col(k) = v.col(k - 1).conjugate();
      continue;
    }
    v.col(k) /= v.col(k).cwiseAbs().maxCoeff();
    v.col(k) /= v.col(k).norm();
    if (!is_complex_type<T> && w[k].imag() == 0) continue;
    Index at = 0;
    const Real<T> size = v.col(k).cwiseAbs().maxCoeff(&at);
    v.col(k) *= std::conj(v(at, k)) / size;
    v(at, k) = size;
  }
}

// What stands on t's diagonal, and the pairs of its 2 x 2 blocks.
template <class T>
Vector<Complex<T>> eigenvalues(const Matrix<T>& t) {
  Vector<Complex<T>> w = t.diagonal().template cast<Complex<T>>();
  if constexpr (!is_complex_type<T>) {
    for (Index i = 0; i + 1 < t.rows(); ++i) {
      if (t(i + 1, i) == T(0)) continue;
      const T imaginary = std::sqrt(std::abs(t(i, i + 1))) * std::sqrt(std::abs(t(i + 1, i)));
      w[i].imag(imaginary);
      w[i + 1].imag(-imaginary);
      ++i;
    }
  }
  return w;
}

template <class T>
bool decompose(Matrix<T>& a, Vector<Complex<T>>& w, Matrix<Complex<T>>* vl, Matrix<Complex<T>>* vr) {
  if (!a.allFinite()) return false;
  const int exponent = excess_exponent(largest_part(a));
  scale_by_power(a, -exponent);
  const Balance<T> balance(a);
  Matrix<T> t, u;
  if (!schur_form<T>(a, t, vl || vr ? &u : nullptr)) return false;
  w = eigenvalues(t);
  if (vr) finish<T>(u, substitute_all<T>(t, w), w, balance, false, *vr);
  if (vl) {
    // A left eigenvector is a right one of the adjoint, which is upper triangular with rows and columns reversed.
    const Matrix<T> reversed = t.adjoint().reverse();
    const Vector<Complex<T>> values = w.conjugate().reverse();
    finish<T>(u, substitute_all<T>(reversed, values).reverse(), w, balance, true, *vl);
  }
  scale_by_power(w, exponent);
  return true;
}

template <class T>
void run(Index batch, Index n, const void* a, void* w, void* vl, void* vr, int32_t* info) {
  Matrix<T> work;
  Vector<Complex<T>> values;
  Matrix<Complex<T>> left, right;
  const Complex<T> nan(not_a_number<Real<T>>, not_a_number<Real<T>>);
  for (Index item = 0; item < batch; ++item) {
    work = read<T>(a, item, n, n);
    const bool done = decompose<T>(work, values, vl ? &left : nullptr, vr ? &right : nullptr);
    if (!done) {
      values.setConstant(n, nan);
      left.setConstant(n, n, nan);
      right.setConstant(n, n, nan);
    }
    write<Complex<T>>(w, item, n, 1) = values;
    if (vl) write<Complex<T>>(vl, item, n, n) = left;
    if (vr) write<Complex<T>>(vr, item, n, n) = right;
    report(info, item, done ? 0 : 1);
  }
}

}  // namespace

void eig(DType dtype, int64_t batch, int64_t n, const void* a, void* w, void* vl, void* vr, int32_t* info) {
  by_dtype(dtype, [&]<class T>() { run<T>(batch, n, a, w, vl, vr, info); });
}

}  // namespace weft::linalg
