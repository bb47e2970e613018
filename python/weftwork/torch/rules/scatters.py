"""Values put in places, and combined with what is there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ...numpy.tracer import wrap
from ..dtypes import widened
from ..table import Want, cast, rule
from .creation import filled
from .indexing import grid, inside, integers_only, places
from .pointwise import may_have_elements, real_only
from .shapes import at, reshaped, sliced


def put(x: Any, where: tuple[Any, ...], values: Any) -> Any:
    made = x.copy()
    made[where] = values
    return wrap(made.tensor)


def combined(ufunc: Any, x: Any, where: tuple[Any, ...], values: Any) -> Any:
    """Elements combined with all values of their places; short floats in float32."""
    wide = widened(x.dtype)
    made = cast(x, wide).copy()
    ufunc.at(made, where, cast(values, wide))
    return cast(wrap(made.tensor), x.dtype)


def is_index_put(x: Any, indices: Any, values: Any, accumulate: bool = False) -> bool:
    """Integers, or one value where a mask holds."""
    masks = [i for i in indices if i is not None]
    is_masked = len(masks) == 1 and masks[0].dtype == torch.bool and not accumulate
    return integers_only(x, indices) or (is_masked and all(isinstance(e, int) and e == 1 for e in values.shape))


@rule("index_put", "_unsafe_index_put", accepts=is_index_put)
def index_put(want: Want, x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    for axis, index in enumerate(indices):
        if index is not None and index.dtype.kind == "b":
            mask = reshaped(index, (*index.shape, *(1,) * (x.ndim - axis - index.ndim)))
            return np.where(mask, cast(reshaped(values, ()), want.dtype), x)
    where, values = places(x, indices), cast(values, want.dtype)
    return combined(np.add, x, where, values) if accumulate else put(x, where, values)


def lines(x: Any, dim: int, index: Any, source: Any = None) -> tuple[Any, tuple[Any, ...], Any]:
    """The array with an axis, places of the index's shape in it, and as much of the source."""
    if not x.ndim:
        x = reshaped(x, (1,))
    if not index.ndim:
        index = reshaped(index, (1,))
    where = grid(index, at(dim, x.ndim))
    if source is None or not hasattr(source, "ndim"):
        return x, where, source
    if not source.ndim:
        source = reshaped(source, (1,))
    for axis, extent in enumerate(index.shape):
        if source.shape[axis] is not extent:
            source = sliced(source, axis, 0, extent)
    return x, where, source


def is_filled(x: Any, dim: int, index: Any, *rest: Any, **kwargs: Any) -> bool:
    return may_have_elements(index, x)


@rule("scatter.src", "scatter.value", accepts=is_filled)
def scatter(want: Want, x: Any, dim: int, index: Any, source: Any) -> Any:
    line, where, source = lines(x, dim, index, source)
    return reshaped(put(line, where, cast(source, want.dtype)), want.shape)


@rule("scatter_add", accepts=is_filled)
def scatter_add(want: Want, x: Any, dim: int, index: Any, source: Any) -> Any:
    line, where, source = lines(x, dim, index, source)
    return reshaped(combined(np.add, line, where, source), want.shape)


COMBINE = {
    "sum": np.add,
    "add": np.add,
    "prod": np.multiply,
    "multiply": np.multiply,
    "amax": np.maximum,
    "amin": np.minimum,
}


def identity(dtype: Any, reduce: str) -> Any:
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind in "fV":
        return -math.inf if reduce == "amax" else math.inf
    if dtype.kind == "b":
        return reduce == "amin"
    return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max


def is_reducible(x: Any, dim: int, index: Any, source: Any, reduce: str, **kwargs: Any) -> bool:
    return is_filled(x, dim, index) and real_only(x) and x.dtype != torch.bool and reduce in (*COMBINE, "mean")


@rule("scatter_reduce.two", accepts=is_reducible)
def scatter_reduce(
    want: Want, x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    return reduced_into(want, *lines(x, dim, index, source), reduce, include_self)


@rule("scatter.reduce", "scatter.value_reduce", accepts=is_reducible)
def scatter_combined(want: Want, x: Any, dim: int, index: Any, source: Any, *, reduce: str) -> Any:
    return reduced_into(want, *lines(x, dim, index, source), reduce, True)


def reduced_into(want: Want, line: Any, where: tuple[Any, ...], source: Any, reduce: str, include_self: bool) -> Any:
    """Elements reduced with those of the source that have their places, with or without what they were."""
    if not include_self:
        line = put(line, where, cast(identity(want.dtype, reduce), want.dtype))
    result = combined(COMBINE.get(reduce, np.add), line, where, source)
    if reduce == "mean":
        counts = np.broadcast_to(cast(1, np.float32), line.shape)
        if not include_self:
            counts = put(counts, where, cast(0, np.float32))
        counts = combined(np.add, counts, where, cast(1, np.float32))
        divide = np.true_divide if want.dtype.kind in "fV" else np.floor_divide
        result = cast(divide(result, cast(np.maximum(counts, 1), want.dtype)), want.dtype)
    return reshaped(result, want.shape)


def along(x: Any, dim: int, index: Any, source: Any) -> tuple[Any, tuple[Any, ...], Any]:
    """The array with an axis, places along it, and a source with one."""
    x, index, source = (v if v.ndim else reshaped(v, (1,)) for v in (x, index, source))
    axis = at(dim, x.ndim)
    return x, (*(slice(None),) * axis, inside(index, axis)), source


@rule("index_add")
def index_add(want: Want, x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    line, where, source = along(x, dim, index, cast(source, want.dtype))
    source = source if alpha == 1 else source * cast(alpha, want.dtype)
    return reshaped(combined(np.add, line, where, source), want.shape)


@rule("index_copy")
def index_copy(want: Want, x: Any, dim: int, index: Any, source: Any) -> Any:
    return reshaped(put(*along(x, dim, index, source)), want.shape)


@rule("index_fill.int_Scalar", "index_fill.int_Tensor")
def index_fill(want: Want, x: Any, dim: int, index: Any, value: Any) -> Any:
    line = x if x.ndim else reshaped(x, (1,))
    where = (*(slice(None),) * at(dim, line.ndim), cast(index, np.int64))
    return reshaped(put(line, where, cast(value, want.dtype)), want.shape)


@rule("embedding_dense_backward", accepts=lambda grad, indices, count, padding, by_count: not by_count)
def embedding_backward(want: Want, gradient: Any, indices: Any, count: Any, padding: int, by_count: bool) -> Any:
    if padding >= 0:
        gradient = np.where((indices != padding)[..., None], gradient, cast(0, gradient.dtype))
    return combined(np.add, filled(want, 0), (cast(indices, np.int64),), gradient)
