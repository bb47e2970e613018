"""Strides of traced arrays, as NumPy would have them: they decide where a reshape is a view and what order="K" reads.

An argument has the layout that it was given with, and decisions that it took are part of the signature of the cached call
where they matter to the program. A computed array is in row-major order where its operands are; else its layout is not
followed (UNKNOWN), and reading what such a decision may have let be written raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentValueError
from .advanced import is_empty, put_indexed, take_indexed
from .tracer import LayoutUse, Storage, Tensor, Trace, TracedArray, View, current_trace, raise_here, wrap

Strides = list[Any]  # in elements
UNKNOWN: Any = object()


def row_major(shape: Any) -> Strides:
    strides: Strides = []
    step: Any = 1
    for extent in reversed(tuple(shape)):
        strides.insert(0, step)
        step = step * extent
    return strides


def is_contiguous(shape: Any, strides: Strides) -> bool:
    """Whether the elements lie one after another in row-major order."""
    if is_empty(shape):
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


def column_major(shape: Any) -> Strides:
    return row_major(tuple(shape)[::-1])[::-1]


def axes_of(shape: Any, strides: Any) -> tuple[int, ...] | None:
    """The axes of an array from the outermost in memory to the innermost; None where its elements do not fill its memory."""
    if not isinstance(strides, list) or not all(isinstance(n, int) for n in (*shape, *strides)):
        return None
    axes = sorted(range(len(strides)), key=lambda i: (shape[i] != 1, -strides[i]))
    wanted = 1
    for axis in reversed(axes):
        if shape[axis] != 1 and strides[axis] != wanted:
            return None
        wanted *= shape[axis]
    return tuple(axes)


def in_memory_of(axes: Any, shape: Any) -> Strides:
    """The strides of a dense array whose axes lie in memory in this order, from the outermost."""
    steps = row_major([shape[axis] for axis in axes])
    return [steps[axes.index(axis)] for axis in range(len(axes))]


#: What has no order.
NUMBERS = (bool, int, float, complex, np.generic, _core.Dim)


def kept_order(operands: Any, shape: Any) -> Any:
    """The strides of a new array in its operands' order, as NumPy's iterator chooses it (order="K"); None for that of rows.

    From the last axis on, one goes behind another where an operand has smaller strides along it and none larger ones.
    """
    table = []
    for operand in (value for value in operands if not isinstance(value, NUMBERS)):
        strides = given_order(operand)
        if strides is UNKNOWN or not all(isinstance(n, int) for n in (*shape, *operand.shape, *strides)):
            return UNKNOWN
        new = len(shape) - operand.ndim
        table.append([0] * new + [abs(s) if e != 1 else 0 for e, s in zip(operand.shape, strides, strict=True)])
    axes: list[int] = []  # from the innermost
    for axis in reversed(range(len(shape))):
        place = len(axes)
        for i in reversed(range(len(axes))):
            pairs = [(row[axis], row[axes[i]]) for row in table if row[axis] and row[axes[i]]]
            if any(outer >= inner for outer, inner in pairs):
                break
            if pairs:
                place = i
        axes.insert(place, axis)
    axes.reverse()
    return None if axes == sorted(axes) else in_memory_of(axes, shape)


def lasting_strides(before: Any, after: TracedArray) -> Any:
    """The strides, as storages have them, of a variable that each turn of a loop binds anew: as it was before and is after
    a turn; UNKNOWN where it changes.
    """
    last = settled_strides(after)
    first = settled_strides(before) if isinstance(before, TracedArray) else last
    return last if first == last else UNKNOWN


def settled_strides(array: TracedArray) -> Any:
    """None for an array in row-major order, the strides of another that fills its memory, else UNKNOWN."""
    if is_ordered(array):
        return None
    strides = given_order(array)
    return UNKNOWN if axes_of(array.shape, strides) is None else strides


def given_order(operand: Any) -> Any:
    """The strides of an operand that fills its memory, or is a part of such an array; UNKNOWN for others."""
    if not isinstance(operand, TracedArray):
        return row_major(operand.shape) if isinstance(operand, np.ndarray) and operand.flags.c_contiguous else UNKNOWN
    storage = operand._storage
    if storage.strides is not None and axes_of(storage.tensor.shape, storage.strides) is None:
        return UNKNOWN
    return strides_of(operand)


def given_strides(array: Any, shape: Any) -> Any:
    """The strides of an argument, whose extents may be symbolic; None for row-major ones."""
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous:
        return None
    if array.flags.f_contiguous:
        return column_major(shape)
    if all(isinstance(e, int) for e in shape) and not any(s % array.itemsize for s in array.strides):
        return [s // array.itemsize for s in array.strides]
    return UNKNOWN


class Strided(View):
    """An array as a part of a memory of elements, by first element and strides; no two of its elements are one."""

    def __init__(self, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], writeable: bool) -> None:
        self.offset, self.shape, self.strides, self.writeable = offset, shape, strides, writeable

    def _places(self) -> TracedArray:
        """The number of each element in the memory."""
        places: Any = wrap(_core.constant(np.int64(self.offset)))
        for axis, stride in enumerate(self.strides):
            attrs = {"dims": self.shape, "dimension": axis, "type": np.dtype(np.int64)}
            places = places + wrap(_core.apply("iota", [], attrs)) * np.int64(stride)
        return places

    def read(self, base: Tensor) -> Tensor:
        return take_indexed(base, [self._places()])

    def write(self, base: Tensor, part: Tensor) -> Tensor:
        if not self.writeable:
            raise_here(ArgumentValueError, "assignment destination is read-only", "read_only")
        return put_indexed(base, [self._places()], part)


def step_strides(step: View, value: Any, strides: Strides) -> Any:
    """The strides of a view of ``value``, which has these; UNKNOWN where they are not followed."""
    from .views import Bits, Diagonal, DynamicSlice, Fixed

    if isinstance(step, _core.Move):
        return move_strides(step.op, step.attrs, value, strides)
    if isinstance(step, Strided):
        return list(step.strides)
    if isinstance(step, (DynamicSlice, Fixed)):
        return strides
    if isinstance(step, Diagonal):
        return [*strides[:-2], strides[-2] + strides[-1]]
    if isinstance(step, Bits) and step.before.itemsize == step.after.itemsize:
        return strides
    return UNKNOWN


def move_strides(op: str, attrs: dict[str, Any], value: Any, strides: Strides) -> Any:
    if op == "slice":
        return [s * n for s, n in zip(strides, attrs["strides"], strict=True)]
    if op == "reverse":
        return [-s if i in attrs["dimensions"] else s for i, s in enumerate(strides)]
    if op == "transpose":
        return [strides[i] for i in attrs["permutation"]]
    if op == "reshape":
        after = strides_after_reshape(tuple(value.shape), strides, tuple(attrs["dims"]))
        return UNKNOWN if after is None else after
    if op == "broadcast_in_dim":
        new = len(attrs["dims"]) - len(strides)
        same = [_core.dims_equal(a, b) for a, b in zip(value.shape, attrs["dims"][new:], strict=True)]
        return [0] * new + [s if kept else 0 for s, kept in zip(strides, same, strict=True)]
    return [s * 2 for s in strides]


def strides_of(array: TracedArray) -> Any:
    """The strides of an array or view, or UNKNOWN."""
    value = array._storage.tensor
    strides = array._storage.strides
    strides = row_major(value.shape) if strides is None else strides
    for step in array._steps:
        if strides is UNKNOWN:
            break
        strides = step_strides(step, value, strides)
        value = step.read(value)
    return strides


def long_axes(shape: Any) -> list[int]:
    """The axes that may have more than one element."""
    return [i for i, e in enumerate(shape) if not (isinstance(e, int) and e == 1)]


def note(base: TracedArray, other: Storage | None) -> None:
    trace = current_trace()
    if trace is not None:
        trace.layouts.append(LayoutUse(base._storage, other))


def view_or_copy(array: TracedArray, view: TracedArray, decision: bool | None) -> TracedArray:
    """The view or a copy of it, as decided; where it is not (None), a copy that must not meet writes to the other."""
    if decision:
        note(array, array._storage)
        return view
    copied = TracedArray(view.tensor)
    copied._storage.parents = ()
    note(array, copied._storage)
    if decision is None:
        copied._storage.twins = (array._storage,)
        array._storage.twins += (copied._storage,)
    return copied


def reshaped(array: TracedArray, view: TracedArray) -> TracedArray:
    """NumPy's reshape of the array: ``view``, or a copy of it."""
    shape, wanted = tuple(array.shape), tuple(view.shape)
    before, after = long_axes(shape), long_axes(wanted)
    same = len(before) == len(after) and all(
        _core.dims_equal(shape[i], wanted[j]) for i, j in zip(before, after, strict=True)
    )
    if len(before) <= 1 or same:
        return view
    if not array._steps and array._storage.strides is None:
        return view_or_copy(array, view, True)
    strides = strides_of(array)
    if strides is UNKNOWN:
        return view_or_copy(array, view, None)
    if strides_after_reshape(shape, strides, wanted) is not None:
        return view_or_copy(array, view, True)
    followed = all(isinstance(e, int) for e in (*shape, *wanted)) or not array._steps
    return view_or_copy(array, view, False if followed else None)


