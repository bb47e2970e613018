"""Fourier transforms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..table import Want, cast, rule


def scaled(x: Any, extents: Any, normalization: int, divided: bool) -> Any:
    """By torch's normalization (none, the root of the number of elements, that number) of what NumPy has ``divided`` by it."""
    count = math.prod(extents)
    factor = {0: 1.0, 1: 1 / math.sqrt(count), 2: 1 / count}[normalization] * (count if divided else 1)
    return x if factor == 1 else x * factor


def has_sizes(x: Any, dim: Any, *rest: Any) -> bool:
    return bool(dim) and all(isinstance(x.shape[d], int) for d in dim)


@rule("_fft_c2c", accepts=has_sizes)
def complex_transform(want: Want, x: Any, dim: Any, normalization: int, forward: bool) -> Any:
    result = np.fft.fftn(x, axes=tuple(dim)) if forward else np.fft.ifftn(x, axes=tuple(dim))
    return cast(scaled(result, [x.shape[d] for d in dim], normalization, not forward), want.dtype)


@rule("_fft_r2c", accepts=has_sizes)
def real_transform(want: Want, x: Any, dim: Any, normalization: int, onesided: bool) -> Any:
    result = np.fft.rfftn(x, axes=tuple(dim)) if onesided else np.fft.fftn(x, axes=tuple(dim))
    return cast(scaled(result, [x.shape[d] for d in dim], normalization, False), want.dtype)


@rule("_fft_c2r", accepts=has_sizes)
def real_inverse(want: Want, x: Any, dim: Any, normalization: int, last: int) -> Any:
    extents = [*(x.shape[d] for d in dim[:-1]), last]
    result = np.fft.irfftn(x, extents, axes=tuple(dim))
    return cast(scaled(result, extents, normalization, True), want.dtype)
