"""Differences, integrals, polynomials, convolutions and special functions of sampled values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError
from . import own
from .arguments import c_int, extents_of
from .dispatch import implements
from .functions import one_axis, solid
from .reductions import normalized_axes
from .tracer import TracedArray, raise_here, wrap
from .ufuncs import op

#: A kernel of at most this many elements is unrolled; a longer one is a sum over windows.
UNROLLED_TAPS = 16


# -- differences and integrals -------------------------------------------------------------------------------------


@implements(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    x = solid(f)
    axes = tuple(i % max(x.ndim, 1) for i in ([*range(x.ndim)] if axis is None else extents_of(axis, "gradient: axis")))
    normalized_axes(None if axis is None else axis, x.ndim, "gradient")
    if x.dtype == bool:
        raise_here(
            ArgumentTypeError,
            "numpy boolean subtract, the `-` operator, is not supported: convert it to numbers",
            "ufunc_types",
        )
    if edge_order not in (1, 2):
        raise_here(ArgumentValueError, f"gradient: edge_order must be 1 or 2, got {edge_order}", "gradient_order")
    spacings = gradient_spacings(x, axes, varargs)
    if x.dtype.kind in "iub":
        x = x.astype(np.float64)
    results = []
    for place, spacing in zip(axes, spacings, strict=True):
        extent = x.shape[place]
        if isinstance(extent, int) and extent < edge_order + 1:
            raise_here(
                ArgumentValueError,
                f"gradient: an axis of {extent} elements is too short, at least {edge_order + 1} are required",
                "gradient_extent",
            )
        results.append(gradient_along(x, place, spacing, edge_order))
    return results[0] if len(results) == 1 else tuple(results)


def gradient_spacings(x: TracedArray, axes: tuple[int, ...], given: tuple) -> list[Any]:
    """For each axis a number, or the distances between neighbours."""
    if not given:
        return [1.0] * len(axes)
    if len(given) == 1 and np.ndim(given[0]) == 0:
        return list(given) * len(axes)
    if len(given) != len(axes):
        raise_here(ArgumentTypeError, f"gradient: {len(given)} spacings for {len(axes)} axes", "gradient_spacing")
    spacings = []
    for place, spacing in zip(axes, given, strict=True):
        if np.ndim(spacing) == 0:
            spacings.append(spacing)
            continue
        points = solid(spacing)
        if points.ndim != 1 or not _core.dims_equal(points.shape[0], x.shape[place]):
            raise_here(
                ArgumentValueError,
                f"gradient: distances must be a vector of {x.shape[place]} elements, got shape {points.shape}",
                "gradient_spacing",
            )
        spacings.append(np.diff(points.astype(np.float64) if points.dtype.kind in "iu" else points))
    return spacings


def gradient_along(x: Any, place: int, spacing: Any, edge_order: int) -> Any:
    """Second-order differences inside, differences of ``edge_order`` at both ends."""
    before = (slice(None),) * place

    def at(start: int | None, stop: int | None) -> Any:
        return x[(*before, slice(start, stop))]

    uniform = np.ndim(spacing) == 0
    if uniform:
        inner = (at(2, None) - at(None, -2)) / (2.0 * spacing)
        first_step = last_step = spacing
    else:
        left, right = spacing[:-1], spacing[1:]
        shape = tuple(-1 if i == place else 1 for i in range(x.ndim))
        a, b, c = (
            np.reshape(v, shape)
            for v in (
                -right / (left * (left + right)),
                (right - left) / (left * right),
                left / (right * (left + right)),
            )
        )
        inner = a * at(None, -2) + b * at(1, -1) + c * at(2, None)
        first_step, last_step = spacing[0], spacing[-1]
    if edge_order == 1:
        first, last = (at(1, 2) - at(0, 1)) / first_step, (at(-1, None) - at(-2, -1)) / last_step
    else:
        a, b, c = edge_weights(first_step, first_step if uniform else spacing[1])
        first = a * at(0, 1) + b * at(1, 2) + c * at(2, 3)
        c, b, a = (-w for w in edge_weights(last_step, last_step if uniform else spacing[-2]))
        last = a * at(-3, -2) + b * at(-2, -1) + c * at(-1, None)
    return np.concatenate([part.astype(x.dtype) for part in (first, inner, last)], place)


def edge_weights(near: Any, far: Any) -> tuple[Any, Any, Any]:
    """Weights of the three elements at an edge, outermost first, for its two distances."""
    return (-(2.0 * near + far) / (near * (near + far)), (near + far) / (near * far), -near / (far * (near + far)))


@implements(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    x = np.ravel(solid(ary))
    parts = []
    for name, given in (("to_begin", to_begin), ("", None), ("to_end", to_end)):
        if not name:
            parts.append(np.subtract(x[1:], x[:-1]))
        elif given is not None:
            edge = np.ravel(solid(given))
            if not np.can_cast(edge.dtype, x.dtype, "same_kind"):
                raise_here(
                    ArgumentTypeError,
                    f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule, got {edge.dtype}",
                    "cast",
                )
            parts.append(edge.astype(x.dtype))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


@implements(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    values = solid(y)
    place = one_axis(axis, values.ndim, "trapezoid")
    step: Any = dx
    if x is not None:
        points = solid(x)
        step = np.diff(points, axis=-1 if points.ndim == 1 else axis)
        if points.ndim == 1:
            step = np.reshape(step, tuple(-1 if i == place else 1 for i in range(values.ndim)))
    before = (slice(None),) * place
    return np.sum(step * (values[(*before, slice(1, None))] + values[(*before, slice(None, -1))]) / 2.0, axis)


# -- convolutions --------------------------------------------------------------------------------------------------


def signals(a: Any, v: Any, name: str) -> tuple[Any, Any]:
    lhs, rhs = np.atleast_1d(solid(a)), np.atleast_1d(solid(v))
    for array in (lhs, rhs):
        if array.ndim != 1 or not isinstance(array.shape[0], int):
            raise_here(
                ArgumentValueError,
                f"{name}: arguments must be vectors of fixed extent, got shape {array.shape}",
                "convolve_rank",
            )
        if array.shape[0] == 0:
            raise_here(ArgumentValueError, f"{name}: an argument cannot be empty", "convolve_empty")
    target = np.result_type(lhs.dtype, rhs.dtype)
    return lhs.astype(target), rhs.astype(target)


def sliding_products(x: Any, kernel: Any, mode: str) -> Any:
    """sum_j x[k + j] * kernel[j] for every k where they overlap as ``mode`` says; the kernel is not the longer."""
    count = kernel.shape[0]
    around = {"valid": (0, 0), "same": (count // 2, count - 1 - count // 2), "full": (count - 1, count - 1)}.get(mode)
    if around is None:
        return raise_here(ArgumentValueError, f"mode must be 'valid', 'same' or 'full', got {mode!r}", "convolve_mode")
    extent, low = x.shape[0], around[0]
    length = extent + sum(around) - count + 1
    if count <= UNROLLED_TAPS:
        # Products are padded, not elements: zero times infinity is NaN.
        zero = own.zeros((), x.dtype).tensor
        result: Any = None
        for j in range(count):
            edges = {
                "edge_padding_low": [low - j],
                "edge_padding_high": [length - extent - low + j],
                "interior_padding": [0],
            }
            shifted = wrap(op("pad", (x * kernel[j]).tensor, zero, **edges))
            result = shifted if result is None else np.add(result, shifted)
        return result
    inside = overlaps(np.lib.stride_tricks.sliding_window_view(x, count) * kernel)
    if mode == "valid":
        return inside
    # Beyond the ends of x there is nothing to multiply: zero times infinity is NaN.
    before, after = partly(x[:count], kernel, -low, low), partly(x[extent - count :], kernel, 1, around[1])
    return np.concatenate([before, inside, after])


def overlaps(products: Any) -> Any:
    return np.any(products, axis=1) if products.dtype == bool else np.sum(products, axis=1, dtype=products.dtype)


def partly(x: Any, kernel: Any, begin: int, length: int) -> Any:
    """The sums of ``length`` places from ``begin`` on, of the elements of x that are there."""
    count = x.shape[0]
    places = own.arange(length)[:, None] + own.arange(kernel.shape[0])[None, :] + begin
    is_there = np.logical_and(places >= 0, places < count)
    products = np.where(is_there, x[np.clip(places, 0, count - 1)] * kernel, own.zeros((), x.dtype))
    return overlaps(products)


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    lhs, rhs = signals(a, v, "convolve")
    if rhs.shape[0] > lhs.shape[0]:
        lhs, rhs = rhs, lhs
    return sliding_products(lhs, rhs[::-1], mode)


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    if not np.ndim(a) or not np.ndim(v):
        raise_here(
            ArgumentValueError, "object of too small depth for desired array: correlate of no vector", "convolve_rank"
        )
    lhs, rhs = signals(a, v, "correlate")
    if rhs.shape[0] > lhs.shape[0]:
        return sliding_products(rhs.conj(), lhs, mode)[::-1]
    return sliding_products(lhs, rhs.conj(), mode)


# -- special functions ---------------------------------------------------------------------------------------------


@implements(np.sinc)
def sinc(x: Any) -> Any:
    y = np.pi * solid(x)
    y = np.where(np.not_equal(y, 0), y, y.dtype.type(np.finfo(y.dtype).eps if y.dtype.kind == "f" else 1e-20))
    return np.sin(y) / y


@implements(np.i0)
def i0(x: Any) -> Any:
    """The modified Bessel function of order 0, by NumPy's Chebyshev series."""
    from numpy.lib import _function_base_impl as series

    y = solid(x)
    if y.dtype.kind == "c":
        raise_here(ArgumentTypeError, "i0 not supported for complex values", "i0_complex")
    y = np.abs(y if y.dtype.kind == "f" else y.astype(np.float64))

    def chebyshev(t: Any, weights: list[float]) -> Any:
        b0, b1, b2 = weights[0], 0.0, 0.0
        for weight in weights[1:]:
            b2, b1 = b1, b0
            b0 = t * b1 - b2 + weight
        return 0.5 * (b0 - b2)

    near = np.exp(y) * chebyshev(y / 2.0 - 2, series._i0A)
    far = np.exp(y) * chebyshev(32.0 / y - 2.0, series._i0B) / np.sqrt(y)
    return np.where(y <= 8.0, near, far).astype(y.dtype)


