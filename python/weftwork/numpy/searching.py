"""Places in sorted values: digitize, interp, histograms and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, DataDependentError, UnsupportedError
from . import own
from .advanced import is_empty
from .arguments import integer
from .dispatch import implements
from .functions import is_weak, solid
from .selection import fixed_extent, some_extent
from .tracer import TracedArray, frozen, raise_here, wrap
from .validity import demanded, may_be_outside, require, require_sorted

#: Up to this many sorted values are all compared; among more of them a binary search is unrolled.
COMPARED = 16


def complex_before(a: Any, b: Any) -> Any:
    """Whether a complex number comes before another where they are sorted: by real part, then imaginary part, NaN last."""
    nan_a, nan_b = np.isnan(a.imag), np.isnan(b.imag)
    equal = np.logical_or(np.equal(a.real, b.real), np.logical_and(np.isnan(a.real), np.isnan(b.real)))
    if_less, if_greater = np.logical_or(~nan_a, nan_b), np.logical_and(nan_b, ~nan_a)
    if_equal = np.logical_or(np.less(a.imag, b.imag), if_greater)
    unordered = np.where(equal, if_equal, np.isnan(b.real))
    return np.where(np.less(a.real, b.real), if_less, np.where(np.greater(a.real, b.real), if_greater, unordered))


def sorted_place(values: Any, x: Any, side: str) -> Any:
    """np.searchsorted for values that are in ascending order, NaN last: int64 of the shape of ``x``."""
    target = np.result_type(values.dtype, x.dtype)
    values, x = values.astype(target), x.astype(target)
    count = some_extent(values, 0, "a search")

    def precedes(value: Any) -> Any:
        """Whether a value stands before the place of x."""
        if target.kind == "c":
            return ~complex_before(x, value) if side == "right" else complex_before(value, x)
        before = np.less_equal(value, x) if side == "right" else np.less(value, x)
        if target.kind != "f":
            return before
        last = np.isnan(x) if side == "right" else np.logical_and(np.isnan(x), ~np.isnan(value))
        return np.logical_or(before, last)

    if not count:
        return own.zeros(x.shape, np.int64)
    if isinstance(count, int) and count <= COMPARED:
        found = precedes(values[0]).astype(np.int64)
        for i in range(1, count):
            found = found + precedes(values[i]).astype(np.int64)
        return found
    place: Any = own.zeros(x.shape, np.int64)
    most = count if isinstance(count, int) else count.max
    for bit in reversed(range(most.bit_length())):
        ahead = place + (1 << bit)
        value = np.take(values, np.minimum(ahead, count) - 1)
        place = np.where(np.logical_and(ahead <= count, precedes(value)), ahead, place)
    return place


@implements(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Bins that are neither ascending nor descending raise where they are constants."""
    points, edges = solid(x), solid(bins)
    if points.dtype.kind == "c":
        raise_here(ArgumentTypeError, "x may not be complex", "complex_order")
    if edges.ndim != 1:
        raise_here(
            ArgumentValueError,
            f"object of too small depth for desired array: bins must be a vector, got shape {edges.shape}",
            "digitize_rank",
        )
    side = "left" if right else "right"
    known = edges.tensor.constant()
    if known is not None:
        if not (np.all(known[1:] >= known[:-1]) or np.all(known[1:] <= known[:-1])):
            raise_here(ArgumentValueError, "bins must be monotonically increasing or decreasing", "digitize_bins")
        descending = len(known) > 1 and known[-1] < known[0]
        return len(known) - sorted_place(edges[::-1], points, side) if descending else sorted_place(edges, points, side)
    count = some_extent(edges, 0, "digitize")
    if isinstance(count, int) and count < 2:
        return sorted_place(edges, points, side)
    is_sorted = np.logical_or(np.all(edges[1:] >= edges[:-1]), np.all(edges[1:] <= edges[:-1]))
    message = "bins must be monotonically increasing or decreasing"
    edges = wrap(demanded(edges.tensor, is_sorted, "digitize_bins", message))
    return np.where(
        edges[-1] < edges[0], count - sorted_place(edges[::-1], points, side), sorted_place(edges, points, side)
    )


