"""Indices of arrays: what ``x[index]`` is, and what ``x[index] = value`` writes."""

from __future__ import annotations

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
    is_basic,
    unfolded,
)
from .masked import Selected, put_selected, selection
from .tracer import MASKS, TracedArray, as_tensor, convert, current_trace, raise_here, wrap
from .views import DynamicSlice

__all__ = ["get_item", "set_item"]


def get_item(array: TracedArray, index: Any) -> Any:
    if (inner := unfolded(array, index)) is not None:
        return get_item(*inner)
    items = checked_positions(expand_ellipsis(index, array.ndim), array.shape)
    whole = index if isinstance(index, tuple) else (index,)
    is_element = not any(item is Ellipsis for item in whole)
    if all(is_basic(item) for item in items):
        view = basic_view(array, items)
        if is_element and not view.ndim:
            return element(view.tensor)
        return wrap(view.tensor) if array.scalar else view
    if chosen := selection(array, items):
        view, mask, lead = chosen
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
    if all(is_basic(item) or getattr(item, "ndim", 1) == 0 for item in items):
        # NumPy tells arrays without dimensions from scalars, which lazy arrays do not.
        copy.guard_writes(
            "this index is a value, so x[i] is a copy here where NumPy may have a view: write x[i, ...] = value"
        )
    return copy


def is_place(item: Any) -> bool:
    """Whether an item of an index is an integer of the program's; an array without dimensions makes a copy."""
    return isinstance(item, TracedArray) and item.scalar and item.dtype.kind in "iu"


def is_one(items: list[Any], ndim: int) -> bool:
    """Whether an index is an integer for each axis."""
    return len(items) == ndim and not any(item is None or isinstance(item, slice) for item in items)


def view_at(array: TracedArray, items: list[Any]) -> TracedArray:
    """The view that an index makes some of whose integers the program computes."""
    zero = as_tensor(np.int64(0))
    starts: list[Any] = [None] * array.ndim
    sizes, within, axis = list(array.shape), [], 0
    for item in items:
        if item is Ellipsis:
            continue
        if is_place(item):
            starts[axis], sizes[axis] = places_of(item, array.shape[axis], axis), 1
        within.append(0 if is_place(item) else item)
        axis += item is not None
    part = DynamicSlice([zero if start is None else start for start in starts], sizes, starts, items)
    return basic_view(array.view_through(part), within)


def set_item(array: TracedArray, index: Any, value: Any) -> None:
    if (inner := unfolded(array, index)) is not None:
        return set_item(*inner, value)
    items = checked_positions(expand_ellipsis(index, array.ndim), array.shape)
    is_plain = all(is_basic(item) for item in items)
    if not is_plain and (chosen := selection(array, items)):
        return put_selected(*chosen, value)
    new = convert(assigned(value, array), array.dtype)
    if is_plain:
        target = basic_view(array, items)
        whole = index if isinstance(index, tuple) else (index,)
        if new.ndim and not target.ndim and not any(item is Ellipsis for item in whole):
            raise_here(
                ArgumentValueError,
                f"setting an array element with a sequence: a value of shape {tuple(new.shape)}",
                "element_shape",
            )
        if isinstance(value, TracedArray) and is_same_view(value, target):
            # What x[i] += y does last: the sum is there already.
            return
        new = drop_leading_ones(new, len(target.shape))
        target.write(broadcast_to(new, target.shape))
        return
    if not is_view_at(value, array, items):
        array.write(put_indexed(array.tensor, items, new))


def is_view_at(value: Any, array: TracedArray, items: list[Any]) -> bool:
    """Whether a value is the view that `view_at` made of the array and these items."""
    count = len(array._steps)
    if not isinstance(value, TracedArray) or value._storage is not array._storage or len(value._steps) <= count:
        return False
    step = value._steps[count]
    same = lambda a, b: a is b or (type(a) is type(b) is slice and a == b)
    return (
        isinstance(step, DynamicSlice)
        and value._steps[:count] == array._steps
        and len(step.items) == len(items)
        and all(map(same, step.items, items))
    )


def is_same_view(lhs: TracedArray, rhs: TracedArray) -> bool:
    """Whether both are the same part of one array, reached in the same way."""
    return lhs._storage is rhs._storage and bool(lhs._steps) and lhs._steps == rhs._steps
