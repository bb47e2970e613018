"""Bits packed into bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError
from .dispatch import implements
from .functions import one_axis, solid
from .tracer import raise_here


def bit_weights(bitorder: str) -> list[int]:
    if bitorder not in ("big", "little"):
        raise_here(ArgumentValueError, f"'bitorder' must be either 'little' or 'big', got {bitorder!r}", "bitorder")
    return list(range(7, -1, -1)) if bitorder == "big" else list(range(8))


@implements(np.packbits)
def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> Any:
    x = solid(a)
    if x.dtype.kind not in "iub":
        raise_here(
            ArgumentTypeError,
            f"expected an input array of integer or boolean data type, got {x.dtype}",
            "packbits_dtype",
        )
    x = (
        np.moveaxis(np.ravel(x), 0, -1)
        if axis is None
        else np.moveaxis(np.atleast_1d(x), one_axis(axis, np.atleast_1d(x).ndim, "packbits"), -1)
    )
    order = bit_weights(bitorder)
    missing = -x.shape[-1] % 8
    flags = np.pad(x.astype(bool), [(0, 0)] * (x.ndim - 1) + [(0, missing)]).astype(np.uint8)
    groups = np.reshape(flags, (*x.shape[:-1], (x.shape[-1] + missing) // 8, 8))
    result: Any = groups[..., 0] << np.uint8(order[0])
    for i in range(1, 8):
        result = result | (groups[..., i] << np.uint8(order[i]))
    return np.moveaxis(result, -1, 0 if axis is None else axis)


@implements(np.unpackbits)
def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> Any:
    x = solid(a)
    if x.dtype != np.uint8:
        raise_here(
            ArgumentTypeError, f"expected an input array of unsigned byte data type, got {x.dtype}", "unpackbits_dtype"
        )
    place = 0 if axis is None else one_axis(axis, np.atleast_1d(x).ndim, "unpackbits")
    x = np.ravel(x) if axis is None else np.moveaxis(np.atleast_1d(x), place, -1)
    bits = np.stack([(x >> np.uint8(i)) & np.uint8(1) for i in bit_weights(bitorder)], -1)
    line = np.reshape(bits, (*x.shape[:-1], x.shape[-1] * 8))
    if count is not None:
        more = count - line.shape[-1]
        if isinstance(line.shape[-1], int) and count < -line.shape[-1]:
            raise_here(
                ArgumentValueError,
                f"-count larger than number of elements: {count} of {line.shape[-1]}",
                "unpackbits_count",
            )
        if more > 0:
            line = np.pad(line, [(0, 0)] * (line.ndim - 1) + [(0, more)])
        line = line[..., :count]
    return np.moveaxis(line, -1, place)
