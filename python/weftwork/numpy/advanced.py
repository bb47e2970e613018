"""Index arrays and masks: gather to read, scatter to write."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, DataDependentError, OutOfBoundsError
from . import own
from .tracer import Tensor, TracedArray, as_tensor, contains_traced, convert, current_trace, raise_here, wrap
from .validity import in_range, is_bounded


def mask_as_indices(item: Any) -> list[Any]:
    """A concrete mask is the index arrays of its true elements; a traced one has no shape before the run."""
    if isinstance(item, TracedArray):
        if item.tensor.constant() is None:
            raise_here(
                DataDependentError,
                "x[mask] gives as many elements as the mask has true values, known only when the program runs; "
                "write np.where(mask, x, 0), use where= of a reduction, or assign x[mask] = value",
                "dynamic_result_shape",
            )
        item = item.tensor.constant()
    if np.ndim(item) == 0:
        raise_here(
            ArgumentTypeError,
            f"one truth value as an index cannot be compiled: write x[None] for x[True], got {item}",
            "bool_index",
        )
    return list(np.nonzero(own.asarray(item)))


def fits_mask(mask: Any, extents: Any) -> None:
    if not all(map(_core.dims_equal, mask, extents)):
        raise_here(
            OutOfBoundsError,
            f"boolean index did not match indexed array: a mask of shape {tuple(mask)} for axes of {tuple(extents)}",
            "mask_shape",
        )


def has_extents(item: Any) -> bool:
    """Whether a list has extents, or counters of loops, in it."""
    return isinstance(item, (list, tuple)) and any(isinstance(part, _core.Dim) for part in item)


def is_mask(item: Any) -> bool:
    if isinstance(item, (bool, np.bool_)):
        return True
    if isinstance(item, (TracedArray, np.ndarray)):
        return item.dtype == bool
    return (
        isinstance(item, list)
        and bool(item)
        and not has_extents(item)
        and own.asarray(item, dtype=object).size > 0
        and all(isinstance(v, (bool, np.bool_)) for v in own.asarray(item, dtype=object).ravel().tolist())
    )


def is_empty(shape: Any) -> bool:
    """Whether an array of this shape is known to have no elements."""
    return any(isinstance(extent, int) and extent == 0 for extent in shape)


def place_items(tensor: Tensor, items: list[Any]) -> list[Any]:
    """An index with its masks, integers and index arrays as places that lie inside of their axes."""
    flat: list[Any] = []
    for item in items:
        if is_mask(item) and np.ndim(item):
            place = sum(i is not None and i is not Ellipsis for i in flat)
            fits_mask(np.shape(item), tensor.shape[place : place + np.ndim(item)])
        flat += mask_as_indices(item) if is_mask(item) else [item]
    axis, result = 0, []
    for item in flat:
        is_place = not (item is None or item is Ellipsis or isinstance(item, slice))
        result.append(places_of(item, tensor.shape[axis], axis) if is_place else item)
        axis += item is not None and item is not Ellipsis
    if is_empty(tensor.shape) and (trace := current_trace()) is not None and not trace.is_of_function:
        # A kernel looks at indices as it uses them, and for no elements it uses none: lazy ones are looked at now.
        unseen = [p for p in result if isinstance(p, Tensor) and p.constant() is None and not is_empty(p.shape)]
        _core.evaluate(unseen)
    return result


def as_indices(item: Any) -> Any:
    """An index as it is given; what has no elements and is no array is of integers, whatever NumPy makes of it elsewhere."""
    if has_extents(item):
        return [wrap(as_tensor(part)) if isinstance(part, _core.Dim) else part for part in item]
    if hasattr(item, "__len__") and not hasattr(item, "dtype") and not contains_traced(item):
        made = own.asarray(item)
        return item if made.size else made.astype(np.int64)
    return item


def places_of(item: Any, extent: Any, axis: int) -> Tensor:
    """An index array as int64 with negative ones counted from the end; constants are checked at once."""
    index = as_tensor(as_indices(item))
    places, are_inside = _core.places_of(index, extent, axis)
    return places if are_inside or is_bounded(index, extent) else in_range(places, extent, axis)


def take_indexed(tensor: Tensor, items: list[Any]) -> Tensor:
    """x[items]. A run ends in an error where an index lies out of bounds."""
    return _core.index(tensor, place_items(tensor, items))


def put_indexed(tensor: Tensor, items: list[Any], value: Tensor, body: str | None = None) -> Tensor:
    """x[items] = value, or combined with what is there by a binary op. Indices out of bounds write nothing."""
    return _core.update(tensor, place_items(tensor, items), value, body)


def take_along(tensor: Tensor, indices: Tensor, axis: int, mode: str) -> Tensor:
    """np.take."""
    extent = tensor.shape[axis]
    if mode not in ("raise", "wrap", "clip"):
        raise_here(ArgumentTypeError, f"mode must be 'raise', 'wrap' or 'clip', got {mode!r}", "take_mode")
    items: list[Any] = [slice(None)] * tensor.ndim
    items[axis] = TracedArray(indices)
    if mode != "raise":
        places = TracedArray(convert(indices, np.dtype(np.int64)))
        items[axis] = places % extent if mode == "wrap" else np.minimum(np.maximum(places, 0), extent - 1)
    return take_indexed(tensor, items)
