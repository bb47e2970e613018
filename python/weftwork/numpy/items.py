"""Indices of arrays: what ``x[index]`` is, and what ``x[index] = value`` writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentValueError, DataDependentError
from .advanced import places_of, put_indexed, take_indexed
from .dispatch import broadcast_to
from .indexing import (
    assigned,
    basic_view,
    checked_positions,
    drop_leading_ones,
    element,
    expand_ellipsis,
    has_ellipsis,
    is_basic,
    is_place,
    unfolded,
)
from .masked import Selected, put_selected, selection
from .positions import gathered, indexed_by, scattered
from .tracer import MASKS, TracedArray, as_tensor, convert, current_trace, in_way, raise_here, wrap
from .views import DynamicSlice, is_read_only

__all__ = ["Start", "dynamic_slice", "get_item", "is_view_at", "set_item", "told"]


def get_item(array: TracedArray, index: Any) -> Any:
    if (inner := unfolded(array, index)) is not None:
        return get_item(*inner)
    items = checked_positions(expand_ellipsis(index, array.ndim), array.shape)
    if indexed_by(items):
        items, mask_and_lead = gathered(array, items)
        if mask_and_lead is not None:
            return Selected(take_indexed(array.tensor, items), *mask_and_lead)
    is_element = not has_ellipsis(index)
    if all(is_basic(item) for item in items):
        view = basic_view(array, items)
        if is_element and not view.ndim:
            return element(view.tensor)
        return wrap(view.tensor) if array.scalar else view
    if found := selection(array, items):
        view, mask, lead = found
        trace = current_trace()
        if trace is not None and MASKS in trace.unrolled:
            raise_here(
                DataDependentError, "x[mask] has as many elements as the mask has true values", "dynamic_result_shape"
            )
        return Selected(view.tensor, mask.tensor, lead)
    if all(is_basic(item) or is_place(item) for item in items) and not (is_element and is_one(items, array.ndim)):
        return view_at(array, items)
    result = take_indexed(array.tensor, items)
    if is_element and not result.ndim:
        return element(result)
    copy = wrap(result)
    is_lazy = (trace := current_trace()) is not None and not trace.is_of_function
    if not is_lazy and all(is_basic(item) or getattr(item, "ndim", 1) == 0 for item in items):
        # A traced function has arrays without dimensions where NumPy has scalars, of which an index makes a view.
        copy.guard_writes(
            "this index is a value, so x[i] is a copy here where NumPy may have a view: write x[i, ...] = value"
        )
    return copy


def is_one(items: list[Any], ndim: int) -> bool:
    """Whether an index is an integer for each axis."""
    return len(items) == ndim and not any(item is None or isinstance(item, slice) for item in items)


@dataclass(frozen=True)
class Start:
    """A part of an index that begins where a number says: of ``size`` elements, of which the index takes those ``within``."""

    tensor: Any
    place: Any  # who computes it, as DynamicSlice has it
    size: int
    within: Any


def view_at(array: TracedArray, items: list[Any]) -> TracedArray:
    """The view that an index makes some of whose integers the program computes."""
    return basic_view(*dynamic_slice(array, items, begun, [told(item) for item in items]))


def begun(item: Any, extent: Any, axis: int) -> Any:
    """An integer of the program's as where a part begins; other items as they are."""
    if not is_place(item):
        return item
    place = places_of(item, extent, axis)
    return Start(place, place, 1, 0)


def dynamic_slice(
    array: TracedArray, items: list[Any], begin: Callable[[Any, Any, int], Any], key: list[Any]
) -> tuple[TracedArray, list[Any]]:
    """A view that begins where numbers say, and the index within: ``begin(item, extent, axis)`` gives a Start, or the item."""
    zero = as_tensor(np.int64(0))
    starts: list[Any] = [zero] * array.ndim
    places: list[Any] = [None] * array.ndim
    sizes, within, axis = list(array.shape), [], 0
    for item in items:
        if item is Ellipsis:
            continue
        part = begin(item, array.shape[axis], axis) if item is not None else None
        if isinstance(part, Start):
            starts[axis], places[axis], sizes[axis], part = part.tensor, part.place, part.size, part.within
        within.append(part)
        axis += item is not None
    return array.view_through(DynamicSlice(starts, sizes, places, key)), within


def told(item: Any) -> Any:
    """What tells an item of an index: the value that it has now, whatever its variable gets later."""
    if type(item) is slice:
        return [told(part) for part in (item.start, item.stop, item.step)]
    return item.tensor if isinstance(item, TracedArray) else item


def set_item(array: TracedArray, index: Any, value: Any) -> None:
    if (inner := unfolded(array, index)) is not None:
        return set_item(*inner, value)
    given = expand_ellipsis(index, array.ndim)
    items = checked_positions(given, array.shape)
    if indexed_by(items):
        items, now = scattered(array, items)
        if now is not None:
            return array.write(put_indexed(array.tensor, items, now.fitted(value, array)))
    is_plain = all(is_basic(item) for item in items)
    if not is_plain and (found := selection(array, items)):
        return put_selected(*found, value)
    new = convert(assigned(value, array, all(is_basic(item) or is_place(item) for item in given)), array.dtype)
    if is_plain:
        target = basic_view(array, items)
        if new.ndim and not target.ndim and not has_ellipsis(index):
            raise_here(
                ArgumentValueError,
                f"setting an array element with a sequence: a value of shape {tuple(new.shape)}",
                "element_shape",
            )
        if isinstance(value, TracedArray) and is_same_view(value, target) and not is_read_only(array):
            # What x[i] += y does last: the sum is there already.
            return
        new = drop_leading_ones(new, len(target.shape))
        target.write(broadcast_to(new, target.shape))
        return
    if not is_view_at(value, array, [told(item) for item in items]):
        new = in_way(new, lambda: take_indexed(array.tensor, items))
        array.write(put_indexed(array.tensor, items, new), is_chosen=True)


def is_view_at(value: Any, array: TracedArray, key: list[Any]) -> bool:
    """Whether a value is the view that `dynamic_slice` made of the array for this index: the last step of x[i] += y."""
    count = len(array._steps)
    if not isinstance(value, TracedArray) or value._storage is not array._storage or len(value._steps) <= count:
        return False
    step = value._steps[count]
    return isinstance(step, DynamicSlice) and value._steps[:count] == array._steps and is_same(step.key, key)


def is_same(lhs: Any, rhs: Any) -> bool:
    if type(lhs) is type(rhs) is list:
        return len(lhs) == len(rhs) and all(map(is_same, lhs, rhs))
    return lhs is rhs or (type(lhs) is type(rhs) and type(lhs) in (int, str) and lhs == rhs)


def is_same_view(lhs: TracedArray, rhs: TracedArray) -> bool:
    """Whether both are the same part of one array, reached in the same way."""
    return lhs._storage is rhs._storage and bool(lhs._steps) and lhs._steps == rhs._steps
