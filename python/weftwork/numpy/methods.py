"""ndarray's methods and attributes on traced arrays."""

# The package is one circle of imports through its __init__, in which mypy comes here before it knows what decorators give.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError
from . import functions, joining, linalg, reductions, scans, selection, sorting, views
from .arguments import dtype_of, order_letter, require_casting
from .tracer import TracedArray, raise_here


def astype(
    x: TracedArray, dtype: Any, order: Any = "K", casting: str = "unsafe", subok: bool = True, copy: Any = True
) -> Any:
    require_casting(casting)
    target = dtype_of(dtype)
    if not np.can_cast(x.dtype, target, casting):
        raise_here(
            ArgumentTypeError,
            f"Cannot cast array data from {x.dtype!r} to {target!r} according to the rule '{casting}'",
            "cast",
        )
    return functions.converted(x, target, order_letter(order, "K"), copy)


def reshape(x: TracedArray, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
    if len(shape) == 1 and shape[0] is None:
        return x[...]  # as NumPy takes it
    if not shape:
        raise_here(ArgumentTypeError, "reshape() takes exactly 1 argument (0 given)", "reshape_shape")
    return functions.reshape(x, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def transpose(x: TracedArray, *axes: Any) -> Any:
    if not axes or (len(axes) == 1 and axes[0] is None):
        return functions.transpose(x)
    return functions.transpose(x, axes[0] if len(axes) == 1 else axes)


def conj(x: TracedArray, out: Any = None) -> Any:
    """Unlike the ufunc, the array itself where it is not complex."""
    if x.dtype.kind != "c" and out is None:
        return x
    result = np.conjugate(x, out=out)
    if x.weak:
        result.weak = x.weak
    return result


def fill(x: TracedArray, value: Any, /) -> None:
    if np.ndim(value):
        raise_here(ArgumentValueError, "setting an array element with a sequence", "element_shape")
    x[...] = value


def put(x: TracedArray, indices: Any, values: Any, mode: str = "raise") -> None:
    selection.put(x, indices, values, mode)


def choose(x: TracedArray, *choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Choices in a sequence, or one after the other."""
    return selection.choose(x, choices[0] if len(choices) == 1 else choices, out, mode)


def scalar_kept(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method; what a scalar's method gives and has no dimensions is a scalar."""

    @functools.wraps(method)
    def call(x: TracedArray, *args: Any, **kwargs: Any) -> Any:
        result = method(x, *args, **kwargs)
        if x.scalar and isinstance(result, TracedArray) and not result.ndim and kwargs.get("out") is None:
            result.scalar = True
        return result

    return call


METHODS: dict[str, Callable[..., Any]] = {
    "all": reductions.all_,
    "any": reductions.any_,
    "argmax": reductions.argmax,
    "argmin": reductions.argmin,
    "argpartition": sorting.argpartition,
    "argsort": sorting.argsort,
    "astype": astype,
    "byteswap": views.byteswap,
    "choose": choose,
    "clip": lambda x, min=None, max=None, out=None, **kwargs: functions.clip(x, out=out, min=min, max=max, **kwargs),
    "compress": lambda x, condition, axis=None, out=None: selection.compress(condition, x, axis, out),
    "conj": conj,
    "conjugate": conj,
    "copy": lambda x, order="C": functions.copied(x, x.tensor, order_letter(order)),
    "cumprod": scans.cumprod,
    "cumsum": scans.cumsum,
    "diagonal": lambda x, *args, **kwargs: np.diagonal(x, *args, **kwargs),
    "dot": linalg.dot,
    "fill": fill,
    "flatten": functions.flatten,
    "max": reductions.max,
    "mean": reductions.mean,
    "min": reductions.min,
    "nonzero": lambda x: np.nonzero(x),
    "partition": sorting.partition_in_place,
    "prod": reductions.prod,
    "put": put,
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

METHODS = {name: scalar_kept(method) for name, method in METHODS.items()}

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
