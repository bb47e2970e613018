"""Running totals: cumsum and its kin, ufunc.accumulate and ufunc.reduceat, unwrap."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, OutOfBoundsError, UnsupportedError
from . import own
from .dispatch import finish, implements, resolved
from .functions import one_axis, solid
from .reductions import lowest
from .selection import fixed_extent, known_value
from .statistics import without_nan
from .tracer import Tensor, TracedArray, as_tensor, convert, raise_here, wrap
from .ufuncs import op, truth

#: ufunc → the op that runs along an axis.
RUNNING = {
    "add": "cumulative_sum",
    "multiply": "cumulative_prod",
    "maximum": "cumulative_max",
    "minimum": "cumulative_min",
}
#: ufunc → (body of a window, what it leaves unchanged).
BITS = {"bitwise_and": ("and", -1), "bitwise_or": ("or", 0), "bitwise_xor": ("xor", 0)}
#: Up to this many steps of a ufunc that is none of these are written out one after the other.
UNROLLED = 64


def run_along(ufunc: np.ufunc, x: Tensor, axis: int) -> Tensor:
    """ufunc.accumulate of a tensor of the loop's dtype."""
    name = ufunc.__name__
    if name in RUNNING and x.dtype.kind == "b":
        name = {"add": "logical_or", "multiply": "logical_and", "maximum": "logical_or", "minimum": "logical_and"}[name]
    if name in RUNNING:
        if x.dtype.kind == "c" and name in ("maximum", "minimum"):
            raise_here(ArgumentTypeError, f"{name} of {x.dtype} cannot be compiled", "complex_order")
        return op(RUNNING[name], x, axis=axis)
    if name in BITS:
        body, identity = BITS[name]
        return windowed(body, x, identity, axis)
    if name in ("logical_or", "logical_and", "logical_xor"):
        body, identity = {"logical_or": ("or", 0), "logical_and": ("and", 1), "logical_xor": ("xor", 0)}[name]
        return windowed(body, truth(x), identity, axis)
    if name in ("fmax", "fmin"):
        return nan_passing(name, x, axis)
    extent = fixed_extent(x, axis, f"{name}.accumulate")
    if name == "subtract" and x.dtype.kind != "b" and extent:
        # a - b is a + (-b) to the last bit.
        array = wrap(x)
        before = (slice(None),) * axis
        terms = np.concatenate([array[(*before, slice(0, 1))], np.negative(array[(*before, slice(1, None))])], axis)
        return op("cumulative_sum", terms.tensor, axis=axis)
    return written_out(ufunc, x, axis, extent)


def windowed(body: str, x: Tensor, identity: int, axis: int) -> Tensor:
    extent = x.shape[axis] if isinstance(x.shape[axis], int) else x.shape[axis].max
    if not extent:
        return x
    window = [extent if i == axis else 1 for i in range(x.ndim)]
    padding = [extent - 1 if i == 2 * axis else 0 for i in range(2 * x.ndim)]
    start = _core.constant(own.array(identity, np.int8).astype(x.dtype))
    return _core.apply_with_body("reduce_window", body, [x, start], {"window_dimensions": window, "padding": padding})


def nan_passing(name: str, x: Tensor, axis: int) -> Tensor:
    """fmax and fmin: NaN only as long as all so far are."""
    running = "cumulative_max" if name == "fmax" else "cumulative_min"
    if x.dtype.kind != "f":
        return op(running, x, axis=axis)
    array = wrap(x)
    missing = np.isnan(array)
    known = np.where(missing, array.dtype.type(lowest(x.dtype, name == "fmin")), array)
    best = wrap(op(running, known.tensor, axis=axis))
    return np.where(wrap(windowed("and", missing.tensor, 1, axis)), array.dtype.type(np.nan), best).tensor


def written_out(ufunc: np.ufunc, x: Tensor, axis: int, extent: int) -> Tensor:
    if ufunc.nin != 2 or ufunc.nout != 1 or ufunc.signature is not None:
        raise_here(
            ArgumentValueError,
            f"accumulate is only supported for binary functions, not {ufunc.__name__}",
            "accumulate_ufunc",
        )
    if extent > UNROLLED:
        raise_here(
            UnsupportedError,
            f"numpy.{ufunc.__name__}.accumulate over {extent} elements cannot be compiled (at most {UNROLLED})",
            "unsupported_function",
        )
    array = wrap(x)
    results: list[Any] = []
    for i in range(extent):
        part = array[(*(slice(None),) * axis, i)]
        results.append(ufunc(results[-1], part) if results else part)
    return np.stack(results, axis).tensor if results else x


def require_loop(ufunc: np.ufunc, x: Tensor, dtype: Any) -> None:
    """Raises where the ufunc does not reduce in that dtype."""
    try:
        ufunc.resolve_dtypes(
            (None, x.dtype, None), signature=(np.dtype(dtype), None, None), casting="unsafe", reduction=True
        )
    except TypeError as error:
        raise_here(ArgumentTypeError, f"{ufunc.__name__}: no loop for {np.dtype(dtype)}: {error}", "ufunc_types")


def loop_dtype(ufunc: np.ufunc, x: Tensor, dtype: Any) -> np.dtype:
    """The dtype in which NumPy accumulates."""
    if dtype is not None:
        require_loop(ufunc, x, dtype)
        return np.dtype(dtype)
    if ufunc.__name__ in ("add", "multiply"):
        return _core.total_type(x.dtype)
    if ufunc.__name__.startswith("logical"):
        return np.dtype(bool)
    try:
        kinds = resolved(ufunc, (x.dtype, x.dtype), None, "same_kind")
    except (TypeError, ValueError) as error:
        return raise_here(
            ArgumentTypeError, f"{ufunc.__name__}.accumulate: no loop for {x.dtype}: {error}", "ufunc_types"
        )
    if kinds[2] != kinds[0]:
        raise_here(
            UnsupportedError,
            f"numpy.{ufunc.__name__}.accumulate of {x.dtype} cannot be compiled",
            "unsupported_function",
        )
    return kinds[0]


