// Householder reflectors, made and applied.
#include "weft/library/linalg_reflector.h"

#include <Eigen/Householder>

namespace weft::linalg {
namespace {

// The 2-norm, without overflow or underflow; NaN if there is one.
template <class Tail>
auto safe_norm(const Tail& x) {
  using R = typename Tail::RealScalar;
  const R squared = x.squaredNorm();
  const R tiny = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  if (squared > tiny && squared <= std::numeric_limits<R>::max()) return std::sqrt(squared);
  return x.size() == 0 ? R(0) : x.stableNorm();
}

// From so many reflectors on they are applied by products of matrices, so many at a time.
constexpr Index block_columns = 48;

// x = B x, or B^H x, with B = I - V T V^H the product of the reflectors in a block of columns. As Eigen's own, which
// would be compiled twice: for B and for its adjoint.
template <class T>
void apply_block(const ConstPart<T>& vectors, const ConstColumn<T>& taus, Part<T> x, bool adjoint) {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> factor(taus.size(), taus.size());
  Eigen::internal::make_block_householder_triangular_factor(factor, vectors, taus);
  const auto unit = vectors.template triangularView<Eigen::UnitLower>();
  Matrix<T> product = unit.adjoint() * x;
  if (adjoint)
    product = factor.template triangularView<Eigen::Upper>().adjoint() * product;
  else
    product = factor.template triangularView<Eigen::Upper>() * product;
  x.noalias() -= unit * product;
}

template <class T>
void apply_sequence(const ConstPart<T>& vectors, const Vector<T>& taus, Index shift, Part<T> x, bool is_identity,
                    bool adjoint) {
  const Index count = taus.size(), rows = vectors.rows();
  const bool blocked = count >= block_columns && x.cols() > 1;
  const Index block = !blocked ? 1 : count < 2 * block_columns ? (count + 1) / 2 : block_columns;
  Vector<T> workspace(blocked ? 0 : x.cols());
  for (Index done = 0; done < count; done += block) {
    const Index last = adjoint ? std::min(count, done + block) : count - done;
    const Index first = adjoint ? done : std::max<Index>(0, last - block), width = last - first;
    const Index below = rows - first - shift, columns = is_identity ? below : x.cols();
    const Part<T> rest = x.bottomRightCorner(below, columns);
    if (blocked)
      apply_block<T>(vectors.block(first + shift, first, below, width), taus.segment(first, width), rest, adjoint);
    else
      Reflectors<T>::apply_left(vectors.col(first).tail(below - 1),
                                adjoint ? Eigen::numext::conj(taus[first]) : taus[first], rest, workspace.data());
  }
}

}  // namespace

// LAPACK's larfg. Eigen's own squares the column, which loses short and long ones.
template <class T>
T Reflectors<T>::make(Column<T> column) {
  using R = Real<T>;
  auto tail = column.tail(column.size() - 1);
  const auto length = [&] { return std::hypot(std::real(column[0]), std::imag(column[0]), safe_norm(tail)); };
  R norm = safe_norm(tail);
  if (norm == R(0) && std::imag(column[0]) == R(0)) return T(0);
  const R smallest = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  R unscale = 1;
  R beta = length();
  for (int times = 0; beta < smallest && times < 20; ++times) {
    column /= smallest;
    unscale *= smallest;
    beta = length();
  }
  beta = -std::copysign(beta, std::real(column[0]));
  const T alpha = column[0];
  const T tau = (T(beta) - alpha) / beta;
  tail *= T(1) / (alpha - beta);
  column[0] = T(beta * unscale);
  return tau;
}

template <class T>
void Reflectors<T>::apply_left(ConstColumn<T> tail, T tau, Part<T> x, T* workspace) {
  x.applyHouseholderOnTheLeft(tail, tau, workspace);
}

template <class T>
void Reflectors<T>::apply_right(ConstColumn<T> tail, T tau, Part<T> x, T* workspace) {
  x.applyHouseholderOnTheRight(tail, tau, workspace);
}

template <class T>
void Reflectors<T>::apply_all(ConstPart<T> vectors, const Vector<T>& taus, Index shift, Part<T> x, bool is_identity) {
  apply_sequence<T>(vectors, taus, shift, x, is_identity, false);
}

template <class T>
void Reflectors<T>::apply_all_adjoint(ConstPart<T> vectors, const Vector<T>& taus, Part<T> x) {
  apply_sequence<T>(vectors, taus, 0, x, false, true);
}

template struct Reflectors<float>;
template struct Reflectors<double>;
template struct Reflectors<std::complex<float>>;
template struct Reflectors<std::complex<double>>;

}  // namespace weft::linalg
