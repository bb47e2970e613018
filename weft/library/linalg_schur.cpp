// Schur decomposition.
#include "weft/library/linalg_schur.h"

#include <Eigen/Eigenvalues>

#include "weft/library/linalg.h"
#include "weft/library/linalg_hessenberg.h"

namespace weft::linalg {
namespace {

// A 2 x 2 block (a b; c d) and the rotation that turns it into the form that schur promises.
template <class R>
struct Pair {
  R a, b, c, d, cosine = 1, sine = 0;

  void rotate(R cs, R sn) {
    const R aa = a * cs + b * sn, bb = b * cs - a * sn, cc = c * cs + d * sn, dd = d * cs - c * sn;
    a = aa * cs + cc * sn;
    b = bb * cs + dd * sn;
    c = cc * cs - aa * sn;
    d = dd * cs - bb * sn;
    const R old = cosine;
    cosine = old * cs - sine * sn;
    sine = old * sn + sine * cs;
  }

  // LAPACK's lanv2, of which this follows the case of complex eigenvalues and the real ones that rounding makes of it.
  void standardise() {
    if (a != d || std::signbit(b) == std::signbit(c)) {
      const R sigma = b + c, difference = a - d, tau = std::hypot(sigma, difference);
      const R cs = std::sqrt((1 + std::abs(sigma) / tau) / 2);
      rotate(cs, -(difference / 2 / (tau * cs)) * std::copysign(R(1), sigma));
      a = d = (a + d) / 2;
    }
    if (c == 0) return;
    if (b == 0) {
      b = -c;
      c = 0;
      const R old = cosine;
      cosine = -sine;
      sine = old;
    } else if (std::signbit(b) == std::signbit(c)) {
      const R middle = a, size = std::sqrt(std::abs(b + c));
      const R cs = std::sqrt(std::abs(b)) / size, sn = std::sqrt(std::abs(c)) / size;
      const R apart = std::copysign(std::sqrt(std::abs(b)) * std::sqrt(std::abs(c)), c);
      a = middle + apart;
      d = middle - apart;
      b -= c;
      c = 0;
      const R old = cosine;
      cosine = old * cs - sine * sn;
      sine = old * sn + sine * cs;
    }
  }
};

// Eigen leaves the 2 x 2 blocks of complex pairs as they come.
template <class R>
void standardise_blocks(Matrix<R>& t, Matrix<R>* u) {
  const Index n = t.rows();
  for (Index i = 0; i + 1 < n; ++i) {
    if (t(i + 1, i) == R(0)) continue;
    Pair<R> pair{t(i, i), t(i, i + 1), t(i + 1, i), t(i + 1, i + 1)};
    pair.standardise();
    const Eigen::JacobiRotation<R> rotation(pair.cosine, -pair.sine);
    t.rightCols(n - i - 2).applyOnTheLeft(i, i + 1, rotation.adjoint());
    t.topRows(i).applyOnTheRight(i, i + 1, rotation);
    if (u) u->applyOnTheRight(i, i + 1, rotation);
    t(i, i) = pair.a;
    t(i, i + 1) = pair.b;
    t(i + 1, i) = pair.c;
    t(i + 1, i + 1) = pair.d;
  }
}

}  // namespace

template <class T>
bool schur_form(Matrix<T> a, Matrix<T>& t, Matrix<T>* u) {
  using Solver = std::conditional_t<is_complex_type<T>, Eigen::ComplexSchur<Matrix<T>>, Eigen::RealSchur<Matrix<T>>>;
  const Index n = a.rows();
  if (!a.allFinite()) return false;
  if (n <= 1) {
    t = std::move(a);
    if (u) u->setIdentity(n, n);
    return true;
  }
  const int exponent = excess_exponent(largest_part(a));
  scale_by_power(a, -exponent);
  const Hessenberg<T> form(std::move(a));
  Solver solver(n);
  solver.computeFromHessenberg(form.h(), u ? form.q() : Matrix<T>(), u != nullptr);
  if (solver.info() != Eigen::Success) return false;
  t = solver.matrixT();
  if (u) *u = solver.matrixU();
  if constexpr (is_complex_type<T>)
    t.template triangularView<Eigen::StrictlyLower>().setZero();
  else
    standardise_blocks(t, u);
  scale_by_power(t, exponent);
  return true;
}

template bool schur_form<float>(Matrix<float>, Matrix<float>&, Matrix<float>*);
template bool schur_form<double>(Matrix<double>, Matrix<double>&, Matrix<double>*);
template bool schur_form<std::complex<float>>(Matrix<std::complex<float>>, Matrix<std::complex<float>>&,
                                              Matrix<std::complex<float>>*);
template bool schur_form<std::complex<double>>(Matrix<std::complex<double>>, Matrix<std::complex<double>>&,
                                               Matrix<std::complex<double>>*);

namespace {

template <class T>
void run(Index batch, Index n, const void* a, void* t, void* vs, int32_t* info) {
  Matrix<T> form, vectors;
  for (Index item = 0; item < batch; ++item) {
    const bool done = schur_form<T>(read<T>(a, item, n, n), form, vs ? &vectors : nullptr);
    if (!done) {
      form.setConstant(n, n, not_a_number<T>);
      vectors.setConstant(n, n, not_a_number<T>);
    }
    write<T>(t, item, n, n) = form;
    if (vs) write<T>(vs, item, n, n) = vectors;
    report(info, item, done ? 0 : 1);
  }
}

}  // namespace

void schur(DType dtype, int64_t batch, int64_t n, const void* a, void* t, void* vs, int32_t* info) {
  by_dtype(dtype, [&]<class T>() { run<T>(batch, n, a, t, vs, info); });
}

}  // namespace weft::linalg
