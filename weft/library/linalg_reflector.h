// Householder reflectors H = I - tau v v^H, with v = (1, tail), as LAPACK makes and applies them; for linalg_*.cpp
// only.
#pragma once

#include "weft/library/linalg_eigen.h"

namespace weft::linalg {

// A column, and what is read of a column or a matrix, wherever it lies.
template <class T>
using Column = Eigen::Ref<Vector<T>>;
template <class T>
using ConstColumn = Eigen::Ref<const Vector<T>>;
template <class T>
using ConstPart = Eigen::Ref<const Matrix<T>>;

// Each is compiled once, in linalg_reflector.cpp: they are large, and nearly every routine calls them.
template <class T>
struct Reflectors {
  // Makes H with H^H column = (beta, 0 ...), beta real; leaves beta and the tail in column and returns tau. Needs a
  // column of one element at least.
  static T make(Column<T> column);

  // x = H x and x = x H; workspace: an element for each column, or row, of x.
  static void apply_left(ConstColumn<T> tail, T tau, Part<T> x, T* workspace);
  static void apply_right(ConstColumn<T> tail, T tau, Part<T> x, T* workspace);

  // With Q the product of the reflectors whose tails are columns of `vectors`, below the diagonal that lies `shift`
  // below the main one: x = Q x, where x may be said to be the identity, or x = Q^H x.
  static void apply_all(ConstPart<T> vectors, const Vector<T>& taus, Index shift, Part<T> x, bool is_identity = false);
  static void apply_all_adjoint(ConstPart<T> vectors, const Vector<T>& taus, Part<T> x);
};

}  // namespace weft::linalg
