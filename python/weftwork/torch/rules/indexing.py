"""Elements by their places: gathers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _core
from ...numpy.tracer import wrap
from ..table import Want, cast, rule
from .creation import iota
from .shapes import at, reshaped


def integers_only(x: Any, indices: Any, *rest: Any, **kwargs: Any) -> bool:
    """Masks give as many elements as they hold, which only torch can say."""
    return all(i is None or i.dtype.itemsize > 1 for i in indices)


def places(x: Any, indices: Any) -> tuple[Any, ...]:
    """An index of torch as one of NumPy: None takes a whole axis."""
    return tuple(slice(None) if i is None else cast(i, np.int64) for i in indices)


@rule("index.Tensor", "_unsafe_index.Tensor", accepts=integers_only)
def index(want: Want, x: Any, indices: Any) -> Any:
    return wrap(x[places(x, indices)].tensor)


def inside(index: Any, axis: int) -> Any:
    """An index of operations that do not count from the end: the program raises where one is negative."""
    message = f"an index is negative, and so out of bounds for axis {axis}"
    attrs = {"limit_indices": [2**63 - 1], "label": "index_bounds", "message": message}
    return wrap(_core.apply("check_range", [cast(index, np.int64).tensor], attrs))


@rule("index_select")
def index_select(want: Want, x: Any, dim: int, index: Any) -> Any:
    if not x.ndim:
        x = reshaped(x, (1,))
    axis = at(dim, x.ndim)
    return reshaped(np.take(x, inside(index, axis), axis=axis), want.shape)


def grid(index: Any, axis: int) -> tuple[Any, ...]:
    """Places of elements that lie where the index says along an axis, and where they are along the others."""
    return tuple(inside(index, axis) if d == axis else iota(index.shape, d) for d in range(index.ndim))


@rule("gather")
def gather(want: Want, x: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    if not x.ndim or not index.ndim:
        line = x if x.ndim else reshaped(x, (1,))
        return reshaped(np.take(line, inside(index, 0), axis=0), want.shape)
    return wrap(x[grid(index, at(dim, x.ndim))].tensor)


@rule("take")
def take(want: Want, x: Any, index: Any) -> Any:
    return np.take(x, index)


@rule("embedding")
def embedding(want: Want, weight: Any, indices: Any, *rest: Any, **kwargs: Any) -> Any:
    return np.take(weight, inside(indices, 0), axis=0)
