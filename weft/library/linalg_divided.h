// The signs of LAPACK's divide and conquer, told from the vectors; included by linalg_*.cpp only.
#pragma once

#include <map>
#include <vector>

#include "weft/library/linalg_bdsqr.h"

namespace weft::linalg {

// Gives eigenvectors that another method found the signs that LAPACK's stedc gives them.
//
// It halves a matrix until no part has more than 25 rows, and puts two halves together as diag(T1, T2) + |e| v v^T with
// v = (0 .. 1 | sign(e) .. 0). An eigenvector is then a positive multiple of (diag(T1, T2) - lambda)^-1 v, and so
// v^T q < 0 tells its sign, whatever those of the halves are. Where v^T q vanishes, the eigenvector is that of a half.
template <class R>
class DividedSigns {
 public:
  DividedSigns(const Vector<R>& d, const Vector<R>& e) : d_(d), e_(e) {
    for (Index first = 0; first < d.size();) {
      Index last = first;
      while (last + 1 < d.size() && !negligible_beside(d, e, last)) ++last;
      blocks_.push_back({first, last + 1});
      first = last + 1;
    }
    for (const Range& block : blocks_) cut(block, depth_of(block));
  }

  void apply(Matrix<R>& z) {
    for (Index i = 0; i < z.cols(); ++i) {
      Vector<R> column = z.col(i);
      Index place = 0;
      column.cwiseAbs().maxCoeff(&place);
      for (const Range& block : blocks_)
        if (block.first <= place && place < block.last && is_turned(column, block, depth_of(block))) z.col(i) = -column;
    }
  }

 private:
  struct Range {
    Index first, last;
    Index size() const { return last - first; }
    Index middle() const { return first + size() / 2; }
  };

  static int depth_of(Range range) {
    int depth = 0;
    for (Index size = range.size(); size > smallest_divided; size = (size + 1) / 2) ++depth;
    return depth;
  }

  // Takes |e| off both sides of each place at which a block is cut.
  void cut(Range range, int depth) {
    if (depth == 0) return;
    const Index m = range.middle();
    cut({range.first, m}, depth - 1);
    cut({m, range.last}, depth - 1);
    d_[m - 1] -= std::abs(e_[m - 1]);
    d_[m] -= std::abs(e_[m - 1]);
  }

  bool is_turned(const Vector<R>& q, Range range, int depth) {
    if (range.size() == 1) return q[range.first] < R(0);
    if (depth == 0) return is_turned_in_leaf(q, range);
    const Index m = range.middle();
    const R side = std::copysign(R(1), e_[m - 1]), product = q[m - 1] + side * q[m];
    const R largest = std::max(d_.cwiseAbs().maxCoeff(), e_.cwiseAbs().maxCoeff());
    const R length = q.segment(range.first, range.size()).norm();
    const R root = std::sqrt(R(2));
    if (std::abs(product) * root * std::abs(e_[m - 1]) > 8 * unit_roundoff<R> * largest * length) return product > R(0);
    const Range low{range.first, m}, high{m, range.last};
    const R below = q.segment(low.first, low.size()).norm(), above = q.segment(high.first, high.size()).norm();
    if (below < R(1e-3) * length) return is_turned(q, high, depth - 1);
    const bool turned = is_turned(q, low, depth - 1);
    if (above < R(1e-3) * length) return turned;
    // One of two equal eigenvalues: rotated so that v^T q is nothing.
    const bool other = is_turned(q, high, depth - 1);
    return turned != (side * (other ? -q[m] : q[m]) < R(0));
  }

  bool is_turned_in_leaf(const Vector<R>& q, Range range) {
    Matrix<R>& vectors = leaves_[range.first];
    const Index n = range.size();
    if (vectors.size() == 0) {
      Vector<R> d = d_.segment(range.first, n), e = e_.segment(range.first, n - 1);
      vectors.setIdentity(n, n);
      if (!TridiagonalQl<R>(d, e, vectors).solve()) vectors.setIdentity(n, n);
    }
    const Vector<R> products = vectors.transpose() * q.segment(range.first, n);
    Index place = 0;
    products.cwiseAbs().maxCoeff(&place);
    return products[place] < R(0);
  }