def raveled(array: TracedArray, line: TracedArray) -> TracedArray:
    """NumPy's ravel of the array: ``line``, its reshape, where the elements lie one after another; else a copy."""
    strides = strides_of(array)
    return view_or_copy(array, line, None if strides is UNKNOWN else is_contiguous(array.shape, strides))


def contiguous(array: TracedArray, order: str) -> TracedArray:
    """np.ascontiguousarray and np.asfortranarray: the array itself where it is, else a copy in that order."""
    shape = tuple(array.shape)
    strides = strides_of(array)
    turned = (shape, strides) if order == "C" else (shape[::-1], strides if strides is UNKNOWN else strides[::-1])
    result = view_or_copy(array, array, None if strides is UNKNOWN else is_contiguous(*turned))
    if result is not array and order == "F":
        result._storage.strides = column_major(shape)
    return result


def memory_order(array: TracedArray, order: str) -> list[int] | None:
    """The axes from the outermost in memory to the innermost, for order="K" and "A"; None where that is not known."""
    axes, count = list(range(array.ndim)), len(long_axes(array.shape))
    if count <= 1:
        return axes
    note(array, None)
    if not array._steps and array._storage.strides is None:
        return axes
    strides = strides_of(array)
    if strides is UNKNOWN or not all(isinstance(s, int) for s in strides):
        return None
    shape = tuple(array.shape)
    if order == "A":
        return axes[::-1] if is_contiguous(shape[::-1], strides[::-1]) and not is_contiguous(shape, strides) else axes
    if any(strides[i] == 0 for i in long_axes(shape)):
        return None
    return sorted(axes, key=lambda i: -abs(strides[i]))


