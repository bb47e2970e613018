"""Medians, percentiles and quantiles, and the same of what is not NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError
from . import own
from .dispatch import implements
from .functions import delivered, solid
from .reductions import normalized_axes, require_out_of
from .selection import fixed_extent, some_extent
from .sorting import argsort, sort
from .statistics import fitted_weights
from .tracer import TracedArray, frozen, raise_here, untraced, wrap
from .validity import demanded

_NoValue = np._NoValue


def between_places(alpha: float, beta: float) -> Callable[[Any, Any], Any]:
    """The place of a quantile by Hyndman and Fan (1996): from 0, with a fraction."""
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def rounded(place: Any, down: Callable[[Any, Any], Any]) -> Any:
    """The place before where ``down`` of the fraction and the place holds, else the one after."""
    previous = np.floor(place)
    result = np.where(down(place - previous, place), previous, previous + 1).astype(np.int64)
    return np.maximum(result, 0)


#: Method → the place of quantile q among n ordered values.
PLACES: dict[str, Callable[[Any, Any], Any]] = {
    "inverted_cdf": lambda n, q: rounded(n * q - 1, lambda rest, place: rest == 0),
    "averaged_inverted_cdf": lambda n, q: n * q - 1,
    "closest_observation": lambda n, q: rounded(
        n * q - 1 - 0.5, lambda rest, place: np.logical_and(rest == 0, np.floor(place) % 2 == 1)
    ),
    "interpolated_inverted_cdf": between_places(0, 1),
    "hazen": between_places(0.5, 0.5),
    "weibull": between_places(0, 0),
    "linear": lambda n, q: (n - 1) * q,
    "median_unbiased": between_places(1 / 3.0, 1 / 3.0),
    "normal_unbiased": between_places(3 / 8.0, 3 / 8.0),
    "lower": lambda n, q: np.floor((n - 1) * q).astype(np.int64),
    "higher": lambda n, q: np.ceil((n - 1) * q).astype(np.int64),
    "midpoint": lambda n, q: 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q)),
    "nearest": lambda n, q: np.round((n - 1) * q).astype(np.int64),
}
#: Methods that take one of the values.
DISCRETE = frozenset(["inverted_cdf", "closest_observation", "lower", "higher", "nearest"])


def lines_first(x: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """The reduced axes as one, in front, and which they were."""
    axes = normalized_axes(axis, x.ndim, "quantile")
    kept = [i for i in range(x.ndim) if i not in axes]
    if len(axes) == 1:
        return np.moveaxis(x, axes[0], 0), axes
    moved = np.transpose(x, (*axes, *kept))
    return np.reshape(moved, (-1, *(x.shape[i] for i in kept))), axes


def finished(result: Any, x: Any, axes: tuple[int, ...], leading: int, keepdims: Any, out: Any) -> Any:
    """Honours keepdims and out; the first ``leading`` dimensions are those of q."""
    require_out_of(result.dtype, out, "a quantile")
    if keepdims is not _NoValue and keepdims:
        result = np.expand_dims(result, tuple(leading + axis for axis in axes))
    return delivered(np.median, result, out, "unsafe")


def fraction(method: str, place: Any, previous: Any) -> Any:
    """How far the quantile is from the value before to the value after."""
    rest = place - previous
    if method == "averaged_inverted_cdf":
        rest = np.where(rest == 0, 0.5, 1.0)
    elif method == "midpoint":
        rest = np.where(place % 1 == 0, 0.0, 0.5)
    return rest.astype(place.dtype)


def neighbours(place: Any, last: Any) -> tuple[Any, Any, Any]:
    """The places before and after, and the place before as the fraction is measured from."""
    previous = np.floor(place)
    above, below = place >= last, place < 0
    before = np.where(below, 0, np.where(above, last, previous)).astype(np.int64)
    after = np.where(below, 0, np.where(above, last, previous + 1)).astype(np.int64)
    return before, after, np.where(below, 0, np.where(above, -1, previous))


def line_between(a: Any, b: Any, t: Any) -> Any:
    """a + (b - a) t, reckoned from the nearer end."""
    step = b - a
    first = a + step * t
    return np.where(t >= 0.5, (b - step * (1 - t)).astype(first.dtype), first)


def of_sorted(values: Any, q: Any, method: str, weak: bool) -> Any:
    """Quantiles of sorted lines along axis 0, all of whose elements count: q's dimensions, then the lines'."""
    count = fixed_extent(values, 0, "a quantile")
    rest = (1,) * (values.ndim - 1)

    def taken(places: Any) -> Any:
        if not isinstance(places, np.ndarray) or not 0 < places.size <= 16:
            return np.take(values, places, axis=0)
        # Slices: the compiler finds what stands at a few places without sorting all.
        rows = [values[place] for place in places.ravel().tolist()]
        return np.reshape(np.stack(rows), (*places.shape, *values.shape[1:]))

    known = isinstance(q, np.ndarray)
    with untraced() if known else np.errstate():
        place = PLACES[method](count, q)
        place = place if isinstance(place, TracedArray) else own.asarray(place)
        whole = method in DISCRETE or (method == "linear" and place.dtype.kind in "iu")
        if not whole:
            before, after, start = neighbours(place, count - 1)
            t: Any = np.reshape(fraction(method, place, start), (*place.shape, *rest))
    if whole:
        return taken(place)
    if weak:
        t = float(t.ravel()[0]) if known else wrap_weak(t)
    elif known:
        t = solid(frozen(t))
    return line_between(taken(before), taken(after), t)


def wrap_weak(t: Any) -> Any:
    """A traced number that promotes as a Python float does."""
    return TracedArray(np.reshape(t, ()).astype(np.float64).tensor, float)


def of_counted(values: Any, counts: Any, q: Any, method: str, weak: bool) -> Any:
    """The same where only the first ``counts`` (of the lines' shape) elements of each line count; NaN of none."""
    q = solid(q)
    wide = np.reshape(q, (*q.shape, *(1,) * (values.ndim - 1)))
    number = counts.astype(wide.dtype if wide.dtype.kind == "f" else np.int64)
    place = PLACES[method](number, wide)
    place = np.broadcast_to(place, (*q.shape, *counts.shape))

    def taken(places: Any) -> Any:
        flat = np.reshape(np.broadcast_to(places, place.shape), (-1, *counts.shape))
        return np.reshape(np.take_along_axis(values, np.clip(flat, 0, values.shape[0] - 1), axis=0), place.shape)

    if method in DISCRETE or (method == "linear" and place.dtype.kind in "iu"):
        result = taken(place)
    else:
        before, after, start = neighbours(place, number - 1)
        low, high = taken(before), taken(after)
        t = fraction(method, place, start)
        result = line_between(low, high, t.astype(low.dtype) if weak and low.dtype.kind == "f" else t)
    return np.where(counts == 0, result.dtype.type(np.nan), result) if values.dtype.kind == "f" else result


def checked_q(q: Any, scale: int) -> tuple[Any, bool]:
    """q from 0 to 1, as an ndarray where it is known, and whether it promotes as a Python number."""
    weak = type(q) in (int, float) or (isinstance(q, TracedArray) and q.weak is float)
    if isinstance(q, TracedArray):
        known = q.tensor.constant()
        q = solid(q) if known is None else known
    with untraced() if not isinstance(q, TracedArray) else np.errstate():
        result = own.asarray(q) if not isinstance(q, TracedArray) else q
        if scale != 1:
            result = np.true_divide(result, scale)
            result = result if isinstance(result, TracedArray) else own.asarray(result)
        what = "Percentiles must be in the range [0, 100]" if scale != 1 else "Quantiles must be in the range [0, 1]"
        if isinstance(result, np.ndarray) and not (np.all(result >= 0) and np.all(result <= 1)):
            raise_here(ArgumentValueError, what, "quantile_range")
    if isinstance(result, TracedArray):
        inside = np.logical_and(result >= 0, result <= 1)
        result = wrap(demanded(result.tensor, inside, "quantile_range", what))
    else:
        result = frozen(result)
    if result.ndim > 2:
        raise_here(ArgumentValueError, "q must be a scalar or 1d", "quantile_rank")
    return result, weak


def weighted(x: Any, values: Any, order: Any, w: Any, axes: tuple[int, ...], q: Any) -> Any:
    """The first value at which the weights so far reach each quantile: values are sorted lines, order how."""
    fitted = np.broadcast_to(fitted_weights(solid(w), x, axes if len(axes) > 1 else axes[0]), x.shape)
    lines, _ = lines_first(fitted, axes)
    total = np.cumsum(np.take_along_axis(lines, order, axis=0), axis=0, dtype=np.float64)
    total = total / total[-1]
    q = solid(q)
    if q.dtype.kind == "f":
        total = total.astype(q.dtype)
    total = np.where(total == 0, own.full((), -1, total.dtype), total)
    wide = np.reshape(q, (*q.shape, *(1,) * values.ndim))
    place = np.minimum(np.sum(np.less(total, wide), axis=q.ndim), values.shape[0] - 1)
    flat = np.reshape(place, (-1, *values.shape[1:]))
    return np.reshape(np.take_along_axis(values, flat, axis=0), place.shape)


def quantiles(
    a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: Any, weights: Any, scale: int, pass_nan: bool
) -> Any:
    x = solid(a)
    if x.dtype.kind == "c":
        raise_here(ArgumentTypeError, "a must be an array of real numbers", "complex_order")
    if method not in PLACES:
        raise_here(
            ArgumentValueError, f"{method!r} is not a valid method. Use one of: {', '.join(PLACES)}", "quantile_method"
        )
    if weights is not None and method != "inverted_cdf":
        raise_here(
            ArgumentValueError, f"Only method 'inverted_cdf' supports weights. Got: {method}.", "quantile_weights"
        )
    q, weak = checked_q(q, scale)
    if pass_nan and isinstance(x.size, int) and not x.size:
        return np.nanmean(x, axis, out=out, keepdims=keepdims)
    lines, axes = lines_first(x, axis)
    if not some_extent(lines, 0, "a quantile"):
        raise_here(ArgumentValueError, "a quantile of no elements is not defined", "empty_reduction")
    floats = x.dtype.kind == "f"
    if weights is not None:
        result = of_weights(x, lines, axes, weights, q, pass_nan)
    elif pass_nan and floats:
        result = of_counted(sort(lines, 0), np.sum(~np.isnan(lines), axis=0), q, method, weak)
    else:
        values = sort(lines, 0)
        if isinstance(values.shape[0], int):
            result = of_sorted(values, q, method, weak)
        else:
            result = of_counted(values, np.sum(np.ones_like(lines, dtype=np.int64), axis=0), q, method, weak)
        if floats:
            result = np.where(np.isnan(values[-1]), values[-1].astype(result.dtype), result)
    if pass_nan and q.ndim == 2 and 1 < len(axes) < x.ndim:
        # Over several axes NumPy moves one dimension of q to the front and leaves the other at the end.
        result = np.moveaxis(np.moveaxis(result, (0, 1), (-2, -1)), (-1, 0), (0, 1))
    return finished(result, x, axes, q.ndim, keepdims, out)


def of_weights(x: Any, lines: Any, axes: tuple[int, ...], weights: Any, q: Any, pass_nan: bool) -> Any:
    w = solid(weights)
    if pass_nan and x.dtype.kind == "f":
        fitted = np.broadcast_to(fitted_weights(w, x, axes if len(axes) > 1 else axes[0]), x.shape)
        w = np.where(np.isnan(x), own.zeros((), fitted.dtype), fitted)
    order = argsort(lines, 0)
    values = np.take_along_axis(lines, order, axis=0)
    result = weighted(x, values, order, w, axes, q)
    if x.dtype.kind != "f":
        return result
    missing = np.all(np.isnan(lines), axis=0) if pass_nan else np.isnan(values[-1])
    return np.where(missing, values[-1], result)


@implements(np.percentile)
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """A run ends in an error where a ``q`` that it computes is not from 0 to 100."""
    return quantiles(a, q, axis, out, method, keepdims, weights, 100, False)


@implements(np.quantile)
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """A run ends in an error where a ``q`` that it computes is not from 0 to 1."""
    return quantiles(a, q, axis, out, method, keepdims, weights, 1, False)


@implements(np.nanpercentile)
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = _NoValue,
    *,
    weights: Any = None,
) -> Any:
    """A run ends in an error where a ``q`` that it computes is not from 0 to 100."""
    return quantiles(a, q, axis, out, method, keepdims, weights, 100, True)


