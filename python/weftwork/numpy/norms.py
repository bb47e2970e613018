"""numpy.linalg as far as it is sums and products: norms, powers, chains of products."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from . import own
from .dispatch import FUNCTIONS, implements
from .functions import delivered, one_axis, solid
from .reductions import normalized_axes, reduction_axis
from .tracer import raise_here

for _name in ("tensordot", "matmul", "vecdot", "matrix_transpose"):
    _linalg, _plain = getattr(np.linalg, _name), getattr(np, _name)
    if _linalg in FUNCTIONS:
        continue
    if _plain in FUNCTIONS:
        FUNCTIONS[_linalg] = FUNCTIONS[_plain]

implements(np.linalg.matmul)(lambda x1, x2, /: np.matmul(x1, x2))


@implements(np.linalg.vecdot)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    lhs, rhs = solid(x1), solid(x2)
    return np.vecdot(
        np.moveaxis(lhs, one_axis(axis, lhs.ndim, "vecdot"), -1),
        np.moveaxis(rhs, one_axis(axis, rhs.ndim, "vecdot"), -1),
    )


@implements(np.linalg.outer)
def outer(x1: Any, x2: Any, /) -> Any:
    x, y = solid(x1), solid(x2)
    if x.ndim != 1 or y.ndim != 1:
        raise_here(
            ArgumentValueError,
            f"input arrays must be one-dimensional, but they are x1.ndim={x.ndim} and x2.ndim={y.ndim}",
            "outer_rank",
        )
    return np.outer(x, y)


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    a = solid(x)
    if a.dtype.kind not in "fc":
        a = a.astype(np.float64)
    if axis is None:
        if ord is None or (ord in ("f", "fro") and a.ndim == 2) or (ord == 2 and a.ndim == 1):
            flat = np.ravel(a)
            squares = np.dot(flat.real, flat.real)
            squares = squares + np.dot(flat.imag, flat.imag) if a.dtype.kind == "c" else squares
            result = np.sqrt(squares)
            return np.reshape(result, (1,) * a.ndim) if keepdims else result
        axis = tuple(range(a.ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    if isinstance(axis, (list, np.ndarray)):
        raise_here(
            ArgumentTypeError, f"'axis' must be None, an integer or a tuple of integers, got {axis!r}", "norm_axes"
        )
    if len(axes) == 1:
        return norm_of_vectors(a, ord, one_axis(axes[0], a.ndim, "norm"), keepdims)
    if len(axes) != 2:
        raise_here(ArgumentValueError, f"improper number of dimensions to norm: {len(axes)}", "norm_axes")
    normalized_axes(axes, a.ndim, "norm")
    return norm_of_matrices(a, ord, axes[0] % a.ndim, axes[1] % a.ndim, keepdims)


def norm_of_vectors(a: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    if ord is None or (not isinstance(ord, str) and ord == 2):
        return np.sqrt(np.sum(np.real(np.conjugate(a) * a), axis=axis, keepdims=keepdims))
    if isinstance(ord, str):
        raise_here(ArgumentValueError, f"invalid norm order '{ord}' for vectors", "norm_order")
    if ord == np.inf:
        return np.max(np.abs(a), axis=axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return np.min(np.abs(a), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum(np.not_equal(a, 0).astype(a.real.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(a), axis=axis, keepdims=keepdims)
    total = np.sum(np.abs(a) ** ord, axis=axis, keepdims=keepdims)
    return total ** np.reciprocal(ord, dtype=total.dtype)


def norm_of_matrices(a: Any, ord: Any, row: int, column: int, keepdims: bool) -> Any:
    if ord in (None, "fro", "f"):
        return np.sqrt(np.sum(np.real(np.conjugate(a) * a), axis=(row, column), keepdims=keepdims))
    if ord == "nuc" or ord in (2, -2):
        return norm_by_svd(a, ord, row, column, keepdims)
    if isinstance(ord, str) or abs(ord) not in (1, np.inf):
        raise_here(ArgumentValueError, f"invalid norm order {ord!r} for matrices", "norm_order")
    first, second = (row, column) if abs(ord) == 1 else (column, row)
    sums = np.sum(np.abs(a), axis=first, keepdims=True)
    result = (
        np.max(sums, axis=second, keepdims=True, initial=0) if ord > 0 else np.min(sums, axis=second, keepdims=True)
    )
    return result if keepdims else np.squeeze(result, (row, column))


def norm_by_svd(a: Any, ord: Any, row: int, column: int, keepdims: bool) -> Any:
    """Norms of the singular values, for front ends that have them."""
    if np.linalg.svd not in FUNCTIONS:
        raise_here(
            UnsupportedError,
            f"the matrix norm of order {ord!r} needs singular values and cannot be compiled",
            "unsupported_function",
        )
    values = np.linalg.svd(np.moveaxis(a, (row, column), (-2, -1)), compute_uv=False)
    if ord == -2:
        result = np.min(values, axis=-1)
    else:
        result = np.sum(values, axis=-1) if ord == "nuc" else np.max(values, axis=-1, initial=0)
    return np.expand_dims(result, tuple(sorted((row, column)))) if keepdims else result


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return norm(x, axis=(-2, -1), keepdims=keepdims, ord=ord)


@implements(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    a = solid(x)
    axes = normalized_axes(reduction_axis(axis, "vector_norm", a.ndim), a.ndim, "vector_norm")
    rest = tuple(i for i in range(a.ndim) if i not in axes)
    lines = np.reshape(np.transpose(a, (*rest, *axes)), (*(a.shape[i] for i in rest), -1)) if axes else a[..., None]
    result = norm(lines, axis=-1, ord=ord)
    return np.reshape(result, tuple(1 if i in axes else e for i, e in enumerate(a.shape))) if keepdims else result


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Any:
    x = solid(a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise_here(
            ArgumentValueError, f"last 2 dimensions of the array must be square, got shape {x.shape}", "matrix_square"
        )
    try:
        power = operator.index(n)
    except TypeError:
        raise_here(ArgumentTypeError, f"exponent must be an integer, got {n!r}", "matrix_power")
    if power == 0:
        return np.copy(np.broadcast_to(own.eye(x.shape[-1], dtype=x.dtype), x.shape))
    if power < 0:
        x, power = np.linalg.inv(x), -power
    result, square = None, x
    while power:
        if power & 1:
            result = square if result is None else np.matmul(result, square)
        power >>= 1
        square = np.matmul(square, square) if power else square
    return result if result is not a else np.copy(result)


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    factors = [solid(a) for a in arrays]
    if len(factors) < 2:
        raise_here(ArgumentValueError, "expecting at least two arrays", "multi_dot")
    if len(factors) == 2:
        return delivered(np.linalg.multi_dot, np.dot(*factors), out, "same_kind")
    inner = factors[1:-1]
    if any(f.ndim != 2 for f in inner) or any(f.ndim not in (1, 2) for f in factors):
        raise_here(
            ArgumentValueError,
            f"multi_dot takes matrices, and vectors at the ends, got shapes {', '.join(str(f.shape) for f in factors)}",
            "multi_dot",
        )
    split = cheapest_splits(factors)

    def chain(first: int, last: int) -> Any:
        if first == last:
            return factors[first]
        middle = split[first, last]
        return np.dot(chain(first, middle), chain(middle + 1, last))

    result = chain(0, len(factors) - 1)
    return delivered(np.linalg.multi_dot, result, out, "same_kind")


def cheapest_splits(factors: list[Any]) -> dict[tuple[int, int], int]:
    """For each run of factors, after which of them to split the product so that it takes the fewest multiplications."""
    count = len(factors)
    shapes = [
        (1, *f.shape) if f.ndim == 1 and i == 0 else (*f.shape, 1) if f.ndim == 1 else f.shape
        for i, f in enumerate(factors)
    ]
    extents = [shapes[0][0], *(s[1] for s in shapes)]
    if not all(isinstance(e, int) for e in extents):
        return {(i, j): j - 1 for i in range(count) for j in range(i + 1, count)}
    cost = {(i, i): 0 for i in range(count)}
    split = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            costs = [cost[i, k] + cost[k + 1, j] + extents[i] * extents[k + 1] * extents[j + 1] for k in range(i, j)]
            cost[i, j] = min(costs)
            split[i, j] = i + costs.index(cost[i, j])
    return split