def accumulate(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """ufunc.accumulate."""
    out = out[0] if isinstance(out, tuple) else out
    x = as_tensor(array)
    if not x.ndim:
        raise_here(ArgumentTypeError, "cannot accumulate on a scalar", "accumulate_rank")
    axis = one_axis(axis, x.ndim, f"{ufunc.__name__}.accumulate")
    if dtype is None and isinstance(out, TracedArray):
        dtype = out.dtype
    kind = loop_dtype(ufunc, x, dtype)
    x = truth(x) if kind == bool else convert(x, kind)
    return finish(ufunc, run_along(ufunc, x, axis), out, True, "same_kind", exact=True)


def reduceat(ufunc: np.ufunc, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """ufunc.reduceat; the indices have to be known while tracing."""
    out = out[0] if isinstance(out, tuple) else out
    x = solid(array)
    places = known_value(indices, "reduceat", "its indices decide about shapes: make them constants")
    if places.ndim != 1:
        raise_here(
            ArgumentValueError, f"reduceat: indices must be one line, got shape {places.shape}", "reduceat_index"
        )
    axis = one_axis(axis, x.ndim, f"{ufunc.__name__}.reduceat")
    extent = fixed_extent(x, axis, "reduceat")
    x = x.astype(loop_dtype(ufunc, x.tensor, dtype))
    parts = []
    for i, start in enumerate(places.tolist()):
        if not 0 <= start < extent:
            raise_here(
                OutOfBoundsError,
                f"index {start} out-of-bounds in {ufunc.__name__}.reduceat [0, {extent})",
                "reduceat_index",
            )
        end = int(places[i + 1]) if i + 1 < len(places) else extent
        line = x[(*(slice(None),) * axis, slice(start, max(end, start + 1)))]
        parts.append(line if end <= start + 1 else ufunc.reduce(line, axis=axis, keepdims=True))
    empty = x[(*(slice(None),) * axis, slice(0, 0))]
    result = np.concatenate(parts, axis) if parts else empty
    return finish(ufunc, solid(result).tensor, out, True, "same_kind")


def along(a: Any, axis: Any, name: str) -> tuple[Any, int]:
    """The array and axis of cumsum: of no axis, all elements in one line."""
    x = solid(a)
    if axis is None:
        return np.ravel(x), 0
    return x, one_axis(axis, x.ndim, name)


def cumulated(ufunc: np.ufunc, name: str, a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    x, axis = along(a, axis, name)
    return accumulate(ufunc, x if x.ndim else np.reshape(x, (1,)), axis, dtype, out)


@implements(np.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return cumulated(np.add, "cumsum", a, axis, dtype, out)


@implements(np.cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return cumulated(np.multiply, "cumprod", a, axis, dtype, out)


@implements(np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return cumsum(without_nan(a, 0)[0], axis, dtype, out)


@implements(np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return cumprod(without_nan(a, 1)[0], axis, dtype, out)


def cumulative(
    ufunc: np.ufunc, name: str, start: int, x: Any, axis: Any, dtype: Any, out: Any, include_initial: bool
) -> Any:
    a = solid(x)
    if not a.ndim:
        a = np.reshape(a, (1,))
    if axis is None:
        if a.ndim >= 2:
            raise_here(
                ArgumentValueError,
                "For arrays which have more than one dimension ``axis`` argument is required.",
                "cumulative_axis",
            )
        axis = 0
    axis = one_axis(axis, a.ndim, name)
    if not include_initial:
        return accumulate(ufunc, a, axis, dtype, out)
    if isinstance(out, TracedArray):
        before = (slice(None),) * axis
        accumulate(ufunc, a, axis, dtype, out[(*before, slice(1, None))])
        out[(*before, 0)] = start
        return out
    result = accumulate(ufunc, a, axis, dtype)
    first = own.full(tuple(1 if i == axis else e for i, e in enumerate(a.shape)), start, result.dtype)
    return np.concatenate([first, result], axis)


@implements(np.cumulative_sum)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    return cumulative(np.add, "cumulative_sum", 0, x, axis, dtype, out, include_initial)


@implements(np.cumulative_prod)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    return cumulative(np.multiply, "cumulative_prod", 1, x, axis, dtype, out, include_initial)


@implements(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 6.283185307179586) -> Any:
    x = solid(p)
    axis = one_axis(axis, x.ndim, "unwrap")
    steps = np.diff(x, axis=axis)
    discont = period / 2 if discont is None else discont
    is_weak = not isinstance(period, TracedArray) or period.weak is not None
    kind = (period.weak if isinstance(period, TracedArray) else type(period))(1) if is_weak else period.dtype
    target = np.result_type(steps.dtype, kind)
    if target.kind in "iu":
        high, rest = divmod(period, 2)
        ambiguous = rest == 0
    else:
        high, ambiguous = period / 2, True
    low = -high
    folded = np.mod(steps - low, period) + low
    if ambiguous:
        folded = np.where(np.logical_and(folded == low, steps > 0), solid(high).astype(folded.dtype), folded)
    correction = folded - steps
    correction = np.where(np.abs(steps) < discont, own.zeros((), correction.dtype), correction)
    before = (slice(None),) * axis
    rest_of = x[(*before, slice(1, None))] + np.cumsum(correction, axis)
    return np.concatenate([x[(*before, slice(0, 1))].astype(target), rest_of.astype(target)], axis)
