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
// - Results depend on the input alone, not on the machine's caches or threads, and nothing here starts a thread: but
//   for large matrices where use_lapack gave a library, which does as it likes.
namespace weft::linalg {

// Large matrices are left to the LAPACK that the shared library at `path` is linked with, as NumPy's is: the same
// results as NumPy's then. Whether there is one. For the whole process; to be called once.
bool use_lapack(const char* path);

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

// a v = v diag(w) for any square a. w: complex n, conjugate pairs of real matrices side by side, the one with positive
// imaginary part first, imaginary parts of others exactly 0. vr: the vectors v as columns; vl: u with u^H a = diag(w)
// u^H; both complex n x n or null, of 2-norm 1, the largest entry of a complex vector real. info: as eigh's.
void eig(DType dtype, int64_t batch, int64_t n, const void* a, void* w, void* vl, void* vr, int32_t* info);

// a = vs t vs^H with unitary vs (or null) and upper triangular t. Of real matrices t has 2 x 2 blocks for complex
// pairs, each with equal diagonal entries and off-diagonal ones of opposite signs. info: as eigh's.
void schur(DType dtype, int64_t batch, int64_t n, const void* a, void* t, void* vs, int32_t* info);

// a = q h q^H. h_factors: h on and above the first subdiagonal, below it Householder vectors without their leading 1;
// taus: n - 1. LAPACK's gehrd; q is what householder_product makes of them, one row and column later.
void hessenberg(DType dtype, int64_t batch, int64_t n, const void* a, void* h_factors, void* taus);

// a = q t q^H for Hermitian a, with real tridiagonal t: d (real n) its diagonal, e (real n - 1) the one beside it. The
// named triangle of a is read; in factors it holds t and Householder vectors, the other triangle what a has there;
// taus: n - 1. LAPACK's sytrd and hetrd.
void tridiagonal(DType dtype, int64_t batch, int64_t n, bool lower, const void* a, void* factors, void* d, void* e,
                 void* taus);

// Solves a x = b for tridiagonal a given by its diagonals, n entries each: a(i, i - 1) = dl[i], a(i, i) = d[i],
// a(i, i + 1) = du[i]; dl[0] and du[n - 1] are not used. b and x: n x nrhs. Rows are swapped where that is more
// accurate; x is NaN when a is singular.
void tridiagonal_solve(DType dtype, int64_t batch, int64_t n, int64_t nrhs, const void* dl, const void* d,
                       const void* du, const void* b, void* x);

}  // namespace weft::linalg
