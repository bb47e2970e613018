// LAPACK's method for eigenvectors of small tridiagonal matrices; included by linalg_*.cpp only.
#pragma once

#include "weft/library/linalg_eigen.h"

namespace weft::linalg {

template <class R>
inline constexpr R unit_roundoff = std::numeric_limits<R>::epsilon() / 2;

// The length of (x, y), rounded as LAPACK's lapy2 rounds it.
template <class R>
R rounded_length(R x, R y) {
  const R larger = std::max(std::abs(x), std::abs(y)), ratio = std::min(std::abs(x), std::abs(y)) / larger;
  return larger == R(0) ? R(0) : larger * std::sqrt(R(1) + ratio * ratio);
}

// A plane rotation (c s; -s c) that takes (f, g) to (r, 0), as LAPACK's lartg makes it.
template <class R>
struct Rotation {
  R c, s, r;
  static Rotation make(R f, R g) {
    if (g == R(0)) return {R(1), R(0), f};
    if (f == R(0)) return {R(0), std::copysign(R(1), g), std::abs(g)};
    const R squares = f * f + g * g;
    const bool plain =
        squares > std::numeric_limits<R>::min() / unit_roundoff<R> && squares < std::numeric_limits<R>::max();
    const R length = plain ? std::sqrt(squares) : std::hypot(f, g), r = std::copysign(length, f);
    return {std::abs(f) / length, g / r, r};
  }
};

// Eigenvalues of (a b; b c), the one of larger magnitude first, and its eigenvector (c, s): LAPACK's laev2.
template <class R>
struct Pair {
  R first, second, c, s;
  Pair(R a, R b, R d) {
    const R sum = a + d, difference = a - d, twice = b + b;
    const R larger = std::abs(a) > std::abs(d) ? a : d, smaller = std::abs(a) > std::abs(d) ? d : a;
    const R root = rounded_length(difference, twice);
    const int sign = sum < R(0) ? -1 : 1;
    first = R(0.5) * (sum + static_cast<R>(sign) * root);
    second = sum == R(0) ? R(-0.5) * root : (larger / first) * smaller - (b / first) * b;
    const int side = difference >= R(0) ? 1 : -1;
    const R measure = difference + static_cast<R>(side) * root;
    if (std::abs(measure) > std::abs(twice)) {
      const R t = -twice / measure;
      s = R(1) / std::sqrt(R(1) + t * t);
      c = t * s;
    } else if (twice == R(0)) {
      c = R(1);
      s = R(0);
    } else {
      const R t = -measure / twice;
      c = R(1) / std::sqrt(R(1) + t * t);
      s = t * c;
    }
    if (sign == side) {
      const R t = c;
      c = -s;
      s = t;
    }
  }
};

// Whether LAPACK cuts a tridiagonal matrix after row i.
template <class R>
bool negligible_beside(const Vector<R>& d, const Vector<R>& e, Index i) {
  return std::abs(e[i]) <= std::sqrt(std::abs(d[i])) * std::sqrt(std::abs(d[i + 1])) * unit_roundoff<R>;
}

// Up to this many rows LAPACK has no use for divide and conquer.
inline constexpr Index smallest_divided = 25;

// The QL and QR method of LAPACK's steqr on z diag(d) z^T, step by step, as signs depend on each; values ascend. False
// where it does not come to an end.
template <class R>
class TridiagonalQl {
 public:
  TridiagonalQl(Vector<R>& d, Vector<R>& e, Matrix<R>& z) : d_(d), e_(e), z_(z), left_(30 * d.size()) {}

  bool solve() {
    const Index n = d_.size();
    for (Index first = 0; first < n;) {
      Index last = first;
      while (last + 1 < n && !negligible_beside(d_, e_, last)) ++last;
      if (last + 1 < n) e_[last] = 0;
      if (first < last && !(std::abs(d_[last]) < std::abs(d_[first]) ? up(last, first) : down(first, last)))
        return false;
      first = last + 1;
    }
    sort();
    return true;
  }

