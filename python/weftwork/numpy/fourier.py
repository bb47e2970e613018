"""numpy.fft: discrete Fourier transforms of fixed lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from . import own
from .arguments import items_of
from .dispatch import implements
from .functions import delivered, one_axis, solid
from .reductions import require_out_of
from .selection import fixed_extent
from .tracer import raise_here, wrap
from .ufuncs import op

INVERSE_NORM = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def opposite(norm: Any) -> str:
    """The norm under which a forward transform has the factor of the inverse one."""
    if norm not in INVERSE_NORM:
        raise_here(
            ArgumentValueError, f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".', "fft_norm"
        )
    return INVERSE_NORM[norm]


def fitted(x: Any, length: int, axis: int) -> Any:
    """A dimension cut, or filled up with zeros."""
    extent = x.shape[axis]
    if extent >= length:
        return x[(slice(None),) * axis + (slice(length),)]
    return np.concatenate([x, own.zeros((*x.shape[:axis], length - extent, *x.shape[axis + 1 :]), x.dtype)], axis=axis)


def scaled(result: Any, kind: str, n: int, norm: Any, given: np.dtype) -> Any:
    """Applies the norm: the inverse transforms of the op divide by n already. NumPy's factor has the precision of the input."""
    opposite(norm)
    inverse = kind.startswith("I")
    real = result.real.dtype
    half = given == np.float16 and (norm == "ortho" or inverse == (norm != "forward"))
    if half:
        with np.errstate(all="ignore"):
            factor = np.reciprocal(np.sqrt(n, dtype=given) if norm == "ortho" else given.type(n))
        return result * real.type(real.type(factor) * (n if inverse else 1))
    if norm == "ortho":
        return result * real.type(np.sqrt(n) if inverse else 1 / np.sqrt(n))
    if norm == "forward":
        return result * real.type(n if inverse else 1 / n)
    return result


def length_of(kind: str, x: Any, n: Any, axis: int) -> int:
    """How many numbers are transformed along an axis, those of the real side."""
    if n is None:
        extent = fixed_extent(x, axis, "a Fourier transform")
        n = (extent - 1) * 2 if kind == "IRFFT" else extent
    n = n.__index__()
    if n < 1:
        raise_here(ArgumentValueError, f"Invalid number of FFT data points ({n}) specified.", "fft_length")
    return n


def taken_as(kind: str, x: Any) -> type:
    """The dtype of what the op takes."""
    if kind == "RFFT" and x.dtype.kind == "c":
        raise_here(ArgumentTypeError, f"rfft takes real numbers, got {x.dtype}", "fft_real")
    narrow = x.dtype in (np.float32, np.complex64, np.float16)
    if kind == "RFFT":
        return np.float32 if narrow else np.float64
    return np.complex64 if narrow else np.complex128


