// LAPACK's method for singular vectors of small bidiagonal matrices; included by linalg_*.cpp only.
#pragma once

#include "weft/library/linalg_steqr.h"

namespace weft::linalg {

// The singular values of (f g; 0 h), signed, and the rotations that make it diagonal: LAPACK's lasv2.
template <class R>
struct Triangle {
  R least, greatest, sin_right, cos_right, sin_left, cos_left;
  Triangle(R f, R g, R h) {
    const auto sign = [](R x) { return std::copysign(R(1), x); };
    const bool swapped = std::abs(h) > std::abs(f);
    const R ft = swapped ? h : f, ht = swapped ? f : h, fa = std::abs(ft), ha = std::abs(ht), ga = std::abs(g);
    R cl = 1, cr = 1, sl = 0, sr = 0;
    int largest = swapped ? 3 : 1;
    if (ga > fa) largest = 2;
    if (ga == R(0)) {
      least = ha;
      greatest = fa;
    } else if (ga > fa && fa / ga < unit_roundoff<R>) {
      greatest = ga;
      least = ha > R(1) ? fa / (ga / ha) : (fa / ga) * ha;
      sl = ht / g;
      sr = 1;
      cr = ft / g;
    } else {
      const R d = fa - ha;
      R l = d == fa ? R(1) : d / fa;
      const R m = g / ft, t0 = R(2) - l, mm = m * m;
      const R s = std::sqrt(t0 * t0 + mm), r = l == R(0) ? std::abs(m) : std::sqrt(l * l + mm), a = R(0.5) * (s + r);
      least = ha / a;
      greatest = fa * a;
      R t = (m / (s + t0) + m / (r + l)) * (R(1) + a);
      if (mm == R(0)) t = l == R(0) ? std::copysign(R(2), ft) * sign(g) : g / std::copysign(d, ft) + m / t0;
      l = std::sqrt(t * t + R(4));
      cr = R(2) / l;
      sr = t / l;
      cl = (cr + sr * m) / a;
      sl = (ht / ft) * sr / a;
    }
    cos_left = swapped ? sr : cl;
    sin_left = swapped ? cr : sl;
    cos_right = swapped ? sl : cr;
    sin_right = swapped ? cl : sr;
    const R turned = largest == 1   ? sign(cos_right) * sign(cos_left) * sign(f)
                     : largest == 2 ? sign(sin_right) * sign(cos_left) * sign(g)
                                    : sign(sin_right) * sign(sin_left) * sign(h);
    greatest = std::copysign(greatest, turned);
    least = std::copysign(least, turned * sign(f) * sign(h));
  }
};

// The least singular value of (f g; 0 h): LAPACK's las2.
template <class R>
R least_singular_value(R f, R g, R h) {
  const R fa = std::abs(f), ga = std::abs(g), ha = std::abs(h), low = std::min(fa, ha), high = std::max(fa, ha);
  if (low == R(0)) return R(0);
  const R as = R(1) + low / high, at = (high - low) / high;
  if (ga < high) {
    const R au = (ga / high) * (ga / high);
    return low * (R(2) / (std::sqrt(as * as + au) + std::sqrt(at * at + au)));
  }
  const R au = high / ga;
  if (au == R(0)) return (low * high) / ga;
  const R c = R(1) / (std::sqrt(R(1) + (as * au) * (as * au)) + std::sqrt(R(1) + (at * au) * (at * au)));
  return R(2) * ((low * c) * au);
}

// The QR method of LAPACK's bdsqr on u B v^T, B with d on the diagonal and e right above it, step by step, as signs
// depend on each; values descend. Matrices without rows are not worked on. False where it does not come to an end.
template <class R>
class BidiagonalQr {
 public:
  BidiagonalQr(Vector<R>& d, Vector<R>& e, Matrix<R>& u, Matrix<R>& v) : d_(d), e_(e), u_(u), v_(v) {}