def is_ordered(array: TracedArray) -> bool:
    """Whether the axes are known to lie in memory from the first, outermost, to the last."""
    if array._storage.strides is None and not (
        array._steps
        and any(isinstance(step, Strided) or getattr(step, "op", None) == "transpose" for step in array._steps)
    ):
        return True
    strides = strides_of(array)
    if strides is UNKNOWN or not all(isinstance(s, int) for s in strides):
        return False
    sizes = [abs(strides[i]) for i in long_axes(array.shape)]
    return sizes == sorted(sizes, reverse=True)


def arrays_among(values: Any) -> list[TracedArray]:
    found: list[TracedArray] = []
    for value in values:
        if isinstance(value, TracedArray):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += arrays_among(value)
    return found


#: What gives arrays in row-major order, whatever the order of its operands is.
BY_ROWS = frozenset(
    [np.dot, np.inner, np.outer, np.tensordot, np.kron, np.take, np.repeat, np.argsort, np.cov, np.corrcoef]
)
BY_ROWS |= {
    np.linalg.inv,
    np.linalg.solve,
    np.linalg.cholesky,
    np.linalg.eigh,
    np.linalg.svd,
    np.linalg.pinv,
    np.linalg.multi_dot,
}


def by_rows(function: Any, result: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """Notes that such results depend on no operand's layout."""
    if function in BY_ROWS and kwargs.get("out") is None:
        given = {id(operand._storage) for operand in arrays_among((*args, *kwargs.values()))}
        for array in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(array, TracedArray) and not array._steps and id(array._storage) not in given:
                array._storage.parents, array._storage.strides = (), None


def inherit(result: Any, args: Any, kwargs: dict[str, Any], kept: Any = None) -> Any:
    """Notes on what a function computed from which arrays its layout depends; ``kept``: the operands whose order it keeps."""
    if type(result) is TracedArray and not result.tensor.is_wide:
        return result
    fresh = [r for r in (result if isinstance(result, (tuple, list)) else (result,)) if isinstance(r, TracedArray)]
    fresh = [r for r in fresh if not r._steps and r._storage.parents != () and r.tensor.is_wide]
    if not fresh:
        return result
    operands = arrays_among((*args, *kwargs.values()))
    given = {id(operand._storage) for operand in operands}
    wide = [operand for operand in operands if operand.tensor.is_wide]
    if not wide:
        return result
    ordered = all(map(is_ordered, wide))
    for array in fresh:
        if id(array._storage) not in given:
            # A function made of others may have noted what those were given.
            array._storage.parents = (*(array._storage.parents or ()), *(operand._storage for operand in wide))
            if not ordered:
                array._storage.strides = UNKNOWN if kept is None else kept_order(kept, array.shape)
    return result


# Functions and methods whose result is an array even where it has no dimensions; others give scalars there.
GIVE_ARRAYS = frozenset(
    [
        "asarray",
        "ascontiguousarray",
        "astype",
        "broadcast_to",
        "byteswap",
        "copy",
        "diagonal",
        "empty_like",
        "flatten",
        "full_like",
        "moveaxis",
        "ones_like",
        "permute_dims",
        "ravel",
        "reshape",
        "rollaxis",
        "select",
        "squeeze",
        "swapaxes",
        "transpose",
        "view",
        "where",
        "zeros_like",
        "real",
        "imag",
        "broadcast_arrays",
        "split",
        "i0",
        "isin",
        "resize",
        "roll",
        "cov",
        "cross",
        "apply_along_axis",
        "pad",
        "block",
        "tensordot",
        "array",
        "asanyarray",
        "require",
        "full",
        "zeros",
        "ones",
        "empty",
        "real_if_close",
        "piecewise",
    ]
)

# Functions that give arrays with keepdims=True, and by weights.
OF_SORTED = frozenset(["median", "nanmedian", "quantile", "nanquantile", "percentile", "nanpercentile"])


def scalars(result: Any, operands: Any = (), scalar: bool = True) -> Any:
    """Marks what a function computed and has no dimensions: NumPy gives scalars there, or (not ``scalar``) arrays."""
    for value in result if isinstance(result, (tuple, list)) else (result,):
        fresh = isinstance(value, TracedArray) and not value.ndim
        if fresh and all(value._storage is not getattr(operand, "_storage", None) for operand in operands):
            value.scalar = scalar
    return result


def deciding(trace: Trace, results: set[int]) -> set[int]:
    """Identities of the storages whose layout the program depends on; ``results``: those of arrays that leave the call."""
    pending = [use.base for use in trace.layouts if use.matters() or id(use.other) in results]
    found: dict[int, Storage] = {}
    while pending:
        storage = pending.pop()
        if id(storage) not in found:
            found[id(storage)] = storage
            pending += storage.parents or ()
    return set(found)
