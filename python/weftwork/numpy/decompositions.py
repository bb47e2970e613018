"""numpy.linalg's factorisations and what is made of them.

As in NumPy, numbers are reckoned in double precision and rounded to the dtype of the result. Where NumPy raises
LinAlgError for values (a singular matrix, one that is not positive definite), the results are infinities and NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg._linalg import EighResult, EigResult, QRResult, SlogdetResult, SVDResult

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from . import factors, own
from .dispatch import broadcast_to, implements
from .functions import solid
from .plain import on_plain_arrays
from .tracer import TracedArray, as_tensor, raise_here, wrap
from .validity import require_rank

_NoValue = np._NoValue


def result_dtype(*arrays: Any) -> np.dtype:
    """The dtype of numpy.linalg's results: float32 and complex64 stay, what is no float becomes float64."""
    for array in arrays:
        if array.dtype.kind not in "fciub" or array.dtype.itemsize not in (1, 2, 4, 8, 16) or array.dtype == np.float16:
            raise_here(ArgumentTypeError, f"array type {array.dtype} is unsupported in linalg", "linalg_dtype")
    kinds = [a.dtype if a.dtype.kind in "fc" else np.dtype(np.float64) for a in arrays]
    return np.result_type(*kinds)


def double(a: Any) -> Any:
    """The array in double precision."""
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def real_dtype(dtype: np.dtype) -> np.dtype:
    return dtype.type(0).real.dtype


def matrices(a: Any, name: str) -> Any:
    x = solid(a)
    if x.ndim < 2:
        raise_here(
            ArgumentValueError,
            f"{x.ndim}-dimensional array given. Array must be at least two-dimensional ({name})",
            "linalg_rank",
        )
    for extent in x.shape[-2:]:
        if not isinstance(extent, int):
            raise_here(
                UnsupportedError,
                f"{name} of matrices of a symbolic extent ({extent}) cannot be compiled",
                "symbolic_extent",
            )
    return x


def square(a: Any, name: str) -> Any:
    x = matrices(a, name)
    if x.shape[-1] != x.shape[-2]:
        raise_here(
            ArgumentValueError,
            f"Last 2 dimensions of the array must be square ({name}), got shape {x.shape}",
            "linalg_square",
        )
    return x


# -- systems -------------------------------------------------------------------------------------------------------


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    """A run ends in an error where a matrix is singular."""
    x, y = square(a, "solve"), solid(b)
    kind = result_dtype(x, y)
    if not y.ndim:
        raise_here(ArgumentValueError, "solve: b must have at least one dimension", "linalg_rank")
    columns = y[:, None] if y.ndim == 1 else y
    if columns.shape[-2] != x.shape[-1]:
        raise_here(ArgumentValueError, f"solve: shapes {x.shape} and {y.shape} do not fit", "linalg_shapes")
    wide = np.dtype(np.complex128 if kind.kind == "c" else np.float64)
    batch = _core.broadcast_shapes(x.shape[:-2], columns.shape[:-2])
    lhs = broadcast_to(x.astype(wide).tensor, (*batch, *x.shape[-2:]))
    rhs = broadcast_to(columns.astype(wide).tensor, (*batch, *columns.shape[-2:]))
    result = wrap(factors.solve(lhs, rhs)).astype(kind)
    return result[..., 0] if y.ndim == 1 else result


@implements(np.linalg.inv)
def inv(a: Any) -> Any:
    """A run ends in an error where a matrix is singular."""
    x = square(a, "inv")
    return double_inverse(double(x)).astype(result_dtype(x))


def double_inverse(x: Any, raises: bool = True) -> Any:
    identity = as_tensor(own.eye(x.shape[-1], dtype=x.dtype))
    return wrap(factors.solve(x.tensor, broadcast_to(identity, x.shape), raises))


