"""Functions of whole tensors, with the names and parameters of the array API standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError
from .calls import called
from .creation import asarray
from .tensor import Tensor, require_device

__all__ = [
    "all", "any", "argmax", "argmin", "argsort", "astype", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "count_nonzero", "cumulative_prod", "cumulative_sum",
    "diff", "expand_dims", "flip", "isin", "matmul", "matrix_transpose", "max", "mean", "min", "moveaxis", "nonzero", "permute_dims", "prod", "repeat", "reshape",
    "roll", "searchsorted", "sort", "squeeze", "stack", "std", "sum", "take", "take_along_axis", "tensordot", "tile", "unique_all", "unique_counts",
    "unique_inverse", "unique_values", "unstack", "var", "vecdot", "where",
]  # fmt: skip


def is_extent(extent: Any, number: int) -> Any:
    """Whether an extent is that number, whatever its symbols stand for."""
    return _core.dims_equal(extent, number)


Axis = int | tuple[int, ...] | None


# -- reductions: over all axes unless told; keepdims leaves extents of 1 -----------------------------------------------


def sum(x: Tensor, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The sum; integers of less than 64 bits add up as 64."""
    return called(np.sum, (x,), {"axis": axis, "dtype": dtype, "keepdims": keepdims})


def prod(x: Tensor, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The product; integers of less than 64 bits multiply up as 64."""
    return called(np.prod, (x,), {"axis": axis, "dtype": dtype, "keepdims": keepdims})


def max(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The greatest element, NaN where there is one. Raises a ValueError for no elements."""
    return called(np.max, (x,), {"axis": axis, "keepdims": keepdims})


def min(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The least element, NaN where there is one. Raises a ValueError for no elements."""
    return called(np.min, (x,), {"axis": axis, "keepdims": keepdims})


def mean(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The arithmetic mean."""
    return called(np.mean, (x,), {"axis": axis, "keepdims": keepdims})


def var(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The variance: squares of differences from the mean, over their number less ``correction``."""
    return called(np.var, (x,), {"axis": axis, "ddof": correction, "keepdims": keepdims})


def std(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The square root of the variance."""
    return called(np.std, (x,), {"axis": axis, "ddof": correction, "keepdims": keepdims})


def all(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether no element is zero."""
    return called(np.all, (x,), {"axis": axis, "keepdims": keepdims})


def any(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether an element is not zero."""
    return called(np.any, (x,), {"axis": axis, "keepdims": keepdims})


def count_nonzero(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """How many elements are not zero."""
    return called(np.count_nonzero, (x,), {"axis": axis, "keepdims": keepdims})


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The place of the greatest element, the first of equals, along an axis or among all."""
    return called(np.argmax, (x,), {"axis": axis, "keepdims": keepdims})


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The place of the least element, the first of equals, along an axis or among all."""
    return called(np.argmin, (x,), {"axis": axis, "keepdims": keepdims})


# -- along an axis -----------------------------------------------------------------------------------------------------


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Running sums, with a 0 before them if told; ``axis`` may be left out of a vector."""
    return called(np.cumulative_sum, (x,), {"axis": axis, "dtype": dtype, "include_initial": include_initial})


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Running products, with a 1 before them if told; ``axis`` may be left out of a vector."""
    return called(np.cumulative_prod, (x,), {"axis": axis, "dtype": dtype, "include_initial": include_initial})


def diff(
    x: Tensor, /, n: int = 1, *, axis: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The ``n``-th differences of neighbours."""
    ends = {name: end for name, end in (("prepend", prepend), ("append", append)) if end is not None}
    return called(np.diff, (x, n, axis), ends)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order, NaN last, or with ``descending`` first."""
    ordered = called(np.sort, (x,), {"axis": axis, "stable": stable})
    return flip(ordered, axis=axis) if descending else ordered


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The places of the elements in order; equal elements keep theirs."""
    if not descending:
        return called(np.argsort, (x,), {"axis": axis, "stable": stable})
    # The last of equals comes first in ascending order of what is reversed, hence reversed twice.
    places = called(np.argsort, (flip(x, axis=axis),), {"axis": axis, "stable": stable})
    return flip(x.shape[axis] - 1 - places, axis=axis)


def searchsorted(x1: Tensor, x2: Any, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where each element of ``x2`` would stand in the ascending vector ``x1``."""
    return called(np.searchsorted, (x1, x2), {"side": side, "sorter": sorter})


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The slices of an axis at these indices. An ``OutOfBoundsError`` when it is computed where one lies outside."""
    if axis is None and x.ndim != 1:
        raise ValueError(f"take of a tensor with {x.ndim} dimensions needs an axis")
    return called(np.take, (x, indices), {"axis": 0 if axis is None else axis})


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """The elements at these indices along an axis, both broadcast but there."""
    return called(np.take_along_axis, (x, indices, axis), {})


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The places of the elements that are not zero, for each axis; computed at once, as their number is a value."""
    return called(np.nonzero, (x,), {})


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """Whether each element of ``x1`` is, or with ``invert`` is not, one of ``x2``."""
    return called(np.isin, (x1, x2), {"invert": invert})


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    """``x1`` where the condition holds, ``x2`` elsewhere."""
    return called(np.where, (condition, x1, x2), {})


def unique_all(x: Tensor, /) -> Any:
    """Values, first places, inverse places and counts of the different elements, computed at once."""
    return called(np.unique_all, (x,), {})


def unique_counts(x: Tensor, /) -> Any:
    """The different elements and how many there are of each, computed at once."""
    return called(np.unique_counts, (x,), {})


def unique_inverse(x: Tensor, /) -> Any:
    """The different elements and the place of each element among them, computed at once."""
    return called(np.unique_inverse, (x,), {})


def unique_values(x: Tensor, /) -> Tensor:
    """The different elements in ascending order, computed at once."""
    return called(np.unique, (x,), {"equal_nan": False})


# -- shapes ------------------------------------------------------------------------------------------------------------


def astype(x: Tensor, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """Another dtype; the tensor itself where it has it and no copy is asked for."""
    require_device(device)
    target = np.dtype(dtype)
    if x.dtype.kind == "c" and target.kind not in "cb":
        raise ArgumentTypeError(f"astype from {x.dtype} to {target} loses the imaginary part: use wf.real(x)  [dtype]")
    return called(np.astype, (x, target), {"copy": copy})


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """All of one shape."""
    return tuple(called(np.broadcast_arrays, arrays, {}))


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which arrays of these shapes broadcast. Raises a ValueError where they do not."""
    return np.broadcast_shapes(*shapes)


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """Repeated to a shape along axes of extent 1 and new ones in front."""
    return called(np.broadcast_to, (x, shape), {})


def concat(arrays: Any, /, *, axis: int | None = 0) -> Tensor:
    """One after another along an axis; of ``axis=None`` all elements in a vector."""
    return called(np.concatenate, (tuple(map(asarray, arrays)),), {"axis": axis})


def expand_dims(x: Tensor, /, axis: int | tuple[int, ...] = 0) -> Tensor:
    """A new axis of extent 1."""
    return called(np.expand_dims, (x, axis), {})


def flip(x: Tensor, /, *, axis: Axis = None) -> Tensor:
    """The order of elements reversed along axes, all unless told."""
    return called(np.flip, (x, axis), {})


def moveaxis(x: Tensor, source: Any, destination: Any, /) -> Tensor:
    """Axes moved to other places."""
    return called(np.moveaxis, (x, source, destination), {})


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """Axis ``i`` of the result is axis ``axes[i]``."""
    return called(np.transpose, (x, axes), {})


def repeat(x: Tensor, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Each element so many times in turn."""
    return called(np.repeat, (x, repeats), {"axis": axis})


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The same elements in row-major order under another shape; one extent may be -1."""
    return called(np.reshape, (x, shape), {"copy": copy})


def roll(x: Tensor, /, shift: int | tuple[int, ...], *, axis: Axis = None) -> Tensor:
    """Elements moved up by so many places, those past the end to the beginning."""
    return called(np.roll, (x, shift), {"axis": axis})


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """Without axes of extent 1. Raises a ValueError for another extent."""
    return called(np.squeeze, (x, axis), {})


def stack(arrays: Any, /, *, axis: int = 0) -> Tensor:
    """One after another along a new axis."""
    return called(np.stack, (tuple(map(asarray, arrays)),), {"axis": axis})


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """The whole tensor so many times along each of its last axes."""
    return called(np.tile, (x, repetitions), {})


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices of an axis."""
    return tuple(called(np.unstack, (x,), {"axis": axis}))


# -- products ----------------------------------------------------------------------------------------------------------


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The matrix product; leading axes broadcast, vectors on either side."""
    return called(np.matmul, (x1, x2), {})


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The last two axes swapped."""
    return called(np.matrix_transpose, (x,), {})


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: Any = 2) -> Tensor:
    """Products summed over pairs of axes, or over the last of one and the first of the other."""
    return called(np.tensordot, (x1, x2), {"axes": axes})


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Products of the conjugate of one and of the other, summed along an axis."""
    return called(np.vecdot, (x1, x2), {"axis": axis})
