"""Matrix factorisations as programs know them: LAPACK's functions, called as JAX calls them, and triangular systems.

All take and give tensors of float64 or complex128, any number of matrices at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .tracer import Tensor, wrap

Types = list[tuple[tuple[Any, ...], Any]]


def real(dtype: np.dtype) -> np.dtype:
    """float64."""
    return dtype.type(0).real.dtype


def lapack(name: str, complex_name: str, operands: list[Tensor], results: Types, **options: Any) -> list[Tensor]:
    """lapack_d{name}_ffi, or lapack_z{complex_name}_ffi; options are letters (as ui8) or flags."""
    kind = "z" + complex_name if operands[0].dtype.kind == "c" else "d" + name
    shown = [f"{key} = {'true' if value else 'false'}" if isinstance(value, bool) else f"{key} = {ord(value)} : ui8" for key, value in options.items()]
    attrs: dict[str, Any] = {"call_target_name": f"lapack_{kind}_ffi", "types": results}
    if shown:
        attrs["backend_config"] = "{" + ", ".join(shown) + "}"
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


def reflected(factors: Tensor, taus: Tensor) -> Tensor:
    """The matrix of orthogonal columns that Householder vectors stand for."""
    return lapack("orgqr", "ungqr", [factors, taus], [(factors.shape, factors.dtype)])[0]


def cholesky(a: Tensor, lower: bool) -> Tensor:
    return _core.apply("cholesky", [a], {"lower": lower})


def eigh(a: Tensor, lower: bool, vectors: bool) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors as columns."""
    *batch, n, _ = a.shape
    results: Types = [(a.shape, a.dtype), ((*batch, n), real(a.dtype)), (tuple(batch), np.int32)]
    found, values, _ = lapack("syevd", "heevd", [a], results, mode="V" if vectors else "N", uplo="L" if lower else "U")
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
    return u, s, vt


def singular_values(a: Tensor) -> Tensor:
    *batch, m, n = a.shape
    results: Types = [
        (a.shape, a.dtype),
        ((*batch, min(m, n)), real(a.dtype)),
        ((*batch, 0, 0), a.dtype),
        ((*batch, 0, 0), a.dtype),
        (tuple(batch), np.int32),
    ]
    return lapack("gesdd", "gesdd", [a], results, mode="N")[1]


def eig(a: Tensor, vectors: bool) -> tuple[Tensor, Tensor]:
    """Complex eigenvalues, and eigenvectors as columns."""
    *batch, n, _ = a.shape
    pairs = np.dtype(np.complex128)
    many: Types = [((*batch, n), a.dtype)] * (1 if a.dtype.kind == "c" else 2)
    right = a.shape if vectors else (*batch, 0, 0)
    results: Types = [*many, ((*batch, 0, 0), pairs), (right, pairs), (tuple(batch), np.int32)]
    found = lapack("geev", "geev", [a], results, compute_left="N", compute_right="V" if vectors else "N")
    values = found[0] if a.dtype.kind == "c" else _core.apply("complex", [found[0], found[1]])
    return values, found[-2]


def triangular(a: Tensor, b: Tensor, *, lower: bool) -> Tensor:
    """x of a x = b; reads that triangle of a only."""
    return _core.apply("triangular_solve", [a, b], {"left_side": True, "lower": lower, "unit_diagonal": False, "transpose_a": "NO_TRANSPOSE"})


def solve(a: Tensor, b: Tensor) -> Tensor:
    """x of a x = b: eliminating in a and b at once leaves triangular systems, whatever rows are swapped."""
    n = a.shape[-1]
    both: Any = np.concatenate([wrap(a), wrap(b)], axis=-1)
    packed = wrap(lu(both.tensor)[0])
    return triangular(packed[..., :n].tensor, packed[..., n:].tensor, lower=False)