@implements(np.nanquantile)
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = _NoValue,
    *,
    weights: Any = None,
) -> Any:
    """A run ends in an error where a ``q`` that it computes is not from 0 to 1."""
    return quantiles(a, q, axis, out, method, keepdims, weights, 1, True)


@implements(np.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    x = solid(a)
    lines, axes = lines_first(x, axis)
    values = sort(lines, 0)
    count = some_extent(values, 0, "the median")
    result = np.mean(values[(count - 1) // 2 if count else 0 : count // 2 + 1], axis=0)
    if count and x.dtype.kind in "fc":
        result = np.where(np.isnan(values[-1]), values[-1].astype(result.dtype), result)
    return finished(result, x, axes, 0, keepdims, out)


@implements(np.nanmedian)
def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = _NoValue
) -> Any:
    x = solid(a)
    if x.dtype.kind not in "fc" or (isinstance(x.size, int) and not x.size):
        given = {} if keepdims is _NoValue else {"keepdims": keepdims}
        return np.nanmean(x, axis, out=out, **given) if not x.size else median(x, axis, out, **given)
    lines, axes = lines_first(x, axis)
    values = sort(lines, 0)
    count = np.sum(~np.isnan(values), axis=0)

    def at(places: Any) -> Any:
        return np.take_along_axis(values, np.maximum(places, 0)[None], axis=0)[0]

    low, high = at((count - 1) // 2), at(count // 2)
    result = np.where(count % 2 == 1, low, np.mean(np.stack([low, high]), axis=0))
    result = np.where(count == 0, result.dtype.type(np.nan), result)
    return finished(result, x, axes, 0, keepdims, out)
