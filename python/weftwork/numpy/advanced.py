"""Index arrays and masks: gather to read, scatter to write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, DataDependentError, OutOfBoundsError
from . import own
from .dispatch import broadcast_to
from .indexing import check_known_positions, drop_leading_ones
from .tracer import Tensor, TracedArray, as_tensor, convert, raise_here, written_through
from .ufuncs import compare, op, scalar, select
from .validity import in_range, is_bounded, note_bound


@dataclass
class Plan:
    """An index with arrays: a basic one to apply first, then the axes indexed by arrays of one shared shape."""

    base: Tensor          # after slices and new axes
    axes: list[int]       # of `base`
    indices: list[Tensor]  # int64, not negative, of the shape `shared`
    shared: tuple[Any, ...]
    place: int            # where the shared dims stand in the result

    @property
    def offset_dims(self) -> list[int]:
        """Result dims that come from slices."""
        rank = len(self.shared) + self.base.ndim - len(self.axes)
        return [i for i in range(rank) if not self.place <= i < self.place + len(self.shared)]

    def stacked(self) -> Tensor:
        """Indices with the vector of one element's coordinates along the last axis."""
        parts = [op("reshape", index, dims=(*self.shared, 1)) for index in self.indices]
        return parts[0] if len(parts) == 1 else _core.apply("concatenate", parts, {"dimension": len(self.shared)})


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
        raise_here(ArgumentTypeError, f"one truth value as an index cannot be compiled: write x[None] for x[True], got {item}", "bool_index")
    return list(np.nonzero(own.asarray(item)))


def fits_mask(mask: Any, extents: Any) -> None:
    if not all(map(_core.dims_equal, mask, extents)):
        raise_here(OutOfBoundsError, f"boolean index did not match indexed array: a mask of shape {tuple(mask)} for axes of {tuple(extents)}", "mask_shape")


def is_mask(item: Any) -> bool:
    if isinstance(item, (bool, np.bool_)):
        return True
    if isinstance(item, (TracedArray, np.ndarray)):
        return item.dtype == bool
    return isinstance(item, list) and bool(item) and own.asarray(item, dtype=object).size > 0 and all(
        isinstance(v, (bool, np.bool_)) for v in own.asarray(item, dtype=object).ravel().tolist()
    )


def plan_index(tensor: Tensor, items: list[Any]) -> Plan:
    """Sorts an index (an item for every axis) into views and index arrays."""
    flat: list[Any] = []
    for item in items:
        if is_mask(item) and np.ndim(item):
            place = sum(i is not None and i is not Ellipsis for i in flat)
            fits_mask(np.shape(item), tensor.shape[place : place + np.ndim(item)])
        flat += mask_as_indices(item) if is_mask(item) else [item]
    rest: list[Any] = []  # without index arrays, whose axes stay whole
    axes, indices, places = [], [], []
    axis = 0
    for position, item in enumerate(flat):
        if item is Ellipsis:
            continue
        is_array = not (item is None or isinstance(item, slice))
        if is_array:
            axes.append(len(rest))
            places.append(position)
            indices.append(wrapped_index(item, tensor.shape[axis], axis))
        axis += item is not None
        rest.append(slice(None) if is_array else item)
    base = _core.index(tensor, rest)
    shared = _core.broadcast_shapes(*[index.shape for index in indices])
    indices = [broadcast_to(index, shared) for index in indices]
    adjacent = places == list(range(places[0], places[0] + len(places)))
    return Plan(base, axes, indices, tuple(shared), axes[0] if adjacent else 0)


