"""Joining, splitting, repeating and padding: NumPy functions over traced arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from . import own, reductions
from .arguments import axis_number, extents_of, integer, items_of, known, known_deep, require_casting
from .dispatch import finish, implements
from .functions import (
    _NoValue,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    copy,
    one_axis,
    ravel,
    reshape,
    solid,
    swapaxes,
    take,
    traced,
)
from .tracer import Tensor, TracedArray, as_tensor, contains_traced, convert, frozen, raise_here, untraced, wrap


def joined_dtype(tensors: list[Tensor], dtype: Any, casting: str) -> np.dtype:
    if dtype is None:
        return np.result_type(*[t.dtype for t in tensors])
    for tensor in tensors:
        if not np.can_cast(tensor.dtype, dtype, casting):
            raise_here(
                ArgumentTypeError,
                f"Cannot cast array data from {tensor.dtype!r} to {np.dtype(dtype)!r} according to the rule '{casting}'",
                "cast",
            )
    return np.dtype(dtype)


@implements(np.concatenate, np.concat)
def concatenate(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return joined(
        _core.concatenate, arrays, None if axis is None else axis_number(axis, "concatenate"), out, dtype, casting
    )


def joined(function: Any, arrays: Any, axis: Any, out: Any, dtype: Any, casting: str) -> Any:
    tensors = [as_tensor(a) for a in arrays]
    require_casting(casting)
    target = joined_dtype(tensors, dtype, casting) if tensors else None
    return finish(np.add, function([convert(t, target) for t in tensors], axis), out, True, casting)


def stack_nested(value: Any) -> Tensor:
    """np.array of nested lists with traced arrays among them."""
    parts = [stack_nested(v) if isinstance(v, (list, tuple)) else as_tensor(v) for v in value]
    return stack(parts).tensor


@implements(np.stack)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return joined(_core.stack, arrays, axis_number(axis, "stack"), out, dtype, casting)


@implements(np.vstack)
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return concatenate([atleast_2d(t) for t in tup], 0, dtype=dtype, casting=casting)


@implements(np.hstack)
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    arrays = [atleast_1d(t) for t in tup]
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@implements(np.dstack)
def dstack(tup: Any) -> Any:
    return concatenate([atleast_3d(t) for t in tup], 2)


@implements(np.column_stack)
def column_stack(tup: Any) -> Any:
    return concatenate([x if (x := traced(t)).ndim >= 2 else reshape(x, (-1, 1)) for t in tup], 1)


@implements(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Where to split has to be fixed."""
    return divided(_core.split, ary, indices_or_sections, axis)


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Where to split has to be fixed."""
    return divided(_core.array_split, ary, indices_or_sections, axis)


def divided(function: Any, ary: Any, places: Any, axis: int) -> list[TracedArray]:
    x, axis, places = traced(ary), axis_number(axis, "split"), known(places, "split")
    if np.ndim(places):
        return [
            x.view_of(part)
            for part in _core.split_at(x.tensor, [p if isinstance(p, _core.Dim) else int(p) for p in places], axis)
        ]
    return [x.view_of(part) for part in function(x.tensor, int(places), axis)]


def of_rank(ary: Any, rank: int, name: str) -> TracedArray:
    x = traced(ary)
    if x.ndim < rank:
        raise_here(
            ArgumentValueError, f"{name} only works on arrays of {rank} or more dimensions, got {x.ndim}", "split_rank"
        )
    return x


implements(np.vsplit)(lambda ary, indices_or_sections: split(of_rank(ary, 2, "vsplit"), indices_or_sections, 0))
implements(np.dsplit)(lambda ary, indices_or_sections: split(of_rank(ary, 3, "dsplit"), indices_or_sections, 2))
implements(np.hsplit)(
    lambda ary, indices_or_sections: split(
        of_rank(ary, 1, "hsplit"), indices_or_sections, 1 if traced(ary).ndim > 1 else 0
    )
)


@implements(np.tile)
def tile(A: Any, reps: Any) -> Any:
    return wrap(_core.tile(traced(A).tensor, extents_of(reps, "tile: reps")))


@implements(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """The counts have to be fixed."""
    x = traced(a)
    if axis is None:
        x, axis = ravel(x), 0
    axis = one_axis(axis, x.ndim, "repeat")
    if isinstance(repeats, TracedArray) and repeats.scalar:
        repeats = known(repeats, "np.repeat")
    if isinstance(repeats, TracedArray) and repeats.size != 1:
        repeats = repeats._need_value("np.repeat", "make the counts constants")
    if isinstance(repeats, (np.ndarray, list, tuple)) and np.size(repeats) != 1:
        if not isinstance(x.shape[axis], int) or np.shape(repeats) != (x.shape[axis],):
            raise_here(
                ArgumentValueError,
                f"operands could not be broadcast together with shape ({x.shape[axis]},) {np.shape(repeats)}",
                "repeat_counts",
            )
        return take(x, np.repeat(own.array(range(x.shape[axis])), repeats), axis)
    count = int(own.asarray(repeats).reshape(())) if not isinstance(repeats, (int, _core.Dim)) else repeats
    return wrap(_core.repeat(x.tensor, count, axis))


@implements(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    x = traced(m)
    return x.view_of(
        _core.flip(x.tensor, None if axis is None else [integer(i, "flip: axis") for i in items_of(axis, "flip: axis")])
    )


implements(np.flipud)(lambda m: flip(m, 0))
implements(np.fliplr)(lambda m: flip(m, 1))


@implements(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """The distance has to be fixed."""
    x = traced(a)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes, shifts = items_of(axis, "roll: axis"), items_of(shift, "roll: shift")
    count = max(len(axes), len(shifts))
    if len(axes) not in (1, count) or len(shifts) not in (1, count):
        raise_here(
            ArgumentValueError,
            f"'shift' and 'axis' should be scalars or 1D sequences, got {len(shifts)} and {len(axes)}",
            "roll_axes",
        )
    for distance, place in zip(shifts * (count // len(shifts)), axes * (count // len(axes)), strict=True):
        place = one_axis(place, x.ndim, "roll")
        extent = x.shape[place]
        if not isinstance(distance, _core.Dim):
            # Any integer is a distance.
            distance = int(distance) % (extent or 1) if isinstance(extent, int) else int(distance)
        x = wrap(_core.roll(x.tensor, distance, place))
    return x if x is not a else copy(x)


def half_roll(x: Any, axes: Any, sign: int) -> Any:
    """np.fft.fftshift (sign 1) or its inverse (sign -1)."""
    array = traced(x)
    places = (
        reductions.normalized_axes(axes, array.ndim, "fftshift") if axes is None or np.ndim(axes) == 0 else tuple(axes)
    )
    return roll(array, tuple(sign * (array.shape[p] // 2) for p in places), places)


implements(np.fft.fftshift)(lambda x, axes=None: half_roll(x, axes, 1))
implements(np.fft.ifftshift)(lambda x, axes=None: half_roll(x, axes, -1))


@implements(np.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    x = traced(m)
    if len(axes) != 2 or len(reductions.normalized_axes(tuple(axes), x.ndim, "rot90")) != 2:
        raise_here(ArgumentValueError, f"rot90 takes two axes, got {axes}", "axis")
    k = known(k, "rot90") % 4
    if k == 0:
        return x
    if k == 2:
        return flip(flip(x, axes[0]), axes[1])
    return flip(swapaxes(x, *axes), axes[0]) if k == 1 else swapaxes(flip(x, axes[0]), *axes)


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Any:
    """Modes constant, edge, reflect, symmetric and wrap; the widths have to be fixed."""
    x = traced(array)
    unknown = set(kwargs) - {"constant_values", "end_values", "stat_length", "reflect_type"}
    if unknown:
        raise_here(ArgumentValueError, f"unsupported keyword arguments for mode {mode!r}: {unknown}", "pad_arguments")
    if isinstance(pad_width, dict):
        each = {one_axis(axis, x.ndim, "pad"): width for axis, width in pad_width.items()}
        pad_width = [(w, w) if np.ndim(w := each.get(i, 0)) == 0 else tuple(w) for i in range(x.ndim)]
    if mode != "constant":
        return pad_by_index(x, pad_width, mode, kwargs)
    widths, given, tensor = pad_widths(pad_width, x.ndim), kwargs.get("constant_values", 0), x.tensor
    if not isinstance(given, np.ndarray) and not contains_traced(given):
        given = pad_constants(given, x.dtype)
    elif isinstance(given, (list, tuple)):
        given = solid(given)
    if not np.ndim(given):
        return wrap(_core.pad(tensor, widths, as_tensor(given, x.dtype)))
    for axis, row in enumerate(np.broadcast_to(solid(given), (x.ndim, 2))):
        for side, value in enumerate(row):
            one = [[n if (i, j) == (axis, side) else 0 for j, n in enumerate(pair)] for i, pair in enumerate(widths)]
            tensor = _core.pad(tensor, one, as_tensor(value, x.dtype))
    return wrap(tensor)


def pad_constants(given: Any, dtype: np.dtype) -> np.ndarray:
    """Numbers as they are stored in what is padded: NumPy stores scalars of its own of one or two, else Python's, which have to fit."""
    with untraced():
        numbers = own.asarray(given)
        stored = own.empty(numbers.shape, dtype)
        for i, number in enumerate(numbers.ravel() if numbers.size <= 2 else numbers.ravel().tolist()):
            stored.flat[i] = number
        return frozen(stored)


