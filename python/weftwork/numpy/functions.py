"""Shape, selection and combination: NumPy functions over traced arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from . import linalg, own, reductions, ufuncs  # noqa: F401  they register their functions
from .advanced import as_indices, take_along
from .arguments import (
    axis_number,
    c_int,
    copy_wanted,
    dtype_of,
    extents_of,
    integer,
    items_of,
    near_diagonal,
    order_letter,
    refuse_copy,
    require_cpu,
)
from .dispatch import finish, fitted_operands, implements, operand_of, result_type, type_for_resolution, widened_dtype
from .layout import UNKNOWN, column_major, contiguous, inherit, memory_order, raveled, reshaped, strides_of
from .plain import holds_lazy, lazy
from .tracer import (
    Tensor,
    TracedArray,
    as_tensor,
    convert,
    current_trace,
    python_truth,
    raise_here,
    wrap,
)
from .ufuncs import iota, op

_NoValue = np._NoValue


def traced(a: Any) -> TracedArray:
    return a if isinstance(a, TracedArray) else wrap(as_tensor(a))


def solid(a: Any) -> Any:
    """The argument as an array that promotes as one: NumPy's asarray, also of a Python scalar."""
    return a if isinstance(a, TracedArray) and a.weak is None else wrap(as_tensor(a))


def is_weak(a: Any) -> bool:
    """Whether it is a number of Python's, known or traced."""
    return type(a) in (bool, int, float, complex) or getattr(a, "weak", None) is not None


def one_axis(axis: Any, ndim: int, name: str) -> int:
    return reductions.normalized_axes((axis_number(axis, name),), ndim, name)[0]


def product(extents: Any) -> Any:
    result: Any = 1
    for extent in extents:
        result = result * extent
    return result


def erf(x: Any) -> Any:
    """The error function of each element, of an array or in a traced function.

    >>> import numpy as np, weftwork as wf
    >>> wf.erf(np.array([0.0, np.inf])).tolist()
    [0.0, 1.0]
    """
    if isinstance(x, TracedArray):
        return wrap(op("erf", as_tensor(x, np.float64 if x.dtype.kind in "iub" else None)))
    if holds_lazy([x]):
        return lazy[1](erf, (x,), {})
    array = own.asarray(x)
    if array.dtype.kind in "iub":
        array = array.astype(np.float64)
    return _core.interpret_op("erf", [array])[()]


# -- shape ---------------------------------------------------------------------------------------------------------


@implements(np.reshape)
def reshape(a: Any, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None) -> Any:
    x = traced(a)
    wanted = extents_of(newshape if shape is None else shape)
    order, copy = order_letter(order, allowed="CFA"), copy_wanted(copy)
    if order == "F":
        return transpose(reshape(transpose(x), wanted[::-1], copy=copy))
    if order == "A":
        return reshape(
            x, wanted, "C" if known_order(x, memory_order(x, order)) == list(range(x.ndim)) else "F", copy=copy
        )
    result = x.view_of(_core.reshape(x.tensor, wanted))
    if copy is True:
        return fresh(result.tensor)
    shared = reshaped(x, result)
    if copy is False and shared is not result:
        if shared._storage.twins:
            raise_here(
                UnsupportedError,
                "the layout in memory of this array is not known, which decides whether copy=False raises",
                "order",
            )
        raise_here(ArgumentValueError, "Unable to avoid creating a copy while reshaping.", "copy")
    return shared


def refuse_scalar(x: TracedArray, name: str) -> None:
    """NumPy's error where an attribute of an array is set that a scalar has, too."""
    if x.scalar:
        kind = "numpy.generic" if x.weak is None else x.weak.__name__
        raise AttributeError(f"attribute '{name}' of '{kind}' objects is not writable")


def set_shape(x: TracedArray, shape: Any) -> None:
    """x.shape = shape: the same handle on the same elements, seen in another shape."""
    refuse_scalar(x, "shape")
    trace = current_trace()
    if trace is not None and any(array is x for array in trace.arguments):
        raise_here(
            ArgumentTypeError,
            "the shape of an argument cannot be set, the caller would see it: write x = x.reshape(shape)",
            "set_shape",
        )
    result = reshape(x, shape)
    if result._storage is not x._storage:
        raise_here(
            ArgumentTypeError,
            "incompatible shape for in-place modification: write x = x.reshape(shape), which copies",
            "set_shape",
        )
    x._steps, x._cache, x._version = result._steps, result._cache, result._version


