"""Reductions, as functions and as ufunc.reduce."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from .arguments import axis_number, c_int, integer, items_of
from .dispatch import finish, implements
from .tracer import Tensor, TracedArray, as_tensor, convert, raise_here, wrap
from .ufuncs import truth

_NoValue = np._NoValue


def normalized_axes(axis: Any, ndim: int, name: str) -> tuple[int, ...]:
    """Every axis once, ascending; NumPy's error for one that is not there."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    axes = items_of(axis, f"{name}: axis")
    result = []
    for item in axes:
        index = integer(item, f"{name}: axis")
        if not -ndim <= index < ndim:
            raise_here(
                ArgumentValueError, f"{name}: axis {index} is out of bounds for array of dimension {ndim}", "axis"
            )
        result.append(index % ndim)
    if len(set(result)) != len(result):
        raise_here(ArgumentValueError, f"{name}: duplicate value in axis {tuple(axes)}", "axis_duplicate")
    return tuple(sorted(result))


def reduction_axis(axis: Any, name: str, ndim: int = 1) -> Any:
    """The axis as it was given: an integer, or a tuple if there are several."""
    if axis is None or type(axis) is int:
        return axis
    if isinstance(axis, tuple) and axis and not ndim:
        # NumPy takes 0 and -1 for an axis of a scalar where they are given alone; in a tuple for means and variances only.
        raise_here(ArgumentValueError, f"{name}: axes {axis} are out of bounds for array of dimension 0", "axis")
    if isinstance(axis, list):
        raise_here(
            ArgumentTypeError,
            f"{name}: 'list' object cannot be interpreted as an integer: write axis={tuple(axis)}",
            "integer",
        )
    for item in axis if isinstance(axis, tuple) else () if axis is None else (axis,):
        axis_number(item, name)
    return axis


def keep(value: Any) -> bool:
    return value is not _NoValue and bool(c_int(value, "keepdims"))


def lowest(dtype: np.dtype, highest: bool) -> Any:
    """The identity of max (or min)."""
    if dtype == bool:
        return highest
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return info.max if highest else info.min
    return np.inf if highest else -np.inf


def mask_of(where: Any) -> Tensor | None:
    """Which elements take part; None for all of them."""
    return None if where is True or where is _NoValue else as_tensor(where, np.dtype(bool))


def initial_of(initial: Any, dtype: np.dtype) -> Tensor | None:
    return None if initial is _NoValue or initial is None else as_tensor(initial, dtype)


def loop_of(ufunc: np.ufunc, x: Tensor, out: Any) -> np.dtype:
    """The dtype in which NumPy reduces into ``out``, whose dtype takes part."""
    if not isinstance(out, TracedArray):
        return x.dtype
    try:
        return ufunc.resolve_dtypes((out.dtype, x.dtype, None), casting="unsafe", reduction=True)[0]
    except TypeError as error:
        return raise_here(ArgumentTypeError, f"{ufunc.__name__}.reduce: {error}", "ufunc_types")


@implements(np.sum)
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = _NoValue,
    where: Any = True,
) -> Any:
    return accumulate("sum", np.add, a, axis, dtype, out, keepdims, initial, where)


@implements(np.prod)
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = _NoValue,
    where: Any = True,
) -> Any:
    return accumulate("prod", np.multiply, a, axis, dtype, out, keepdims, initial, where)


def accumulate(
    name: str, ufunc: np.ufunc, a: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    x = as_tensor(a)
    if dtype is None and out is not None:
        dtype = loop_of(ufunc, x, out)
    first = initial_of(initial, _core.total_type(x.dtype) if dtype is None else np.dtype(dtype))
    result = _core.reduction(name, x, reduction_axis(axis, name, x.ndim), keep(keepdims), dtype, first, mask_of(where))
    return finish(ufunc, result, out, True, "same_kind", exact=True)


@implements(np.max, np.amax)
def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = _NoValue, where: Any = True
) -> Any:
    return extreme("max", np.maximum, a, axis, out, keepdims, initial, where)


@implements(np.min, np.amin)
def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = _NoValue, where: Any = True
) -> Any:
    return extreme("min", np.minimum, a, axis, out, keepdims, initial, where)


