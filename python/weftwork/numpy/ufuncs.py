"""Short ways to single operations, and powers of integers, which have to be looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from . import own
from .tracer import Tensor, convert, wrap
from .validity import demanded


def op(name: str, *operands: Tensor, **attrs: Any) -> Tensor:
    return _core.apply(name, list(operands), attrs or None)


def scalar(value: Any, like: Tensor | np.dtype) -> Tensor:
    """A 0-d constant of a dtype, or of that of another tensor."""
    dtype = like if isinstance(like, np.dtype) else like.dtype
    return _core.constant(own.asarray(value).astype(dtype))


def iota(extent: Any, dtype: Any = np.int64) -> Tensor:
    """0, 1, … extent - 1."""
    return _core.apply("iota", [], {"type": np.dtype(dtype), "dims": (extent,), "dimension": 0})


def truth(x: Tensor) -> Tensor:
    return convert(x, np.dtype(bool))


def select(condition: Tensor, on_true: Tensor, on_false: Tensor) -> Tensor:
    return op("select", condition, on_true, on_false)


def power(lhs: Tensor, rhs: Tensor) -> Tensor:
    """Of integers, whose exponents must not be negative."""
    if rhs.dtype.kind == "i":
        message = "Integers to negative integer powers are not allowed."
        rhs = demanded(rhs, np.greater_equal(wrap(rhs), 0), "negative_power", message)
    return _core.elementwise("power", lhs, rhs)
