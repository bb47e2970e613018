"""Discrete Fourier transforms: the array API's functions of lazy arrays."""

from .lazy.fft import *
from .lazy.fft import __all__

__all__ = list(__all__)