@implements(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    points, known, values = solid(x), solid(xp), solid(fp)
    for array in (points, known):
        if array.dtype.kind == "c":
            raise_here(
                ArgumentTypeError,
                f"Cannot cast array data from {array.dtype!r} to dtype('float64') according to the rule 'safe'",
                "cast",
            )
    points, known = points.astype(np.float64), known.astype(np.float64)
    values = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
    if known.ndim != 1 or values.ndim != 1:
        raise_here(
            ArgumentValueError,
            f"data points must be 1-D sequences, got shapes {known.shape} and {values.shape}",
            "interp_rank",
        )
    count = some_extent(known, 0, "interp")
    if not count or not _core.dims_equal(count, values.shape[0]):
        raise_here(
            ArgumentValueError,
            f"fp and xp must have the same length, at least 1, got {values.shape[0]} and {count}",
            "interp_length",
        )
    if period is not None:
        period, left, right = np.abs(solid(period)), None, None
        points, known = points % period, known % period
        order = np.argsort(known)
        known, values = known[order], values[order]
        known = np.concatenate([known[-1:] - period, known, known[:1] + period])
        values = np.concatenate([values[-1:], values, values[:1]])
        count += 2
    require_sorted(known, points)
    low = values[0] if left is None else solid(left).astype(values.dtype)
    high = values[-1] if right is None else solid(right).astype(values.dtype)
    place = sorted_place(known, points, "right") - 1
    if isinstance(count, int) and count == 1:
        return np.where(points < known[0], low, np.where(points > known[0], high, values[0]))
    result = between(points, known, values, place)
    result = np.where(place < 0, low, np.where(points > known[-1], high, result))
    # A single known point stands for NaN too.
    is_nan = np.logical_and(np.isnan(points), np.greater(count, 1))
    return np.where(is_nan, points.astype(values.dtype), result)


def between(points: Any, known: Any, values: Any, place: Any) -> Any:
    """Linear interpolation from the known point at ``place`` to the next, exact at the points themselves."""
    last = known.shape[0] - 1
    j = np.clip(place, 0, last - 1)
    x0, x1, y0, y1 = known[j], known[j + 1], values[j], values[j + 1]

    def line(a: Any, b: Any) -> Any:
        slope = (b - a) / (x1 - x0)
        result = slope * (points - x0) + a
        again = slope * (points - x1) + b
        result = np.where(np.isnan(result), again, result)
        return np.where(np.logical_and(np.isnan(result), a == b), a, result)

    if values.dtype.kind == "c":
        result = line(y0.real, y1.real) + 1j * line(y0.imag, y1.imag)
    else:
        result = line(y0, y1)
    result = np.where(points == x0, y0, result)
    return np.where(place >= last, values[-1], result)


# -- counts --------------------------------------------------------------------------------------------------------


@implements(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    """Counts of 0, 1 … minlength - 1: a run ends in an error where there are other values."""
    values = solid(x)
    length = minlength.__index__()
    if values.ndim != 1:
        raise_here(
            ArgumentValueError,
            f"object too deep for desired array: bincount takes a vector, got shape {values.shape}",
            "bincount_rank",
        )
    if values.dtype.kind not in "iub" or values.dtype == np.uint64:
        raise_here(
            ArgumentTypeError,
            f"Cannot cast array data from {values.dtype!r} to dtype('int64') according to the rule 'safe'",
            "cast",
        )
    known = values.tensor.constant()
    if known is not None and known.size:
        length = max(length, int(known.max()) + 1)
    elif length <= 0 and values.shape[0] != 0:
        raise_here(
            DataDependentError,
            "bincount without minlength gives as many counts as the greatest value has, known only when the program runs; write np.bincount(x, minlength=n) with n above every value",
            "dynamic_result_shape",
        )
    if known is None and values.shape[0] != 0:
        values = below(values, length)
    result = counted(values.astype(np.int64), weights, length)
    if weights is None:
        return result
    if not isinstance(values.shape[0], int):
        require(np.greater(values.shape[0], 0))
    return result.astype(np.int64) if is_empty(values.shape) else result  # of nothing the counts are integers


def below(values: Any, length: int, counts: Any = True) -> TracedArray:
    """The values of which those that count have to lie in [0, length): NumPy's result is longer where they are greater."""
    inside = np.logical_and(values >= 0, values < length)
    if counts is not True:
        inside = np.logical_or(~counts, inside)
    message = f"bincount of a negative number, or of one that is not below minlength = {length}"
    return wrap(demanded(values.tensor, inside, "bincount_value", message))


def counted(places: Any, weights: Any, length: int) -> Any:
    """How often, or with what total weight, each of 0 … length - 1 occurs; places outside are not counted."""
    if weights is None:
        total: Any = own.zeros(length, np.int64)
        new: Any = 1
    else:
        new = np.ravel(solid(weights)).astype(np.float64)
        total = own.zeros(length)
        if new.shape != places.shape:
            raise_here(
                ArgumentValueError,
                f"the weights and list don't have the same length, got {new.shape[0]} and {places.shape[0]}",
                "bincount_weights",
            )
    np.add.at(total, may_be_outside(np.where(places < 0, length, places)), new)
    return total


def outer_edges(a: Any, range_: Any) -> tuple[Any, Any]:
    """The least and the greatest edge of equal bins."""
    if range_ is not None:
        first, last = range_
        if not isinstance(first, TracedArray) and not isinstance(last, TracedArray):
            if first > last or not (np.isfinite(first) and np.isfinite(last)):
                raise_here(
                    ArgumentValueError, f"range must be finite and ascending, got [{first}, {last}]", "histogram_range"
                )
            return (first - 0.5, last + 0.5) if first == last else (first, last)
    elif a.size == 0:
        return 0, 1
    else:
        first, last = np.min(a), np.max(a)
    require(np.logical_and(np.isfinite(first), np.isfinite(last)))
    if range_ is not None:
        require(first <= last)
    same = first == last
    if solid(first).dtype.kind in "iub":
        first, last = solid(first).astype(np.float64), solid(last).astype(np.float64)
    return np.where(same, first - 0.5, first), np.where(same, last + 0.5, last)


def even_edges(ends: tuple[Any, ...], count: int, dtype: Any) -> TracedArray:
    edges: Any = np.linspace(ends[0], ends[1], count, dtype=dtype)
    return solid(edges if isinstance(edges, TracedArray) else frozen(edges))


def histogram_edges(a: Any, bins: Any, range_: Any) -> tuple[Any, Any]:
    """All edges, and for equal bins the outer two and how many."""
    if isinstance(bins, str):
        raise_here(
            DataDependentError,
            f"bins='{bins}' gives as many bins as the values ask for, known only when the program runs; pass a number of bins",
            "dynamic_result_shape",
        )
    if np.ndim(bins) == 1:
        edges = solid(bins)
        known = edges.tensor.constant()
        if known is not None and np.any(known[:-1] > known[1:]):
            raise_here(ArgumentValueError, "`bins` must increase monotonically, when an array", "histogram_bins")
        require(edges[:-1] <= edges[1:])
        return edges, None
    if np.ndim(bins) != 0:
        raise_here(ArgumentValueError, "`bins` must be 1d, when an array", "histogram_bins")
    count = bins.__index__()
    if count < 1:
        raise_here(ArgumentValueError, f"`bins` must be positive, when an integer, got {count}", "histogram_bins")
    ends = outer_edges(a, range_)
    target = np.result_type(*(range_ if range_ is not None else ends), a)
    if target.kind in "iub":
        target = np.result_type(target, float)
    edges = even_edges(ends, count + 1, target)
    require(edges[:-1] < edges[1:])
    if range_ is not None and a.dtype.kind == "f":
        # Values are compared with Python's numbers in their own precision.
        ends = tuple(solid(end).astype(a.dtype) if is_weak(v) else end for v, end in zip(range_, ends, strict=True))
    return edges, (*ends, count)


@implements(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    if weights is not None and tuple(solid(weights).shape) != tuple(solid(a).shape):
        raise_here(ArgumentValueError, "weights should have the same shape as a.", "histogram_weights")
    return histogram_edges(histogram_values(a), bins, range)[0]


def histogram_values(a: Any) -> Any:
    x = np.ravel(solid(a))
    if x.dtype.kind == "c":
        raise_here(UnsupportedError, "histogram of complex numbers cannot be compiled", "complex_order")
    return x.astype(np.uint8) if x.dtype == bool else x


def equal_bin(a: Any, edges: Any, first: Any, last: Any, count: int) -> Any:
    """The bin of each value among equal bins; count where it is in none."""
    inside = np.logical_and(a >= first, a <= last)
    a = a.astype(edges.dtype)
    width = np.subtract(last, first)
    scaled = np.subtract(a, first) / width * count
    place = np.minimum(np.where(inside, scaled, 0).astype(np.int64), count - 1)
    place = place - (a < edges[place]).astype(np.int64)
    place = place + np.logical_and(a >= edges[place + 1], place != count - 1).astype(np.int64)
    return np.where(inside, place, count)


@implements(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The number of bins has to be fixed, not named by a rule; a program that has to be one does not look for NaN."""
    x = histogram_values(a)
    w = None if weights is None else np.ravel(solid(weights))
    if w is not None and w.shape != x.shape:
        raise_here(
            ArgumentValueError,
            f"weights should have the same shape as a, got {w.shape} and {x.shape}",
            "histogram_weights",
        )
    return binned(x, w, *histogram_edges(x, bins, range), density)


def binned(x: Any, w: Any, edges: Any, equal: Any, density: Any, counts: Any = True) -> Any:
    """A histogram of the values that count, of given edges."""
    count = fixed_extent(edges, 0, "histogram") - 1
    if equal is not None:
        place = equal_bin(x, edges, *equal)
    else:
        place = sorted_place(edges, x, "right") - 1
        place = np.where(x == edges[-1], count - 1, place)
    if counts is not True:
        place = np.where(counts, place, count)
    if w is None:
        result = counted(place, None, count)
    elif w.dtype.kind == "c":
        result = (counted(place, w.real, count) + 1j * counted(place, w.imag, count)).astype(w.dtype)
    else:
        result = counted(place, w, count).astype(w.dtype)
    if density:
        result = result / np.diff(edges).astype(np.float64) / np.sum(result)
    return result, edges


@implements(np.histogramdd)
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The numbers of bins have to be fixed; ranges may be of the values."""
    points = [solid(c) for c in sample] if isinstance(sample, (list, tuple)) else list(np.atleast_2d(solid(sample).T))
    if any(c.ndim != 1 or not _core.dims_equal(c.shape[0], points[0].shape[0]) for c in points):
        raise_here(
            ArgumentValueError,
            f"x and y must have the same length: histogramdd of columns {[c.shape for c in points]}",
            "histogram_columns",
        )
    each = list(bins) if isinstance(bins, (list, tuple)) or getattr(bins, "ndim", 0) else [bins] * len(points)
    spans = list(range) if range is not None else [None] * len(points)
    if len(each) != len(points) or len(spans) != len(points):
        raise_here(
            ArgumentValueError,
            f"histogramdd of {len(points)} dimensions got {len(each)} bins and {len(spans)} ranges",
            "histogram_bins",
        )
    all_edges, place, inside = [], 0, True
    for column, wanted, span in zip(points, each, spans, strict=True):
        edges = solid(wanted)
        if edges.ndim == 0:
            ends, count = outer_edges(column, span), integer(wanted, "histogramdd: bins") + 1
            edges = even_edges(ends, count, np.result_type(*(ends if span is None else span), 1.0))
        else:
            require(edges[:-1] <= edges[1:])
        count = fixed_extent(edges, 0, "histogramdd") - 1
        here = sorted_place(edges, column, "right") - (column == edges[-1]).astype(np.int64) - 1
        inside = np.logical_and(inside, np.logical_and(here >= 0, here < count))
        place = place * count + here
        all_edges.append(edges)
    shape = tuple(len(e) - 1 for e in all_edges)
    size = int(np.prod(shape))
    result = np.reshape(counted(np.where(inside, place, size), weights, size).astype(np.float64), shape)
    if density:
        total = np.sum(result)
        for i, edges in enumerate(all_edges):
            result = result / np.reshape(np.diff(edges), tuple(-1 if j == i else 1 for j, _ in enumerate(shape)))
        result = result / total
    return result, all_edges


@implements(np.histogram2d)
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The numbers of bins have to be fixed; ranges may be of the values."""
    several = isinstance(bins, (list, tuple)) or np.ndim(bins) == 1
    each = bins if not several or len(bins) == 2 else [bins, bins] if len(bins) > 2 else bins[0]
    result, (first, second) = histogramdd(
        [x, y], list(each) if several and len(bins) == 2 else each, range, density, weights
    )
    return result, first, second
