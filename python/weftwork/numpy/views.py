"""Views that are more than a slice: diagonals, parts of complex numbers, repeated elements, other dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from . import own
from .arguments import c_int, dtype_of, integer, new_extents
from .dispatch import broadcast_to, implements, written
from .functions import one_axis, refuse_scalar, solid, traced, transpose
from .stored import require_stored
from .tracer import Tensor, TracedArray, View, as_tensor, convert, raise_here, wrap
from .ufuncs import op, scalar

_NoValue = np._NoValue


class ReadOnly(View):
    """A view that NumPy gives without the right to write through it."""

    def write(self, base: Tensor, part: Tensor) -> Tensor:
        return raise_here(ArgumentValueError, "assignment destination is read-only", "read_only")


class Fixed(ReadOnly):
    """All of an array, which must not be written by this name."""

    def read(self, base: Tensor) -> Tensor:
        return base


def is_read_only(array: TracedArray) -> bool:
    """Whether NumPy has no right to write here."""
    return array._storage.guard is not None or any(isinstance(step, ReadOnly) for step in array._steps)


class Zero(ReadOnly):
    """The imaginary part of a real number."""

    def read(self, base: Tensor) -> Tensor:
        return scalar(0, base)


class Diagonal(ReadOnly):
    """The elements [..., i, i + offset] of the last two axes."""

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def read(self, base: Tensor) -> Tensor:
        return _core.diagonal(base, self.offset, -2, -1)


class DynamicSlice(View):
    """A part of fixed extents, which begins where a number says at each call.

    ``starts`` are numbers of the program, one for each axis; ``places`` tell who computes them: Python (a host value), the program (the
    tensor), or nobody (None, at the beginning). ``key`` tells the index that it was made for.
    """

    def __init__(self, starts: list[Tensor], sizes: list[Any], places: list[Any], key: list[Any]) -> None:
        self.starts, self.sizes, self.places, self.key = starts, sizes, places, key

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other

    def read(self, base: Tensor) -> Tensor:
        return _core.apply("dynamic_slice", [base, *self.starts], {"slice_sizes": tuple(self.sizes)})

    def write(self, base: Tensor, part: Tensor) -> Tensor:
        return _core.apply("dynamic_update_slice", [base, part, *self.starts], {})


class Bits(View):
    """The same bytes as another dtype; the last axis shrinks or grows where the sizes differ."""

    def __init__(self, before: np.dtype, after: np.dtype) -> None:
        self.before, self.after = before, after

    def read(self, base: Tensor) -> Tensor:
        return reinterpret(base, self.after)

    def write(self, base: Tensor, part: Tensor) -> Tensor:
        return reinterpret(part, self.before)


def reinterpret(x: Tensor, dtype: np.dtype) -> Tensor:
    """ndarray.view(dtype) as a value."""
    if dtype.kind == "c":
        half = np.dtype(f"f{dtype.itemsize // 2}")
        pairs = wrap(reinterpret(x, half))
        return op("complex", pairs[..., 0::2].tensor, pairs[..., 1::2].tensor)
    if x.dtype.kind == "c":
        pair = np.stack([wrap(op("real", x)), wrap(op("imag", x))], -1)
        shape = (*x.shape[:-1], x.shape[-1] * 2) if x.ndim else (2,)
        return reinterpret(op("reshape", pair.tensor, dims=shape), dtype)
    if x.dtype == bool:
        x = convert(x, np.dtype(np.uint8))
    x = bitcast(x, np.dtype(f"u{x.dtype.itemsize}"))
    if dtype.itemsize > x.dtype.itemsize:
        x = joined_bits(x, np.dtype(f"u{dtype.itemsize}"))
    elif dtype.itemsize < x.dtype.itemsize:
        x = divided_bits(x, np.dtype(f"u{dtype.itemsize}"))
    return bitcast(x, dtype)


def bitcast(x: Tensor, dtype: np.dtype) -> Tensor:
    return x if x.dtype == dtype else op("bitcast_convert", x, type=dtype)


def joined_bits(x: Tensor, wide: np.dtype) -> Tensor:
    """Runs of elements as one element of a wider dtype, the first lowest."""
    count = wide.itemsize // x.dtype.itemsize
    parts = np.reshape(wrap(x), (*x.shape[:-1], x.shape[-1] // count, count)).astype(wide)
    result = parts[..., 0]
    for i in range(1, count):
        result = result | (parts[..., i] << wide.type(8 * x.dtype.itemsize * i))
    return result.tensor


def divided_bits(x: Tensor, narrow: np.dtype) -> Tensor:
    """Each element as several of a narrower dtype, the lowest first."""
    count = x.dtype.itemsize // narrow.itemsize
    parts = [(wrap(x) >> x.dtype.type(8 * narrow.itemsize * i)).astype(narrow) for i in range(count)]
    return op("reshape", np.stack(parts, -1).tensor, dims=(*x.shape[:-1], x.shape[-1] * count))


def view(x: TracedArray, dtype: Any = _NoValue, type: Any = np.ndarray) -> Any:
    """ndarray.view: of the same memory, as another dtype; None is float64, as ever."""
    if type is not np.ndarray or (
        isinstance(dtype, type_) and dtype is not np.ndarray and issubclass(dtype, np.ndarray)
    ):
        raise_here(ArgumentTypeError, "ndarray.view with a subclass of ndarray cannot be compiled", "array_subclass")
    target = x.dtype if dtype is _NoValue or dtype is np.ndarray else dtype_of(dtype)
    if (
        target.names is not None
        or target.subdtype is not None
        or target.kind in "SUOMm"
        or target.type is np.void
        or not target.isnative
    ):
        raise_here(
            UnsupportedError,
            f"ndarray.view({target}) of {x.dtype} cannot be compiled: its elements are no numbers of this machine's",
            "view_dtype",
        )
    if target == x.dtype:
        return x if x.scalar else x[...]
    if x._storage.foreign:
        raise_here(
            UnsupportedError,
            f"ndarray.view of an array in the other byte order cannot be compiled: pass x.astype({x.dtype})",
            "byte_order",
        )
    if target == bool or target.kind not in "iufcV":
        raise_here(
            UnsupportedError,
            f"ndarray.view({target}) of {x.dtype} cannot be compiled: write x != 0, or x.astype",
            "view_dtype",
        )
    if target.itemsize != x.dtype.itemsize:
        if not x.ndim:
            raise_here(
                ArgumentValueError,
                "changing the dtype of a 0d array is only supported if the itemsize is unchanged",
                "view_dtype",
            )
        size = x.shape[-1] * x.dtype.itemsize
        if isinstance(size, int) and size % target.itemsize:
            raise_here(
                ArgumentValueError,
                f"the last axis has {size} bytes, not a multiple of the {target.itemsize} of {target}",
                "view_dtype",
            )
    if x.dtype == bool:
        # Written through, these bytes could be neither 0 nor 1.
        return wrap(reinterpret(x.tensor, target))
    return x.view_through(Bits(x.dtype, target))


type_ = type


def byteswap(x: TracedArray, inplace: bool = False) -> Any:
    """ndarray.byteswap: the bytes of each element in reverse order."""
    size = x.dtype.itemsize // (2 if x.dtype.kind == "c" else 1)
    octets = wrap(reinterpret(np.reshape(x, (*x.shape, 1)).tensor, np.dtype(np.uint8)))
    turned = np.reshape(octets, (*x.shape, -1, size))[..., ::-1]
    flat = np.reshape(turned, (*x.shape, x.dtype.itemsize))
    result = np.reshape(wrap(reinterpret(flat.tensor, x.dtype)), x.shape) if x.dtype != bool else np.copy(x)
    if not inplace:
        return result
    x[...] = result
    return x


@implements(np.real)
def real(val: Any) -> Any:
    x = traced(val)
    return part_of(x, "real") if x.dtype.kind == "c" else x


@implements(np.imag)
def imag(val: Any) -> Any:
    x = traced(val)
    if x.dtype.kind == "c":
        return part_of(x, "imag")
    if not x.ndim:
        result = x.view_through(Zero())
        result.weak, result.scalar = x.weak, x.scalar
        return result
    return wrap(broadcast_to(scalar(0, x.tensor), x.shape)).view_through(Fixed())


def part_of(x: TracedArray, name: str) -> TracedArray:
    result = x.view_of(op(name, x.tensor))
    if x.weak:
        result.weak, result.scalar = float, True
    return result


@implements(np.broadcast_to)
def broadcast_to_(array: Any, shape: Any, subok: bool = False) -> Any:
    x = traced(array)
    x = wrap(x.tensor) if x.scalar else x
    return x.view_of(broadcast_to(x.tensor, new_extents(shape))).view_through(Fixed())


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    arrays = [wrap(a.tensor) if (a := traced(v)).scalar else a for v in args]
    shape = _core.broadcast_shapes(*[a.shape for a in arrays])
    same = [a.ndim == len(shape) and all(map(_core.dims_equal, a.shape, shape)) for a in arrays]
    return tuple(
        a if whole else a.view_of(broadcast_to(a.tensor, shape)) for a, whole in zip(arrays, same, strict=True)
    )


@implements(np.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    x = traced(a)
    if x.ndim < 2:
        raise_here(
            ArgumentValueError, f"diag requires an array of at least two dimensions, got {x.ndim}", "diagonal_rank"
        )
    first, second = one_axis(axis1, x.ndim, "diagonal"), one_axis(axis2, x.ndim, "diagonal")
    if first == second:
        raise_here(ArgumentValueError, "axis1 and axis2 cannot be the same", "axis_duplicate")
    rest = [i for i in range(x.ndim) if i not in (first, second)]
    return transpose(x, (*rest, first, second)).view_through(Diagonal(c_int(offset, "diagonal: offset")))


@implements(np.linalg.diagonal)
def linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return diagonal(x, offset, -2, -1)


@implements(np.trace)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    return np.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


@implements(np.linalg.trace)
def linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return trace(x, offset, -2, -1, dtype)


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    x, k = traced(v), integer(k, "diag: k")
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise_here(ArgumentValueError, f"input must be 1- or 2-d, got {x.ndim} dimensions", "diag_rank")
    count = x.shape[0]
    extent = count + abs(k)
    if not isinstance(extent, int):
        wide = np.pad(x, (max(k, 0), max(-k, 0)))
        on = np.equal(own.arange(extent)[:, None] + k, own.arange(extent)[None, :])
        return np.where(on, wide[None, :], own.zeros((), x.dtype))
    first = max(k, 0) + max(-k, 0) * extent
    used = (count - 1) * (extent + 1) + 1 if count else 0
    low, high = (first, extent * extent - first - used) if count else (0, extent * extent)
    gap = {"edge_padding_low": [low], "edge_padding_high": [high], "interior_padding": [extent]}
    return wrap(op("reshape", op("pad", as_tensor(x), scalar(0, x.tensor), **gap), dims=(extent, extent)))


@implements(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    return diag(np.ravel(traced(v)), k)


@implements(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    x = written(a, "fill_diagonal")
    if x.ndim < 2:
        raise_here(ArgumentValueError, "array must be at least 2-d", "diagonal_rank")
    if x.ndim > 2 and len(set(x.shape)) != 1:
        raise_here(
            ArgumentValueError, f"all dimensions of input must be of equal length, got {x.shape}", "diagonal_shape"
        )
    if np.ndim(val) == 0 and not wrap:
        # A condition on the places is computed with what surrounds it; a stride through all of them is a loop of its own.
        places = [
            own.arange(extent)[(slice(None), *[None] * (x.ndim - 1 - axis))] for axis, extent in enumerate(x.shape)
        ]
        on = np.equal(places[0], places[1])
        for place in places[2:]:
            on = np.logical_and(on, np.equal(places[0], place))
        x[on] = val
        return
    if x.ndim == 2:
        step, end = x.shape[1] + 1, None if wrap else x.shape[1] * x.shape[1]
    else:
        step, end = sum(x.shape[0] ** i for i in range(x.ndim)), None
    put_flat(x, slice(None, end, step), val)


def put_flat(x: TracedArray, part: slice, values: Any) -> None:
    """x.flat[part] = values: in row-major order, the values again and again."""
    require_stored(values, x.dtype, is_item=False)
    flat = x.view_of(_core.reshape(x.tensor, (-1,)))
    if np.ndim(values) == 0:
        flat[part] = values
        return
    count = flat[part].shape[0]
    new = np.ravel(wrap(convert(as_tensor(values), x.dtype)))
    size = new.shape[0]
    if isinstance(size, int) and size == 0:
        if not isinstance(count, int) or count:
            raise_here(ArgumentValueError, "cannot assign no values to elements of an array", "flat_values")
        return
    if _core.dims_equal(size, 1) or _core.dims_equal(size, count):
        flat[part] = new
        return
    flat[part] = np.tile(new, -(-count // size))[:count]


class Flat:
    """ndarray.flat: the elements in row-major order, to read by an index, to write and to go through once."""

    def __init__(self, array: TracedArray) -> None:
        self.base = array
        self.index = 0

    def _line(self) -> TracedArray:
        return self.base.view_of(_core.reshape(self.base.tensor, (-1,)))

    def __len__(self) -> int:
        return len(self._line())

    def __getitem__(self, index: Any) -> Any:
        part = self._line()[index]
        return part if part.scalar else wrap(part.tensor)

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            put_flat(self.base, index, value)
        elif index is Ellipsis:
            put_flat(self.base, slice(None), value)
        else:
            self._line()[index] = value

    def __iter__(self) -> Flat:
        return self

    def __next__(self) -> Any:
        if self.index >= len(self):
            raise StopIteration
        self.index += 1
        return self._line()[self.index - 1]

    @property
    def coords(self) -> tuple[int, ...]:
        """The index of the element that comes next."""
        places, rest = [], self.index
        for extent in reversed(self.base.shape[1:]):
            places.append(rest % extent)
            rest //= extent
        return (rest, *reversed(places)) if self.base.ndim else ()

    def copy(self) -> Any:
        return wrap(self._line().tensor)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.copy().__array__(dtype, copy)


def set_flat(x: TracedArray, value: Any) -> None:
    refuse_scalar(x, "flat")
    put_flat(x, slice(None), value)


def set_part(name: str) -> Any:
    """The setter of x.real or x.imag."""

    def assign(x: TracedArray, value: Any) -> None:
        if name == "imag" and x.dtype.kind != "c":
            raise_here(ArgumentTypeError, "array does not have imaginary part to set", "imag_real")
        # NumPy makes an array of the value first: numbers that do not fit are converted as its elements are.
        huge = type(value) is int and not -(2**63) <= value < 2**64
        (real(x) if name == "real" else imag(x))[...] = value if huge else solid(value)

    return assign
