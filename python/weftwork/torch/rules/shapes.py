"""Views and other orders of elements; in a program each is a value of its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import _core
from ...numpy.tracer import as_tensor, wrap
from ..table import Want, cast, rule
from .creation import iota


def at(axis: int, rank: int) -> int:
    """An axis counted from the beginning."""
    return axis + max(rank, 1) if axis < 0 else axis


def reshaped(x: Any, dims: Any) -> Any:
    return wrap(_core.apply("reshape", [x.tensor], {"dims": tuple(dims)}))


def permuted(x: Any, order: Any) -> Any:
    return wrap(_core.apply("transpose", [x.tensor], {"permutation": tuple(order)}))


@rule(
    "view", "_unsafe_view", "reshape", "view_copy", "unsqueeze", "unsqueeze_copy", "squeeze", "squeeze.dim", "squeeze.dims", "squeeze_copy",
    "squeeze_copy.dim", "squeeze_copy.dims", "_reshape_alias", "unflatten.int", "flatten.using_ints",
)  # fmt: skip
def view(want: Want, x: Any, *args: Any, **kwargs: Any) -> Any:
    count, wanted = math.prod(x.shape), math.prod(want.shape)
    if not (isinstance(count, int) and isinstance(wanted, int)) and not _core.dims_equal(count, wanted):
        # Only torch's guards say that there are as many.
        x = padded(reshaped(x, (count,)), 0, [0], [wanted - count])
    return reshaped(x, want.shape)


@rule("permute", "permute_copy")
def permute(want: Want, x: Any, dims: Any) -> Any:
    return permuted(x, [at(d, x.ndim) for d in dims])


@rule("transpose.int", "transpose_copy.int")
def transpose(want: Want, x: Any, first: int, second: int) -> Any:
    if not x.ndim:
        return wrap(x.tensor)
    order = list(range(x.ndim))
    a, b = at(first, x.ndim), at(second, x.ndim)
    order[a], order[b] = order[b], order[a]
    return permuted(x, order)


@rule("t", "t_copy", "numpy_T")
def t(want: Want, x: Any) -> Any:
    return permuted(x, reversed(range(x.ndim)))


@rule("expand", "expand_copy", "expand_as", "broadcast_to")
def expand(want: Want, x: Any, *args: Any, **kwargs: Any) -> Any:
    return np.broadcast_to(x, want.shape)


def sliced(x: Any, axis: int, start: Any, count: Any, step: int = 1) -> Any:
    starts, limits, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[axis], strides[axis] = start, step
    limits[axis] = start + (count - 1) * step + 1 if not (isinstance(count, int) and count == 0) else start
    return wrap(
        _core.apply("slice", [x.tensor], {"start_indices": starts, "limit_indices": limits, "strides": strides})
    )


def first_of(start: Any, extent: Any) -> Any:
    """Where a slice begins, between 0 and the extent."""
    if start is None:
        return 0
    if isinstance(start, int) and isinstance(extent, int):
        return min(max(start + extent if start < 0 else start, 0), extent)
    if isinstance(start, int) and start == 0:
        return 0
    if isinstance(start, int) and start < 0:
        return _core.dim_max(0, extent + start)
    return _core.dim_min(start, extent)


@rule("slice.Tensor", "slice_copy.Tensor")
def slice_(want: Want, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    axis = at(dim, x.ndim)
    count = want.shape[axis]
    if step == 1 and _core.dims_equal(count, x.shape[axis]):
        return wrap(x.tensor)
    return sliced(x, axis, first_of(start, x.shape[axis]), count, step)


def position(index: Any, extent: Any) -> Any:
    return index if not isinstance(index, int) or index >= 0 else extent + index


@rule("select.int", "select_copy.int")
def select(want: Want, x: Any, dim: int, index: Any) -> Any:
    axis = at(dim, x.ndim)
    return reshaped(sliced(x, axis, position(index, x.shape[axis]), 1), want.shape)


def put(x: Any, part: Any, axis: int, start: Any, step: int) -> Any:
    """The value with another part in the place of a slice, whose extent is the part's: as the slice tells it, it may have another form."""
    starts, strides = [0] * x.ndim, [1] * x.ndim
    starts[axis], strides[axis] = start, step
    return wrap(_core.apply("update_slice", [x.tensor, part.tensor], {"start_indices": starts, "strides": strides}))


