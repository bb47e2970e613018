"""Linear algebra over the last two axes; the axes before them are a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from .calls import called
from .functions import matmul, matrix_transpose, tensordot, vecdot
from .tensor import Tensor

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer",
    "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """The triangular factor of a positive definite matrix. A ``LinAlgError`` when it is computed of another."""
    return called(np.linalg.cholesky, (x,), {"upper": upper})


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The cross product of vectors of three elements."""
    return called(np.linalg.cross, (x1, x2), {"axis": axis})


def det(x: Tensor, /) -> Tensor:
    """The determinant."""
    return called(np.linalg.det, (x,), {})


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """The ``offset``-th diagonal."""
    return called(np.linalg.diagonal, (x,), {"offset": offset})


def eigh(x: Tensor, /) -> Any:
    """Eigenvalues, ascending, and eigenvectors of a symmetric or Hermitian matrix, of which the lower half is read."""
    return called(np.linalg.eigh, (x,), {})


def eigvalsh(x: Tensor, /) -> Tensor:
    """Eigenvalues, ascending, of a symmetric or Hermitian matrix."""
    return called(np.linalg.eigvalsh, (x,), {})


def inv(x: Tensor, /) -> Tensor:
    """The inverse. A ``LinAlgError`` when it is computed of a singular matrix."""
    return called(np.linalg.inv, (x,), {})


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """A norm of matrices: 'fro', 'nuc', 1, 2, inf and their negatives."""
    return called(np.linalg.matrix_norm, (x,), {"keepdims": keepdims, "ord": ord})


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """The product of ``n`` such matrices, of their inverses where it is negative."""
    return called(np.linalg.matrix_power, (x, n), {})


def matrix_rank(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    """How many singular values are above ``rtol`` times the greatest."""
    return called(np.linalg.matrix_rank, (x,), {"rtol": rtol})


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Every element of one vector by every element of the other."""
    return called(np.linalg.outer, (x1, x2), {})


def pinv(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    """The pseudo-inverse; singular values below ``rtol`` times the greatest count as zero."""
    return called(np.linalg.pinv, (x,), {} if rtol is None else {"rtol": rtol})


def qr(x: Tensor, /, *, mode: str = "reduced") -> Any:
    """Orthonormal columns and an upper triangle; 'complete' gives square Q."""
    return called(np.linalg.qr, (x, mode), {})


def slogdet(x: Tensor, /) -> Any:
    """Sign and logarithm of the magnitude of the determinant."""
    return called(np.linalg.slogdet, (x,), {})


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The solution of ``x1 @ x = x2``. A ``LinAlgError`` when it is computed of a singular matrix."""
    return called(np.linalg.solve, (x1, x2), {})


def svd(x: Tensor, /, *, full_matrices: bool = True) -> Any:
    """Singular vectors and values: ``U``, ``S`` descending, ``Vh``."""
    return called(np.linalg.svd, (x, full_matrices), {})


def svdvals(x: Tensor, /) -> Tensor:
    """Singular values, descending."""
    return called(np.linalg.svdvals, (x,), {})


def trace(x: Tensor, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """The sum of the ``offset``-th diagonal."""
    return called(np.linalg.trace, (x,), {"offset": offset, "dtype": dtype})


def vector_norm(
    x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, ord: Any = 2
) -> Tensor:
    """A norm of vectors along axes, of all elements unless told."""
    return called(np.linalg.vector_norm, (x,), {"axis": axis, "keepdims": keepdims, "ord": ord})
