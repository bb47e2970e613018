// Dense factorisations and solvers, for compiled programs and the interpreter alike.
#pragma once

#include <cstdint>

#include "weft/core/dtype.h"

// What all of these share:
// - dtype is f32, f64, c64 or c128 (others: InternalError), and "real" means its real_type, "complex" its complex_type.
// - Matrices are dense and row-major, `batch` of them one after the other; any extent may be 0. No output may overlap
//   anything.
// - Conventions are LAPACK's: signs, packed forms, and info, one number for each matrix: 0, or what is said below.
//   info may be null. Singular, NaN and infinite input gives infinities and NaNs, never an error and never a hang.
// - Results depend on the input alone, not on the machine's caches or threads. Nothing here starts a thread.
namespace weft::linalg {

// a = l l^H, or u^H u when not lower: the factor's triangle of l, zeros in the other. Reads that triangle of a only, of
// its diagonal the real parts. info: the order of the first leading minor that is not positive; then the triangle is
// NaN.
void cholesky(DType dtype, int64_t batch, int64_t n, bool lower, const void* a, void* l, int32_t* info);

// op(a) x = b when left_side (b and x: n x nrhs), else x op(a) = b (nrhs x n); op by `transpose`: 0 none, 1 transpose,
// 2 adjoint. Reads the named triangle of a (n x n) only, and not its diagonal when unit_diagonal.
void triangular_solve(DType dtype, int64_t batch, int64_t n, int64_t nrhs, bool left_side, bool lower,
                      bool unit_diagonal, int transpose, const void* a, const void* b, void* x);

// a with rows swapped = l u, both packed into lu (m x n; l has a unit diagonal). pivots: min(m, n), row i was swapped
// with row pivots[i], counted from 0, in this order. info: the first zero on u's diagonal, counted from 1.
void lu(DType dtype, int64_t batch, int64_t m, int64_t n, const void* a, void* lu, int32_t* pivots, int32_t* info);

// a = q r. factors (m x n): r on and above the diagonal, below it the Householder vectors without their leading 1;
// taus: min(m, n). The diagonal of r is real, of the sign opposite to what it replaces, as LAPACK's geqrf has it.
void qr(DType dtype, int64_t batch, int64_t m, int64_t n, const void* a, void* factors, void* taus);

// The first n columns of the product of k reflectors, as qr leaves them in the first k columns of factors (m x n) and
// taus (k): q is m x n. Needs k <= n <= m; InternalError otherwise.
void householder_product(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, const void* factors,
                         const void* taus, void* q);

// a v = v diag(w) for Hermitian a (n x n), of which the named triangle is read. w: real, ascending; v: eigenvectors as
// columns, or null. info: 1 when it did not converge or a is not finite; w and v are NaN then.
void eigh(DType dtype, int64_t batch, int64_t n, bool lower, const void* a, void* w, void* v, int32_t* info);

// a = u diag(s) vt. s: real, min(m, n), descending; u: m x m when full_matrices, else m x min(m, n); vt: n x n or
// min(m, n) x n, conjugate transposed already. u and vt may be null. info: as eigh's.
void svd(DType dtype, int64_t batch, int64_t m, int64_t n, bool full_matrices, const void* a, void* s, void* u,
         void* vt, int32_t* info);

}  // namespace weft::linalg
