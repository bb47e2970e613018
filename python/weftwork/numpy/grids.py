"""np.r_, np.c_ and sliding windows over traced arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentValueError, UnsupportedError
from . import own
from .arguments import extents_of, integer, items_of, new_extents
from .dispatch import implements, result_type
from .functions import one_axis, traced
from .layout import UNKNOWN, Strided, is_contiguous, note, strides_of
from .tracer import Tensor, TracedArray, contains_traced, current_trace, raise_here, wrap
from .ufuncs import iota, op
from .views import ReadOnly


class Joiner:
    """np.r_ or np.c_: in a traced function it joins traced arrays, otherwise it is NumPy's own."""

    def __init__(self, original: Any, columns: bool) -> None:
        self.original, self.columns = original, columns

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        bounds = [v for i in items if isinstance(i, slice) for v in (i.start, i.stop, i.step)]
        if current_trace() is None or not contains_traced([*items, *bounds]):
            return self.original[key]
        if any(isinstance(i, str) for i in items):
            raise_here(
                UnsupportedError,
                "np.r_ with a text that directs it cannot be compiled: write np.concatenate or np.stack",
                "row_text",
            )
        parts = [ramp(i) if isinstance(i, slice) else i for i in items]
        target = result_type(*parts)
        arrays = [np.atleast_1d(traced(p)).astype(target) for p in parts]
        if self.columns:
            arrays = [a if a.ndim > 1 else np.reshape(a, (-1, 1)) for a in arrays]
        return np.concatenate(arrays, -1 if self.columns else 0)


def ramp(item: slice) -> Any:
    """start:stop:step as np.r_ reads it: a range, or with an imaginary step that many points."""
    start = 0 if item.start is None else item.start
    if isinstance(item.step, complex):
        return np.linspace(start, item.stop, int(abs(item.step)))
    return own.arange(start, item.stop, 1 if item.step is None else item.step)


class Windows(ReadOnly):
    """Windows of fixed extents that slide over axes, along new axes at the end."""

    def __init__(self, axes: tuple[int, ...], extents: tuple[int, ...]) -> None:
        self.axes, self.extents = axes, extents

    def read(self, base: Tensor) -> Tensor:
        result = base
        for axis, extent in zip(self.axes, self.extents, strict=True):
            count = result.shape[axis] - extent + 1
            start = wrap(op("reshape", iota(count), dims=(count, 1)))
            picked = np.take(wrap(result), start + wrap(iota(extent)), axis)
            result = np.moveaxis(picked, axis + 1, -1).tensor
        return result


@implements(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    array = traced(x)
    extents = extents_of(window_shape, "window_shape")
    given = range(array.ndim) if axis is None else items_of(axis, "sliding_window_view: axis")
    axes = tuple(one_axis(a, array.ndim, "sliding_window_view") for a in given)
    if writeable:
        raise_here(
            UnsupportedError, "sliding_window_view with writeable=True cannot be compiled: windows overlap", "overlap"
        )
    if len(axes) != len(extents):
        raise_here(
            ArgumentValueError,
            f"since axis is {axis}, window_shape must have {len(axes)} elements, got {window_shape}",
            "window_shape",
        )
    for place, extent in zip(axes, extents, strict=True):
        if extent < 0 or (isinstance(array.shape[place], int) and array.shape[place] < extent):
            raise_here(
                ArgumentValueError,
                f"window shape {extent} does not fit an axis of {array.shape[place]} elements",
                "window_shape",
            )
    return array.view_through(Windows(axes, extents))


class Overlapping(Strided):
    """A view in which an element may stand several times: what a write gives then depends on NumPy's order."""

    def write(self, base: Tensor, part: Tensor) -> Tensor:
        return raise_here(
            UnsupportedError, "a write through as_strided to elements that stand several times", "overlap"
        )


def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> Any:
    """A view of the array's own elements; NumPy's own function where they are known, or not known to lie one after another."""
    if not isinstance(x, TracedArray):
        return NotImplemented
    extents = tuple(x.shape) if shape is None else new_extents(shape)
    own_strides = strides_of(x)
    if (
        own_strides is UNKNOWN
        or not is_contiguous(x.shape, own_strides)
        or not all(isinstance(e, int) for e in (*x.shape, *extents))
    ):
        return raise_here(
            UnsupportedError,
            "as_strided of an array that is not known to be in row-major order cannot be compiled",
            "layout",
        )
    steps = (
        [s * x.itemsize for s in own_strides]
        if strides is None
        else [integer(s, "as_strided: strides") for s in items_of(strides, "strides")]
    )
    if len(steps) != len(extents):
        raise_here(ArgumentValueError, f"strides {tuple(steps)} do not fit shape {extents}", "as_strided")
    if any(step % x.itemsize for step in steps):
        return raise_here(
            UnsupportedError,
            f"as_strided with strides {tuple(steps)}, which divide elements of {x.itemsize} bytes",
            "as_strided",
        )
    places = [step // x.itemsize for step in steps]
    reach = [step * (extent - 1) for step, extent in zip(places, extents, strict=True)]
    low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    if 0 not in extents and (low < 0 or high >= x.size):
        return raise_here(
            UnsupportedError,
            f"as_strided reaches outside of the array, which has {x.size} elements: from {low} to {high}",
            "as_strided",
        )
    note(x, x._storage)
    kind = Strided if are_apart(places, extents) else Overlapping
    return x.view_of(_core.reshape(x.tensor, (-1,))).view_through(kind(0, extents, tuple(places), bool(writeable)))


def are_apart(strides: list[int], shape: tuple[int, ...]) -> bool:
    """Whether each element of a view is another one of the memory."""
    reach = 1
    for stride, extent in sorted((abs(s), e) for s, e in zip(strides, shape, strict=True) if e > 1):
        if stride < reach:
            return False
        reach += stride * (extent - 1)
    return True
