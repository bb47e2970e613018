"""What becomes of a number that is stored in an array of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .tracer import TracedArray, as_tensor, current_trace, wrap

__all__ = ["fits", "holds_all", "require_stored", "span_of"]


def require_stored(value: Any, dtype: np.dtype, is_item: bool = True) -> Any:
    """The value that elements of this dtype get: NumPy converts scalars by int(), which raises where they do not fit.

    It does so with Python's numbers, and with its own scalars where they become items of signed integers.
    """
    if dtype.kind not in "iu":
        return value
    if isinstance(value, (list, tuple)):
        for item in value:
            require_stored(item, dtype)
    elif isinstance(value, np.generic) and is_item and dtype.kind == "i" and value.dtype.kind in "iuf":
        np.ndarray((1,), dtype)[0] = value  # with NumPy's own error
    elif type(value) is TracedArray and value.scalar and (value.weak or (is_item and dtype.kind == "i")):
        trace = current_trace()
        if trace is not None and trace.recorder is not None and not np.can_cast(value.dtype, dtype):
            return wrap(trace.recorder.fitted(value, value.tensor, dtype))
    elif type(value) is _core.Dim:
        as_tensor(value, dtype)
    return value


def span_of(value: Any) -> tuple[int, int] | None:
    """Between which numbers one of Python's integers lies, as far as is known: an extent has bounds, a choice those of both."""
    if type(value) is int:
        return value, value
    if type(value) is _core.Dim:
        return value.min, value.max
    trace = current_trace()
    known = trace.spans.get(id(value.tensor)) if trace is not None and type(value) is TracedArray else None
    return None if known is None else known[1]


def holds_all(dtype: np.dtype, value: Any) -> bool:
    """Whether a dtype of integers is known to hold one of Python's."""
    span = span_of(value) if dtype.kind in "iu" else None
    if span is None:
        return False
    limits = np.iinfo(dtype)
    return bool(limits.min <= span[0] and span[1] <= limits.max)


def fits(value: TracedArray, dtype: np.dtype) -> Any:
    """Whether integers of this dtype hold a number without its fraction; perhaps not said of the least of 64 bits."""
    limits = np.iinfo(dtype)
    if value.dtype.kind != "f":
        return np.logical_and(value >= limits.min, value <= limits.max)
    number = value.astype(np.float64)
    return np.logical_and(number > float(limits.min - 1), number < float(limits.max + 1))