  Vector<R> d_, e_;
  std::vector<Range> blocks_;
  std::map<Index, Matrix<R>> leaves_;
};

// Tells which singular vectors, found by another method, have other signs than LAPACK's bdsdc gives them.
//
// It takes the middle row out of a matrix until no part has more than 25 rows, and puts two parts and a row together so
// that the element of u in that row is negative. Where it vanishes, the vectors are those of a part.
template <class R>
class DividedSingularSigns {
 public:
  DividedSingularSigns(const Vector<R>& d, const Vector<R>& e) : d_(d), e_(e) {
    const R largest = std::max(d.cwiseAbs().maxCoeff(), e.size() ? e.cwiseAbs().maxCoeff() : R(0));
    for (Index first = 0; first < d.size();) {
      Index last = first;
      while (last + 1 < d.size() && std::abs(e[last]) >= R(0.9) * unit_roundoff<R> * largest) ++last;
      blocks_.push_back({first, last + 1});
      first = last + 1;
    }
  }

  bool is_turned(const Vector<R>& u) {
    Index place = 0;
    u.cwiseAbs().maxCoeff(&place);
    // A single element at the end is a sign of u, elsewhere one of v.
    if (place == u.size() - 1 && blocks_.back().size() == 1) return (u[place] < R(0)) != (d_[place] < R(0));
    for (const Range& block : blocks_)
      if (block.first <= place && place < block.last) return is_turned(u, block, false, depth_of(block.size()));
    return false;
  }

 private:
  struct Range {
    Index first, last;
    Index size() const { return last - first; }
  };

  static int depth_of(Index size) {
    if (size <= smallest_divided) return 0;
    return static_cast<int>(std::log2(static_cast<double>(size) / static_cast<double>(smallest_divided + 1))) + 1;
  }

  bool is_turned(const Vector<R>& u, Range range, bool wide, int depth) {
    if (depth == 0) return is_turned_in_leaf(u, range, wide);
    const Index middle = range.first + range.size() / 2;
    const R length = u.segment(range.first, range.size()).norm();
    if (std::abs(u[middle]) > R(64) * unit_roundoff<R> * length) return u[middle] > R(0);
    const Range low{range.first, middle}, high{middle + 1, range.last};
    const bool lower = u.segment(low.first, low.size()).norm() > u.segment(high.first, high.size()).norm();
    return lower ? is_turned(u, low, true, depth - 1) : is_turned(u, high, wide, depth - 1);
  }

  // A part is one column wider than it has rows, unless it is the last.
  bool is_turned_in_leaf(const Vector<R>& u, Range range, bool wide) {
    const Index n = range.size();
    if (n == 0) return false;
    Matrix<R>& vectors = leaves_[range.first];
    if (vectors.size() == 0) {
      Vector<R> d = d_.segment(range.first, n), e = e_.segment(range.first, n - 1);
      vectors.setIdentity(n, n);
      if (wide) make_square(d, e, e_[range.last - 1], vectors);
      Matrix<R> right(0, n);
      if (!BidiagonalQr<R>(d, e, vectors, right).solve()) vectors.setIdentity(n, n);
    }
    const Vector<R> products = vectors.transpose() * u.segment(range.first, n);
    Index place = 0;
    products.cwiseAbs().maxCoeff(&place);
    return products[place] < R(0);
  }

  static void make_square(Vector<R>& d, Vector<R>& e, R beside, Matrix<R>& left) {
    const Index n = d.size();
    for (Index i = 0; i < n; ++i) {
      const auto right = Rotation<R>::make(d[i], i + 1 < n ? e[i] : beside);
      d[i] = right.r;
      if (i + 1 < n) {
        e[i] = right.s * d[i + 1];
        d[i + 1] = right.c * d[i + 1];
      }
    }
    for (Index i = 0; i + 1 < n; ++i) {
      const auto rotation = Rotation<R>::make(d[i], e[i]);
      d[i] = rotation.r;
      e[i] = rotation.s * d[i + 1];
      d[i + 1] = rotation.c * d[i + 1];
      for (Index row = 0; row < n; ++row) {
        const R next = left(row, i + 1), here = left(row, i);
        left(row, i + 1) = rotation.c * next - rotation.s * here;
        left(row, i) = rotation.s * next + rotation.c * here;
      }
    }
  }

  const Vector<R>&d_, &e_;
  std::vector<Range> blocks_;
  std::map<Index, Matrix<R>> leaves_;
};

}  // namespace weft::linalg
