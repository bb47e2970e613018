"""Variables that are None or a number or array, as the run decides: ``first = None``, and in a loop ``if x[i] > 0: first = i``; and
results that are one of any two values: ``return None if d == 0 else (x / d, d)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .tracer import TracedArray, as_tensor, python_truth, wrap

__all__ = ["Either", "Maybe", "default_of", "either", "holds_maybe", "parts_of"]


class Maybe:
    """What is None where ``missing`` holds, and a number or array elsewhere; ``site``: the loop whose condition decides."""

    __slots__ = ("missing", "site", "value")

    def __init__(self, missing: Any, value: Any, site: Any) -> None:
        self.missing, self.value, self.site = missing, value, site


class Either(NamedTuple):
    """A result of the whole function: the first value where the condition holds, else the second, which need be nothing alike."""

    condition: TracedArray
    first: Any
    second: Any


def parts_of(value: Any) -> tuple[Any, Any]:
    """Whether a value is None, and what it is otherwise."""
    return (value.missing, value.value) if type(value) is Maybe else (value is None, value)


def either(
    trace: Any, condition: TracedArray, a: Any, b: Any, choose: Callable[[Any, Any], Any], select: Any
) -> Maybe | None:
    """``a`` where the condition holds, ``b`` elsewhere, one of which may be None; None where that is no one value."""
    (no_a, first), (no_b, second) = parts_of(a), parts_of(b)
    if select is not np.where and not (first is second is None):
        # What is computed where its way is taken is not there elsewhere.
        first, second = (default_of(y) if x is None else x for x, y in ((first, second), (second, first)))
    value = second if first is None else first if second is None else choose(first, second)
    if value is None or trace.recorder is None:
        return None
    truth = np.dtype(bool)
    missing = select(condition, wrap(as_tensor(no_a, truth)), wrap(as_tensor(no_b, truth)))
    return Maybe(python_truth(missing), value, trace.decided)


def default_of(value: Any) -> Any:
    """A number or array of the kind of one that may be missing."""
    if isinstance(value, TracedArray) and not value.scalar:
        return np.zeros_like(value)
    if isinstance(value, TracedArray):
        return value.weak(0) if value.weak else value.dtype.type(0)
    return type(value)(0) if type(value) in (bool, float, complex) or isinstance(value, np.generic) else 0


def holds_maybe(value: Any) -> bool:
    return type(value) is Maybe or (type(value) is tuple and any(map(holds_maybe, value)))