def wrapped_index(item: Any, extent: Any, axis: int) -> Tensor:
    """An index array as int64 with negative ones counted from the end; constants are checked at once."""
    index = as_tensor(own.asarray(item, dtype=np.int64) if isinstance(item, list) and not item else item)
    if index.dtype.kind not in "iu":
        raise_here(OutOfBoundsError, f"arrays used as indices must be of integer (or boolean) type, got {index.dtype}", "index_dtype")
    known = index.constant()
    if known is not None:
        check_known_positions(known, extent, axis)
    if known is not None and isinstance(extent, int):
        return _core.constant(np.where(known < 0, known + extent, known).astype(np.int64))
    is_free = known is None and not is_bounded(index, extent)
    unsigned = index.dtype.kind == "u"
    index = convert(index, np.dtype(np.int64))
    if not unsigned:
        index = select(compare("LT", index, scalar(0, index)), op("add", index, as_tensor(extent, index.dtype)), index)
    return in_range(index, extent, axis) if is_free else index


def take_indexed(tensor: Tensor, items: list[Any]) -> Tensor:
    """x[items]. A run ends in an error where an index lies out of bounds."""
    plan = plan_index(tensor, items)
    dims = [extent for axis, extent in enumerate(plan.base.shape) if axis not in plan.axes]
    if any(isinstance(e, int) and e == 0 for e in (*dims, *plan.shared)):
        dims[plan.place : plan.place] = plan.shared
        return broadcast_to(scalar(0, tensor), tuple(dims))
    empty = [axis for axis in plan.axes if isinstance(e := plan.base.shape[axis], int) and e == 0]
    if empty:
        raise_here(OutOfBoundsError, f"an index is out of bounds for axis {empty[0]} with size 0", "index_bounds")
    sizes = [1 if axis in plan.axes else extent for axis, extent in enumerate(plan.base.shape)]
    return _core.apply(
        "gather",
        [plan.base, plan.stacked()],
        {
            "offset_dims": plan.offset_dims,
            "collapsed_slice_dims": plan.axes,
            "start_index_map": plan.axes,
            "operand_batching_dims": [],
            "start_indices_batching_dims": [],
            "index_vector_dim": len(plan.shared),
            "slice_sizes": sizes,
            "indices_are_sorted": False,
        },
    )


def scatter_indexed(tensor: Tensor, items: list[Any], value: Tensor, body: str | None) -> Tensor:
    """x[items] = value, or combined with what is there by a binary op. Indices out of bounds write nothing."""
    plan = plan_index(tensor, items)
    shape: list[Any] = [extent for axis, extent in enumerate(plan.base.shape) if axis not in plan.axes]
    shape[plan.place : plan.place] = plan.shared

    updates = broadcast_to(drop_leading_ones(value, len(shape)), shape)
    attrs = {
        "update_window_dims": plan.offset_dims,
        "inserted_window_dims": plan.axes,
        "scatter_dims_to_operand_dims": plan.axes,
        "input_batching_dims": [],
        "scatter_indices_batching_dims": [],
        "index_vector_dim": len(plan.shared),
        "indices_are_sorted": False,
        "unique_indices": False,
    }
    operands = [plan.base, plan.stacked(), updates]
    part = _core.scatter_set(operands, attrs) if body is None else _core.apply_with_body("scatter", body, operands, attrs)
    return written_through(_core.moves(tensor, plan.base), tensor, part)


def put_indexed(tensor: Tensor, items: list[Any], value: Tensor) -> Tensor:
    """x[items] = value."""
    return scatter_indexed(tensor, items, value, None)


def take_along(tensor: Tensor, indices: Tensor, axis: int, mode: str) -> Tensor:
    """np.take."""
    extent = tensor.shape[axis]
    if mode not in ("raise", "wrap", "clip"):
        raise_here(ArgumentTypeError, f"mode must be 'raise', 'wrap' or 'clip', got {mode!r}", "take_mode")
    items: list[Any] = [slice(None)] * tensor.ndim
    items[axis] = TracedArray(indices)
    if mode != "raise":
        places = TracedArray(convert(indices, np.dtype(np.int64)))
        items[axis] = note_bound(places % extent if mode == "wrap" else np.minimum(np.maximum(places, 0), extent - 1), extent)
    return take_indexed(tensor, items)
