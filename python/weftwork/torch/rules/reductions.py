"""Sums, means, extremes and scans along axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...nn import functions as nn
from ...numpy.tracer import wrap
from ..dtypes import widened
from ..table import Want, cast, rule
from .pointwise import may_have_elements, real_only
from .shapes import at, reshaped


def axes_of(x: Any, dim: Any) -> tuple[int, ...]:
    """Axes from the beginning; none given means all."""
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return tuple(range(x.ndim))
    return tuple(at(d, x.ndim) for d in (dim if isinstance(dim, (list, tuple)) else [dim])) if x.ndim else ()


def reduced(
    want: Want, function: Callable[..., Any], x: Any, dim: Any = None, keepdim: bool = False, **kwargs: Any
) -> Any:
    """A reduction in the dtype of the result, short floats in float32."""
    x = cast(x, widened(want.dtype))
    axes = axes_of(x, dim)
    result = (
        function(x, axis=axes, keepdims=bool(keepdim), **kwargs)
        if axes
        else function(reshaped(x, (1,)), axis=(0,), **kwargs)
    )
    return cast(result, want.dtype)


def reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda want, x, dim=None, keepdim=False, *, dtype=None: reduced(want, function, x, dim, keepdim)


for names, function in {"sum sum.dim_IntList": np.sum, "mean mean.dim": np.mean, "prod prod.dim_int": np.prod}.items():
    rule(*names.split())(reduction(function))
for names, function in {"max amax": np.max, "min amin": np.min}.items():
    rule(*names.split(), accepts=real_only)(reduction(function))
for name, function in {"any": np.any, "all": np.all}.items():
    for overload in ("", ".dim", ".dims"):

        def truth(want: Want, x: Any, dim: Any = None, keepdim: bool = False, function: Any = function) -> Any:
            bools = cast(x, np.bool_) if x.dtype.kind == "b" else x != 0
            axes = axes_of(x, dim)
            return cast(function(bools, axis=axes, keepdims=keepdim) if axes else bools, want.dtype)

        rule(name + overload)(truth)


def has_elements(x: Any, *rest: Any, **kwargs: Any) -> bool:
    return real_only(x) and may_have_elements(x)


def alone(x: Any) -> tuple[Any, Any]:
    """A number as the line of one that torch takes it for: itself, and its place."""
    return wrap(x.tensor), np.zeros_like(x, np.int64)


def extreme(function: Any, places: Any) -> Any:
    def record(want: Any, x: Any, dim: int, keepdim: bool = False) -> Any:
        if not x.ndim:
            return alone(x)
        axis = at(dim, x.ndim)
        return function(x, axis=axis, keepdims=keepdim), cast(places(x, axis=axis, keepdims=keepdim), np.int64)

    return record


rule("max.dim", accepts=has_elements)(extreme(np.max, np.argmax))
rule("min.dim", accepts=has_elements)(extreme(np.min, np.argmin))
for name, function in {"argmax": np.argmax, "argmin": np.argmin}.items():

    def place(want: Want, x: Any, dim: Any = None, keepdim: bool = False, function: Any = function) -> Any:
        if dim is None:
            return reshaped(
                cast(function(reshaped(x, (math.prod(x.shape) if x.ndim else 1,)), axis=0), want.dtype), want.shape
            )
        return cast(function(x, axis=at(dim, x.ndim), keepdims=keepdim), want.dtype) if x.ndim else alone(x)[1]

    rule(name, accepts=has_elements)(place)


def variance(x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    axes = axes_of(x, dim)
    count: Any = math.prod(x.shape[axis] for axis in axes)
    centered = x - np.mean(x, axis=axes, keepdims=True)
    total = np.sum(centered * centered, axis=axes, keepdims=keepdim)
    rest = count - (1 if correction is None else correction)
    if isinstance(rest, (int, float)):
        rest = max(rest, 0)
    return total / cast(rest, x.dtype)


@rule("var.correction", accepts=real_only)
def var(want: Want, x: Any, dim: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
    return cast(variance(cast(x, widened(want.dtype)), dim, correction, keepdim), want.dtype)


@rule("std.correction", accepts=real_only)
def std(want: Want, x: Any, dim: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
    return cast(np.sqrt(variance(cast(x, widened(want.dtype)), dim, correction, keepdim)), want.dtype)


@rule("var_mean.correction", accepts=real_only)
def var_mean(want: Any, x: Any, dim: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
    x = cast(x, widened(want[0].dtype))
    mean = np.mean(x, axis=axes_of(x, dim), keepdims=keepdim)
    return cast(variance(x, dim, correction, keepdim), want[0].dtype), cast(mean, want[1].dtype)


def scan(function: Any) -> Any:
    def record(want: Want, x: Any, dim: int, dtype: Any = None) -> Any:
        x = cast(x, widened(want.dtype))
        return cast(function(x, axis=at(dim, x.ndim)) if x.ndim else x, want.dtype)

    return record


rule("cumsum")(scan(np.cumsum))
rule("cumprod")(scan(np.cumprod))
rule("logcumsumexp", accepts=lambda x, dim: real_only(x))(scan(np.logaddexp.accumulate))


def over_lines(function: Any) -> Any:
    def record(want: Want, x: Any, dim: int, *rest: Any) -> Any:
        x = cast(x, widened(want.dtype))
        if not x.ndim:
            return reshaped(cast(function(reshaped(x, (1,)), 0), want.dtype), ())
        return cast(function(x, at(dim, x.ndim)), want.dtype)

    return record


rule("_softmax", "softmax.int", accepts=lambda x, dim, *rest: real_only(x))(over_lines(nn.softmax))
rule("_log_softmax", "log_softmax.int", accepts=lambda x, dim, *rest: real_only(x))(over_lines(nn.log_softmax))


@rule("_safe_softmax", accepts=real_only)
def safe_softmax(want: Want, x: Any, dim: int, dtype: Any = None) -> Any:
    """Lines of -inf alone give zeros."""
    axis = at(dim, x.ndim)
    lost = np.max(x, axis=axis, keepdims=True) == cast(-math.inf, x.dtype)
    return np.where(lost, cast(0, want.dtype), over_lines(nn.softmax)(want, x, dim))


@rule("linalg_vector_norm", accepts=has_elements)
def vector_norm(want: Want, x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    kind = float(ord)
    if kind == 2.0:
        return reduced(want, lambda a, **how: np.sqrt(np.sum(a * a, **how)), x, dim, keepdim)
    if kind == 0.0:
        return reduced(want, lambda a, **how: np.sum(cast(a != 0, a.dtype), **how), x, dim, keepdim)
    if kind not in (1.0, math.inf, -math.inf):
        return reduced(want, lambda a, **how: np.sum(np.abs(a) ** kind, **how) ** (1 / kind), x, dim, keepdim)
    function = {1.0: np.sum, math.inf: np.max, -math.inf: np.min}[kind]
    return reduced(want, lambda a, **how: function(np.abs(a), **how), x, dim, keepdim)
