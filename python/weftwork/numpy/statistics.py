"""Weighted means, covariances, and the reductions that pass over NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, DivisionByZeroError
from . import own
from .dispatch import finish, implements
from .functions import solid
from .reductions import freedom_lost, keep, normalized_axes, real_dtype, require_out_of
from .tracer import TracedArray, as_tensor, raise_here, wrap
from .validity import asks, demanded, require

_NoValue = np._NoValue


# -- weighted means and covariances --------------------------------------------------------------------------------


ZERO_WEIGHTS = "Weights sum to zero, can't be normalized"


def not_zero(total: Any) -> TracedArray:
    """The sums of weights, which NumPy refuses where they are zero."""
    return wrap(demanded(total.tensor, total != 0, "zero_division", ZERO_WEIGHTS))


@implements(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = _NoValue) -> Any:
    x = solid(a)
    keep = {} if keepdims is _NoValue else {"keepdims": keepdims}
    if weights is None:
        result = np.mean(x, axis, **keep)
        scale = (
            result.dtype.type(x.size / result.size) if isinstance(x.size, int) else solid(x.size) / solid(result.size)
        )
        total = own.full(result.shape, scale, result.dtype) if returned else None
    else:
        w = fitted_weights(solid(weights), x, axis)
        target = np.result_type(x.dtype, w.dtype, *(("f8",) if x.dtype.kind in "iub" else ()))
        total = np.sum(w, axis=axis, dtype=target, **keep)
        known = w.tensor.constant()
        if known is None:
            total = not_zero(total)
        elif np.any(known.sum(axis=axis, dtype=target) == 0):
            raise_here(DivisionByZeroError, ZERO_WEIGHTS, "zero_division")
        result = np.divide(np.sum(np.multiply(x, w, dtype=target), axis, **keep), total)
        total = np.copy(np.broadcast_to(total, result.shape))
    return (result, total) if returned else result


def fitted_weights(w: Any, x: Any, axis: Any) -> Any:
    """The weights with the rank of ``x``."""
    if len(w.shape) == len(x.shape) and all(map(_core.dims_equal, w.shape, x.shape)):
        return w
    if axis is None:
        raise_here(
            ArgumentTypeError,
            f"axis must be specified when shapes of a and weights differ, got {x.shape} and {w.shape}",
            "average_weights",
        )
    axes = tuple(i.__index__() % x.ndim for i in (axis if isinstance(axis, tuple) else (axis,)))
    normalized_axes(axis, x.ndim, "average")
    if len(w.shape) != len(axes) or not all(
        _core.dims_equal(e, x.shape[i]) for e, i in zip(w.shape, axes, strict=True)
    ):
        raise_here(
            ArgumentValueError,
            f"shape of weights must be consistent with shape of a along specified axis, got {w.shape} for {x.shape}, axis {axis}",
            "average_weights",
        )
    ordered = np.transpose(w, sorted(range(len(axes)), key=lambda i: axes[i]))
    return np.reshape(ordered, tuple(e if i in axes else 1 for i, e in enumerate(x.shape)))


def observations(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """The variables as rows, those of ``y`` after those of ``m``."""
    x = solid(m)
    other = None if y is None else solid(y)
    for array in (x, other):
        if array is not None and array.ndim > 2:
            raise_here(ArgumentValueError, f"cov: an argument has {array.ndim} dimensions, more than 2", "cov_rank")
    target = (
        dtype if dtype is not None else np.result_type(x.dtype, np.float64, *(() if other is None else (other.dtype,)))
    )
    rows = np.atleast_2d(x.astype(target))
    if not rowvar and x.ndim != 1:
        rows = rows.T
    if other is None or (isinstance(rows.shape[0], int) and rows.shape[0] == 0):
        return rows
    more = np.atleast_2d(other.astype(target))
    if not rowvar and not _core.dims_equal(more.shape[0], 1):
        more = more.T
    return np.concatenate([rows, more])


def frequency(weights: Any, count: Any, name: str) -> TracedArray | None:
    if weights is None:
        return None
    w = solid(weights).astype(np.float64)
    require(w >= 0)
    if name == "fweights":
        require(w == np.around(w))
    if w.ndim > 1 or not w.ndim or not _core.dims_equal(w.shape[0], count):
        raise_here(
            ArgumentValueError, f"{name} must be a vector of {count} elements, got shape {w.shape}", "cov_weights"
        )
    return w


@implements(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise_here(ArgumentTypeError, f"cov: dtype must be inexact, got {np.dtype(dtype)}", "cov_dtype")
    if ddof is not None and ddof != int(ddof):
        raise_here(ArgumentValueError, f"ddof must be integer, got {ddof}", "cov_ddof")
    x = observations(m, y, rowvar, dtype)
    rows, count = x.shape
    if isinstance(rows, int) and rows == 0:
        return own.zeros((0, 0))
    if ddof is None:
        ddof = 0 if bias else 1
    f, a = frequency(fweights, count, "fweights"), frequency(aweights, count, "aweights")
    w = f if a is None else a if f is None else f * a
    mean, total = average(x, axis=1, weights=w, returned=True)
    if w is None:
        freedom: Any = solid(count).astype(np.float64) - ddof
    else:
        freedom = total[0] - (0 if ddof == 0 else ddof if a is None else ddof * np.sum(w * a) / total[0])
    freedom = np.where(np.less_equal(freedom, 0), 0.0, np.real(freedom))
    x = x - mean[:, None]
    weighted = x if w is None else x * w
    result = np.dot(x, np.conjugate(weighted.T))
    scale = np.divide(1, freedom)
    return np.squeeze(result * scale.astype(result.dtype))


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return c / c
    deviation = np.sqrt(np.real(np.diagonal(c)))
    c = c / deviation[:, None] / deviation[None, :]
    if c.dtype.kind != "c":
        return np.clip(c, -1, 1)
    c.real = np.clip(c.real, -1, 1)
    c.imag = np.clip(c.imag, -1, 1)
    return c


# -- reductions that pass over NaN ---------------------------------------------------------------------------------


def without_nan(a: Any, instead: Any, *, in_bfloat16: bool = False) -> tuple[TracedArray, TracedArray | None]:
    """The array with another value in the place of NaN, and where it was; None where the dtype has no NaN. NumPy itself sees
    one in bfloat16 only where its own fmax and fmin do."""
    x = solid(a)
    if x.dtype.kind not in "fc" and not (in_bfloat16 and x.dtype.name == "bfloat16"):
        return x, None
    mask = np.isnan(x)
    return np.where(mask, x.dtype.type(instead), x), mask


@implements(np.nansum)
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = _NoValue,
    where: Any = True,
) -> Any:
    return np.sum(without_nan(a, 0)[0], axis, dtype, out, keepdims, initial, where)


@implements(np.nanprod)
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = _NoValue,
    where: Any = True,
) -> Any:
    return np.prod(without_nan(a, 1)[0], axis, dtype, out, keepdims, initial, where)


def check_inexact(dtype: Any, out: Any) -> None:
    for name, given in (("dtype", dtype), ("out", None if out is None else out.dtype)):
        if given is not None and np.dtype(given).kind not in "fcV":
            raise_here(
                ArgumentTypeError, f"if a is inexact, then {name} must be inexact, got {np.dtype(given)}", "nan_dtype"
            )


def divide_by_count(total: Any, count: Any) -> TracedArray:
    return np.divide(total, count).astype(total.dtype)


@implements(np.nanmean)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    x, mask = without_nan(a, 0)
    if mask is None:
        return np.mean(x, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where)
    check_inexact(dtype, out)
    require_out_of(x.dtype, out, "nanmean")
    count = np.sum(~mask, axis=axis, dtype=np.intp, keepdims=keepdims, where=where)
    total = np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return finish(np.divide, divide_by_count(total, count).tensor, out, True, "same_kind", exact=True)


@implements(np.nanvar)
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = _NoValue,
    correction: Any = _NoValue,
) -> Any:
    x, mask = without_nan(a, 0)
    if mask is None:
        return np.var(
            x,
            axis=axis,
            dtype=dtype,
            out=out,
            ddof=ddof,
            keepdims=keepdims,
            where=where,
            mean=mean,
            correction=correction,
        )
    check_inexact(dtype, out)
    require_out_of(real_dtype(x.dtype), out, "nanvar")
    ddof, keepdims = freedom_lost(ddof, correction), keep(keepdims)
    count = np.sum(~mask, axis=axis, dtype=np.intp, keepdims=True, where=where)
    if mean is _NoValue:
        mean = divide_by_count(np.sum(x, axis=axis, dtype=dtype, keepdims=True, where=where), count)
    deviation = np.where(mask, x.dtype.type(0), np.subtract(x, mean).astype(x.dtype))
    squares = np.real(deviation * np.conjugate(deviation)) if x.dtype.kind == "c" else deviation * deviation
    total = np.sum(squares, axis=axis, dtype=dtype, keepdims=True, where=where)
    freedom = count - ddof
    result = np.where(freedom <= 0, total.dtype.type(np.nan), divide_by_count(total, freedom))
    if not keepdims:
        result = np.squeeze(result, normalized_axes(axis, x.ndim, "nanvar"))
    return finish(np.divide, result.tensor, out, True, "same_kind", exact=True)


@implements(np.nanstd)
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = _NoValue,
    correction: Any = _NoValue,
) -> Any:
    squared = nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return finish(np.sqrt, np.sqrt(squared).tensor, out, True, "same_kind", exact=True)


def nan_extreme(
    reduce: Any, pick: Any, lowest: float, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    x, mask = without_nan(a, lowest, in_bfloat16=True)
    if mask is None:
        return reduce(x, axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)
    nan = x.dtype.type(np.nan)
    if initial is _NoValue:
        result = reduce(x, axis=axis, keepdims=keepdims, where=where)
        result = np.where(np.all(mask, axis=axis, keepdims=keepdims), nan, result)
    else:
        result = reduce(x, axis=axis, keepdims=keepdims, initial=lowest, where=where)
        nothing = np.all(mask, axis=axis, keepdims=keepdims, where=True if where is _NoValue else where)
        result = pick(np.where(nothing, nan, result), wrap(as_tensor(initial, x.dtype)))
    return finish(pick, result.tensor, out, True, "same_kind", exact=True)


@implements(np.nanmax)
def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = _NoValue, where: Any = True
) -> Any:
    return nan_extreme(np.max, np.fmax, -np.inf, a, axis, out, keepdims, initial, where)


@implements(np.nanmin)
def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = _NoValue, where: Any = True
) -> Any:
    return nan_extreme(np.min, np.fmin, np.inf, a, axis, out, keepdims, initial, where)


def require_numbers(a: Any, axis: Any) -> None:
    """No slice is all NaN."""
    if asks() and (x := solid(a)).dtype.kind in "fc":
        require(np.logical_not(np.all(np.isnan(x), axis=axis)))


@implements(np.nanargmax)
def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """A slice that is all NaN gives 0 in a program of its own; NumPy raises for it."""
    require_numbers(a, axis)
    return np.argmax(without_nan(a, -np.inf)[0], axis=axis, out=out, keepdims=keepdims)


@implements(np.nanargmin)
def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """A slice that is all NaN gives 0 in a program of its own; NumPy raises for it."""
    require_numbers(a, axis)
    return np.argmin(without_nan(a, np.inf)[0], axis=axis, out=out, keepdims=keepdims)
