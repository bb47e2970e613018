"""x[index] and x[index] = value: basic indices are views, index arrays and masks go by gather and scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, OutOfBoundsError, UnsupportedError
from . import own
from .dispatch import broadcast_to
from .tracer import (
    Tensor,
    TracedArray,
    View,
    as_tensor,
    contains_traced,
    raise_here,
    wrap,
)
from .ufuncs import scalar

Extent = Any  # int or Dim


class Slice(View):
    """A range of every axis: first element, number of elements, step (negative: from the end down)."""

    def __init__(self, starts: list[Extent], counts: list[Extent], steps: list[int]) -> None:
        self.starts, self.counts, self.steps = starts, counts, steps

    def _forward(self) -> tuple[list[Extent], list[int], list[int]]:
        """The same elements in ascending order: starts, strides, and the axes to reverse."""
        starts, reverse = list(self.starts), []
        for axis, step in enumerate(self.steps):
            if step < 0:
                starts[axis] = self.starts[axis] + (self.counts[axis] - 1) * step
                reverse.append(axis)
        return starts, [abs(step) for step in self.steps], reverse

    def read(self, base: Tensor) -> Tensor:
        starts, strides, reverse = self._forward()
        limits = []
        for axis, (start, count, stride) in enumerate(zip(starts, self.counts, strides, strict=True)):
            if isinstance(count, int) and count == 0:
                starts[axis] = start = 0
            # The last element's successor; a whole axis keeps its extent so that equal shapes stay recognisable.
            limits.append(start + (count - 1) * stride + 1 if not _is_zero(count) else start)
        part = _core.apply("slice", [base], {"start_indices": starts, "limit_indices": limits, "strides": strides})
        return _core.apply("reverse", [part], {"dimensions": reverse}) if reverse else part

    def write(self, base: Tensor, part: Tensor) -> Tensor:
        if any(_is_zero(count) for count in self.counts):
            return base
        starts, strides, reverse = self._forward()
        if reverse:
            part = _core.apply("reverse", [part], {"dimensions": reverse})
        if all(_core.dims_equal(a, b) for a, b in zip(part.shape, base.shape, strict=True)):
            return part
        if any(isinstance(start, _core.Dim) for start in starts):
            return _core.apply("update_slice", [base, part], {"start_indices": starts, "strides": strides})
        if all(stride == 1 for stride in strides):
            indices = [_core.constant(np.int64(start)) for start in starts]
            return _core.apply("dynamic_update_slice", [base, part, *indices])
        high = [
            extent - start - ((count - 1) * stride + 1)
            for extent, start, count, stride in zip(base.shape, starts, self.counts, strides, strict=True)
        ]
        padding = {"edge_padding_low": starts, "edge_padding_high": high, "interior_padding": [s - 1 for s in strides]}
        zero = scalar(0, part.dtype)
        spread = _core.apply("pad", [part, zero], padding)
        true = broadcast_to(_core.constant(np.True_), part.shape)
        mask = _core.apply("pad", [true, _core.constant(np.False_)], padding)
        return _core.apply("select", [mask, spread, base])


class Reshape(View):
    """The same elements in row-major order under another shape."""

    def __init__(self, before: tuple, after: tuple) -> None:
        self.before, self.after = before, after

    def read(self, base: Tensor) -> Tensor:
        return _core.apply("reshape", [base], {"dims": self.after})

    def write(self, base: Tensor, part: Tensor) -> Tensor:
        return _core.apply("reshape", [part], {"dims": self.before})


class Transpose(View):
    """The axes in another order."""

    def __init__(self, permutation: tuple[int, ...]) -> None:
        self.permutation = permutation

    def read(self, base: Tensor) -> Tensor:
        return _core.apply("transpose", [base], {"permutation": self.permutation})

    def write(self, base: Tensor, part: Tensor) -> Tensor:
        inverse = [0] * len(self.permutation)
        for i, axis in enumerate(self.permutation):
            inverse[axis] = i
        return _core.apply("transpose", [part], {"permutation": inverse})


def _is_zero(extent: Extent) -> bool:
    return isinstance(extent, int) and extent == 0


def is_basic(item: Any) -> bool:
    if item is None or item is Ellipsis or isinstance(item, (slice, _core.Dim)):
        return True
    return isinstance(item, (int, np.integer)) and not isinstance(item, (bool, np.bool_))


def expand_ellipsis(index: Any, ndim: int) -> list[Any]:
    """The index as a list with an item for every axis."""
    items = list(index) if isinstance(index, tuple) else [index]
    used = 0
    for item in items:
        if item is None or item is Ellipsis:
            continue
        kind = getattr(item, "dtype", None)
        used += item.ndim if kind is not None and kind == bool and getattr(item, "ndim", 0) else 1
    if used > ndim:
        raise_here(OutOfBoundsError, f"too many indices: the array has {ndim} axes, but {used} were indexed", "too_many_indices")
    fill = [slice(None)] * (ndim - used)
    places = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(places) > 1:
        raise_here(OutOfBoundsError, "an index can only have a single ellipsis", "two_ellipses")
    if not places:
        return items + fill
    before, after = items[: places[0]], items[places[0] + 1 :]
    # One for no axes still keeps index arrays on its sides apart, which puts their dims first.
    apart = not fill and not all(map(is_basic, items)) and any(not isinstance(i, slice) for i in before) and any(not isinstance(i, slice) for i in after)
    return before + ([Ellipsis] if apart else fill) + after


def clamp_slice(item: slice, extent: Extent) -> tuple[Extent, Extent, int]:
    """First element, number of elements and step of a slice of an axis, as slice.indices gives them."""
    step = 1 if item.step is None else item.step.__index__()
    if step == 0:
        raise_here(OutOfBoundsError, "slice step cannot be zero", "slice_step")
    if isinstance(extent, int) and not any(isinstance(v, _core.Dim) for v in (item.start, item.stop)):
        numbers = range(*item.indices(extent))
        return (numbers.start if len(numbers) else 0), len(numbers), step
    low, high = (0, extent) if step > 0 else (-1, extent - 1)

    def bound(value: Any, default: Extent) -> Extent:
        if value is None:
            return default
        value = from_the_end(value if isinstance(value, _core.Dim) else value.__index__(), extent)
        return _core.dim_max(low, _core.dim_min(value, high))

    start = bound(item.start, low if step > 0 else high)
    stop = bound(item.stop, high if step > 0 else low)
    distance = stop - start if step > 0 else start - stop
    size = abs(step)
    count = distance if size == 1 else (distance + size - 1) // size
    return start, _core.dim_max(0, count), step


def from_the_end(position: Any, extent: Any) -> Any:
    """A position that may count from the end, as one that counts from the beginning."""
    if _known_not_negative(position):
        return position
    most = position if isinstance(position, int) else position.max
    if most < 0:
        return position + extent
    # From -extent up to extent - 1, either way: the remainder is never negative.
    return position % extent


def _known_not_negative(value: Any) -> bool:
    return value >= 0 if isinstance(value, int) else value.min >= 0


def basic_view(array: TracedArray, items: list[Any]) -> TracedArray:
    """The view that slices, integers and new axes describe; ``items`` has no ellipsis."""
    starts: list[Extent] = []
    counts: list[Extent] = []
    steps: list[int] = []
    shape: list[Extent] = []
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        extent = array.shape[axis]
        if isinstance(item, slice):
            start, count, step = clamp_slice(item, extent)
            shape.append(count)
        else:
            position = item if isinstance(item, _core.Dim) else item.__index__()
            if isinstance(position, int):
                check_position(position, extent, axis)
            start, count, step = from_the_end(position, extent), 1, 1
        starts.append(start)
        counts.append(count)
        steps.append(step)
        axis += 1
    result = array
    whole = all(
        step == 1 and _is_zero(start) and _core.dims_equal(count, extent)
        for start, count, step, extent in zip(starts, counts, steps, array.shape, strict=True)
    )
    if not whole:
        result = result.view_through(Slice(starts, counts, steps))
    if len(shape) != result.ndim or any(item is None or not isinstance(item, slice) for item in items):
        result = result.view_through(Reshape(result.shape, tuple(shape)))
    return result if result is not array else array.view_through(Reshape(array.shape, array.shape))


def is_estimated(extent: Extent) -> bool:
    """Whether it is computed from symbols, so that its min and max are but bounds."""
    return isinstance(extent, _core.Dim) and not str(extent).isidentifier()


def least_extent(extent: Extent) -> int:
    """What must hold fixed positions; positions in estimated extents are brought inside when the program runs."""
    return extent if isinstance(extent, int) else extent.max if is_estimated(extent) else extent.min


def check_position(position: int, extent: Extent, axis: int) -> None:
    """OutOfBoundsError where a fixed position lies, or at the least extent may lie, outside of its axis."""
    least = least_extent(extent)
    if -least <= position < least:
        return
    if isinstance(extent, int):
        raise_here(OutOfBoundsError, f"index {position} is out of bounds for axis {axis} with size {extent}", "index_bounds")
    wanted = position + 1 if position >= 0 else -position
    hint = f"give its wf.Dim a min for which that is at least {wanted}"
    raise_here(OutOfBoundsError, f"index {position} is out of bounds for axis {axis} where its size {extent} is {least}: {hint}", "index_bounds")


def check_known_positions(known: np.ndarray, extent: Extent, axis: int) -> None:
    """The same for index arrays that are fixed."""
    least = least_extent(extent)
    bad = known[(known < -least) | (known >= least)]
    if bad.size:
        check_position(int(bad[0]), extent, axis)


def checked_positions(items: list[Any], shape: tuple) -> list[Any]:
    """Positions that are not known to lie inside become values, which are brought inside when the program runs."""
    axis, result = 0, []
    for item in items:
        fixed = isinstance(item, (int, np.integer)) and not isinstance(item, bool)
        if isinstance(item, _core.Dim) or (fixed and axis < len(shape) and is_estimated(shape[axis])):
            extent = shape[axis]
            least = extent if isinstance(extent, int) else extent.min
            if fixed:
                check_position(int(item), extent, axis)
            low, high = (int(item), int(item)) if fixed else (item.min, item.max)
            if not -least <= low <= high < least:
                item = wrap(as_tensor(np.int64(item) if fixed else item))
        kind = getattr(item, "dtype", None)
        axis += 0 if item is None or item is Ellipsis else item.ndim if kind is not None and kind == bool and getattr(item, "ndim", 0) else 1
        result.append(item)
    return result


def is_truth(item: Any) -> bool:
    """Whether an item of an index is one truth value, which stands for no axis and makes one of 0 or 1 elements."""
    if isinstance(item, (TracedArray, np.ndarray)):
        return item.dtype == bool and not item.ndim
    return isinstance(item, (bool, np.bool_))


def unfolded(array: TracedArray, index: Any) -> tuple[TracedArray, tuple] | None:
    """An index with one truth value as an index of a view that has an axis of one element for it; None without one."""
    items = list(index) if isinstance(index, tuple) else [index]
    places = [place for place, item in enumerate(items) if is_truth(item)]
    if not places:
        return None
    place = places[0]
    rest = [*items[:place], *items[place + 1 :]]
    if len(places) > 1 or not all(item is None or item is Ellipsis or isinstance(item, slice) for item in rest):
        raise_here(UnsupportedError, "a truth value as an index beside integers, arrays or another one cannot be compiled", "bool_index")
    given = items[place]
    mask = wrap(_core.apply("reshape", [given.tensor], {"dims": (1,)})) if isinstance(given, TracedArray) else own.array([bool(given)])
    hidden = array.ndim - sum(isinstance(item, slice) for item in rest)
    axis = sum(hidden if item is Ellipsis else 1 for item in items[:place])
    whole = wrap(array.tensor) if array.scalar else array
    view = basic_view(whole, expand_ellipsis((*items[:place], None, *items[place + 1 :]), array.ndim))
    return view, (*[slice(None)] * axis, mask)


def element(tensor: Tensor) -> TracedArray:
    """What an index of integers gives: a scalar, which later writes to the array leave as it is."""
    result = wrap(tensor)
    result.scalar = True
    return result


def assigned(value: Any, array: TracedArray) -> Tensor:
    """What is assigned to elements of an array; Python numbers that it cannot hold raise as in NumPy."""
    number = isinstance(value, (bool, int, float)) or (isinstance(value, (list, tuple)) and not contains_traced(value))
    new = as_tensor(value, array.dtype if number else None)
    if new.dtype.kind == "c" and array.dtype.kind not in "c":
        raise_here(ArgumentTypeError, f"cannot assign {new.dtype} values to a {array.dtype} array", "assign_complex")
    return new


def drop_leading_ones(tensor: Tensor, ndim: int) -> Tensor:
    """Assignment accepts a value with more axes when the extra leading ones have extent 1."""
    extra = tensor.ndim - ndim
    if extra > 0 and all(_core.dims_equal(extent, 1) for extent in tensor.shape[:extra]):
        return _core.apply("reshape", [tensor], {"dims": tensor.shape[extra:]})
    return tensor
