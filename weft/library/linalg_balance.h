// Balancing before eigenvalues are computed; included by linalg_*.cpp only.
#pragma once

#include "weft/library/linalg_eigen.h"

namespace weft::linalg {

// LAPACK's gebal: rows and columns are swapped so that eigenvalues that can be read off come first and last, and what
// is between, [first, last], is scaled by powers of two until its rows and columns are of like norm. Triangular
// matrices keep their exact eigenvalues by it, badly scaled ones their accuracy.
template <class T>
class Balance {
 public:
  explicit Balance(Matrix<T>& a) : first_(0), last_(a.rows() - 1), swapped_(a.rows()), scale_(a.rows()) {
    scale_.setOnes();
    push_down(a);
    pull_up(a);
    for (int sweep = 0; sweep < 100 && scale_once(a); ++sweep) {
    }
  }

  // Turns right (left) eigenvectors of the balanced matrix, columns of v, into those of the given one.
  void undo(Matrix<Complex<T>>& v, bool left) const {
    for (Index i = first_; i <= last_; ++i) v.row(i) *= left ? 1 / scale_[i] : scale_[i];
    for (Index i = first_ - 1; i >= 0; --i) v.row(i).swap(v.row(swapped_[i]));
    for (Index i = last_ + 1; i < v.rows(); ++i) v.row(i).swap(v.row(swapped_[i]));
  }

 private:
  void swap(Matrix<T>& a, Index i, Index to) {
    swapped_[to] = i;
    if (i == to) return;
    a.col(i).swap(a.col(to));
    a.row(i).swap(a.row(to));
  }

  // Rows without off-diagonal entries go to the end.
  void push_down(Matrix<T>& a) {
    for (bool found = true; found;) {
      found = false;
      for (Index i = last_; i >= 0 && last_ > 0; --i) {
        const auto row = a.row(i).head(last_ + 1);
        if ((row.array() != T(0)).count() > (row[i] != T(0))) continue;
        swap(a, i, last_--);
        found = true;
      }
    }
  }

  // Columns without them go to the front.
  void pull_up(Matrix<T>& a) {
    for (bool found = true; found;) {
      found = false;
      for (Index j = first_; j <= last_; ++j) {
        const auto column = a.col(j).segment(first_, last_ - first_ + 1);
        if ((column.array() != T(0)).count() > (column[j - first_] != T(0))) continue;
        swap(a, j, first_++);
        found = true;
      }
    }
  }

  // One sweep; whether it changed anything.
  bool scale_once(Matrix<T>& a) {
    const Index size = last_ - first_ + 1;
    const int limit = std::numeric_limits<Real<T>>::max_exponent * 2 / 5;
    bool changed = false;
    for (Index i = first_; i <= last_; ++i) {
      const Real<T> column = a.col(i).segment(first_, size).stableNorm();
      const Real<T> row = a.row(i).segment(first_, size).stableNorm();
      if (column == 0 || row == 0) continue;
      // The power of two that brings them closest; not so large that products of a few scales leave the range.
      int power = (std::ilogb(row) - std::ilogb(column)) / 2;
      power = std::clamp(power, -limit - std::ilogb(scale_[i]), limit - std::ilogb(scale_[i]));
      const Real<T> factor = std::ldexp(Real<T>(1), power);
      if (column * factor + row / factor >= Real<T>(0.95) * (column + row)) continue;
      scale_[i] *= factor;
      a.row(i) /= factor;
      a.col(i) *= factor;
      changed = true;
    }
    return changed;
  }

  Index first_, last_;
  Vector<Index> swapped_;
  Vector<Real<T>> scale_;
};

}  // namespace weft::linalg
