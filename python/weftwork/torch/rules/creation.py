"""Arrays that are made of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _core
from ...numpy.tracer import wrap
from ..table import Want, cast, rule, widely


def filled(want: Want, value: Any) -> Any:
    return np.broadcast_to(cast(value, want.dtype), want.shape)


@rule("full", "full_like", "fill.Scalar", "fill.Tensor")
def full(want: Want, like: Any, value: Any, **kwargs: Any) -> Any:
    return filled(want, value)


@rule("new_full")
def new_full(want: Want, x: Any, size: Any, fill_value: Any, **kwargs: Any) -> Any:
    return filled(want, fill_value)


@rule("scalar_tensor")
def scalar_tensor(want: Want, value: Any, **kwargs: Any) -> Any:
    return filled(want, value)


# Elements that nobody gave a value are zeros here.
@rule(
    "zeros",
    "zeros_like",
    "new_zeros",
    "empty.memory_format",
    "empty_like",
    "new_empty",
    "empty_strided",
    "new_empty_strided",
    "empty_permuted",
    "_efficientzerotensor",
)
def zeros(want: Want, *args: Any, **kwargs: Any) -> Any:
    return filled(want, 0)


@rule("ones", "ones_like", "new_ones")
def ones(want: Want, *args: Any, **kwargs: Any) -> Any:
    return filled(want, 1)


def iota(shape: tuple, axis: int = 0) -> Any:
    """0, 1, 2 … along an axis, int64."""
    return wrap(_core.apply("iota", [], {"type": np.dtype(np.int64), "dims": shape, "dimension": axis}))


@rule("arange.start_step", "arange.start", "arange")
def arange(want: Want, start: Any, end: Any = None, step: Any = 1, **kwargs: Any) -> Any:
    if end is None:
        start = 0
    places = iota(want.shape)
    if all(not isinstance(v, float) for v in (start, step)):
        if type(start) is not int or start or step != 1:
            places = places * cast(step, np.int64) + cast(start, np.int64)
        return cast(places, want.dtype)
    # Numbers are computed in double, whatever the result is.
    return cast(cast(places, np.float64) * step + start, want.dtype)


def identity(shape: tuple, dtype: Any) -> Any:
    """Ones where row and column are the same, zeros elsewhere."""
    return cast(iota(shape, 0) == iota(shape, 1), dtype)


@rule("eye", "eye.m")
def eye(want: Want, *args: Any, **kwargs: Any) -> Any:
    return identity(want.shape, want.dtype)


def kept(want: Want, x: Any, is_kept: Any) -> Any:
    rank = len(want.shape)
    rows, columns = iota(want.shape[-2:], 0), iota(want.shape[-2:], 1)
    mask = np.broadcast_to(is_kept(columns - rows), want.shape) if rank > 2 else is_kept(columns - rows)
    return np.where(mask, x, cast(0, want.dtype))


@rule("tril")
def tril(want: Want, x: Any, diagonal: int = 0) -> Any:
    return kept(want, x, lambda distance: distance <= diagonal)


@rule("triu")
def triu(want: Want, x: Any, diagonal: int = 0) -> Any:
    return kept(want, x, lambda distance: distance >= diagonal)


@rule("linspace")
def linspace(want: Want, start: Any, end: Any, steps: int, **kwargs: Any) -> Any:
    """From both ends, as torch does it, so that the last is exact."""
    if steps < 2:
        return filled(want, start)

    def line(first: Any, last: Any) -> Any:
        step = (last - first) / cast(steps - 1, first.dtype)
        places = cast(iota(want.shape), first.dtype)
        back = cast(steps - 1, first.dtype) - places
        return np.where(iota(want.shape) < steps // 2, first + step * places, last - step * back)

    return (
        widely(want, line, start, end)
        if want.dtype.kind in "fV"
        else cast(line(cast(start, np.float64), cast(end, np.float64)), want.dtype)
    )
