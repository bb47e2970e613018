"""Discrete Fourier transforms of lazy arrays, with the parameters of the array API standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError
from .calls import called
from .dtypes import isdtype
from .elementwise import named
from .tensor import Tensor, leaf, require_device, tensor_of

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip


def along_axis(name: str, text: str) -> Callable[..., Tensor]:
    """A transform of one axis, cut or padded with zeros to ``n`` elements."""
    transform = getattr(np.fft, name)

    def function(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
        return called(transform, (x,), {"n": n, "axis": axis, "norm": norm})

    return named(function, name, text, "weftwork.fft")


def over_axes(name: str, text: str) -> Callable[..., Tensor]:
    """A transform of several axes, cut or padded with zeros to ``s`` elements."""
    transform = getattr(np.fft, name)

    def function(x: Tensor, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
        if s is not None and axes is None:
            axes = tuple(range(-len(s), 0))
        return called(transform, (x,), {"s": s, "axes": axes, "norm": norm})

    return named(function, name, text, "weftwork.fft")


fft = along_axis("fft", "The transform of an axis.")
ifft = along_axis("ifft", "The inverse transform of an axis.")
rfft = along_axis("rfft", "The transform of an axis of real numbers: the half that is not the conjugate of the other.")
irfft = along_axis("irfft", "The inverse of rfft, of ``n`` real numbers, 2 (m - 1) unless told.")
hfft = along_axis("hfft", "The transform, real, of what has Hermitian symmetry and is given by half.")
ihfft = along_axis("ihfft", "The inverse of hfft.")
fftn = over_axes("fftn", "The transform of several axes, all unless told.")
ifftn = over_axes("ifftn", "The inverse transform of several axes, all unless told.")
rfftn = over_axes("rfftn", "The transform of several axes of real numbers, half of the last one.")
irfftn = over_axes("irfftn", "The inverse of rfftn.")


def frequencies(array: np.ndarray, dtype: Any, device: Any) -> Tensor:
    require_device(device)
    if dtype is not None and not isdtype(dtype, "real floating"):
        raise ArgumentTypeError(f"frequencies are real floats, got dtype {np.dtype(dtype)}  [dtype]")
    return tensor_of(leaf(array, dtype))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of a transform of ``n`` samples that lie ``d`` apart."""
    return frequencies(np.fft.fftfreq(n, d), dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of rfft of ``n`` samples that lie ``d`` apart."""
    return frequencies(np.fft.rfftfreq(n, d), dtype, device)


def fftshift(x: Tensor, /, *, axes: Any = None) -> Tensor:
    """The frequency 0 moved to the middle."""
    return called(np.fft.fftshift, (x, axes), {})


def ifftshift(x: Tensor, /, *, axes: Any = None) -> Tensor:
    """The inverse of fftshift."""
    return called(np.fft.ifftshift, (x, axes), {})
