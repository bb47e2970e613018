"""Floats as integers, also those that do not fit: as NumPy's loops have them on the machine at hand."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from .. import _core

__all__ = ["integers_of_floats"]

Tensor = _core.Tensor
#: Whose instructions NumPy converts numbers with.
IS_X86 = platform.machine() in ("x86_64", "AMD64")


def integers_of_floats(tensor: Tensor, target: np.dtype) -> Tensor:
    """ndarray.astype of floats, to an integer type."""
    if tensor.dtype.itemsize < 4:
        tensor = _core.apply("convert", [tensor], {"type": np.dtype(np.float32)})
    return signed_integer(tensor, target) if target.kind == "i" and target.itemsize >= 4 else wrapped_integer(tensor, target)


def filled_like(tensor: Tensor, value: Any, dtype: np.dtype) -> Tensor:
    return _core.apply("broadcast_in_dim", [_core.constant(np.asarray(value).astype(dtype))], {"dims": tensor.shape, "dimensions": ()})


def below(tensor: Tensor, limit: float) -> Tensor:
    """Whether floats are less than a number; those that are none are not."""
    return _core.apply("compare", [tensor, filled_like(tensor, limit, tensor.dtype)], {"comparison_direction": "LT"})


def signed_integer(tensor: Tensor, target: np.dtype) -> Tensor:
    """Floats as int32 or int64: where they do not fit, the least integer on x86 (CVTTPS2DQ and its like), else the nearest."""
    integers = _core.apply("convert", [tensor], {"type": target})
    if not IS_X86:
        return integers
    return _core.apply("select", [below(tensor, 2.0 ** (8 * target.itemsize - 1)), integers, filled_like(tensor, np.iinfo(target).min, target)])


def wrapped_integer(tensor: Tensor, target: np.dtype) -> Tensor:
    """Floats as small or unsigned integers: those outside come around, as by way of the wider integers of the CPU."""
    wide = signed_integer(tensor, np.dtype(np.int32 if target.itemsize < 4 else np.int64))
    wrapped = _core.apply("convert", [wide], {"type": target})
    if target.itemsize < 8:
        return wrapped
    large = _core.apply("convert", [tensor], {"type": target})
    if not IS_X86:
        return _core.apply("select", [below(tensor, 0.0), wrapped, large])
    # From 2**63 on the CPU converts what is beyond it; a NaN is not at or beyond it.
    large = _core.apply("select", [below(tensor, 2.0**64), large, filled_like(tensor, 0, target)])
    is_large = _core.apply("compare", [tensor, filled_like(tensor, 2.0**63, tensor.dtype)], {"comparison_direction": "GE"})
    return _core.apply("select", [is_large, large, wrapped])
