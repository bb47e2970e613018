"""ufunc.reduce, outer and at; accumulate and reduceat are in scans."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from . import reductions, scans, statistics
from .advanced import put_indexed
from .dispatch import broadcast_to, finish, resolved, written
from .indexing import expand_ellipsis, is_basic
from .masked import Selected, run_time_mask
from .positions import indexed_by, scattered
from .tracer import Tensor, as_tensor, convert, raise_here, wrap
from .ufuncs import scalar, select, truth

REDUCERS = {
    "add": reductions.sum,
    "multiply": reductions.prod,
    "maximum": reductions.max,
    "minimum": reductions.min,
    "fmax": statistics.nanmax,
    "fmin": statistics.nanmin,
    "logical_or": reductions.any_,
    "logical_and": reductions.all_,
}
#: ufunc → (body of a reduction or scatter, its identity) where that is another op than NumPy's name for it.
BODIES = {
    "add": "add",
    "multiply": "multiply",
    "maximum": "maximum",
    "minimum": "minimum",
    "bitwise_and": "and",
    "bitwise_or": "or",
    "bitwise_xor": "xor",
}
BIT_IDENTITY = {"bitwise_and": -1, "bitwise_or": 0, "bitwise_xor": 0}
#: Applied element after element along an axis of at most UNROLLED. Others NumPy itself does not reduce in one order.
IN_ORDER = frozenset(["subtract", "divide", "hypot", "logaddexp", "logaddexp2", "gcd", "lcm"])
UNROLLED = 64


def unsupported(ufunc: np.ufunc, method: str) -> Any:
    return raise_here(UnsupportedError, f"numpy.{ufunc.__name__}.{method} cannot be compiled", "unsupported_function")


def reduce(
    ufunc: np.ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    out = out[0] if isinstance(out, tuple) else out
    reducer = REDUCERS.get(ufunc.__name__)
    if dtype is not None:
        scans.require_loop(ufunc, as_tensor(array), dtype)
    if reducer is None:
        x = as_tensor(array, dtype)
        axes = reductions.normalized_axes(axis, x.ndim, ufunc.__name__)
        result = folded(ufunc, x, axes, initial, where, "b" if out is None else out.dtype.kind)
        kept = tuple(1 if i in axes else e for i, e in enumerate(x.shape))
        shape = kept if reductions.keep(keepdims) else tuple(e for i, e in enumerate(x.shape) if i not in axes)
        return finish(ufunc, _core.apply("reshape", [result], {"dims": shape}), out, True, "same_kind", exact=True)
    given: dict[str, Any] = {"keepdims": keepdims, "where": where}
    if ufunc.__name__ in ("add", "multiply"):
        given["dtype"] = dtype
    elif dtype is not None:
        array = wrap(as_tensor(array, dtype))
    if not ufunc.__name__.startswith("logical"):
        given["initial"] = initial
    elif initial is not np._NoValue:
        return raise_here(
            UnsupportedError,
            f"{ufunc.__name__}.reduce with initial= cannot be compiled: combine it with the result",
            "reduce_initial",
        )
    return reducer(array, axis=axis, out=out, **given)


def folded(ufunc: np.ufunc, x: Tensor, axes: tuple[int, ...], initial: Any, where: Any, out_kind: str) -> Tensor:
    """The reduction by a ufunc that is no reduction of its own; dims may have extent 1 in the place of the axes."""
    name = ufunc.__name__
    if name in BIT_IDENTITY:
        return bits_folded(ufunc, x, axes, initial, where, out_kind)
    if name == "logical_xor":
        count = np.count_nonzero(wrap(masked(truth(x), where, False)), axis=axes)
        return truth(((count + (0 if initial is np._NoValue else bool(initial))) & 1).tensor)
    if name not in IN_ORDER:
        return unsupported(ufunc, "reduce")
    if where is not True or len(axes) != 1:
        return unsupported(
            ufunc, f"reduce over axes {axes} with where=" if where is not True else f"reduce over axes {axes}"
        )
    try:
        kind = resolved(ufunc, (x.dtype, x.dtype), None, "same_kind")
    except TypeError as error:
        return raise_here(ArgumentTypeError, f"{name}.reduce: no loop for {x.dtype}: {error}", "ufunc_types")
    if kind[2] != kind[0]:
        return unsupported(ufunc, "reduce")
    extent = x.shape[axes[0]]
    if not isinstance(extent, int) or extent > UNROLLED:
        raise_here(
            UnsupportedError,
            f"numpy.{name}.reduce over {extent} elements cannot be compiled (at most {UNROLLED})",
            "unsupported_function",
        )
    parts = [wrap(convert(x, kind[0]))[(*(slice(None),) * axes[0], i)] for i in range(extent)]
    if initial is not np._NoValue and initial is not None:
        parts.insert(0, wrap(as_tensor(initial, kind[0])))
    elif ufunc.identity is None and not parts:
        raise_here(
            ArgumentValueError,
            f"zero-size array to reduction operation {name} which has no identity",
            "empty_reduction",
        )
    elif not parts:
        shape = tuple(e for i, e in enumerate(x.shape) if i not in axes)
        return broadcast_to(scalar(ufunc.identity, kind[0]), shape)
    result = parts[0]
    for part in parts[1:]:
        result = ufunc(result, part)
    return result.tensor


def masked(x: Tensor, where: Any, identity: Any) -> Tensor:
    """The identity where ``where`` does not hold."""
    if where is True or where is np._NoValue:
        return x
    return select(as_tensor(where, np.dtype(bool)), x, scalar(identity, x))


def bits_folded(ufunc: np.ufunc, x: Tensor, axes: tuple[int, ...], initial: Any, where: Any, out_kind: str) -> Tensor:
    if x.dtype.kind not in "iub" or out_kind not in "iub":
        raise_here(ArgumentTypeError, f"ufunc '{ufunc.__name__}' not supported for {x.dtype}", "ufunc_types")
    identity = BIT_IDENTITY[ufunc.__name__]
    operands = [masked(x, where, identity), scalar(identity, x)]
    result = _core.apply_with_body("reduce", BODIES[ufunc.__name__], operands, {"dimensions": axes})
    return (
        result
        if initial is np._NoValue or initial is None
        else ufunc(wrap(result), wrap(as_tensor(initial, x.dtype))).tensor
    )


def outer(ufunc: np.ufunc, lhs: Any, rhs: Any, **kwargs: Any) -> Any:
    left, right = wrap(as_tensor(lhs)), wrap(as_tensor(rhs))
    return ufunc(np.reshape(left, (*left.shape, *(1,) * right.ndim)), right, **kwargs)


def at(ufunc: np.ufunc, array: Any, indices: Any, values: Any = None) -> None:
    array = written(array, f"{ufunc.__name__}.at")
    items = expand_ellipsis(indices, array.ndim)
    items, now = scattered(array, items) if indexed_by(items) else (items, None)
    if run_time_mask(items) is not None:
        array[indices] = ufunc(array[indices], *([] if ufunc.nin == 1 else [values]))
        return
    if now is None and isinstance(values, Selected):
        values.refuse(f"{ufunc.__name__}.at with it")
    if ufunc.nin == 1 and not all(is_basic(item) or getattr(item, "dtype", None) == bool for item in items):
        unsupported(
            ufunc, "at of index arrays, which may name an element twice: x[index] = f(x[index]) where they do not; .at"
        )
    elif ufunc.nin == 1 or all(is_basic(item) for item in items):
        array[indices] = ufunc(array[indices], *([] if ufunc.nin == 1 else [wrap(as_tensor(values))]))
    elif ufunc.__name__ in BODIES:
        given = as_tensor(values if now is None else now.aligned(values))
        known = given.constant()
        exact = (
            known is not None
            and np.array_equal(known, known.astype(array.dtype).astype(known.dtype))
            and array.dtype.kind in "fc"
        )
        common = np.result_type(array.dtype, given.dtype)  # of uint64 and int64 that is float64
        wraps = exact or (array.dtype.kind in "iu" and common.kind in "iu" and ufunc.__name__ in ("add", "multiply"))
        if not wraps and common != array.dtype:
            unsupported(ufunc, f"at of {given.dtype} values in a {array.dtype} array")
        value = convert(given, array.dtype)
        if now is not None:
            value = broadcast_to(value, now.value.shape)
        array.write(put_indexed(array.tensor, items, value, BODIES[ufunc.__name__]))
    elif ufunc.__name__ == "subtract":
        at(np.add, array, indices, np.negative(values))
    else:
        unsupported(ufunc, "at")


METHODS = {"reduce": reduce, "accumulate": scans.accumulate, "reduceat": scans.reduceat, "outer": outer, "at": at}