def transformed(kind: str, a: Any, n: Any, axis: Any, norm: Any, out: Any) -> Any:
    """FFT, IFFT, RFFT or IRFFT along an axis."""
    x = solid(a)
    axis = one_axis(axis, x.ndim, "fft")
    n = length_of(kind, x, n, axis)
    given = taken_as(kind, x)
    final = np.float16 if kind == "IRFFT" and x.dtype == np.float16 else None
    line = np.moveaxis(x.astype(given), axis, -1)
    line = fitted(line, n // 2 + 1 if kind == "IRFFT" else n, x.ndim - 1)
    found: Any = wrap(op("fft", line.tensor, fft_type=kind, fft_length=(n,)))
    result = scaled(np.moveaxis(found, -1, axis), kind, n, norm, x.dtype)
    if final is not None:
        result = result.astype(final)
    require_out_of(result.dtype, out, "a Fourier transform")
    return delivered(np.fft.fft, result, out, "same_kind")


def one_dimensional(kind: str) -> Any:
    def function(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        return transformed(kind, a, n, axis, norm, out)

    return function


fft = implements(np.fft.fft)(one_dimensional("FFT"))
ifft = implements(np.fft.ifft)(one_dimensional("IFFT"))
rfft = implements(np.fft.rfft)(one_dimensional("RFFT"))
irfft = implements(np.fft.irfft)(one_dimensional("IRFFT"))


def no_out(out: Any, name: str) -> None:
    if out is not None:
        raise_here(UnsupportedError, f"{name} with out= cannot be compiled: NumPy does not always fill it", "fft_out")


@implements(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    no_out(out, "hfft")
    return irfft(np.conjugate(solid(a)), n, axis, opposite(norm))


@implements(np.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    result = np.conjugate(rfft(a, n, axis, opposite(norm)))
    return delivered(np.fft.fft, result, out, "same_kind")


def axes_in(axes: Any) -> list[Any]:
    if np.ndim(axes) == 0:
        raise_here(ArgumentTypeError, f"axes must be a sequence of integers, got {axes!r}", "fft_axes")
    return items_of(axes, "fft: axes")


def lengths_and_axes(x: Any, s: Any, axes: Any, real_inverse: bool) -> tuple[list[Any], list[int]]:
    """For each transformed axis its length."""
    if axes is None:
        count = x.ndim if s is None else len(s)
        axes = list(range(-count, 0))
    axes = [one_axis(i, x.ndim, "fft") for i in axes_in(axes)]
    s = None if s is None else list(s)
    lengths = [None] * len(axes) if s is None else [None if n is None or n == -1 else n for n in s]
    if len(lengths) != len(axes):
        raise_here(ArgumentValueError, "Shape and axes have different lengths.", "fft_shape")
    if not axes and real_inverse:
        raise_here(ArgumentValueError, "at least 1 axis must be transformed", "fft_axes")
    if real_inverse and s is not None and s[-1] == -1:
        lengths[-1] = x.shape[axes[-1]]
    return lengths, axes


def last_ones(kind: str, x: Any, steps: list[Any], norm: Any) -> Any:
    """The steps along the last axes as one op, which moves none of them."""
    lengths = {axis: (which, n) for which, n, axis in steps}
    line = x.astype(taken_as(kind, x))
    for axis, (which, n) in lengths.items():
        line = fitted(line, n // 2 + 1 if which == "IRFFT" else n, axis)
    extents = tuple(lengths[axis][1] for axis in sorted(lengths))
    found: Any = wrap(op("fft", line.tensor, fft_type=kind, fft_length=extents))
    for which, n in lengths.values():
        found = scaled(found, which, n, norm, x.dtype)
    return found


def over_axes(kind: str, a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    """fftn and its kin: real transforms are of the last of the axes, first when forward, last when inverse."""
    x = solid(a)
    lengths, places = lengths_and_axes(x, s, axes, kind in ("RFFT", "IRFFT"))
    plan = list(zip(lengths, places, strict=True))
    inner = {"RFFT": "FFT", "IRFFT": "IFFT"}.get(kind, kind)
    if kind == "IRFFT":
        steps = [(inner, *step) for step in plan[:-1]] + [(kind, *plan[-1])]
    else:
        steps = [(inner, *step) for step in reversed(plan)]
        if kind == "RFFT":
            steps[0] = (kind, *plan[-1])
    # Of the input, though an axis may stand there twice.
    steps = [(which, length_of(which, x, n, axis), axis) for which, n, axis in steps]
    if plan and len(plan) <= 3 and places == list(range(x.ndim - len(plan), x.ndim)) and x.dtype != np.float16:
        x = last_ones(kind, x, steps, norm)
    else:
        for which, n, axis in steps:
            x = transformed(which, x, n, axis, norm, None)
    require_out_of(x.dtype, out, "a Fourier transform")
    return delivered(np.fft.fft, x, out, "same_kind")


def many_dimensional(kind: str, default: Any) -> Any:
    def function(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None) -> Any:
        if kind == "IRFFT" and default is not None:
            no_out(out, "irfft2")
        return over_axes(kind, a, s, axes, norm, out)

    return function


for _name, _kind in (("fft", "FFT"), ("ifft", "IFFT"), ("rfft", "RFFT"), ("irfft", "IRFFT")):
    implements(getattr(np.fft, f"{_name}n"))(many_dimensional(_kind, None))
    implements(getattr(np.fft, f"{_name}2"))(many_dimensional(_kind, (-2, -1)))
