"""linspace, logspace and geomspace between traced ends."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..errors import ArgumentValueError
from .dispatch import implements, type_for_resolution
from .functions import solid
from .tracer import raise_here


def inexact_type(*values: Any) -> np.dtype:
    """The result dtype of the values, a float at least."""
    return np.result_type(*[t(1) if isinstance(t, type) else t for t in map(type_for_resolution, values)], 1.0)


@implements(np.linspace)
def linspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0, *, device: Any = None) -> Any:
    count = operator.index(num)
    if count < 0:
        raise_here(ArgumentValueError, f"number of samples, {count}, must be non-negative", "linspace_count")
    parts = count - 1 if endpoint else count
    inner = inexact_type(start, stop)
    target = inner if dtype is None else np.dtype(dtype)
    first, last = solid(start), solid(stop)
    distance = np.subtract(last, first, dtype=inner)
    ramp: Any = np.reshape(np.arange(count, dtype=inner), (-1, *(1,) * distance.ndim))
    if parts > 0:
        step: Any = distance / parts
        # A step that vanishes would lose the distance.
        values = np.where(np.any(step == 0), ramp / parts * distance, ramp * step)
    else:
        step, values = np.full((), np.nan), ramp * distance
    values = (values + first).astype(inner)
    if endpoint and count > 1:
        values[-1, ...] = last.astype(inner)
    values = np.moveaxis(values, 0, axis)
    result = (np.floor(values) if target.kind in "iu" else values).astype(target)
    return (result, step) if retstep else result


@implements(np.logspace)
def logspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0) -> Any:
    if np.ndim(base):
        first, last, base = np.broadcast_arrays(solid(start), solid(stop), solid(base))
        start, stop, base = first, last, np.expand_dims(base, axis)
    result = np.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return result if dtype is None else result.astype(dtype)


@implements(np.geomspace)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """An end of 0 gives NaN; NumPy raises for it."""
    first, last = solid(start), solid(stop)
    inner = np.result_type(first.dtype, last.dtype, float(num), np.array([], dtype))
    first, last = first.astype(inner), last.astype(inner)
    sign = np.sign(first)
    first, last = first / sign, last / sign
    result = logspace(np.log10(first), np.log10(last), num, endpoint, 10.0, inner)
    if num > 0:
        result[0] = first
    if num > 1 and endpoint:
        result[-1] = last
    result = np.moveaxis(result * sign, 0, axis)
    return result.astype(inner if dtype is None else dtype)
