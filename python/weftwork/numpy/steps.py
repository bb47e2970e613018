"""Steps of views, done on arrays of NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .indexing import Reshape, Slice, Transpose
from .tracer import TracedArray
from .views import Broadcast, Part

__all__ = ["view_of", "whole_of"]


def view_of(step: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """The same step on an array of NumPy's; None where NumPy has no such view, or its place is a value."""
    if isinstance(step, Slice) and not any(isinstance(part, _core.Dim) for part in (*step.starts, *step.counts)):
        index = tuple(slice_of(*part) for part in zip(step.starts, step.counts, step.steps, strict=True))
        return lambda array: array[index]
    if isinstance(step, Reshape) and all(isinstance(extent, int) for extent in step.after):
        return lambda array: array.reshape(step.after)
    if isinstance(step, Transpose):
        return lambda array: array.transpose(step.permutation)
    if isinstance(step, Broadcast) and all(isinstance(extent, int) for extent in step.shape):
        return lambda array: np.broadcast_to(array, step.shape)
    if isinstance(step, Part):
        return lambda array: getattr(array, step.name)
    return None


def slice_of(start: int, count: int, step: int) -> slice:
    end = start + count * step
    return slice(start, start, 1) if not count else slice(start, end if end >= 0 else None, step)


def whole_of(array: TracedArray) -> TracedArray:
    """The array that a view is of."""
    if not array._steps:
        return array
    whole = TracedArray.__new__(TracedArray)
    whole._storage, whole._steps, whole._cache = array._storage, (), array._storage.tensor
    whole._version, whole.weak, whole.scalar = array._storage.version, None, False
    return whole
