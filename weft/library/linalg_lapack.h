// The process's LAPACK, for large matrices; included by linalg_*.cpp only.
#pragma once

#include <optional>

#include "weft/library/linalg_eigen.h"

namespace weft::linalg {

// From these extents on it takes less time than what is here (OpenBLAS of NumPy's wheels on one and two threads).
inline constexpr Index lapack_solves = 64, lapack_decomposes = 48, lapack_reflects = 128, lapack_squares = 256;

// Where each does its work in place as LAPACK's routine of this name does and returns its info; nothing where the
// process has no such routine.
// a = p l u; pivots from 0. info: the first zero pivot, from 1.
template <class T>
std::optional<Index> getrf(Matrix<T>& a, int32_t* pivots);
// The lower triangle becomes the factor.
template <class T>
std::optional<Index> potrf(Matrix<T>& a);
// Of matrices in rows, as linalg.h has them: x, which holds b, becomes what op(a) x or x op(a) = b say.
struct Side {
  bool left, lower, unit, transposed, conjugate;
};
template <class T>
std::optional<Index> trsm(Index n, Index nrhs, Side side, const T* a, T* x);
template <class T>
std::optional<Index> geqrf(Matrix<T>& a, Vector<T>& taus);
// The first columns of q hold the reflectors.
template <class T>
std::optional<Index> orgqr(Matrix<T>& q, const Vector<T>& taus);
// Of the named triangle; a becomes the eigenvectors where those are wanted.
template <class T>
std::optional<Index> syevd(Matrix<T>& a, bool lower, bool vectors, Vector<Real<T>>& values);
// mode: 'A', 'S' or 'N'. a is overwritten.
template <class T>
std::optional<Index> gesdd(Matrix<T>& a, char mode, Vector<Real<T>>& s, Matrix<T>& u, Matrix<T>& vt);

}  // namespace weft::linalg