  bool solve() {
    find_threshold();
    const Index n = d_.size();
    long left = 6L * n * n;
    for (Index m = n - 1; m > 0;) {
      Index l = m;
      R largest = std::abs(d_[m]);
      for (; l > 0 && !(std::abs(e_[l - 1]) <= threshold_); --l)
        largest = std::max({largest, std::abs(d_[l - 1]), std::abs(e_[l - 1])});
      if (l > 0) e_[l - 1] = 0;
      if (l == m) {
        --m;
      } else if (l == m - 1) {
        pair(l);
        m -= 2;
      } else {
        if (left < 0) return false;
        if (l > old_last_ || m < old_first_) downwards_ = std::abs(d_[l]) >= std::abs(d_[m]);
        R least = 0;
        if (splits(l, m, least)) continue;
        old_first_ = l;
        old_last_ = m;
        left -= m - l;
        step(l, m, shift(l, m, least, largest));
      }
    }
    finish();
    return true;
  }

 private:
  static void turn(Matrix<R>& x, Index i, R c, R s) {
    for (Index row = 0; row < x.rows(); ++row) {
      const R right = x(row, i + 1), here = x(row, i);
      x(row, i + 1) = c * right - s * here;
      x(row, i) = s * right + c * here;
    }
  }

  void find_threshold() {
    const Index n = d_.size();
    R least = n == 0 ? R(0) : std::abs(d_[0]), mu = least;
    for (Index i = 1; i < n && least != R(0); ++i) {
      mu = std::abs(d_[i]) * (mu / (mu + std::abs(e_[i - 1])));
      least = std::min(least, mu);
    }
    const R count = static_cast<R>(n);
    threshold_ =
        std::max(tolerance * least / std::sqrt(count), R(6) * (count * (count * std::numeric_limits<R>::min())));
  }

  void pair(Index l) {
    const Triangle<R> t(d_[l], e_[l], d_[l + 1]);
    d_[l] = t.greatest;
    e_[l] = 0;
    d_[l + 1] = t.least;
    turn(v_, l, t.cos_right, t.sin_right);
    turn(u_, l, t.cos_left, t.sin_left);
  }

  // Whether an element next to the diagonal may be left out; else the least singular value, about.
  bool splits(Index l, Index m, R& least) {
    const Index end = downwards_ ? m - 1 : l;
    if (std::abs(e_[end]) <= tolerance * std::abs(d_[downwards_ ? m : l])) {
      e_[end] = 0;
      return true;
    }
    R mu = std::abs(d_[downwards_ ? l : m]);
    least = mu;
    for (Index k = 0; k < m - l; ++k) {
      const Index i = downwards_ ? l + k : m - 1 - k;
      if (std::abs(e_[i]) <= tolerance * mu) {
        e_[i] = 0;
        return true;
      }
      mu = std::abs(d_[downwards_ ? i + 1 : i]) * (mu / (mu + std::abs(e_[i])));
      least = std::min(least, mu);
    }
    return false;
  }

  R shift(Index l, Index m, R least, R largest) const {
    if (static_cast<R>(d_.size()) * tolerance * (least / largest) <= std::max(unit_roundoff<R>, R(0.01) * tolerance))
      return R(0);
    const Index i = downwards_ ? m - 1 : l;
    const R result = least_singular_value(d_[i], e_[i], d_[i + 1]), first = std::abs(d_[downwards_ ? l : m]);
    return first > R(0) && (result / first) * (result / first) < unit_roundoff<R> ? R(0) : result;
  }

  void step(Index l, Index m, R shift) {
    if (shift == R(0))
      downwards_ ? zero_down(l, m) : zero_up(l, m);
    else
      downwards_ ? chase_down(l, m, shift) : chase_up(l, m, shift);
    R& last = e_[downwards_ ? m - 1 : l];
    if (std::abs(last) <= threshold_) last = 0;
  }

  void zero_down(Index l, Index m) {
    R c = 1, old_c = 1, old_s = 0;
    for (Index i = l; i < m; ++i) {
      const auto right = Rotation<R>::make(d_[i] * c, e_[i]);
      if (i > l) e_[i - 1] = old_s * right.r;
      const auto left = Rotation<R>::make(old_c * right.r, d_[i + 1] * right.s);
      d_[i] = left.r;
      c = right.c;
      old_c = left.c;
      old_s = left.s;
      turn(v_, i, right.c, right.s);
      turn(u_, i, left.c, left.s);
    }
    const R h = d_[m] * c;
    d_[m] = h * old_c;
    e_[m - 1] = h * old_s;
  }