 private:
  // Columns i and i + 1 of z turned.
  void turn(Index i, R c, R s) {
    for (Index row = 0; row < z_.rows(); ++row) {
      const R right = z_(row, i + 1), here = z_(row, i);
      z_(row, i + 1) = c * right - s * here;
      z_(row, i) = s * right + c * here;
    }
  }

  bool small(Index i, Index j, R off) const {
    return off * off <= (eps * eps * std::abs(d_[i])) * std::abs(d_[j]) + std::numeric_limits<R>::min();
  }

  bool down(Index l, Index last) {
    while (l <= last) {
      Index m = l;
      while (m < last && !small(m, m + 1, e_[m])) ++m;
      if (m < last) e_[m] = 0;
      if (m == l) {
        ++l;
      } else if (m == l + 1) {
        const Pair<R> pair(d_[l], e_[l], d_[l + 1]);
        turn(l, pair.c, pair.s);
        d_[l] = pair.first;
        d_[l + 1] = pair.second;
        e_[l] = 0;
        l += 2;
      } else {
        if (left_-- == 0) return false;
        chase_down(l, m);
      }
    }
    return true;
  }

  void chase_down(Index l, Index m) {
    R p = d_[l];
    R g = (d_[l + 1] - p) / (R(2) * e_[l]);
    g = d_[m] - p + e_[l] / (g + std::copysign(rounded_length(g, R(1)), g));
    R s = 1, c = 1;
    p = 0;
    for (Index i = m - 1; i >= l; --i) {
      const R f = s * e_[i], b = c * e_[i];
      const auto rotation = Rotation<R>::make(g, f);
      c = rotation.c;
      s = rotation.s;
      if (i != m - 1) e_[i + 1] = rotation.r;
      g = d_[i + 1] - p;
      const R r = (d_[i] - g) * s + R(2) * c * b;
      p = s * r;
      d_[i + 1] = g + p;
      g = c * r - b;
      turn(i, c, -s);
    }
    d_[l] -= p;
    e_[l] = g;
  }

  bool up(Index l, Index first) {
    while (l >= first) {
      Index m = l;
      while (m > first && !small(m, m - 1, e_[m - 1])) --m;
      if (m > first) e_[m - 1] = 0;
      if (m == l) {
        --l;
      } else if (m == l - 1) {
        const Pair<R> pair(d_[l - 1], e_[l - 1], d_[l]);
        turn(l - 1, pair.c, pair.s);
        d_[l - 1] = pair.first;
        d_[l] = pair.second;
        e_[l - 1] = 0;
        l -= 2;
      } else {
        if (left_-- == 0) return false;
        chase_up(l, m);
      }
    }
    return true;
  }

  void chase_up(Index l, Index m) {
    R p = d_[l];
    R g = (d_[l - 1] - p) / (R(2) * e_[l - 1]);
    g = d_[m] - p + e_[l - 1] / (g + std::copysign(rounded_length(g, R(1)), g));
    R s = 1, c = 1;
    p = 0;
    for (Index i = m; i < l; ++i) {
      const R f = s * e_[i], b = c * e_[i];
      const auto rotation = Rotation<R>::make(g, f);
      c = rotation.c;
      s = rotation.s;
      if (i != m) e_[i - 1] = rotation.r;
      g = d_[i] - p;
      const R r = (d_[i + 1] - g) * s + R(2) * c * b;
      p = s * r;
      d_[i] = g + p;
      g = c * r - b;
      turn(i, c, s);
    }
    d_[l] -= p;
    e_[l - 1] = g;
  }

  void sort() {
    for (Index i = 0; i + 1 < d_.size(); ++i) {
      Index least = i;
      for (Index j = i + 1; j < d_.size(); ++j)
        if (d_[j] < d_[least]) least = j;
      if (least == i) continue;
      std::swap(d_[i], d_[least]);
      z_.col(i).swap(z_.col(least));
    }
  }

  static constexpr R eps = unit_roundoff<R>;
  Vector<R>& d_;
  Vector<R>& e_;
  Matrix<R>& z_;
  Index left_;
};

}  // namespace weft::linalg