def signs_and_diagonal(a: Any) -> tuple[Any, Any]:
    """The sign that row swaps give the determinant, and the diagonal of u."""
    packed, pivots = _core.packed_lu(double(a).tensor)
    n = a.shape[-1]
    places = own.arange(1, n + 1, dtype=np.int32)
    swaps = np.sum(np.not_equal(wrap(pivots), places), axis=-1)
    return 1 - 2 * (swaps % 2), np.diagonal(wrap(packed), axis1=-2, axis2=-1)


@implements(np.linalg.det)
def det(a: Any) -> Any:
    x = square(a, "det")
    sign, diagonal = signs_and_diagonal(x)
    return (sign * np.prod(diagonal, axis=-1)).astype(result_dtype(x))


@implements(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    x = square(a, "slogdet")
    kind = result_dtype(x)
    sign, diagonal = signs_and_diagonal(x)
    size = np.abs(diagonal)
    phases = np.sign(diagonal) if kind.kind != "c" else diagonal / np.where(size == 0, 1.0, size)
    sign = sign * np.prod(phases, axis=-1)
    logarithm = np.sum(np.log(size), axis=-1)
    return SlogdetResult(sign.astype(kind), logarithm.astype(real_dtype(kind)))


@implements(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """NaN where NumPy raises for a matrix that is not positive definite."""
    x = square(a, "cholesky")
    kind = result_dtype(x)
    factor: Any = wrap(factors.cholesky(double(x).tensor, not upper))
    return (np.triu(factor) if upper else np.tril(factor)).astype(kind)


@implements(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    x, y = solid(a), solid(b)
    if axes is not None:
        order = list(range(x.ndim))
        for axis in axes:
            order.remove(axis)
            order.insert(x.ndim, axis)
        x = np.transpose(x, order)
    shape = x.shape[-(x.ndim - y.ndim) :] if x.ndim > y.ndim else ()
    size = int(np.prod(shape))
    if x.size != size**2:
        raise_here(
            ArgumentValueError,
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])",
            "linalg_shapes",
        )
    return np.reshape(solve(np.reshape(x, (size, size)), np.ravel(y)), shape)


@implements(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    x = solid(a)
    if ind <= 0:
        raise_here(ArgumentValueError, "Invalid ind argument.", "tensorinv_ind")
    size = int(np.prod(x.shape[ind:]))
    return np.reshape(inv(np.reshape(x, (size, -1))), (*x.shape[ind:], *x.shape[:ind]))


# -- orthogonal factors --------------------------------------------------------------------------------------------


@implements(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r", "raw"):
        raise_here(ArgumentValueError, f"Unrecognized mode '{mode}'", "qr_mode")
    x = matrices(a, "qr")
    kind = result_dtype(x)
    m, n = x.shape[-2:]
    k = min(m, n)
    packed, taus = _core.packed_qr(double(x).tensor)
    found: Any = wrap(packed)
    require_rank(np.diagonal(found, axis1=-2, axis2=-1))
    if mode == "r":
        return np.triu(found[..., :k, :]).astype(kind)
    if mode == "raw":
        return np.transpose(found).astype(kind), wrap(taus).astype(kind)
    columns = m if mode == "complete" and m > n else k
    q = wrap(factors.reflected(packed, taus, columns))
    return QRResult(q.astype(kind), np.triu(found[..., :columns, :]).astype(kind))  # type: ignore[arg-type]


@implements(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    x = matrices(a, "svd")
    kind = result_dtype(x)
    if hermitian:
        return svd_of_hermitian(x, compute_uv)
    if not compute_uv:
        return wrap(factors.singular_values(double(x).tensor)).astype(real_dtype(kind))
    u, s, vt = (wrap(t) for t in factors.svd(double(x).tensor, full_matrices))
    return SVDResult(u.astype(kind), s.astype(real_dtype(kind)), vt.astype(kind))


def svd_of_hermitian(x: Any, compute_uv: bool) -> Any:
    if not compute_uv:
        return np.sort(np.abs(eigvalsh(x)))[..., ::-1]
    values, u = eigh(x)
    signs, s = np.copysign(1.0, values), np.abs(values)
    order = np.argsort(s)[..., ::-1]
    signs, s = np.take_along_axis(signs, order, axis=-1), np.take_along_axis(s, order, axis=-1)
    u = np.take_along_axis(u, np.broadcast_to(order[..., None, :], u.shape), axis=-1)
    vt = np.conjugate(np.matrix_transpose(u * signs.astype(u.real.dtype)[..., None, :]))
    return SVDResult(u, s, vt)


@implements(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    return svd(x, compute_uv=False)


# -- eigenvalues ---------------------------------------------------------------------------------------------------


def is_lower(UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise_here(ArgumentValueError, "UPLO argument must be 'L' or 'U'", "eigh_uplo")
    return UPLO.upper() == "L"


@implements(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    lower, x = is_lower(UPLO), square(a, "eigh")
    kind = result_dtype(x)
    values, vectors = factors.eigh(double(x).tensor, lower, True)
    return EighResult(wrap(values).astype(real_dtype(kind)), wrap(vectors).astype(kind))  # type: ignore[arg-type]


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    lower, x = is_lower(UPLO), square(a, "eigvalsh")
    return wrap(factors.eigh(double(x).tensor, lower, False)[0]).astype(real_dtype(result_dtype(x)))


def needs_complex(x: Any, name: str) -> None:
    """NumPy gives real arrays where no eigenvalue of a real matrix is complex: nothing that a program can know."""
    if x.dtype.kind != "c":
        raise_here(
            UnsupportedError,
            f"numpy.linalg.{name} of a real matrix gives real or complex arrays as the values have it, known only when the program runs; "
            f"write wf.linalg.{name}(a), which are always complex, or np.linalg.eigh for symmetric matrices",
            "dynamic_result_dtype",
        )


@implements(np.linalg.eig)
def numpy_eig(a: Any) -> Any:
    needs_complex(square(a, "eig"), "eig")
    return EigResult(*complex_eig(a, True))


@implements(np.linalg.eigvals)
def numpy_eigvals(a: Any) -> Any:
    needs_complex(square(a, "eigvals"), "eigvals")
    return complex_eig(a, False)[0]


def complex_eig(a: Any, vectors: bool) -> tuple[Any, Any]:
    x = square(a, "eig")
    kind = np.result_type(result_dtype(x), np.complex64)
    values, found = factors.eig(double(x).tensor, vectors)
    return wrap(values).astype(kind), wrap(found).astype(kind)


@on_plain_arrays
def eig(a: Any) -> tuple[Any, Any]:
    """Eigenvalues and right eigenvectors (as columns, of norm 1) of square matrices, always complex.

    complex64 for float32 and complex64, complex128 for others; shapes (…, n) and (…, n, n) for ``a`` of (…, n, n).
    ArgumentValueError where ``a`` is not square.

    >>> import numpy as np, weftwork as wf
    >>> wf.linalg.eig(np.array([[0.0, -1.0], [1.0, 0.0]]))[0].tolist()
    [1j, -1j]
    """
    return complex_eig(a, True)


@on_plain_arrays
def eigvals(a: Any) -> Any:
    """The eigenvalues of square matrices, always complex; see :func:`eig`.

    >>> import numpy as np, weftwork as wf
    >>> wf.linalg.eigvals(np.diag([1.0, 2.0])).tolist()
    [(1+0j), (2+0j)]
    """
    return complex_eig(a, False)[0]


# -- by singular values --------------------------------------------------------------------------------------------


@implements(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """Residuals of systems with more equations than unknowns are NaN where NumPy gives none, for too small a rank."""
    x, y = matrices(a, "lstsq"), solid(b)
    columns = y[:, None] if y.ndim == 1 else y
    if x.ndim != 2 or columns.ndim != 2 or x.shape[0] != columns.shape[0]:
        raise_here(
            ArgumentValueError, f"lstsq: Incompatible dimensions, got shapes {x.shape} and {y.shape}", "linalg_shapes"
        )
    kind = result_dtype(x, y)
    m, n = x.shape
    wide = np.dtype(np.complex128 if kind.kind == "c" else np.float64)
    x, columns = x.astype(wide), columns.astype(wide)
    rcond = np.finfo(np.float64).eps * max(m, n) if rcond is None else rcond
    u, s, vt = (wrap(t) for t in factors.svd(x.tensor, False))
    limit = np.max(s, axis=-1, initial=0) * (
        np.finfo(np.float64).eps if not hasattr(rcond, "dtype") and not 0 < rcond < 1 else rcond
    )
    kept = s > limit
    rank = np.sum(kept, dtype=np.int32)
    scaled = np.matmul(np.conjugate(u.T), columns) * np.where(kept, 1 / np.where(kept, s, 1.0), 0.0)[:, None]
    solution = np.matmul(np.conjugate(vt.T), scaled)
    if m > n:
        error = columns - np.matmul(x, solution)
        residuals = np.sum(np.real(error * np.conjugate(error)), axis=0)
        residuals = np.where(rank == n, residuals, np.nan).astype(real_dtype(kind))
    else:
        residuals = own.zeros(0, real_dtype(kind))
    result = solution.astype(kind)
    return (result[:, 0] if y.ndim == 1 else result), residuals, rank, s.astype(real_dtype(kind))


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _NoValue) -> Any:
    x = matrices(a, "pinv")
    if rcond is not None and rtol is not _NoValue:
        raise_here(ArgumentValueError, "`rtol` and `rcond` can't be both set.", "pinv_rtol")
    if rcond is None:
        rcond = 1e-15 if rtol is _NoValue else max(x.shape[-2:]) * np.finfo(x.dtype).eps if rtol is None else rtol
    if not all(x.shape[-2:]):
        return own.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    u, s, vt = svd(np.conjugate(x), full_matrices=False, hermitian=hermitian)
    cutoff = solid(rcond)[..., None] * np.max(s, axis=-1, keepdims=True)
    kept = s > cutoff
    inverse = np.where(kept, np.divide(1, np.where(kept, s, s.dtype.type(1))), s.dtype.type(0))
    return np.matmul(np.matrix_transpose(vt), np.multiply(inverse[..., None], np.matrix_transpose(u)))


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if rtol is not None and tol is not None:
        raise_here(ArgumentValueError, "`tol` and `rtol` can't be both set.", "rank_rtol")
    x = solid(A)
    if x.ndim < 2:
        found: Any = np.any(x != 0).astype(np.int64)
        if isinstance(found, TracedArray):
            found.weak = int  # a Python number
        return found
    values = svd(x, compute_uv=False, hermitian=hermitian)
    if tol is None:
        rtol = max(x.shape[-2:]) * np.finfo(values.dtype).eps if rtol is None else solid(rtol)[..., None]
        tol = np.max(values, axis=-1, keepdims=True, initial=0) * rtol
    else:
        tol = solid(tol)[..., None]
    return np.count_nonzero(values > tol, axis=-1)


@implements(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    a = matrices(x, "cond")
    if not all(a.shape[-2:]):
        raise_here(ArgumentValueError, "cond is not defined on empty arrays", "linalg_empty")
    if p is None or p in (2, -2):
        values = svd(a, compute_uv=False)
        result = values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    else:
        inverse = double_inverse(double(square(a, "cond")), raises=False)
        result = np.linalg.norm(a, p, axis=(-2, -1)) * np.linalg.norm(inverse, p, axis=(-2, -1))
        result = result.astype(real_dtype(result_dtype(a)))
    given = np.any(np.isnan(a), axis=(-2, -1))
    return np.where(np.logical_and(np.isnan(result), ~given), result.dtype.type(np.inf), result)
