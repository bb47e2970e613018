// The process's LAPACK, for large matrices; included by linalg_*.cpp only.
#pragma once

#include <optional>

#include "weft/library/linalg_eigen.h"

namespace weft::linalg {

// From this extent on it finds eigenvalues and singular values in less time than what is here.
inline constexpr Index lapack_decomposes = 48;

// Each does its work as LAPACK's routine of this name does, in place where nothing else is said, and returns its info;
// nothing, and nothing is changed, where the process has no such routine, for the first five also where the matrix is
// so small that what is here takes less time. a = p l u; pivots from 0. info: the first zero pivot, from 1.
template <class T>
std::optional<Index> getrf(Matrix<T>& a, int32_t* pivots);
// The lower triangle becomes the factor.
template <class T>
std::optional<Index> potrf(Matrix<T>& a);
// Of matrices in rows, as linalg.h has them: op(a) x = b or x op(a) = b.
struct Side {
  bool left, lower, unit, transposed, conjugate;
};
template <class T>
std::optional<Index> trsm(Index n, Index nrhs, Side side, const T* a, const T* b, T* x);
template <class T>
std::optional<Index> geqrf(Matrix<T>& a, Vector<T>& taus);
// The first columns of the product of the reflectors below the diagonal of `vectors`.
template <class T>
std::optional<Index> orgqr(const Matrix<T>& vectors, const Vector<T>& taus, Matrix<T>& q);
// Of the named triangle; a becomes the eigenvectors where those are wanted.
template <class T>
std::optional<Index> syevd(Matrix<T>& a, bool lower, bool vectors, Vector<Real<T>>& values);
// mode: 'A', 'S' or 'N'. a is overwritten.
template <class T>
std::optional<Index> gesdd(Matrix<T>& a, char mode, Vector<Real<T>>& s, Matrix<T>& u, Matrix<T>& vt);

}  // namespace weft::linalg