  void zero_up(Index l, Index m) {
    R c = 1, old_c = 1, old_s = 0;
    for (Index i = m; i > l; --i) {
      const auto left = Rotation<R>::make(d_[i] * c, e_[i - 1]);
      if (i < m) e_[i] = old_s * left.r;
      const auto right = Rotation<R>::make(old_c * left.r, d_[i - 1] * left.s);
      d_[i] = right.r;
      c = left.c;
      old_c = right.c;
      old_s = right.s;
      turn(v_, i - 1, right.c, -right.s);
      turn(u_, i - 1, left.c, -left.s);
    }
    const R h = d_[l] * c;
    d_[l] = h * old_c;
    e_[l] = h * old_s;
  }

  void chase_down(Index l, Index m, R shift) {
    R f = (std::abs(d_[l]) - shift) * (std::copysign(R(1), d_[l]) + shift / d_[l]), g = e_[l];
    for (Index i = l; i < m; ++i) {
      const auto right = Rotation<R>::make(f, g);
      if (i > l) e_[i - 1] = right.r;
      f = right.c * d_[i] + right.s * e_[i];
      e_[i] = right.c * e_[i] - right.s * d_[i];
      g = right.s * d_[i + 1];
      d_[i + 1] = right.c * d_[i + 1];
      const auto left = Rotation<R>::make(f, g);
      d_[i] = left.r;
      f = left.c * e_[i] + left.s * d_[i + 1];
      d_[i + 1] = left.c * d_[i + 1] - left.s * e_[i];
      if (i + 1 < m) {
        g = left.s * e_[i + 1];
        e_[i + 1] = left.c * e_[i + 1];
      }
      turn(v_, i, right.c, right.s);
      turn(u_, i, left.c, left.s);
    }
    e_[m - 1] = f;
  }

  void chase_up(Index l, Index m, R shift) {
    R f = (std::abs(d_[m]) - shift) * (std::copysign(R(1), d_[m]) + shift / d_[m]), g = e_[m - 1];
    for (Index i = m; i > l; --i) {
      const auto left = Rotation<R>::make(f, g);
      if (i < m) e_[i] = left.r;
      f = left.c * d_[i] + left.s * e_[i - 1];
      e_[i - 1] = left.c * e_[i - 1] - left.s * d_[i];
      g = left.s * d_[i - 1];
      d_[i - 1] = left.c * d_[i - 1];
      const auto right = Rotation<R>::make(f, g);
      d_[i] = right.r;
      f = right.c * e_[i - 1] + right.s * d_[i - 1];
      d_[i - 1] = right.c * d_[i - 1] - right.s * e_[i - 1];
      if (i > l + 1) {
        g = right.s * e_[i - 2];
        e_[i - 2] = right.c * e_[i - 2];
      }
      turn(v_, i - 1, right.c, -right.s);
      turn(u_, i - 1, left.c, -left.s);
    }
    e_[l] = f;
  }

  // Values that are not negative, in descending order.
  void finish() {
    for (Index i = 0; i < d_.size(); ++i)
      if (d_[i] < R(0)) {
        d_[i] = -d_[i];
        v_.col(i) = -v_.col(i);
      }
    for (Index last = d_.size() - 1; last > 0; --last) {
      Index least = 0;
      for (Index j = 1; j <= last; ++j)
        if (d_[j] <= d_[least]) least = j;
      if (least == last) continue;
      std::swap(d_[least], d_[last]);
      u_.col(least).swap(u_.col(last));
      v_.col(least).swap(v_.col(last));
    }
  }

  // The unit roundoff, times its eighth root's inverse.
  static inline const R tolerance =
      std::max(R(10), std::min(R(100), std::pow(unit_roundoff<R>, R(-0.125)))) * unit_roundoff<R>;
  Vector<R>& d_;
  Vector<R>& e_;
  Matrix<R>&u_, &v_;
  R threshold_ = 0;
  bool downwards_ = true;
  Index old_first_ = -1, old_last_ = -1;
};

}  // namespace weft::linalg
