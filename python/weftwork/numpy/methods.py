"""ndarray's methods and attributes on traced arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import functions, joining, linalg, reductions, scans, selection, sorting, views
from .tracer import TracedArray


def astype(x: TracedArray, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True) -> Any:
    if not np.can_cast(x.dtype, dtype, casting):
        raise TypeError(f"Cannot cast array data from {x.dtype!r} to {np.dtype(dtype)!r} according to the rule '{casting}'")
    return functions.astype(x, dtype, copy=copy)


def reshape(x: TracedArray, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    return functions.reshape(x, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def transpose(x: TracedArray, *axes: Any) -> Any:
    if not axes or axes == (None,):
        return functions.transpose(x)
    return functions.transpose(x, axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes)


def conj(x: TracedArray, **kwargs: Any) -> Any:
    """Unlike the ufunc, the array itself where it is not complex."""
    return np.conjugate(x, **kwargs) if x.dtype.kind == "c" or kwargs else x


def fill(x: TracedArray, value: Any) -> None:
    x[...] = value


METHODS: dict[str, Callable[..., Any]] = {
    "all": reductions.all_,
    "any": reductions.any_,
    "argmax": reductions.argmax,
    "argmin": reductions.argmin,
    "argpartition": sorting.argpartition,
    "argsort": sorting.argsort,
    "astype": astype,
    "byteswap": views.byteswap,
    "choose": selection.choose,
    "clip": lambda x, min=None, max=None, out=None, **kwargs: functions.clip(x, min, max, out, **kwargs),
    "compress": lambda x, condition, axis=None, out=None: selection.compress(condition, x, axis, out),
    "conj": conj,
    "conjugate": conj,
    "copy": lambda x, order="C": functions.copy(x, order),
    "cumprod": scans.cumprod,
    "cumsum": scans.cumsum,
    "diagonal": lambda x, *args, **kwargs: np.diagonal(x, *args, **kwargs),
    "dot": linalg.dot,
    "fill": fill,
    "flatten": functions.flatten,
    "max": reductions.max,
    "mean": reductions.mean,
    "min": reductions.min,
    "partition": sorting.partition_in_place,
    "prod": reductions.prod,
    "ptp": reductions.ptp,
    "put": selection.put,
    "ravel": functions.ravel,
    "repeat": joining.repeat,
    "reshape": reshape,
    "round": functions.round_,
    "searchsorted": sorting.searchsorted,
    "sort": sorting.sort_in_place,
    "squeeze": functions.squeeze,
    "std": reductions.std,
    "sum": reductions.sum,
    "swapaxes": functions.swapaxes,
    "take": functions.take,
    "trace": views.trace,
    "transpose": transpose,
    "var": reductions.var,
    "view": views.view,
}

PROPERTIES: dict[str, Callable[[TracedArray], Any]] = {
    "T": lambda x: functions.transpose(x),
    "mT": lambda x: functions.matrix_transpose(x),
    "device": lambda x: "cpu",
}

# Attributes that can be assigned as well.
TracedArray.real = property(views.real, views.set_part("real"))
TracedArray.imag = property(views.imag, views.set_part("imag"))
TracedArray.flat = property(views.Flat, views.set_flat)

__all__ = ["METHODS", "PROPERTIES"]