@rule("slice_scatter")
def slice_scatter(
    want: Want, x: Any, source: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    axis = at(dim, x.ndim)
    source = cast(source, want.dtype)
    count = source.shape[axis]
    if isinstance(count, int) and count == 0:
        return wrap(x.tensor)
    if step == 1 and _core.dims_equal(count, x.shape[axis]):
        return wrap(source.tensor)
    return put(x, source, axis, first_of(start, x.shape[axis]), step)


@rule("select_scatter")
def select_scatter(want: Want, x: Any, source: Any, dim: int, index: Any) -> Any:
    axis = at(dim, x.ndim)
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    return put(x, reshaped(cast(source, want.dtype), shape), axis, position(index, x.shape[axis]), 1)


@rule("cat", "concat")
def cat(want: Want, tensors: Any, dim: int = 0) -> Any:
    # Vectors without elements go with everything.
    parts = [
        cast(x, want.dtype) for x in tensors if not (x.ndim == 1 and isinstance(x.shape[0], int) and x.shape[0] == 0)
    ]
    return np.concatenate(parts, at(dim, len(want.shape))) if parts else cast(tensors[0], want.dtype)


@rule("stack")
def stack(want: Want, tensors: Any, dim: int = 0) -> Any:
    return np.stack([cast(x, want.dtype) for x in tensors], at(dim, len(want.shape)))


@rule("split_with_sizes", "split_with_sizes_copy")
def split_with_sizes(want: Any, x: Any, sizes: Any, dim: int = 0) -> Any:
    axis, parts, start = at(dim, x.ndim), [], 0
    for size in sizes:
        parts.append(sliced(x, axis, start, size))
        start = start + size
    return tuple(parts)


@rule("split.Tensor", "split_copy.Tensor")
def split(want: Any, x: Any, size: Any, dim: int = 0) -> Any:
    return split_with_sizes(want, x, [part.shape[at(dim, x.ndim)] for part in want], dim)


@rule("unbind.int", "unbind_copy.int")
def unbind(want: Any, x: Any, dim: int = 0) -> Any:
    axis = at(dim, x.ndim)
    return tuple(reshaped(sliced(x, axis, i, 1), part.shape) for i, part in enumerate(want))


@rule("repeat")
def repeat(want: Want, x: Any, repeats: Any) -> Any:
    extra = len(repeats) - x.ndim
    inner = [e for n, extent in zip(repeats[extra:], x.shape, strict=True) for e in (n, extent)]
    spread = reshaped(x, [*(1,) * extra, *(e for extent in x.shape for e in (1, extent))])
    return reshaped(np.broadcast_to(spread, (*repeats[:extra], *inner)), want.shape)


@rule("flip")
def flip(want: Want, x: Any, dims: Any) -> Any:
    return np.flip(x, tuple(at(d, x.ndim) for d in dims)) if x.ndim and dims else wrap(x.tensor)


@rule("constant_pad_nd")
def constant_pad_nd(want: Want, x: Any, pad: Any, value: Any = 0) -> Any:
    return padded(x, value, pad[-2::-2], pad[-1::-2])


def padded(x: Any, value: Any, low: Any, high: Any, inner: Any = None) -> Any:
    """With so many such elements before, behind and between those of the last dimensions."""
    lead = [0] * (x.ndim - len(low))
    attrs = {
        "edge_padding_low": [*lead, *low],
        "edge_padding_high": [*lead, *high],
        "interior_padding": [*lead, *(inner or [0] * len(low))],
    }
    return wrap(_core.apply("pad", [x.tensor, as_tensor(value, x.dtype)], attrs))


@rule("diagonal", "diagonal_copy")
def diagonal(want: Want, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return wrap(np.diagonal(x, offset, at(dim1, x.ndim), at(dim2, x.ndim)).tensor)


@rule("diagonal_scatter")
def diagonal_scatter(want: Want, x: Any, source: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    a, b = at(dim1, x.ndim), at(dim2, x.ndim)
    rest = [d for d in range(x.ndim) if d not in (a, b)]
    order = [*rest, a, b]
    rows, columns = iota((x.shape[a], x.shape[b]), 0), iota((x.shape[a], x.shape[b]), 1)
    source = cast(source, want.dtype)
    length = source.shape[-1]
    line = np.clip(rows if offset >= 0 else columns, 0, max(length - 1, 0) if isinstance(length, int) else length - 1)
    spread = np.take(source, line, axis=-1)
    made = np.where(columns - rows == offset, spread, permuted(x, order))
    inverse = [order.index(d) for d in range(x.ndim)]
    return permuted(made, inverse)


@rule("view_as_complex")
def view_as_complex(want: Want, x: Any) -> Any:
    parts = [reshaped(sliced(x, x.ndim - 1, i, 1), x.shape[:-1]).tensor for i in range(2)]
    return wrap(_core.apply("complex", parts))


@rule("view_as_real")
def view_as_real(want: Want, x: Any) -> Any:
    return np.stack([np.real(x), np.imag(x)], -1)