def pad_widths(pad_width: Any, ndim: int) -> list[list[int]]:
    """How many elements come before and after each axis."""
    pad_width = known_deep(pad_width, "pad_width")
    with untraced():
        widths = own.asarray(pad_width)
        if widths.dtype.kind not in "iu":
            raise_here(ArgumentTypeError, f"`pad_width` must be of integral type, got {widths.dtype}", "pad_width")
        if (widths < 0).any():
            raise_here(ArgumentValueError, "index can't contain negative values", "pad_width")
        return np.broadcast_to(widths, (ndim, 2)).tolist()


def pad_by_index(x: TracedArray, pad_width: Any, mode: str, kwargs: dict[str, Any]) -> Any:
    """Modes that repeat elements: the padding of an index vector says which; it rises, falls or stays but a few times."""
    if mode not in ("edge", "reflect", "symmetric", "wrap") or kwargs:
        raise_here(UnsupportedError, f"pad with mode='{mode}' {kwargs or ''} cannot be compiled", "pad_mode")
    widths = pad_widths(pad_width, x.ndim)
    for axis, width in enumerate(widths):
        if width != [0, 0] and not isinstance(x.shape[axis], int):
            x = traced(concatenate(ends_and_all(x, axis, width, mode), axis))
        elif width != [0, 0]:
            places: Any = np.pad(own.array(range(x.shape[axis])), width, mode=mode)  # type: ignore[call-overload]
            runs = even_runs(places.tolist())
            parts = [elements_of(x, axis, *run) for run in runs] if len(runs) <= MOST_RUNS else [take(x, places, axis)]
            x = traced(concatenate(parts, axis))
    return wrap(x.tensor)


