"""x[index] and x[index] = value: basic indices are views, index arrays and masks go by gather and scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, OutOfBoundsError, UnsupportedError
from . import own
from .stored import require_stored
from .tracer import (
    Tensor,
    TracedArray,
    as_tensor,
    contains_traced,
    raise_here,
    wrap,
)

Extent = Any  # int or Dim


def is_integer(item: Any) -> bool:
    """Whether an item of an index is a number that is known."""
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool)


def is_place(item: Any) -> bool:
    """Whether an item of an index is an integer of the program's; an array without dimensions makes a copy."""
    return isinstance(item, TracedArray) and item.scalar and item.dtype.kind in "iu"


def is_basic(item: Any) -> bool:
    return item is None or item is Ellipsis or isinstance(item, (slice, _core.Dim)) or is_integer(item)


def has_ellipsis(index: Any) -> bool:
    """Whether an index gives an array even where it names one element."""
    return any(item is Ellipsis for item in (index if isinstance(index, tuple) else (index,)))


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
        raise_here(
            OutOfBoundsError,
            f"too many indices: the array has {ndim} axes, but {used} were indexed",
            "too_many_indices",
        )
    fill = [slice(None)] * (ndim - used)
    places = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(places) > 1:
        raise_here(OutOfBoundsError, "an index can only have a single ellipsis", "two_ellipses")
    if not places:
        return items + fill
    before, after = items[: places[0]], items[places[0] + 1 :]
    # One for no axes still keeps index arrays on its sides apart, which puts their dims first.
    apart = (
        not fill
        and not all(map(is_basic, items))
        and any(not isinstance(i, slice) for i in before)
        and any(not isinstance(i, slice) for i in after)
    )
    return before + ([Ellipsis] if apart else fill) + after


def basic_view(array: TracedArray, items: list[Any]) -> TracedArray:
    """The view that slices, integers and new axes describe."""
    return array.view_of(_core.index(array.tensor, items))


def is_estimated(extent: Extent) -> bool:
    """Whether it is computed from symbols, so that its min and max are but bounds."""
    return isinstance(extent, _core.Dim) and not str(extent).isidentifier()


def checked_positions(items: list[Any], shape: tuple) -> list[Any]:
    """Positions that are not known to lie inside become values, which are brought inside when the program runs."""
    axis, result = 0, []
    for item in items:
        fixed = is_integer(item)
        if isinstance(item, _core.Dim) or (fixed and axis < len(shape) and is_estimated(shape[axis])):
            extent = shape[axis]
            least = extent if isinstance(extent, int) else extent.min
            if fixed:
                _core.require_inside(int(item), extent, axis)
            low, high = (int(item), int(item)) if fixed else (item.min, item.max)
            if not -least <= low <= high < least:
                item = wrap(as_tensor(np.int64(item) if fixed else item))
        kind = getattr(item, "dtype", None)
        axis += (
            0
            if item is None or item is Ellipsis
            else item.ndim
            if kind is not None and kind == bool and getattr(item, "ndim", 0)
            else 1
        )
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
        raise_here(
            UnsupportedError,
            "a truth value as an index beside integers, arrays or another one cannot be compiled",
            "bool_index",
        )
    given = items[place]
    mask = (
        wrap(_core.apply("reshape", [given.tensor], {"dims": (1,)}))
        if isinstance(given, TracedArray)
        else own.array([bool(given)])
    )
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


def assigned(value: Any, array: TracedArray, is_item: bool = False) -> Tensor:
    """What is assigned to elements of an array, or to its items by a basic index; numbers that it cannot hold raise as in NumPy."""
    number = isinstance(value, (bool, int, float)) or (isinstance(value, (list, tuple)) and not contains_traced(value))
    if type(value) is _core.Dim or (type(value) is TracedArray and value.weak is int):
        return as_tensor(value, array.dtype)
    new = as_tensor(require_stored(value, array.dtype, is_item), array.dtype if number else None)
    if new.dtype.kind == "c" and array.dtype.kind not in "cb":
        raise_here(ArgumentTypeError, f"cannot assign {new.dtype} values to a {array.dtype} array", "assign_complex")
    return new


def drop_leading_ones(tensor: Tensor, ndim: int) -> Tensor:
    """Assignment accepts a value with more axes when the extra leading ones have extent 1."""
    extra = tensor.ndim - ndim
    if extra > 0 and all(_core.dims_equal(extent, 1) for extent in tensor.shape[:extra]):
        return _core.apply("reshape", [tensor], {"dims": tensor.shape[extra:]})
    return tensor
