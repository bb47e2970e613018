"""Sorting: sort, argsort, partition, lexsort, searchsorted, and the greatest elements and distinct values of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from . import own
from .arguments import axis_number, c_int
from .dispatch import implements
from .functions import one_axis, solid
from .plain import on_plain_arrays
from .searching import sorted_place
from .selection import fixed_extent
from .tracer import TracedArray, raise_here, wrap
from .ufuncs import op
from .validity import asks, may_be_outside, require, require_sorted


def line_of(a: Any, axis: Any, name: str) -> tuple[Any, int]:
    """The array and the axis as a number from 0; of None, all elements in one line."""
    x = solid(a)
    if axis is None:
        return np.ravel(x), 0
    return x, one_axis(axis, x.ndim, name)


def sort_kind(kind: Any, stable: Any) -> None:
    """NumPy's error for a kind that it does not know; any other gives the same order here."""
    if kind is not None and (not isinstance(kind, str) or kind[:1].lower() not in "qhsm"):
        raise_here(
            ArgumentValueError, f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})", "sort_kind"
        )
    if kind is not None and stable is not None:
        raise_here(
            ArgumentValueError,
            "`kind` and `stable` parameters can't be provided at the same time. Use only one of them.",
            "sort_kind",
        )


def select_kind(kind: Any) -> None:
    if kind != "introselect":
        raise_here(ArgumentValueError, f"select kind must be 'introselect' (got {kind!r})", "sort_kind")


def no_fields(order: Any) -> None:
    if order is not None:
        raise_here(ArgumentValueError, f"Cannot specify order={order!r} when the array has no fields", "sort_order")