# -- polynomials ---------------------------------------------------------------------------------------------------


@implements(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    if isinstance(x, np.poly1d):
        raise_here(ArgumentTypeError, "polyval of a poly1d cannot be compiled: pass an array of points", "poly1d")
    factors, points = solid(p), solid(x)
    if not factors.ndim:
        raise_here(ArgumentValueError, "polyval: the coefficients are a 0-d array", "poly_rank")
    result: Any = own.zeros_like(points)
    for i in range(len(factors)):
        result = result * points + factors[i]
    return result


def poly_combine(a1: Any, a2: Any, combine: Any) -> Any:
    lhs, rhs = np.atleast_1d(solid(a1)), np.atleast_1d(solid(a2))
    missing = len(rhs) - len(lhs)
    if missing > 0:
        lhs = np.concatenate([own.zeros(missing, lhs.dtype), lhs])
    elif missing < 0:
        rhs = np.concatenate([own.zeros(-missing, rhs.dtype), rhs])
    return combine(lhs, rhs)


implements(np.polyadd)(lambda a1, a2: poly_combine(a1, a2, np.add))
implements(np.polysub)(lambda a1, a2: poly_combine(a1, a2, np.subtract))


@implements(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    if m < 0:
        raise_here(ArgumentValueError, "order of derivative must be positive (see polyint)", "poly_order")
    x = solid(p)
    # NumPy takes one derivative more than asked for, and its errors are those of that one, too.
    for left in range(m, -1, -1):
        derived = x[:-1] * own.arange(len(x) - 1, 0, -1)
        x = derived if left else x
    return x


@implements(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    if m < 0:
        raise_here(ArgumentValueError, "order of integral must be positive (see polyder)", "poly_order")
    x = solid(p)
    constants = np.atleast_1d(solid(own.zeros(m) if k is None else k))
    if len(constants) == 1 and m > 1:
        constants = constants[0] * own.ones(m)
    if len(constants) < m:
        raise_here(
            ArgumentValueError,
            f"k must be a scalar or a vector of length 1 or >= {m}, got {len(constants)}",
            "poly_constants",
        )
    for i in range(m):
        x = np.concatenate([x / own.arange(len(x), 0, -1), constants[i : i + 1]])
    return x


#: So many columns of np.vander are written out, each for itself.
MOST_COLUMNS = 256


@implements(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    points = solid(x)
    if points.ndim != 1:
        raise_here(
            ArgumentValueError,
            f"x must be a one-dimensional array or sequence, got shape {points.shape}",
            "vander_rank",
        )
    count = len(points) if N is None else c_int(N, "vander: N", 64)
    points = points.astype(np.promote_types(points.dtype, int))
    if count < 0:
        raise_here(
            ArgumentValueError, f"negative dimensions are not allowed: vander of {count} columns", "negative_extent"
        )
    if count == 0:
        return own.zeros((points.shape[0], 0), points.dtype)
    if count > MOST_COLUMNS:
        powers = np.cumprod(np.broadcast_to(points[:, None], (points.shape[0], count - 1)), axis=1)
        powers = np.concatenate([own.ones_like(points)[:, None], powers], axis=1)
        return powers if increasing else powers[:, ::-1]
    columns: list[Any] = [own.ones_like(points)]
    for i in range(1, count):
        columns.append(points if i == 1 else columns[-1] * points)
    return np.stack(columns if increasing else columns[::-1], 1)
