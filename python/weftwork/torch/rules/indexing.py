"""Elements by their places: gathers."""

from __future__ import annotations

from typing import Any

import numpy as np

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


@rule("index_select")
def index_select(want: Want, x: Any, dim: int, index: Any) -> Any:
    if not x.ndim:
        return reshaped(np.take(reshaped(x, (1,)), cast(index, np.int64), axis=0), want.shape)
    return np.take(x, index if index.ndim else reshaped(index, (1,)), axis=at(dim, x.ndim))


def grid(index: Any, axis: int) -> tuple[Any, ...]:
    """Places of elements that lie where the index says along an axis, and where they are along the others."""
    return tuple(cast(index, np.int64) if d == axis else iota(index.shape, d) for d in range(index.ndim))


@rule("gather")
def gather(want: Want, x: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    if not x.ndim or not index.ndim:
        line = x if x.ndim else reshaped(x, (1,))
        return reshaped(np.take(line, cast(index, np.int64), axis=0), want.shape)
    return wrap(x[grid(index, at(dim, x.ndim))].tensor)


@rule("take")
def take(want: Want, x: Any, index: Any) -> Any:
    return np.take(x, index)


@rule("embedding")
def embedding(want: Want, weight: Any, indices: Any, *rest: Any, **kwargs: Any) -> Any:
    return np.take(weight, indices, axis=0)
