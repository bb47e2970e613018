// numpy.linalg's functions of square matrices, or of matrices, in the last two dimensions; leading ones are batches.
//
// f32 and c64 stay, integers and booleans become f64; all is reckoned in double precision, as in NumPy. Where NumPy
// raises LinAlgError (a singular matrix, one that is not positive definite) the results are infinities and NaN.
// Error(type, "linalg_dtype") for other dtypes, Error(value, "linalg_rank", "linalg_square" or "linalg_shapes") for
// shapes, and Error(unsupported, "symbolic_extent") where an extent of the matrices is symbolic.
#pragma once

#include <array>
#include <utility>

#include "weft/frontend/operand.h"

#pragma GCC visibility push(default)
namespace weft::linalg {

// x of a x = b for a (..., n, n) and b (n) or (..., n, k); leading dims broadcast.
Tensor solve(const Tensor& a, const Tensor& b, Where where = Where::current());
Tensor inv(const Tensor& a, Where where = Where::current());
// (...) of (..., n, n).
Tensor det(const Tensor& a, Where where = Where::current());
// The lower triangle l of a = l l^H.
Tensor cholesky(const Tensor& a, Where where = Where::current());
// q (..., m, k) and r (..., k, n) of a (..., m, n), where k is the lesser of m and n.
std::pair<Tensor, Tensor> qr(const Tensor& a, Where where = Where::current());
// u, the singular values (real, descending) and v^H: (..., m, m), (..., k) and (..., n, n), or (..., m, k) and (..., k,
// n).
std::array<Tensor, 3> svd(const Tensor& a, bool full_matrices = true, Where where = Where::current());
// The eigenvalues of Hermitian matrices (real, ascending), and eigenvectors as columns; reads the lower triangle.
std::pair<Tensor, Tensor> eigh(const Tensor& a, Where where = Where::current());

// What these are made of, as LAPACK leaves it, of matrices of f64 or c128: the factors l and u in one matrix, and
// pivots (i32) from 1 on; Householder vectors below r, their factors, and the orthogonal columns that they stand for;
// u, singular values and v^H; eigenvalues, and eigenvectors as columns, those of any matrix complex.
std::pair<Tensor, Tensor> packed_lu(const Tensor& a);
std::pair<Tensor, Tensor> packed_qr(const Tensor& a);
Tensor reflected(const Tensor& vectors, const Tensor& factors);
std::array<Tensor, 3> singular_vectors(const Tensor& a, bool full);
Tensor singular_values(const Tensor& a);
std::pair<Tensor, Tensor> hermitian_values(const Tensor& a, bool lower, bool vectors);
std::pair<Tensor, Tensor> general_values(const Tensor& a, bool vectors);

}  // namespace weft::linalg
#pragma GCC visibility pop
