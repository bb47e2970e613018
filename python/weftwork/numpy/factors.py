"""Matrix factorisations as programs know them: LAPACK's functions, called as JAX calls them, and triangular systems.

All take and give tensors of float64 or complex128, any number of matrices at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from . import own
from .tracer import Tensor, wrap
from .validity import asks, demanded, require_apart, require_rank

Types = list[tuple[tuple[Any, ...], Any]]


def real(dtype: np.dtype) -> np.dtype:
    """float64."""
    return dtype.type(0).real.dtype


def layout(rank: int, batch: int) -> str:
    """The order of dimensions in memory, the fastest first: LAPACK's matrices are stored by columns."""
    order = list(reversed(range(rank)))
    if rank == batch + 2:
        order[:2] = [rank - 2, rank - 1]
    shown = "" if not rank else order[0] if rank == 1 else order
    return f"dense<{shown}> : tensor<{rank}xindex>"


def lapack(name: str, complex_name: str, operands: list[Tensor], results: Types, **options: Any) -> list[Tensor]:
    """lapack_d{name}_ffi, or lapack_z{complex_name}_ffi; options are letters (as ui8)."""
    kind = "z" + complex_name if operands[0].dtype.kind == "c" else "d" + name
    batch = operands[0].ndim - 2
    layouts = [", ".join(layout(rank, batch) for rank in ranks) for ranks in ([x.ndim for x in operands], [len(shape) for shape, _ in results])]
    attrs = {
        "call_target_name": f"lapack_{kind}_ffi",
        "types": results,
        "backend_config": "{" + ", ".join(f"{key} = {ord(value)} : ui8" for key, value in options.items()) + "}",
        "call_attributes": f"operand_layouts = [{layouts[0]}], result_layouts = [{layouts[1]}]",
    }
    return _core.apply_all("custom_call", operands, attrs)


def lu(a: Tensor) -> tuple[Tensor, Tensor]:
    """Factors packed in one matrix, and pivots (int32, from 1)."""
    *batch, m, n = a.shape
    packed, pivots, _ = lapack("getrf", "getrf", [a], [(a.shape, a.dtype), ((*batch, min(m, n)), np.int32), (tuple(batch), np.int32)])
    return packed, pivots


def qr(a: Tensor) -> tuple[Tensor, Tensor]:
    """Householder vectors below r, and their factors tau."""
    *batch, m, n = a.shape
    factors, taus = lapack("geqrf", "geqrf", [a], [(a.shape, a.dtype), ((*batch, min(m, n)), a.dtype)])
    return factors, taus


def reflected(vectors: Tensor, taus: Tensor, columns: int | None = None) -> Tensor:
    """The matrix of orthogonal columns that Householder vectors stand for: so many, or as many as there are vectors."""
    missing = 0 if columns is None else columns - vectors.shape[-1]
    if missing:
        found: Any = wrap(vectors)[..., :columns]
        if missing > 0:
            found = np.concatenate([found, own.zeros((*found.shape[:-1], missing), found.dtype)], axis=-1)
        vectors = found.tensor
    return lapack("orgqr", "ungqr", [vectors, taus], [(vectors.shape, vectors.dtype)])[0]


def cholesky(a: Tensor, lower: bool) -> Tensor:
    factor = _core.apply("cholesky", [a], {"lower": True} if lower else {})
    return demanded(factor, np.isfinite(wrap(factor)), "linalg_value", "Matrix is not positive definite")


def eigh(a: Tensor, lower: bool, vectors: bool) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors as columns."""
    *batch, n, _ = a.shape
    results: Types = [(a.shape, a.dtype), ((*batch, n), real(a.dtype)), (tuple(batch), np.int32)]
    found, values, _ = lapack("syevd", "heevd", [a], results, mode="V" if vectors else "N", uplo="L" if lower else "U")
    values = demanded(values, np.isfinite(wrap(values)), "linalg_value", "Eigenvalues did not converge")
    if vectors:
        require_apart(wrap(values))
    return values, found


def svd(a: Tensor, full: bool) -> tuple[Tensor, Tensor, Tensor]:
    """u, the singular values, descending, and the conjugate transpose of v."""
    *batch, m, n = a.shape
    k = min(m, n)
    results: Types = [
        (a.shape, a.dtype),
        ((*batch, k), real(a.dtype)),
        ((*batch, m, m if full else k), a.dtype),
        ((*batch, n if full else k, n), a.dtype),
        (tuple(batch), np.int32),
    ]
    _, s, u, vt, _ = lapack("gesdd", "gesdd", [a], results, mode="A" if full else "S")
    s = demanded(s, np.isfinite(wrap(s)), "linalg_value", "SVD did not converge")
    require_apart(wrap(s))
    require_rank(wrap(s))
    return u, s, vt


def singular_values(a: Tensor) -> Tensor:
    *batch, m, n = a.shape
    k = min(m, n)
    # LAPACK wants places for the vectors even where it leaves them alone.
    vectors: Types = [((*batch, m, k), a.dtype), ((*batch, k, n), a.dtype)]
    results = [(a.shape, a.dtype), ((*batch, k), real(a.dtype)), *vectors, (tuple(batch), np.int32)]
    values = lapack("gesdd", "gesdd", [a], results, mode="N")[1]
    return demanded(values, np.isfinite(wrap(values)), "linalg_value", "SVD did not converge")


def eig(a: Tensor, vectors: bool) -> tuple[Tensor, Tensor]:
    """Complex eigenvalues, and eigenvectors as columns."""
    *batch, n, _ = a.shape
    pairs = np.dtype(np.complex128)
    many: Types = [((*batch, n), a.dtype)] * (1 if a.dtype.kind == "c" else 2)
    results: Types = [*many, (a.shape, pairs), (a.shape, pairs), (tuple(batch), np.int32)]
    found = lapack("geev", "geev", [a], results, compute_left="N", compute_right="V" if vectors else "N")
    values = found[0] if a.dtype.kind == "c" else _core.apply("complex", [found[0], found[1]])
    values = demanded(values, np.isfinite(wrap(values)), "linalg_value", "Array must not contain infs or NaNs")
    return values, found[-2]


def triangular(a: Tensor, b: Tensor, *, lower: bool, unit: bool = False) -> Tensor:
    """x of a x = b; reads that triangle of a only, with ones on its diagonal where that is ``unit``."""
    return _core.apply("triangular_solve", [a, b], {"left_side": True, "lower": lower, "unit_diagonal": unit, "transpose_a": "NO_TRANSPOSE"})


def eliminated(a: Tensor, b: Tensor) -> tuple[Tensor, Any]:
    """x of a x = b, infinities and NaN where it has none, and the pivots: eliminating in a and b at once leaves triangular systems, whatever rows are swapped."""
    n = a.shape[-1]
    both: Any = np.concatenate([wrap(a), wrap(b)], axis=-1)
    packed = wrap(lu(both.tensor)[0])
    result = triangular(packed[..., :n].tensor, packed[..., n:].tensor, lower=False)
    return result, np.diagonal(packed[..., :n], axis1=-2, axis2=-1)


def solve(a: Tensor, b: Tensor, raises: bool = True) -> Tensor:
    """x of a x = b, infinities and NaN where it has none and nothing ``raises``."""
    result, pivots = eliminated(a, b)
    # NumPy raises where it finds a pivot of zero: what is near to that it decides itself.
    require_rank(pivots)
    return result if asks() or not raises else demanded(result, pivots != 0, "linalg_value", "Singular matrix")
