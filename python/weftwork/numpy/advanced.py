"""Index arrays and masks: gather to read, scatter to write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, DataDependentError, OutOfBoundsError
from . import own
from .dispatch import broadcast_to
from .indexing import Reshape, Slice, check_known_positions, clamp_slice, drop_leading_ones
from .tracer import Tensor, TracedArray, View, as_tensor, convert, extent_tensor, raise_here
from .ufuncs import compare, op, scalar, select
from .validity import in_range, is_bounded, note_bound


@dataclass
class Plan:
    """An index with arrays: views to apply first, then the axes indexed by arrays of one shared shape."""

    views: list[View]
    base: Tensor          # after the views
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
    starts, counts, steps, shape, axes, indices, places = [], [], [], [], [], [], []
    axis = 0
    for position, item in enumerate(flat):
        if item is Ellipsis:
            continue
        if item is None:
            shape.append(1)
            continue
        extent = tensor.shape[axis]
        if isinstance(item, slice):
            start, count, step = clamp_slice(item, extent)
        else:
            start, count, step = 0, extent, 1
            axes.append(len(shape))
            places.append(position)
            indices.append(wrapped_index(item, extent, axis))
        starts.append(start)
        counts.append(count)
        steps.append(step)
        shape.append(count)
        axis += 1
    views: list[View] = []
    whole = all(step == 1 and isinstance(start, int) and start == 0 and _core.dims_equal(count, extent)
                for start, count, step, extent in zip(starts, counts, steps, tensor.shape, strict=True))
    if not whole:
        views.append(Slice(starts, counts, steps))
    if len(shape) != len(counts):
        views.append(Reshape(tuple(counts), tuple(shape)))
    base = tensor
    for view in views:
        base = view.read(base)
    shared: Any = ()
    for index in indices:
        shared = _core.broadcast_shapes(shared, index.shape)
    indices = [broadcast_to(index, shared) for index in indices]
    adjacent = places == list(range(places[0], places[0] + len(places)))
    return Plan(views, base, axes, indices, tuple(shared), axes[0] if adjacent else 0)


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
        size = extent_as_tensor(extent, index)
        below = compare("LT", index, broadcast_to(scalar(0, index), index.shape))
        index = select(below, op("add", index, size), index)
    return in_range(index, extent, axis) if is_free else index


def extent_as_tensor(extent: Any, like: Tensor) -> Tensor:
    if isinstance(extent, int):
        return broadcast_to(scalar(extent, like), like.shape)

    return broadcast_to(extent_tensor(extent), like.shape)


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
    bases = [tensor]
    for view in plan.views[:-1]:
        bases.append(view.read(bases[-1]))
    for view, base in zip(reversed(plan.views), reversed(bases[: len(plan.views)]), strict=True):
        part = view.write(base, part)
    return part


def put_indexed(tensor: Tensor, items: list[Any], value: Tensor) -> Tensor:
    """x[items] = value."""
    return scatter_indexed(tensor, items, value, None)


def take_along(tensor: Tensor, indices: Tensor, axis: int, mode: str) -> Tensor:
    """np.take."""
    extent = tensor.shape[axis]
    if mode == "wrap":
        indices = op("mod", convert(indices, np.dtype(np.int64)), extent_as_tensor(extent, convert(indices, np.dtype(np.int64))))
    elif mode == "clip":
        indices = convert(indices, np.dtype(np.int64))
        indices = op("maximum", indices, broadcast_to(scalar(0, indices), indices.shape))
    elif mode != "raise":
        raise_here(ArgumentTypeError, f"mode must be 'raise', 'wrap' or 'clip', got {mode!r}", "take_mode")
    items: list[Any] = [slice(None)] * tensor.ndim
    items[axis] = TracedArray(indices)
    if mode != "raise":
        if mode == "clip":
            items[axis] = np.minimum(items[axis], TracedArray(extent_as_tensor(extent, indices)) - 1)
        note_bound(items[axis], extent)
    return take_indexed(tensor, items)
