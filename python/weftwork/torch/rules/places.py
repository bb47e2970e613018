"""Elements at places that shapes alone decide, and places that values decide in order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..table import Want, cast, rule
from .creation import iota
from .reductions import alone, has_elements
from .scatters import along, combined, is_reducible, put, reduced_into
from .shapes import at, reshaped
from .sorting import ordered


def strided_places(size: Any, stride: Any, offset: Any) -> np.ndarray:
    """Where the elements of such a view are in memory."""
    places = np.full(tuple(size), offset or 0, np.int64)
    for axis, step in enumerate(stride):
        places = places + np.arange(size[axis]).reshape(-1, *(1,) * (len(size) - axis - 1)) * step
    return places


def lies_within(x: Any, *arguments: Any, storage_offset: Any = None) -> bool:
    """Whether the memory is that of the operand alone, row by row, and holds the view."""
    numbers = [
        *x.shape,
        *arguments[-3 if len(arguments) > 2 and not isinstance(arguments[-1], (list, tuple)) else -2 :],
    ]
    static = all(isinstance(n, (int, list, tuple, type(None))) for n in numbers)
    if not static or not x.is_contiguous() or x.storage_offset() or not x.numel():
        return False
    size, stride, *rest = [a for a in arguments if isinstance(a, (list, tuple, int, type(None)))]
    if not all(isinstance(n, int) for n in (*size, *stride)) or 0 in size:
        return False
    last = sum((e - 1) * s for e, s in zip(size, stride)) + ((rest[0] if rest else storage_offset) or 0)
    return last < x.numel()


@rule("as_strided", "as_strided_copy", accepts=lies_within)
def as_strided(want: Want, x: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    flat = reshaped(x, (math.prod(x.shape),))
    return np.take(flat, strided_places(size, stride, storage_offset))


@rule("as_strided_scatter", accepts=lambda x, source, *rest, **kwargs: lies_within(x, *rest, **kwargs))
def as_strided_scatter(want: Want, x: Any, source: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    flat = reshaped(x, (math.prod(x.shape),))
    return reshaped(put(flat, (strided_places(size, stride, storage_offset),), source), x.shape)


@rule("unfold", "unfold_copy", accepts=lambda x, dim, size, step: x.ndim == 0 or isinstance(x.shape[dim], int))
def unfold(want: Want, x: Any, dimension: int, size: int, step: int) -> Any:
    x = x if x.ndim else reshaped(x, (1,))
    axis = at(dimension, x.ndim)
    starts = np.arange(0, x.shape[axis] - size + 1, step)
    windows = np.take(x, starts[:, None] + np.arange(size), axis=axis)
    return reshaped(np.moveaxis(windows, axis + 1, -1), want.shape)


@rule(
    "unfold_backward",
    accepts=lambda gradient, sizes, dim, size, step: all(isinstance(e, int) for e in sizes) and len(sizes) > 0,
)
def unfold_backward(want: Want, gradient: Any, sizes: Any, dim: int, size: int, step: int) -> Any:
    axis = at(dim, len(sizes))
    starts = np.arange(0, sizes[axis] - size + 1, step)
    zeros = np.broadcast_to(cast(0, want.dtype), want.shape)
    windows = np.moveaxis(gradient, -1, axis + 1)
    return combined(np.add, zeros, (*(slice(None),) * axis, starts[:, None] + np.arange(size)), windows)


@rule("put", accepts=lambda x, index, source, accumulate=False: x.numel() != 0)
def put_flat(want: Want, x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    flat, where = reshaped(x, (math.prod(x.shape),)), (cast(index, np.int64),)
    return reshaped(combined(np.add, flat, where, source) if accumulate else put(flat, where, source), x.shape)


@rule("masked_scatter", accepts=lambda x, mask, source: has_elements(x) and has_elements(source))
def masked_scatter(want: Want, x: Any, mask: Any, source: Any) -> Any:
    mask = np.broadcast_to(mask, want.shape)
    count = math.prod(want.shape)
    order = np.cumsum(cast(reshaped(mask, (count,)), np.int64), axis=0) - 1
    flat = reshaped(source, (math.prod(source.shape),))
    return np.where(mask, reshaped(np.take(flat, np.maximum(order, 0)), want.shape), np.broadcast_to(x, want.shape))


@rule("masked_scatter_backward")
def masked_scatter_backward(want: Want, gradient: Any, mask: Any, sizes: Any) -> Any:
    count = math.prod(gradient.shape)
    mask = reshaped(np.broadcast_to(mask, gradient.shape), (count,))
    order = np.maximum(np.cumsum(cast(mask, np.int64), axis=0) - 1, 0)
    zeros = np.broadcast_to(cast(0, want.dtype), (math.prod(want.shape),))
    taken = np.where(mask, reshaped(gradient, (count,)), cast(0, want.dtype))
    return reshaped(combined(np.add, zeros, (order,), taken), want.shape)


@rule(
    "index_reduce",
    accepts=lambda x, dim, index, *rest, **kwargs: index.ndim < 2 and is_reducible(x, dim, index, *rest, **kwargs),
)
def index_reduce(
    want: Want, x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    return reduced_into(want, *along(x, dim, index, source), reduce, include_self)


def running(function: Any) -> Any:
    """The extreme so far, and the last place where it stands."""

    def record(want: Any, x: Any, dim: int) -> Any:
        if not x.ndim:
            return alone(x)
        axis = at(dim, x.ndim)
        values = function.accumulate(x, axis=axis)
        here = np.logical_or(x == values, x != x)
        places = np.where(here, iota(x.shape, axis), cast(0, np.int64))
        return values, np.maximum.accumulate(places, axis=axis)

    return record


rule("cummax", accepts=has_elements)(running(np.maximum))
rule("cummin", accepts=has_elements)(running(np.minimum))


def picked(values: Any, order: Any, place: Any, axis: int, keepdim: bool) -> Any:
    """Of sorted lines and their order, what stands at a place."""
    values, order = (np.take_along_axis(v, place, axis) for v in (values, order))
    return (values, order) if keepdim else (np.squeeze(values, axis), np.squeeze(order, axis))


def has_lines(x: Any, *rest: Any, **kwargs: Any) -> bool:
    return has_elements(x) and x.ndim > 0


@rule("kthvalue", accepts=has_lines)
def kthvalue(want: Any, x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    axis = at(dim, x.ndim)
    values, order = ordered(x, axis, False)
    place = np.full(tuple(1 for _ in x.shape), k - 1, np.int64)
    shape = tuple(1 if d == axis else e for d, e in enumerate(x.shape))
    return picked(values, order, np.broadcast_to(cast(place, np.int64), shape), axis, keepdim)


def middle(skips: bool) -> Any:
    """The lower median of each line: of all numbers, or NaN where there is one."""

    def record(want: Any, x: Any, dim: int, keepdim: bool = False) -> Any:
        if not x.ndim:
            return ordered(x, 0, False)
        axis = at(dim, x.ndim)
        values, order = ordered(x, axis, False)
        lost = cast(x != x, np.int64)
        count = x.shape[axis] - np.sum(lost, axis=axis, keepdims=True)
        half = np.maximum(count - 1, 0) // 2
        # NaN stands last: the first of them is what a line with one has.
        place = half if skips else np.where(count < x.shape[axis], count, half)
        return picked(values, order, place, axis, keepdim)

    return record


rule("median.dim", accepts=has_elements)(middle(False))
rule("nanmedian.dim", accepts=has_elements)(middle(True))


def of_all(skips: bool) -> Any:
    return lambda want, x: middle(skips)(want, reshaped(x, (math.prod(x.shape),)), 0)[0]


rule("median", accepts=has_elements)(of_all(False))
rule("nanmedian", accepts=has_elements)(of_all(True))


def are_rows(rows: Any, *rest: Any, **kwargs: Any) -> bool:
    return has_elements(rows) and (rows.ndim == 1 or (isinstance(rows.shape[-1], int) and rows.shape[-1] <= 1024))


@rule("searchsorted.Tensor", accepts=are_rows)
def searchsorted(
    want: Want,
    row: Any,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
) -> Any:
    if sorter is not None:
        row = np.take_along_axis(row, sorter, -1)
    right = right or side == "right"
    if row.ndim > 1:
        # How many of its row come before each value; NaN stands last.
        one, other = row[..., None, :], values[..., None]
        before = np.logical_or(one <= other if right else one < other, np.logical_and(other != other, one == one))
        if right:
            before = np.logical_or(before, other != other)
        return np.sum(cast(before, want.dtype), axis=-1, dtype=want.dtype)
    return cast(np.searchsorted(row, values, side="right" if right else "left"), want.dtype)


@rule("bucketize.Tensor", accepts=lambda values, row, **kwargs: row.ndim == 1 and has_elements(row))
def bucketize(want: Want, values: Any, row: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    return cast(np.searchsorted(row, values, side="right" if right else "left"), want.dtype)


@rule(
    "isin.Tensor_Tensor",
    accepts=lambda x, known, **kwargs: isinstance(known.numel(), int) and 0 < known.numel() <= 1024,
)
def isin(want: Want, x: Any, known: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    found = np.any(x[..., None] == reshaped(known, (math.prod(known.shape),)), axis=-1)
    return np.logical_not(found) if invert else found
