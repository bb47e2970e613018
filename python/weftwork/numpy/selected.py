"""Functions and methods of the elements that a mask selects, beside those that are element-wise or reduce."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import own
from .advanced import is_empty
from .indexing import element
from .masked import EXTREMES, FUNCTIONS, METHODS, Selected
from .reductions import normalized_axes
from .searching import below, binned, counted, histogram_edges, histogram_values
from .statistics import not_zero
from .tracer import as_tensor, frozen, wrap
from .validity import require


def count_nonzero(x: Selected, axis: Any = None) -> Any:
    return np.sum(x != 0, axis, dtype=np.int64)


def average(x: Selected, axis: Any = None, weights: Any = None) -> Any:
    if weights is not None:
        return np.sum(x * weights, axis) / not_zero(wrap(as_tensor(np.sum(weights, axis))))
    if is_empty(x.value.shape):
        x.refuse("numpy.average of an empty array")
    return np.mean(x, axis)


def norm(x: Selected, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if axis is not None and x.whole_axes(axis) is None:
        axes = x.wide_axes(axis)
        value = np.linalg.norm(wrap(x.value), ord, axes[0] if len(axes) == 1 else axes, keepdims)
        return Selected(as_tensor(value), x.mask, x.lead)
    if ord not in (None, 2) or x.ndim != 1 or keepdims:
        x.refuse("this norm of it")
    return np.sqrt(np.sum(np.real(x * np.conjugate(x)), axis))


def ravel(x: Selected, order: str = "C") -> Selected:
    """One axis, where a row for each selected element has one element."""
    if x.lead or any(extent != 1 for extent in x.value.shape[x.mask.ndim :]):
        x.refuse("numpy.ravel of it")
    return x.sharing(np.reshape(wrap(x.value), x.mask.shape), 0) if x.behind else x


def flatten(x: Selected, order: str = "C") -> Selected:
    return ravel(x.like(wrap(x.value)), order)


def transpose(x: Selected, axes: Any = None) -> Selected:
    if axes is None:
        return x.T
    if x.mask.ndim != 1:
        x.refuse("numpy.transpose of it")
    value = np.transpose(wrap(x.value), axes)
    return x.sharing(value, [axis % x.ndim for axis in axes].index(x.lead))


def transpose_method(x: Selected, *axes: Any) -> Selected:
    return transpose(x, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)


def size(x: Selected, axis: int | None = None) -> Any:
    if axis is None:
        return x.size
    (place,) = normalized_axes(axis, x.ndim, "size")
    return x.shape[place]


def astype(
    x: Selected, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> Selected:
    value = wrap(x.value).astype(dtype, order, casting, subok)
    return x.like(value) if copy else x.sharing(value, x.lead)


def ptp(x: Selected, axis: Any = None) -> Any:
    return np.subtract(np.max(x, axis), np.min(x, axis))


def running(function: Callable[..., Any], identity: int) -> Callable[..., Any]:
    """np.cumsum or np.cumprod of selected elements: others count as its identity."""

    def form(x: Selected, axis: Any = None, dtype: Any = None) -> Any:
        if x.ndim != 1 or axis not in (None, 0, -1):
            x.refuse(f"numpy.{function.__name__} of it along this axis")
        return x.like(np.reshape(function(np.reshape(x.filled(identity), -1), dtype=dtype), x.mask.shape))

    return form


def first_extreme(extreme: Callable[..., Any]) -> Callable[..., Any]:
    """np.argmax or np.argmin of selected elements: how many come before the first extreme one."""

    def form(x: Selected, axis: Any = None) -> Any:
        if x.ndim != 1 or axis not in (None, 0, -1):
            x.refuse("the place of an extreme of it along this axis")
        best = x.reduced(extreme, initial=x.beyond(EXTREMES[extreme]))
        found = np.equal(wrap(x.value), best)
        if x.dtype.kind == "f":
            found = np.logical_or(found, np.logical_and(np.isnan(wrap(x.value)), np.isnan(best)))
        chosen = np.reshape(wrap(x.mask), -1)
        place = np.argmax(np.logical_and(chosen, np.reshape(found, -1)))
        before = np.sum(chosen, where=np.less(own.arange(chosen.shape[0]), place), dtype=np.int64)
        name = EXTREMES[extreme].__name__[:3]
        return element(x.unless_empty(before, f"attempt to get arg{name} of an empty sequence").tensor)

    return form


def flat(x: Selected, weights: Any, name: str) -> tuple[Any, Any, Any]:
    """The values that count as one vector, which of them are selected, and their weights."""
    if x.ndim != 1 or not (weights is None or (isinstance(weights, Selected) and weights.has_mask_of(x))):
        x.refuse(f"{name} of it with such weights")
    values, chosen = (np.reshape(v, -1) for v in (wrap(x.value), wrap(x.mask)))
    return values, chosen, None if weights is None else np.reshape(x.aligned(weights), -1)


def bincount(x: Selected, weights: Any = None, minlength: Any = 0) -> Any:
    values, chosen, w = flat(x, weights, "numpy.bincount")
    length = minlength.__index__()
    if length <= 0 or x.dtype.kind not in "iub" or x.dtype == np.uint64:
        x.refuse("numpy.bincount of it without minlength=")
    values = below(values, length, chosen)
    if weights is not None:
        require(np.any(chosen))  # of nothing the counts are integers
    return counted(np.where(chosen, values.astype(np.int64), length), w, length)


def histogram(x: Selected, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    values, chosen, w = flat(x, weights, "numpy.histogram")
    values = histogram_values(values)
    if range is None and np.ndim(bins) == 0 and not isinstance(bins, str):
        first, last = (
            np.where(np.any(chosen), x.reduced(extreme, initial=x.beyond(EXTREMES[extreme])), frozen(of_none, x.dtype))
            for extreme, of_none in ((np.min, 0), (np.max, 1))
        )
        range = first, last
    return binned(values, w, *histogram_edges(values, bins, range), density, chosen)


FUNCTIONS |= {
    np.bincount: bincount,
    np.histogram: histogram,
    np.average: average,
    np.count_nonzero: count_nonzero,
    np.linalg.norm: norm,
    np.ptp: ptp,
    np.cumsum: running(np.cumsum, 0),
    np.cumprod: running(np.cumprod, 1),
    np.argmax: first_extreme(np.max),
    np.argmin: first_extreme(np.min),
    np.transpose: transpose,
    np.size: size,
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.ravel: ravel,
}

METHODS |= {
    **{
        name: getattr(np, name)
        for name in (
            "sum",
            "prod",
            "mean",
            "std",
            "var",
            "any",
            "all",
            "max",
            "min",
            "dot",
            "ravel",
            "cumsum",
            "cumprod",
            "argmax",
            "argmin",
        )
    },
    "clip": lambda x, min=None, max=None: np.clip(x, min, max),
    "transpose": transpose_method,
    "flatten": flatten,
    "astype": astype,
    "copy": lambda x, order="C": x.like(wrap(x.value)),
    "conj": np.conjugate,
    "conjugate": np.conjugate,
    "round": np.round,
}