def ends_and_all(x: TracedArray, axis: int, width: list[int], mode: str) -> list[Any]:
    """What comes before a line of symbolic extent, the line, and what comes after, where one repetition is sure to be enough."""
    extent, (low, high) = x.shape[axis], width
    if extent.min < {"edge": 1, "reflect": max(width) + 1}.get(mode, max(width)):
        raise_here(
            UnsupportedError, f"pad by {width} of a line that may be as short as {extent.min}", "symbolic_extent"
        )

    def part(first: Any, last: Any) -> Any:
        return x[(*[slice(None)] * axis, slice(first, last))]

    if mode == "edge":
        return [repeat(part(0, 1), low, axis), x, repeat(part(extent - 1, extent), high, axis)]
    if mode == "wrap":
        return [part(extent - low, extent), x, part(0, high)]
    skipped = int(mode == "reflect")
    before, after = part(skipped, low + skipped), part(extent - high - skipped, extent - skipped)
    return [flip(before, axis), x, flip(after, axis)]


#: More parts than so many are gathered one by one.
MOST_RUNS = 8


def even_runs(places: list[int]) -> list[tuple[int, int, int]]:
    """The first, the step (-1, 0 or 1) and the number of each part of a list that goes on by such steps."""
    runs: list[tuple[int, int, int]] = []
    for place in places:
        first, step, count = runs[-1] if runs else (place, 0, 0)
        by = place - (first + step * (count - 1))
        if count and abs(by) <= 1 and (count == 1 or by == step):
            runs[-1] = (first, by, count + 1)
        else:
            runs.append((place, 0, 1))
    return runs


def elements_of(x: TracedArray, axis: int, first: int, step: int, count: int) -> Any:
    last = first + step * (count - 1)
    low, high = min(first, last), max(first, last) + 1
    part = x[(*[slice(None)] * axis, slice(low, high))]
    return repeat(part, count, axis) if step == 0 else flip(part, axis) if step < 0 else part


@implements(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = _NoValue, append: Any = _NoValue) -> Any:
    x = traced(a)
    n = integer(n, "diff: n")
    if n == 0:
        return x
    axis = one_axis(axis, x.ndim, "diff")
    if n < 0:
        raise_here(ArgumentValueError, f"order must be non-negative but got {n}", "diff_order")
    parts = [
        p if np.ndim(p) else own.full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), p)
        for p in (prepend,)
        if p is not _NoValue
    ]
    parts.append(x)
    parts += [
        p if np.ndim(p) else own.full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), p)
        for p in (append,)
        if p is not _NoValue
    ]
    if len(parts) > 1:
        x = concatenate(parts, axis)
    before = (slice(None),) * axis
    for _ in range(n):
        later, earlier = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
        x = np.not_equal(later, earlier) if x.dtype == bool else np.subtract(later, earlier)
    return x
