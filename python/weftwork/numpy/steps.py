"""Steps of views, done on arrays of NumPy's."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .tracer import Storage, TracedArray
from .views import Bits, Diagonal, Fixed

__all__ = ["all_of", "fixed", "view_of", "whole_of"]


def view_of(step: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """The same step on an array of NumPy's; None where NumPy has no such view, or its place is a value."""
    if isinstance(step, Diagonal):
        return lambda array: array.diagonal(step.offset, -2, -1)
    if isinstance(step, Fixed):
        return fixed
    if isinstance(step, Bits) and step.before.itemsize == step.after.itemsize:
        return lambda array: array.view(step.after)
    if not isinstance(step, _core.Move):
        return None
    attrs = step.attrs
    if any(isinstance(part, _core.Dim) for value in attrs.values() for part in value):
        return None
    forms: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "slice": lambda array: array[
            tuple(map(slice, attrs["start_indices"], attrs["limit_indices"], attrs["strides"]))
        ],
        "reverse": lambda array: np.flip(array, attrs["dimensions"]),
        "reshape": lambda array: array.reshape(attrs["dims"]),
        "transpose": lambda array: array.transpose(attrs["permutation"]),
        "broadcast_in_dim": lambda array: np.broadcast_to(array, attrs["dims"]),
    }
    return forms.get(step.op, lambda array: getattr(array, step.op))


def fixed(array: np.ndarray) -> np.ndarray:
    """The array under a name by which it must not be written."""
    result = array.view()
    result.flags.writeable = False
    return result


def whole_of(array: TracedArray) -> TracedArray:
    """The array that a view is of."""
    return all_of(array._storage) if array._steps else array


def all_of(storage: Storage) -> TracedArray:
    """The array whose value a storage has; the first of its arrays, where nothing refers to that."""
    whole = TracedArray.__new__(TracedArray)
    whole._storage, whole._steps, whole._cache = storage, (), storage.tensor
    whole._version, whole.weak, whole.scalar = storage.version, None, False
    storage.arrays.insert(0 if storage.arrays[0]() is None else len(storage.arrays), weakref.ref(whole))
    return whole


#: Elements of a result from which on a view in another order costs less than a copy in it.
LARGE = 4096


def is_turned(array: TracedArray) -> bool:
    """Whether it is all of a large array that lies row by row, with its dimensions in another order."""
    moves = {step.op if isinstance(step, _core.Move) else None for step in array._steps}
    is_all = "transpose" in moves <= {"transpose", "reverse", "reshape", "slice"} and array.size == whole_of(array).size
    return is_all and array._storage.strides is None and not (isinstance(array.size, int) and array.size < LARGE)