def extreme(name: str, ufunc: np.ufunc, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    x = as_tensor(a)
    x = convert(x, loop_of(ufunc, x, out))
    if isinstance(out, TracedArray) and out.dtype.kind in "iu" and not np.can_cast(x.dtype, out.dtype, "safe"):
        raise_here(
            UnsupportedError,
            f"{ufunc.__name__} of {x.dtype} with out= of {out.dtype} cannot be compiled: NumPy cuts off after each step",
            "out_cast",
        )
    result = _core.reduction(
        name, x, reduction_axis(axis, name, x.ndim), keep(keepdims), None, initial_of(initial, x.dtype), mask_of(where)
    )
    return finish(ufunc, result, out, True, "same_kind", exact=True)


@implements(np.any)
def any_(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    return logical("any", np.logical_or, a, axis, out, keepdims, where)


@implements(np.all)
def all_(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    return logical("all", np.logical_and, a, axis, out, keepdims, where)


def logical(name: str, ufunc: np.ufunc, a: Any, axis: Any, out: Any, keepdims: Any, where: Any) -> Any:
    x = as_tensor(a)
    result = _core.reduction(name, x, reduction_axis(axis, name, x.ndim), keep(keepdims), None, None, mask_of(where))
    return finish(ufunc, result, out, True, "unsafe", exact=True)


@implements(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return sum(wrap(truth(as_tensor(a))), axis=axis, keepdims=keepdims)


def real_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of a complex dtype's parts; others unchanged."""
    return dtype.type(0).real.dtype if dtype.kind == "c" else dtype


def averaged_in(x: Tensor, dtype: Any, out: Any) -> Any:
    """The dtype that NumPy is told to average in: it adds up in the dtype of ``out`` where that is wider; None if it is told nothing."""
    if dtype is None and isinstance(out, TracedArray) and x.dtype.kind in "fc" and x.dtype != np.float16:
        return loop_of(np.add, x, out)
    return dtype


@implements(np.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    x = as_tensor(a)
    require_inexact(dtype, "mean")
    result = _core.reduction(
        "mean", x, reduction_axis(axis, "mean"), keep(keepdims), averaged_in(x, dtype, out), None, mask_of(where)
    )
    return finish(np.add, result, out, True, "unsafe", exact=True)


@implements(np.var)
def var(
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
    return finish(
        np.add,
        variance("var", a, axis, dtype, ddof, keepdims, where, mean, correction, out),
        out,
        True,
        "unsafe",
        exact=True,
    )


@implements(np.std)
def std(
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
    root = variance("std", a, axis, dtype, ddof, keepdims, where, mean, correction, out)
    return finish(np.sqrt, root, out, True, "same_kind", exact=True)


def require_inexact(dtype: Any, name: str) -> None:
    """Averages in integers are of NumPy's own making: each step is cut off."""
    if dtype is not None and np.dtype(dtype).kind in "biu":
        raise_here(
            UnsupportedError,
            f"{name} with dtype={np.dtype(dtype)} cannot be compiled: convert its result",
            "integer_average",
        )


def require_out_of(dtype: np.dtype, out: Any, name: str) -> None:
    """NumPy computes these in steps, in the dtype of ``out`` or not as it happens."""
    if isinstance(out, TracedArray) and out.dtype.kind in "fc" and dtype.kind in "fc" and out.dtype != dtype:
        raise_here(
            UnsupportedError,
            f"{name} of {dtype} with out= of {out.dtype} cannot be compiled: convert its result",
            "out_dtype",
        )


def freedom_lost(ddof: Any, correction: Any) -> Any:
    """``ddof``, by its name in the array API too."""
    if ddof is None:
        raise_here(ArgumentTypeError, "ddof must be a number, got None", "ddof")
    if correction is _NoValue:
        return ddof
    if ddof != 0:
        raise_here(ArgumentValueError, "ddof and correction can't be provided simultaneously.", "ddof")
    return correction


def variance(
    name: str,
    a: Any,
    axis: Any,
    dtype: Any,
    ddof: Any,
    keepdims: Any,
    where: Any,
    mean: Any,
    correction: Any,
    out: Any = None,
) -> Tensor:
    x = as_tensor(a)
    require_inexact(dtype, "var")
    if dtype is not None and x.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        raise_here(
            UnsupportedError,
            f"var of {x.dtype} with dtype={np.dtype(dtype)} cannot be compiled: convert its result",
            "integer_average",
        )
    average = np.dtype(np.float64) if x.dtype.kind in "iub" else x.dtype
    require_out_of(real_dtype(average) if dtype is None else np.dtype(dtype), out, "var")
    less = float(freedom_lost(ddof, correction))
    center = None if mean is _NoValue else as_tensor(mean)
    return _core.reduction(
        name, x, reduction_axis(axis, "var"), keep(keepdims), dtype, None, mask_of(where), less, center
    )


@implements(np.argmax)
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return arg_extreme("argmax", a, axis, out, keepdims is not _NoValue and bool(keepdims))


@implements(np.argmin)
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return arg_extreme("argmin", a, axis, out, keepdims is not _NoValue and bool(keepdims))


def arg_extreme(name: str, a: Any, axis: Any, out: Any, keepdims: bool) -> Any:
    x = as_tensor(a)
    axis = None if axis is None else axis_number(axis, name)
    result = _core.place(name, x, axis, keepdims)
    if isinstance(out, TracedArray) and not np.can_cast(out.dtype, np.int64, "safe"):
        raise_here(
            ArgumentTypeError,
            f"{name}: cannot cast out= of {out.dtype} to int64 according to the rule 'safe'",
            "out_cast",
        )
    return finish(np.add, result, out, True, "unsafe", exact=True)


@implements(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return np.subtract(max(a, axis, out, keepdims), min(a, axis, None, keepdims), out=out)
