"""Values of which the run decides whether NumPy has a number of Python's or a scalar: what a condition in a loop chose.

``best = 0.0``, and in a loop ``if x[i] > best: best = x[i]``: behind it NumPy has a float or a float64. The value here is the
scalar; *mixed* keeps the numbers of Python's that it may be instead. Where the type shows, the value must be none of them, or the
call runs plainly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .maybe import Maybe, either, parts_of
from .shared_arrays import chosen_array
from .stored import span_of
from .tracer import Tensor, TracedArray, as_tensor, wrap
from .validity import can_note, note

__all__ = [
    "MOST_NUMBERS",
    "PLAIN",
    "chosen",
    "is_stood_for",
    "kind_of",
    "kinds_agree",
    "mark",
    "numbers_of",
    "require_one_type",
    "union",
]

PLAIN = (bool, int, float, complex)
#: More numbers than so many are not kept.
MOST_NUMBERS = 4


def numbers_of(trace: Any, value: Any) -> tuple[Any, ...]:
    """The numbers of Python's that a value may be instead of what it is."""
    if not trace.mixed or not isinstance(value, TracedArray):
        return ()
    known = trace.mixed.get(id(value.tensor))
    return () if known is None else known[1]


def mark(trace: Any, tensor: Tensor, numbers: tuple[Any, ...]) -> None:
    if numbers:
        trace.mixed[id(tensor)] = (tensor, numbers)


def same(a: Any, b: Any) -> bool:
    """Whether two numbers of Python's are one: of the same type and sign; a NaN is none but itself."""
    return a is b or (type(a) is type(b) and repr(a) == repr(b) and a == b)


def union(*groups: tuple[Any, ...]) -> tuple[Any, ...]:
    found: list[Any] = []
    for number in (n for group in groups for n in group):
        if not any(same(number, other) for other in found):
            found.append(number)
    return tuple(found)


def chosen(trace: Any, condition: TracedArray, a: Any, b: Any, select: Any = np.where) -> Any:
    """``a`` where the condition holds, ``b`` elsewhere, as one value; None where there is none that is both."""
    if type(a) is type(b) and type(a) in (*PLAIN, str, bytes, type(None)) and same(a, b):
        return a
    if isinstance(a, _core.Dim) and isinstance(b, _core.Dim) and _core.dims_equal(a, b):
        return a
    if a is None or b is None or Maybe in (type(a), type(b)):
        if any(kind_of(number) is None for _, number in map(parts_of, (a, b)) if number is not None):
            return None
        return either(trace, condition, a, b, lambda first, second: chosen(trace, condition, first, second, select))
    if all(isinstance(value, TracedArray) and not value.scalar for value in (a, b)):
        return chosen_array(trace, condition, a, b, select)
    first, second = kind_of(a), kind_of(b)
    if first is None or second is None:
        return None
    if first == second:
        dtype, weak = first
        numbers = union(numbers_of(trace, a), numbers_of(trace, b))
    else:
        if type(a) in PLAIN and (type(b) not in PLAIN or can_be(a, *second)):
            (dtype, weak), number, other = second, a, b
        elif type(b) in PLAIN:
            (dtype, weak), number, other = first, b, a
        elif first[0] == second[0] and trace.recorder.raises:
            # One program: the scalar stands for both.
            (dtype, weak), number, other = (first[0], None), None, None
        else:
            return None
        if number is not None and not can_be(number, dtype, weak):
            return None
        numbers = () if number is None else union((number,), numbers_of(trace, other))
    if len(numbers) > MOST_NUMBERS:
        if not trace.recorder.raises:
            return None
        numbers = ()
    result = select(condition, wrap(as_tensor(a, dtype)), wrap(as_tensor(b, dtype)))
    result.weak, result.scalar = weak, True
    spans = span_of(a), span_of(b)
    if weak is int and None not in spans:
        lows, highs = zip(*spans, strict=True)  # type: ignore[arg-type]
        trace.spans[id(result.tensor)] = (result.tensor, (min(lows), max(highs)))
    mark(trace, result.tensor, numbers)
    return result


def kind_of(value: Any) -> tuple[np.dtype, type | None] | None:
    """The dtype of a number, and its type if it is Python's; None of what is no number."""
    if type(value) in PLAIN:
        return (np.dtype(np.int64), int) if type(value) is int else (np.dtype(type(value)), type(value))
    if isinstance(value, _core.Dim):
        return np.dtype(np.int64), int
    if isinstance(value, TracedArray):
        return (value.dtype, value.weak) if value.scalar and not value.ndim else None
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return value.dtype, None
    return None


def can_be(number: Any, dtype: np.dtype, weak: type | None) -> bool:
    """Whether values of this kind stand for a number of Python's: what is computed of either is the same."""
    if type(number) is bool:
        return dtype == bool
    if dtype.kind in "iu":
        return type(number) is int and np.iinfo(dtype).min <= number <= np.iinfo(dtype).max
    if dtype.kind not in ("c" if type(number) is complex else "f"):
        return False
    # Sums and products of numbers that a short float has, and of which it has the result, are those of Python's.
    try:
        with np.errstate(over="ignore"):
            return bool(number != number or dtype.type(number) == number)
    except OverflowError:
        return False


def is_stood_for(number: Any, value: TracedArray) -> bool:
    """Whether a value stands for a number of Python's that a variable was before it: the number is of another type."""
    return (
        value.scalar and not value.ndim and value.weak is not type(number) and can_be(number, value.dtype, value.weak)
    )


def require_one_type(trace: Any, value: Any) -> bool:
    """Notes that a value is no number of Python's but what it is; whether that could be noted."""
    numbers = numbers_of(trace, value)
    if not numbers:
        return True
    if not can_note(trace):
        return False
    for number in numbers:
        differs = value != number if number == number else value == value
        note(trace, wrap(as_tensor(differs)))
    if trace.predicate is None:  # in a way it is known for that way
        trace.mixed.pop(id(value.tensor))
    return True


def kinds_agree(number: Any, weak: type | None, dtype: np.dtype, other: np.dtype) -> bool:
    """Whether a number of Python's and what stands for it give the same type beside arrays of a dtype."""
    return np.result_type(number, other) == np.result_type(dtype if weak is None else weak(0), other)
