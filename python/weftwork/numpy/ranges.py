"""linspace, logspace and geomspace between traced ends, and ranges of numbers that are known."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import _core
from . import own
from .arguments import axis_number, integer, is_number, known, require_cpu
from .dispatch import implements, operand_of
from .functions import solid
from .tracer import TracedArray, untraced, wrap
from .validity import require


@implements(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    require_cpu(device)
    (first, weak), (last, also) = operand_of(start), operand_of(stop)
    count = num if isinstance(num, _core.Dim) else operator.index(num)
    place = axis_number(axis, "linspace")
    values, step = map(wrap, _core.linspace(first, last, count, bool(endpoint), dtype, place, weak + 2 * also))
    return (values, step) if retstep else values


@implements(np.logspace)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    if np.ndim(base):
        first, last, base = np.broadcast_arrays(solid(start), solid(stop), solid(base))
        start, stop, base = first, last, np.expand_dims(base, axis)
    result = np.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return result if dtype is None else result.astype(dtype)


@implements(np.geomspace)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """An end of 0 gives NaN in a program of its own; NumPy raises for it."""
    first, last = solid(start), solid(stop)
    require(np.all(first != 0))
    require(np.all(last != 0))
    inner = np.result_type(first.dtype, last.dtype, float(num), own.array([], dtype))
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


# -- arange ---------------------------------------------------------------------------------------------------------


def known_number(value: Any) -> Any:
    """A bound that is not traced, a constant of the program, or a number that Python has."""
    return known(value, "the length of np.arange")[()] if isinstance(value, TracedArray) else value


def is_whole_ramp(given: list[Any], dtype: Any) -> bool:
    """Whether bounds and step are integers that int64 holds, and NumPy counts in the result's dtype as in integers."""
    if not given or not all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in given):
        return False
    kind = None if dtype is None else np.dtype(dtype)
    widest = max(abs(int(v)) for v in given)
    return (
        given[-1] != 0
        and widest < 2 ** (63 if kind is None or kind.kind in "iu" else 24 if kind.itemsize <= 4 else 53)
        and (kind is None or (kind.kind in "iuf" and kind.isnative))
    )


def table(start: Any, stop: Any, step: Any, dtype: Any, device: Any) -> Any:
    """NumPy's own values, as an array that the traced function may write."""
    given = {name: v for name, v in (("step", step), ("dtype", dtype), ("device", device)) if v is not None}
    with untraced():
        values = own.arange(*[v for v in (start, stop) if v is not None], **given)
    return wrap(_core.constant(values)) if is_number(values.dtype) and values.dtype.isnative else NotImplemented


def ramp(start: Any, stop: Any, step: Any, dtype: Any, given: list[Any]) -> TracedArray:
    """start, start + step, … before stop; integers, symbolic extents among them."""
    start, stop = (int(v) if isinstance(v, np.integer) else v for v in (start, stop))
    step = integer(step, "arange: step")
    with untraced():
        # Of which dtype NumPy makes them, asked by a range of none.
        ones = [1 if isinstance(v, _core.Dim) else type(v)(1) for v in given]
        target = own.arange(*ones[:2], *([1] if len(ones) > 2 else []), dtype=dtype).dtype
    return wrap(_core.arange(start, stop, step, target))