def fresh(tensor: Tensor) -> TracedArray:
    """A value as an array that is in row-major order, whatever it was made of."""
    result = wrap(tensor)
    result._storage.parents = ()
    return result


def known_order(x: TracedArray, axes: list[int] | None) -> list[int]:
    if axes is None:
        return raise_here(
            UnsupportedError, "the layout in memory of this array is not known: write order='C' or 'F'", "order"
        )
    return axes


@implements(np.ravel)
def ravel(a: Any, order: str = "C") -> Any:
    x = in_order(traced(a), order)
    return raveled(x, x.view_of(_core.reshape(x.tensor, (-1,))))


def in_order(x: TracedArray, order: str) -> TracedArray:
    """The array with its axes in the order in which C, F, A or K reads it."""
    order = order_letter(order)
    if order == "C":
        return x
    return transpose(x) if order == "F" else transpose(x, known_order(x, memory_order(x, order)))


def flatten(x: TracedArray, order: str = "C") -> Any:
    """ndarray.flatten: a copy."""
    return fresh(_core.reshape(in_order(x, order).tensor, (-1,)))


@implements(np.transpose, np.permute_dims)
def transpose(a: Any, axes: Any = None) -> Any:
    x = traced(a)
    return x.view_of(
        _core.transpose(
            x.tensor,
            None if axes is None else [axis_number(axis, "transpose") for axis in items_of(axes, "transpose: axes")],
        )
    )


@implements(np.matrix_transpose)
def matrix_transpose(x: Any) -> Any:
    return swapaxes(x, -1, -2)


@implements(np.swapaxes)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    x = traced(a)
    return x.view_of(_core.swapaxes(x.tensor, axis_number(axis1, "swapaxes"), axis_number(axis2, "swapaxes")))


