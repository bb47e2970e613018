"""Orthogonal factors, eigenvalues and singular values, and the exponential of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _core
from ...numpy import factors
from ...numpy.control import while_loop
from ...numpy.decompositions import double
from ...numpy.tracer import wrap
from ..table import Want, cast, rule
from .creation import filled, identity
from .systems import are_matrices, conjugated

# -- orthogonal factors --------------------------------------------------------------------------------------------


@rule("linalg_qr", accepts=are_matrices)
def qr(want: Any, a: Any, mode: str = "reduced") -> Any:
    m, n = a.shape[-2:]
    packed, taus = _core.packed_qr(double(a).tensor)
    columns = m if mode == "complete" else min(m, n)
    r = cast(np.triu(wrap(packed)[..., :columns, :]), want[1].dtype)
    q = filled(want[0], 0) if mode == "r" else cast(wrap(factors.reflected(packed, taus, columns)), want[0].dtype)
    return q, r


@rule("geqrf", accepts=are_matrices)
def geqrf(want: Any, a: Any) -> Any:
    return tuple(cast(wrap(x), w.dtype) for x, w in zip(_core.packed_qr(double(a).tensor), want, strict=True))


@rule("linalg_householder_product", accepts=are_matrices)
def householder_product(want: Want, vectors: Any, taus: Any) -> Any:
    return cast(wrap(factors.reflected(double(vectors).tensor, double(taus).tensor)), want.dtype)


@rule("ormqr", accepts=are_matrices)
def ormqr(want: Want, vectors: Any, taus: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    q = wrap(factors.reflected(double(vectors)[..., : taus.shape[-1]].tensor, double(taus).tensor, vectors.shape[-2]))
    q = conjugated(q) if transpose else q
    return cast(np.matmul(q, double(other)) if left else np.matmul(double(other), q), want.dtype)


# -- values and vectors --------------------------------------------------------------------------------------------


@rule("_linalg_svd", accepts=are_matrices)
def svd(want: Any, a: Any, full_matrices: bool = False, compute_uv: bool = True, *, driver: Any = None) -> Any:
    if compute_uv:
        return tuple(
            cast(wrap(x), w.dtype) for x, w in zip(factors.svd(double(a).tensor, full_matrices), want, strict=True)
        )
    return filled(want[0], 0), cast(wrap(factors.singular_values(double(a).tensor)), want[1].dtype), filled(want[2], 0)


@rule("_linalg_eigh", accepts=are_matrices)
def eigh(want: Any, a: Any, UPLO: str = "L", compute_v: bool = True) -> Any:
    values, vectors = map(wrap, factors.eigh(double(a).tensor, UPLO.upper() == "L", compute_v))
    return cast(values, want[0].dtype), cast(vectors, want[1].dtype) if compute_v else filled(want[1], 0)


@rule("linalg_eig", accepts=are_matrices)
def eig(want: Any, a: Any) -> Any:
    return tuple(cast(wrap(x), w.dtype) for x, w in zip(factors.eig(double(a).tensor, True), want, strict=True))


@rule("linalg_eigvals", "_linalg_eigvals", accepts=are_matrices)
def eigvals(want: Want, a: Any) -> Any:
    return cast(wrap(factors.eig(double(a).tensor, False)[0]), want.dtype)


# -- the exponential -----------------------------------------------------------------------------------------------

#: Terms of the series of e to a matrix of norm 1 at most: the next is below double precision.
TERMS = 18


@rule("linalg_matrix_exp", "matrix_exp", accepts=are_matrices)
def matrix_exp(want: Want, a: Any) -> Any:
    """By the series, of the matrix halved until its norm is small, then squared as often."""
    x = double(a)
    norm = np.max(np.sum(np.abs(x), axis=-2), axis=-1)
    # A matrix that is not finite gives NaN, however often it is squared.
    times = np.where(np.isfinite(norm), np.ceil(np.log2(np.maximum(norm, cast(1, norm.dtype)))), cast(0, norm.dtype))
    small = x * cast(np.exp2(-times), x.dtype)[..., None, None]
    ones = identity(x.shape[-2:], x.dtype)
    result = np.broadcast_to(ones, x.shape)
    for term in range(TERMS, 0, -1):
        result = ones + np.matmul(small, result) * (1 / term)

    def squared(state: Any) -> Any:
        step, value = state
        return step + 1, np.where((times > step)[..., None, None], np.matmul(value, value), value)

    return cast(
        while_loop(lambda state: state[0] < np.max(times), squared, (cast(0, np.float64), result))[1], want.dtype
    )
