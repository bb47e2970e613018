"""Matrix factorisations, and what has to hold for NumPy not to raise.

All take and give tensors of float64 or complex128, any number of matrices at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from . import own
from .tracer import Tensor, wrap
from .validity import asks, demanded, require_apart, require_rank


def reflected(vectors: Tensor, taus: Tensor, columns: int | None = None) -> Tensor:
    """The matrix of orthogonal columns that Householder vectors stand for: so many, or as many as there are vectors."""
    missing = 0 if columns is None else columns - vectors.shape[-1]
    if missing:
        found: Any = wrap(vectors)[..., :columns]
        if missing > 0:
            found = np.concatenate([found, own.zeros((*found.shape[:-1], missing), found.dtype)], axis=-1)
        vectors = found.tensor
    return _core.reflected(vectors, taus)


def cholesky(a: Tensor, lower: bool) -> Tensor:
    factor = _core.apply("cholesky", [a], {"lower": True} if lower else {})
    return demanded(factor, np.isfinite(wrap(factor)), "linalg_value", "Matrix is not positive definite")


def eigh(a: Tensor, lower: bool, vectors: bool) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors as columns."""
    values, found = _core.hermitian_values(a, lower, vectors)
    values = demanded(values, np.isfinite(wrap(values)), "linalg_value", "Eigenvalues did not converge")
    if vectors:
        require_apart(wrap(values))
    return values, found


def svd(a: Tensor, full: bool) -> tuple[Tensor, Tensor, Tensor]:
    """u, the singular values, descending, and the conjugate transpose of v."""
    u, s, vt = _core.singular_vectors(a, full)
    s = demanded(s, np.isfinite(wrap(s)), "linalg_value", "SVD did not converge")
    require_apart(wrap(s))
    require_rank(wrap(s))
    return u, s, vt


def singular_values(a: Tensor) -> Tensor:
    values = _core.singular_values(a)
    return demanded(values, np.isfinite(wrap(values)), "linalg_value", "SVD did not converge")


def eig(a: Tensor, vectors: bool) -> tuple[Tensor, Tensor]:
    """Complex eigenvalues, and eigenvectors as columns."""
    values, found = _core.general_values(a, vectors)
    values = demanded(values, np.isfinite(wrap(values)), "linalg_value", "Array must not contain infs or NaNs")
    return values, found


def triangular(a: Tensor, b: Tensor, *, lower: bool, unit: bool = False) -> Tensor:
    """x of a x = b; reads that triangle of a only, with ones on its diagonal where that is ``unit``."""
    return _core.apply(
        "triangular_solve",
        [a, b],
        {"left_side": True, "lower": lower, "unit_diagonal": unit, "transpose_a": "NO_TRANSPOSE"},
    )


def eliminated(a: Tensor, b: Tensor) -> tuple[Tensor, Any]:
    """x of a x = b, infinities and NaN where it has none, and the pivots: eliminating in a and b at once leaves triangular systems, whatever rows are swapped."""
    n = a.shape[-1]
    both: Any = np.concatenate([wrap(a), wrap(b)], axis=-1)
    packed = wrap(_core.packed_lu(both.tensor)[0])
    result = triangular(packed[..., :n].tensor, packed[..., n:].tensor, lower=False)
    return result, np.diagonal(packed[..., :n], axis1=-2, axis2=-1)


def solve(a: Tensor, b: Tensor, raises: bool = True) -> Tensor:
    """x of a x = b, infinities and NaN where it has none and nothing ``raises``."""
    result, pivots = eliminated(a, b)
    # NumPy raises where it finds a pivot of zero: what is near to that it decides itself.
    require_rank(pivots)
    return result if asks() or not raises else demanded(result, pivots != 0, "linalg_value", "Singular matrix")