@implements(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    x = traced(a)
    axes = [[axis_number(axis, "moveaxis") for axis in items_of(given, "moveaxis")] for given in (source, destination)]
    return x.view_of(_core.moveaxis(x.tensor, *axes))


@implements(np.rollaxis)
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    ndim = traced(a).ndim
    axis = one_axis(axis, ndim, "rollaxis")
    start = integer(start, "rollaxis: start")
    start = start + ndim if start < 0 else start
    return moveaxis(a, axis, start - 1 if axis < start else start)


@implements(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    x = traced(a)
    return x.view_of(
        _core.expand_dims(
            x.tensor, [integer(i, "expand_dims: axis") for i in (axis if isinstance(axis, (tuple, list)) else (axis,))]
        )
    )


@implements(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    x = traced(a)
    squeezed = _core.squeeze(x.tensor, reductions.reduction_axis(axis, "squeeze", x.ndim))
    return x if len(squeezed.shape) == x.ndim and not x.scalar else x.view_of(squeezed)


def at_least(place: Any) -> Any:
    def function(*arrays: Any) -> Any:
        results = [place(traced(a)) for a in arrays]
        return results[0] if len(results) == 1 else tuple(results)

    return function


atleast_1d = implements(np.atleast_1d)(at_least(lambda x: x if x.ndim else reshape(x, (1,))))
atleast_2d = implements(np.atleast_2d)(
    at_least(lambda x: x if x.ndim >= 2 else reshape(x, (1, *x.shape) if x.ndim else (1, 1)))
)
atleast_3d = implements(np.atleast_3d)(
    at_least(lambda x: x if x.ndim >= 3 else reshape(atleast_2d(x), (*atleast_2d(x).shape, 1)))
)


@implements(np.shape)
def shape(a: Any) -> Any:
    return traced(a).shape


@implements(np.ndim)
def ndim(a: Any) -> int:
    return traced(a).ndim


@implements(np.size)
def size(a: Any, axis: Any = None) -> Any:
    x = traced(a)
    return x.size if axis is None else product(x.shape[i] for i in reductions.normalized_axes(axis, x.ndim, "size"))


@implements(np.copy)
def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    letter = order_letter(order, "K")
    return copied(a, as_tensor(a), letter) if isinstance(a, TracedArray) else wrap(as_tensor(a))


def copied(a: Any, tensor: Tensor, order: str) -> TracedArray:
    """A value made of an array, or of anything else, as a new array that lies in memory in that order."""
    if order == "A" and isinstance(a, TracedArray):
        order = "C" if known_order(a, memory_order(a, "A")) == list(range(a.ndim)) else "F"
    if order == "K" and isinstance(a, TracedArray):
        result = inherit(wrap(tensor), (a,), {}, (a,))
        result._storage.owned = True
        return result
    result = fresh(tensor)
    result._storage.owned = True
    if order == "F":
        result._storage.strides = column_major(result.shape)
    return result


def in_memory_order(x: TracedArray, order: str, copy: bool | None) -> TracedArray:
    """The array itself where it lies in that order, else a copy that does; an error where ``copy`` is False."""
    if order not in ("C", "F"):
        return x
    if copy is False and strides_of(x) is UNKNOWN:
        raise_here(
            UnsupportedError,
            "the layout in memory of this array is not known, which decides whether copy=False raises",
            "order",
        )
    result = contiguous(x, order)
    if result is not x:
        refuse_copy(copy)
    return result


@implements(np.astype)
def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    require_cpu(device)
    return converted(x, dtype, "K", copy)


def converted(x: Any, dtype: Any, order: str, copy: Any) -> Any:
    """ndarray.astype."""
    if isinstance(copy, np._CopyMode):
        raise_here(
            ArgumentValueError, "_CopyMode enum is not allowed for astype function. Use true/false instead.", "copy"
        )
    target = dtype_of(dtype)
    if not copy and isinstance(x, TracedArray) and x.dtype == target:
        return in_memory_order(x, order, None)
    return copied(x, as_tensor(x, target), order)


# -- choosing ------------------------------------------------------------------------------------------------------


@implements(np.where)
def where(condition: Any, x: Any = _NoValue, y: Any = _NoValue, /) -> Any:
    """With three arguments; the indices of true values are as many as the run finds."""
    if x is _NoValue or y is _NoValue:
        return np.nonzero(condition)
    (first, weak), (second, also) = operand_of(x), operand_of(y)
    first, second = fitted_operands((x, y), (first, second))
    chooses = as_tensor(condition)
    result = _core.where(chooses, first, second, weak + 2 * also)
    if result is None:
        target = result_type(x, y)
        result = _core.where(chooses, convert(as_tensor(x), target), convert(as_tensor(y), target))
    return wrap(result)


@implements(np.clip)
def clip(
    a: Any,
    a_min: Any = _NoValue,
    a_max: Any = _NoValue,
    out: Any = None,
    *,
    min: Any = _NoValue,
    max: Any = _NoValue,
    **kwargs: Any,
) -> Any:
    x = solid(a)
    if min is not _NoValue or max is not _NoValue:
        if a_min is not _NoValue or a_max is not _NoValue:
            raise_here(
                ArgumentValueError,
                "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.",
                "clip_bounds",
            )
    elif (a_min is _NoValue) != (a_max is _NoValue):
        raise_here(
            ArgumentTypeError,
            f"clip() missing 1 required positional argument: '{'a_min' if a_min is _NoValue else 'a_max'}'",
            "clip_bounds",
        )
    given = [
        None if v is _NoValue else v for v in (min if a_min is _NoValue else a_min, max if a_max is _NoValue else a_max)
    ]
    if all(bound is None for bound in given):
        return np.positive(x, out=out, **kwargs)
    low, high = (of_64_bits(bound, x.dtype, is_low) for bound, is_low in zip(given, (True, False), strict=True))
    if kwargs:
        x = x if low is None else np.maximum(x, low, **kwargs)
        return delivered(np.clip, x if high is None else np.minimum(x, high, **kwargs), out)
    (least, weak), (most, also) = (operand_of(bound) if bound is not None else (None, False) for bound in (low, high))
    least, most = (
        fitted_operands((bound, x), (own, x.tensor))[0] for bound, own in zip((low, high), (least, most), strict=True)
    )
    result = _core.clip(x.tensor, least, most, weak + 2 * also) if x.dtype.kind != "V" else None
    if result is None:  # NumPy computes types of ml_dtypes in others
        operands = (x, low, high)
        target = widened_dtype(np.clip, [None if v is None else type_for_resolution(v) for v in operands])
        target = target or result_type(*[v for v in operands if v is not None])
        result = _core.clip(*[None if v is None else as_tensor(v, target) for v in operands])
    return delivered(np.clip, wrap(result), out)


def of_64_bits(bound: Any, dtype: np.dtype, is_low: bool) -> Any:
    """For a Python integer of more bits what bounds elements of the dtype alike: None where it does not bound them."""
    if type(bound) is not int or -(2**63) <= bound < 2**64:
        return bound
    if dtype.kind in "iu" and (bound < 0) == is_low:
        return None
    return float(bound) if dtype.kind in "fc" else bound


def delivered(function: Any, result: Any, out: Any, casting: str = "same_kind") -> Any:
    """The result, in ``out`` if that is given; where ``casting`` is "back", elements of ``out`` have to fit the result's dtype."""
    if casting == "back" and out is not None:
        if not np.can_cast(out.dtype, result.dtype, "safe"):
            raise_here(
                ArgumentTypeError,
                f"Cannot cast array data from {out.dtype!r} to {result.dtype!r} according to the rule 'safe'",
                "out_cast",
            )
        casting = "unsafe"
    return result if out is None else finish(function, result.tensor, out, True, casting, exact=True)


@implements(np.select)
def select_(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist) or not condlist:
        raise_here(
            ArgumentValueError,
            f"select needs as many conditions as choices, at least one, got {len(condlist)} and {len(choicelist)}",
            "select_count",
        )
    target = result_type(*choicelist, default)
    if not all(solid(c).dtype == bool for c in condlist):
        raise_here(ArgumentTypeError, "select: conditions should be boolean arrays", "select_condition")
    result: Any = wrap(as_tensor(solid(default), target))
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        chosen = solid(choice)
        if not np.can_cast(chosen.dtype, target, "same_kind"):
            text = f"Cannot cast array data from {chosen.dtype!r} to {target!r} according to the rule 'same_kind'"
            raise_here(ArgumentTypeError, text, "select_cast")
        result = np.where(condition, wrap(as_tensor(chosen, target)), result)
    return result


@implements(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    x = traced(a)
    if axis is None:
        x, axis = ravel(x), 0
    result = take_along(x.tensor, as_tensor(as_indices(indices)), one_axis(axis, x.ndim, "take"), mode)
    return delivered(np.take, wrap(result), out, "back")


@implements(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    x, places = traced(arr), traced(indices)
    if axis is None:
        if places.ndim != 1:
            raise_here(
                ArgumentValueError,
                f"when axis=None, `indices` must have a single dimension, got {places.ndim}",
                "take_along_rank",
            )
        x, axis = ravel(x), 0
    if x.ndim != places.ndim:
        raise_here(
            ArgumentValueError,
            f"`indices` and `arr` must have the same number of dimensions, got {places.ndim} and {x.ndim}",
            "take_along_rank",
        )
    axis = one_axis(axis, x.ndim, "take_along_axis")
    return x[along(x, places, axis)]


def along(x: TracedArray, places: Any, axis: int) -> tuple[Any, ...]:
    """The index of the elements at places along an axis, in their own lines."""
    lines = [
        wrap(_core.reshape(iota(extent), tuple(-1 if j == i else 1 for j in range(x.ndim))))
        for i, extent in enumerate(x.shape)
    ]
    return (*lines[:axis], places, *lines[axis + 1 :])


@implements(np.round, np.around)
def round_(a: Any, decimals: int = 0, out: Any = None) -> Any:
    x, decimals = traced(a), c_int(decimals, "round: decimals")
    if x.dtype == bool and decimals != 0:
        raise_here(
            ArgumentTypeError,
            "round of booleans to decimals: cannot cast float64 to bool with casting rule 'same_kind'",
            "cast",
        )
    if x.dtype.kind == "c":
        result: Any = wrap(op("complex", round_(x.real, decimals).tensor, round_(x.imag, decimals).tensor))
    elif x.dtype.kind in "iu" and decimals >= 0:
        result = copy(x)
    elif decimals == 0:
        result = np.rint(x)
    else:
        step = math.inf if abs(decimals) > 308 else 10.0 ** abs(decimals)
        enter, leave = (np.multiply, np.divide) if decimals > 0 else (np.divide, np.multiply)
        # Each step in the type itself, whatever a Python float would make of it; integers by way of floats.
        own_type = (lambda y: y) if x.dtype.kind in "iu" else (lambda y: y.astype(x.dtype))
        result = leave(own_type(np.rint(own_type(enter(x, step)))), step).astype(x.dtype)
    return delivered(np.round, result, out)


implements(np.fix)(lambda x, out=None: np.trunc(x, out=out))
implements(np.nan_to_num)(
    lambda x, copy=True, nan=0.0, posinf=None, neginf=None: _nan_to_num(
        traced(x), copy_wanted(copy), nan, posinf, neginf
    )
)


def _nan_to_num(x: TracedArray, fresh: bool | None, nan: Any, posinf: Any, neginf: Any) -> Any:
    if x.scalar:
        refuse_copy(fresh)
    elif not fresh and x.dtype.kind not in "fc":
        return x if x.ndim else x[()]
    elif not fresh:
        x[...] = _nan_to_num(x, True, nan, posinf, neginf)
        return x if x.ndim else x[()]
    if x.dtype.kind == "c":
        parts = [_nan_to_num(part, True, nan, posinf, neginf).tensor for part in (x.real, x.imag)]
        return wrap(op("complex", *parts))
    if x.dtype.kind != "f":
        return copy(x)
    info = np.finfo(x.dtype)
    result = np.where(np.isnan(x), x.dtype.type(nan), x)
    result = np.where(np.equal(result, np.inf), x.dtype.type(info.max if posinf is None else posinf), result)
    return np.where(np.equal(result, -np.inf), x.dtype.type(info.min if neginf is None else neginf), result)


def tri_diagonal(k: Any, rows: Any, columns: Any) -> Any:
    """The diagonal of np.tri and its like, which reckon with 64 bits."""
    is_fixed = all(isinstance(n, int) for n in (k, rows, columns))
    if is_fixed and columns and not (k <= 1 << 63 and columns - k < 1 << 63):
        raise_here(ArgumentValueError, f"a diagonal must be given by an integer of 64 bits, got {k}", "integer_range")
    return near_diagonal(k, rows, columns)


def triangle(function: Any, m: Any, k: Any) -> Any:
    tensor = traced(m).tensor
    return wrap(function(tensor, tri_diagonal(k, *(2 * tensor.shape)[-2:]) if tensor.ndim else 0))


implements(np.tril)(lambda m, k=0: triangle(_core.tril, m, k))
implements(np.triu)(lambda m, k=0: triangle(_core.triu, m, k))


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    # A number of Python's takes the precision of the array that it is compared with.
    a, b, rtol, atol = (v if is_weak(v) else solid(v) for v in (a, b, rtol, atol))
    b = b * 1.0 if is_weak(b) else b.astype(np.result_type(b.dtype, 1.0))
    near = np.less_equal(abs(a - b), atol + rtol * abs(b))
    result = np.logical_or(np.logical_and(near, np.isfinite(b)), np.equal(a, b))
    return np.logical_or(result, np.logical_and(np.isnan(a), np.isnan(b))) if equal_nan else result


implements(np.allclose)(
    lambda a, b, rtol=1e-05, atol=1e-08, equal_nan=False: python_truth(np.all(isclose(a, b, rtol, atol, equal_nan)))
)
implements(np.iscomplexobj)(lambda x: traced(x).dtype.kind == "c")
implements(np.isrealobj)(lambda x: traced(x).dtype.kind != "c")
implements(np.result_type)(
    lambda *values: np.result_type(
        *[(v.weak(1) if v.weak else v.dtype) if isinstance(v, TracedArray) else v for v in values]
    )
)


@implements(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    x, y = traced(a1), traced(a2)
    if x.ndim != y.ndim or not all(map(_core.dims_equal, x.shape, y.shape)):
        return False
    same = np.equal(x, y)
    if equal_nan and x.dtype.kind in "fc" and y.dtype.kind in "fc":
        same = np.logical_or(same, np.logical_and(np.isnan(x), np.isnan(y)))
    return python_truth(np.all(same))
