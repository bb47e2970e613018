"""Where NumPy's reshape gives a view and where a copy: strides of traced arrays, as NumPy would have them."""

from __future__ import annotations

from typing import Any

from .. import _core
from .indexing import Reshape, Slice, Transpose
from .tracer import TracedArray

Strides = list[Any]  # in elements


def row_major(shape: Any) -> Strides:
    strides: Strides = []
    step: Any = 1
    for extent in reversed(tuple(shape)):
        strides.insert(0, step)
        step = step * extent
    return strides


def is_contiguous(shape: Any, strides: Strides) -> bool:
    """Whether the elements lie one after another in row-major order."""
    if any(isinstance(e, int) and e == 0 for e in shape):
        return True
    wanted: Any = 1
    for extent, stride in zip(reversed(tuple(shape)), reversed(strides), strict=True):
        if isinstance(extent, int) and extent == 1:
            continue
        if not _core.dims_equal(stride, wanted):
            return False
        wanted = wanted * extent
    return True


def strides_after_reshape(shape: tuple, strides: Strides, wanted: tuple) -> Strides | None:
    """The strides of a view of another shape, or None where the elements have to be copied."""
    if is_contiguous(shape, strides):
        return row_major(wanted)
    if not all(isinstance(e, int) for e in (*shape, *wanted)):
        return None
    old = [(e, s) for e, s in zip(shape, strides, strict=True) if e != 1]
    result: Strides = []
    i = j = 0
    while i < len(old) and j < len(wanted):
        # The shortest runs of old and of new axes that hold equally many elements.
        first_i, first_j, old_size, new_size = i, j, old[i][0], wanted[j]
        while old_size != new_size:
            if new_size < old_size:
                j += 1
                new_size *= wanted[j]
            else:
                i += 1
                old_size *= old[i][0]
        if any(old[n][1] != old[n + 1][0] * old[n + 1][1] for n in range(first_i, i)):
            return None
        result += [s * old[i][1] for s in row_major(wanted[first_j : j + 1])]
        i, j = i + 1, j + 1
    return result + [1] * (len(wanted) - len(result))


def strides_of(array: TracedArray) -> Strides | None:
    """The strides of a view, were its base in row-major order; None for views that are no strided part of it."""
    shape = tuple(array._storage.tensor.shape)
    strides: Strides | None = row_major(shape)
    value = array._storage.tensor
    for step in array._steps:
        if strides is None:
            return None
        if isinstance(step, Slice):
            strides = [s * n for s, n in zip(strides, step.steps, strict=True)]
        elif isinstance(step, Transpose):
            strides = [strides[i] for i in step.permutation]
        elif isinstance(step, Reshape):
            strides = strides_after_reshape(tuple(value.shape), strides, tuple(step.after))
        else:
            return None
        value = step.read(value)
    return strides


def reshape_is_view(array: TracedArray, wanted: tuple) -> bool:
    """Whether NumPy's reshape of this array is a view; an argument counts as in row-major order."""
    if not array._steps:
        return True
    strides = strides_of(array)
    return strides is not None and strides_after_reshape(tuple(array.shape), strides, wanted) is not None
