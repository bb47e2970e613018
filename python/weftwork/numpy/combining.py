"""Products of grids and blocks, and functions applied slice by slice."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from . import own
from .arguments import extents_of
from .dispatch import implements, written
from .functions import one_axis, product, solid, traced
from .tracer import TracedArray, python_truth, raise_here

#: apply_along_axis traces the function once for every slice; more than this many make too large a program.
SLICES = 4096


@implements(np.cross)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    lhs, rhs = solid(a), solid(b)
    if not lhs.ndim or not rhs.ndim:
        raise_here(ArgumentValueError, "cross: at least one array has zero dimension", "cross_rank")
    lhs = np.moveaxis(lhs, one_axis(axisa, lhs.ndim, "axisa"), -1)
    rhs = np.moveaxis(rhs, one_axis(axisb, rhs.ndim, "axisb"), -1)
    if lhs.shape[-1] not in (2, 3) or rhs.shape[-1] not in (2, 3):
        raise_here(
            ArgumentValueError,
            f"cross: incompatible vectors of {lhs.shape[-1]} and {rhs.shape[-1]} elements (must be 2 or 3)",
            "cross_extent",
        )
    target = np.promote_types(lhs.dtype, rhs.dtype)
    x = [lhs[..., i].astype(target) for i in range(lhs.shape[-1])]
    y = [rhs[..., i].astype(target) for i in range(rhs.shape[-1])]
    last = x[0] * y[1] - x[1] * y[0]
    if len(x) == 2 and len(y) == 2:
        return last
    if len(x) == 2:
        parts = [x[1] * y[2], -(x[0] * y[2])]
    elif len(y) == 2:
        parts = [-(x[2] * y[1]), x[2] * y[0]]
    else:
        parts = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2]]
    return np.moveaxis(np.stack([*parts, last], -1), -1, axisc)


@implements(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    lhs, rhs = solid(x1), solid(x2)
    if lhs.shape[axis] != 3 or rhs.shape[axis] != 3:
        raise_here(
            ArgumentValueError,
            f"both input arrays must be (arrays of) 3-dimensional vectors, but they are {lhs.shape[axis]} and {rhs.shape[axis]} dimensional instead",
            "cross_extent",
        )
    return cross(lhs, rhs, axis=axis)


@implements(np.kron)
def kron(a: Any, b: Any) -> Any:
    x, y = solid(a), solid(b)
    ndim = builtins.max(x.ndim, y.ndim)
    if not x.ndim or not y.ndim:
        return np.multiply(np.reshape(x, (*(1,) * (ndim - x.ndim), *x.shape)), y)
    x = np.reshape(x, (*(1,) * (ndim - x.ndim), *x.shape))
    y = np.reshape(y, (*(1,) * (ndim - y.ndim), *y.shape))
    if 0 in (*x.shape, *y.shape):
        return own.zeros(tuple(m * n for m, n in zip(x.shape, y.shape, strict=True)), np.result_type(x.dtype, y.dtype))
    left = np.reshape(x, tuple(v for e in x.shape for v in (e, 1)))
    right = np.reshape(y, tuple(v for e in y.shape for v in (1, e)))
    return np.reshape(np.multiply(left, right), tuple(m * n for m, n in zip(x.shape, y.shape, strict=True)))


@implements(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if indexing not in ("xy", "ij"):
        raise_here(
            ArgumentValueError, f"valid values for `indexing` are 'xy' and 'ij', got {indexing!r}", "meshgrid_indexing"
        )
    order = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        order[:2] = [1, 0]
    grids = [np.reshape(solid(x), tuple(-1 if order[j] == i else 1 for j in range(len(xi)))) for i, x in enumerate(xi)]
    if not sparse:
        grids = list(np.broadcast_arrays(*grids)) if grids else []
    return tuple(np.copy(g) for g in grids) if copy else tuple(grids)


@implements(np.ix_)
def ix_(*args: Any) -> Any:
    results = []
    for k, new in enumerate(args):
        x = solid(own.asarray(new, np.intp) if isinstance(new, (list, tuple)) and not new else new)
        if x.ndim != 1:
            raise_here(ArgumentValueError, f"cross index must be 1 dimensional, got shape {x.shape}", "ix_rank")
        if x.dtype == bool:
            known = x._need_value("ix_ of a mask", "pass index arrays")
            x = solid(np.flatnonzero(known))
        results.append(np.reshape(x, tuple(-1 if i == k else 1 for i in range(len(args)))))
    return tuple(results)


@implements(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    if axis is None:
        return np.concatenate([np.ravel(solid(arr)), np.ravel(solid(values))])
    return np.concatenate([solid(arr), solid(values)], axis)


@implements(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    x = np.ravel(solid(a))
    shape = extents_of(new_shape)
    if builtins.any(isinstance(e, int) and e < 0 for e in shape):
        raise_here(ArgumentValueError, f"all elements of `new_shape` must be non-negative, got {shape}", "resize_shape")
    size, given = product(shape), x.shape[0]
    if not isinstance(size, int) or not isinstance(given, int):
        raise_here(UnsupportedError, "resize needs fixed extents", "symbolic_extent")
    if not size or not given:
        return own.zeros(shape, x.dtype)
    return np.reshape(np.tile(x, -(-size // given))[:size], shape)


@implements(np.block)
def block(arrays: Any) -> Any:
    def depth(value: Any) -> int:
        if isinstance(value, tuple):
            raise_here(ArgumentTypeError, "block: arrays must be nested in lists, not tuples", "block_tuple")
        if not isinstance(value, list):
            return 0
        if not value:
            raise_here(ArgumentValueError, "block: a list is empty", "block_empty")
        depths = {depth(v) for v in value}
        if len(depths) != 1:
            raise_here(
                ArgumentValueError, f"block: list depths are mismatched, got depths {sorted(depths)}", "block_depth"
            )
        return depths.pop() + 1

    def leaves(value: Any) -> list[Any]:
        return [leaf for v in value for leaf in leaves(v)] if isinstance(value, list) else [value]

    levels = depth(arrays)
    ndim = builtins.max(levels, *[solid(leaf).ndim for leaf in leaves(arrays)])

    def joined(value: Any, level: int) -> Any:
        if isinstance(value, list):
            return np.concatenate([joined(v, level - 1) for v in value], -level)
        x = solid(value)
        return np.reshape(x, (*(1,) * (ndim - x.ndim), *x.shape))

    return np.copy(joined(arrays, levels))


@implements(np.row_stack) if hasattr(np, "row_stack") else (lambda f: f)
def row_stack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return np.vstack(tup, dtype=dtype, casting=casting)  # type: ignore[call-overload]


@implements(np.unstack)
def unstack(x: Any, /, *, axis: int = 0) -> Any:
    array: Any = traced(x)
    if not array.ndim:
        raise_here(ArgumentValueError, "input array must be at least 1-d", "unstack_rank")
    return tuple(np.moveaxis(array, axis, 0))


@implements(np.apply_along_axis)
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """The function is traced once for each slice, of which there may be 4096."""
    x = solid(arr)
    axis = one_axis(axis, x.ndim, "apply_along_axis")
    lines = np.moveaxis(x, axis, -1)
    outer = lines.shape[:-1]
    count = product(outer)
    if not isinstance(count, int) or count > SLICES:
        raise_here(
            UnsupportedError,
            f"apply_along_axis over {count} slices would be too large a program (at most {SLICES}): write it over the whole array",
            "apply_slices",
        )
    if not count:
        raise_here(ArgumentValueError, "cannot apply_along_axis when any iteration dimensions are 0", "apply_empty")
    results = [solid(func1d(lines[index], *args, **kwargs)) for index in np.ndindex(*outer)]
    first = results[0]
    whole = np.reshape(np.stack([r.astype(first.dtype) for r in results]), (*outer, *first.shape))
    inner = list(range(len(outer), whole.ndim))
    return np.transpose(whole, [*range(axis), *inner, *range(axis, len(outer))])


@implements(np.apply_over_axes)
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    x = solid(a)
    for axis in axes if isinstance(axes, (tuple, list, np.ndarray)) else (axes,):
        place = axis + x.ndim if axis < 0 else axis
        result = func(x, place)
        if result.ndim != x.ndim:
            result = np.expand_dims(result, place)
        if result.ndim != x.ndim:
            raise_here(ArgumentValueError, "function is not returning an array of the correct shape", "apply_shape")
        x = result
    return x


def condition_list(condlist: Any, ndim: int) -> list[TracedArray]:
    """The conditions of np.piecewise: a list of them, the rows of an array, or one alone."""
    if isinstance(condlist, (list, tuple)):
        alone = ndim and not isinstance(condlist[0], list) and not np.ndim(condlist[0])
        return [solid(condlist)] if alone else [solid(c) for c in condlist]
    array = solid(condlist)
    return [array] if not array.ndim or (array.ndim == 1 and ndim) else list(array)


@implements(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Values only: a function gets the elements of its piece, as many as the condition has true values."""
    points = solid(x)
    if builtins.any(callable(f) for f in funclist):
        raise_here(
            UnsupportedError,
            "piecewise calls its functions with as many elements as a condition has true values, known only when the program runs; write np.select([condition], [f(x)], default)",
            "dynamic_result_shape",
        )
    conditions = [c.astype(bool) for c in condition_list(condlist, points.ndim)]
    if len(funclist) == len(conditions) + 1:
        either = conditions[0]
        for c in conditions[1:]:
            either = either | c
        conditions.append(~either)
    if len(funclist) != len(conditions):
        raise_here(
            ArgumentValueError,
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are expected",
            "piecewise_count",
        )
    result = own.zeros_like(points)
    for condition, value in zip(conditions, funclist, strict=True):
        result[condition] = value
    return result


@implements(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    target = written(dst, "copyto")
    source = solid(own.asarray(src, target.dtype) if isinstance(src, int) and target.dtype != bool else src)
    if not np.can_cast(source.dtype, target.dtype, casting):
        raise_here(
            ArgumentTypeError,
            f"cannot cast array data from {source.dtype!r} to {target.dtype!r} according to the rule '{casting}'",
            "cast",
        )
    new = np.broadcast_to(source.astype(target.dtype), target.shape)
    if where is not True:
        new = np.where(where, new, target)
        if not builtins.all(map(_core.dims_equal, new.shape, target.shape)):
            raise_here(ArgumentValueError, f"could not broadcast where mask into shape {target.shape}", "broadcast_to")
    target[...] = new


@implements(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Any:
    x, y = solid(a1), solid(a2)
    fits = builtins.all(
        _core.dims_equal(m, n) or _core.dims_equal(m, 1) or _core.dims_equal(n, 1)
        for m, n in zip(reversed(x.shape), reversed(y.shape), strict=False)
    )
    return python_truth(np.all(np.equal(x, y))) if fits else False