@implements(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    no_fields(order)
    sort_kind(kind, stable)
    x, axis = line_of(a, axis, "sort")
    return wrap(op("sort_values", x.tensor, axis=axis))


@implements(np.argsort)
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Stable whatever ``kind`` is: among equal elements NumPy's own places depend on the kind."""
    no_fields(order)
    sort_kind(kind, stable)
    x, axis = line_of(a, axis, "argsort")
    order = wrap(op("argsort", x.tensor, axis=axis))
    if asks() and not stable and kind not in ("stable", "mergesort") and x.shape[axis] != 1:
        line = np.moveaxis(np.take_along_axis(x, order, axis), axis, -1)
        require(line[..., 1:] > line[..., :-1])  # among equals the order is NumPy's own
    return order


def check_places(kth: Any, extent: Any) -> None:
    """The error of a place outside of the line."""
    places = own.asarray(kth) if not isinstance(kth, TracedArray) else kth._need_value("kth", "make it a constant")
    if places.dtype.kind not in "iu":
        raise_here(ArgumentTypeError, "Partition index must be integer", "partition_kth")
    for place in places.ravel().tolist():
        if isinstance(extent, int) and extent and not -extent <= place < extent:
            raise_here(ArgumentValueError, f"kth(={place}) out of bounds ({extent})", "partition_kth")


def refuse_partition(name: str) -> None:
    if asks():
        raise_here(UnsupportedError, f"numpy.{name} leaves parts in an order of its own", "partition_order")


@implements(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    """Sorts whole lines: the parts that NumPy leaves in no order are in order."""
    no_fields(order)
    select_kind(kind)
    refuse_partition("partition")
    x, axis = line_of(a, axis, "partition")
    check_places(kth, x.shape[axis])
    return sort(x, axis)


@implements(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    """Sorts whole lines: the parts that NumPy leaves in no order are in order."""
    no_fields(order)
    select_kind(kind)
    refuse_partition("argpartition")
    x, axis = line_of(a, axis, "argpartition")
    check_places(kth, x.shape[axis])
    return argsort(x, axis)


@implements(np.sort_complex)
def sort_complex(a: Any) -> Any:
    x = sort(np.copy(solid(a)))
    if x.dtype.kind == "c":
        return x
    small = x.dtype.kind in "iu" and x.dtype.itemsize <= 2
    return x.astype(np.complex64 if small else np.complex128)


@implements(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    rows = [solid(k) for k in keys] if isinstance(keys, (tuple, list)) else list(solid(keys))
    axis = c_int(axis_number(axis, "lexsort"), "lexsort: axis")
    if not rows:
        raise_here(ArgumentTypeError, "need sequence of keys with len > 0 in lexsort", "lexsort_keys")
    if any(r.shape != rows[0].shape for r in rows):
        raise_here(ArgumentValueError, "all keys need to be the same shape", "lexsort_keys")
    if not rows[0].ndim:
        one_axis(axis, 1, "lexsort")
        return own.zeros((), np.int64)
    axis = one_axis(axis, rows[0].ndim, "lexsort")
    places = argsort(rows[0], axis, "stable")
    for row in rows[1:]:
        again = argsort(np.take_along_axis(row, places, axis), axis, "stable")
        places = np.take_along_axis(places, again, axis)
    return places


@implements(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Values that are in no order give other places than NumPy's."""
    values, x = solid(a), solid(v)
    if side not in ("left", "right"):
        raise_here(ArgumentValueError, f"search side must be 'left' or 'right' (got '{side}')", "searchsorted_side")
    if values.ndim != 1:
        raise_here(
            ArgumentValueError,
            f"object of too small depth for desired array: a must be a vector, got shape {values.shape}",
            "searchsorted_rank",
        )
    if sorter is not None:
        values = np.take(values, solid(sorter))
    require_sorted(values, x)
    return sorted_place(values, x, side)


def sort_in_place(x: TracedArray, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    """ndarray.sort."""
    x[...] = sort(x, one_axis(axis, x.ndim, "sort"), kind, order, stable=stable)


def partition_in_place(x: TracedArray, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> None:
    """ndarray.partition."""
    x[...] = partition(x, kth, one_axis(axis, x.ndim, "partition"), kind, order)


# -- beyond NumPy --------------------------------------------------------------------------------------------------


@on_plain_arrays
def topk(x: Any, k: int, axis: int = -1, largest: bool = True) -> tuple[Any, Any]:
    """The ``k`` greatest (or least) elements of each line along ``axis``, best first, and where they stand (int64).

    Equal elements come in the order in which they stand; NaN counts as the greatest. The results have ``k`` elements along
    the axis. ArgumentValueError where ``k`` is negative or more than there are.

    >>> import numpy as np, weftwork as wf
    >>> values, places = wf.topk(np.array([3, 9, 4]), 2)
    >>> values.tolist(), places.tolist()
    ([9, 4], [1, 2])
    """
    line = solid(x)
    axis = one_axis(axis, line.ndim, "topk")
    extent = line.shape[axis]
    if k < 0 or (isinstance(extent, int) and k > extent):
        raise_here(ArgumentValueError, f"topk: k must be from 0 to {extent}, got {k}", "topk_k")
    places = wrap(op("argsort", line.tensor, axis=axis, descending=bool(largest)))
    first = places[(*(slice(None),) * axis, slice(0, k))]
    return np.take_along_axis(line, first, axis), first


@on_plain_arrays
def unique(
    x: Any,
    size: int,
    fill_value: Any = None,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:
    """The distinct values of an array in ascending order, in an array of ``size``: np.unique with a fixed shape.

    Values beyond the first ``size`` are dropped; missing ones are ``fill_value``, or the least value without one. With the
    flags, as in np.unique: where each first stands (int64; 0 where missing), for each element of ``x`` the number of its
    value (int64, of the shape of ``x``), how often each occurs (int64; 0 where missing). NaN are one value. ``x`` needs
    fixed extents, and an element unless there is a ``fill_value``.

    >>> import numpy as np, weftwork as wf
    >>> wf.unique(np.array([3, 1, 3]), size=3, fill_value=0).tolist()
    [1, 3, 0]
    """
    flat = np.ravel(solid(x))
    count = fixed_extent(flat, 0, "unique")
    if size < 0:
        raise_here(ArgumentValueError, f"unique: size must not be negative, got {size}", "unique_size")
    if not count and fill_value is None:
        raise_here(ArgumentValueError, "unique of no elements needs a fill_value", "unique_fill")
    order = argsort(flat)
    values = np.take_along_axis(flat, order, 0) if count else flat
    fresh = np.not_equal(values[1:], values[:-1])
    if values.dtype.kind in "fc":
        fresh = np.logical_and(fresh, ~np.logical_and(np.isnan(values[1:]), np.isnan(values[:-1])))
    first = np.concatenate([own.ones(min(count, 1), bool), fresh])
    number = np.cumsum(first) - 1
    # What is no first, or beyond the size, is written nowhere.
    target = may_be_outside(np.where(first, number, size))
    filler = values[0] if fill_value is None else solid(fill_value).astype(values.dtype)
    result = own.zeros(size, values.dtype) + filler
    result[target] = values
    results = [result]
    if return_index:
        index = own.zeros(size, np.int64)
        index[target] = order
        results.append(index)
    if return_inverse:
        inverse = own.zeros(count, np.int64)
        inverse[order] = number
        results.append(np.reshape(inverse, solid(x).shape))
    if return_counts:
        counts = own.zeros(size, np.int64)
        np.add.at(counts, may_be_outside(number), 1)
        results.append(counts)
    return results[0] if len(results) == 1 else tuple(results)
