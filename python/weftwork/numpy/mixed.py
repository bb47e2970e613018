"""Values of which the run decides whether NumPy has a number of Python's or a scalar: what a condition in a loop chose.

``best = 0.0``, and in a loop ``if x[i] > best: best = x[i]``: behind it NumPy has a float or a float64. The value here is the
scalar; its *mark* tells where it is a number of Python's, and of which type. Where the type shows in a way that no program has,
the value must be none, or the call runs plainly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .maybe import Maybe, either, parts_of
from .shared_arrays import chosen_array
from .stored import span_of
from .tracer import TracedArray, as_tensor, python_truth, wrap
from .validity import can_note, note

__all__ = [
    "PLAIN",
    "Mark",
    "alternatives",
    "chosen",
    "is_stood_for",
    "kind_of",
    "kinds_agree",
    "mark_of",
    "marked",
    "require_one_type",
    "sides",
]

PLAIN = (bool, int, float, complex)


class Mark(NamedTuple):
    """Of a value that is a ``kind``, which is Python's, where ``python`` holds, and ``number`` elsewhere."""

    value: TracedArray  # marks are found by its identity
    number: TracedArray
    python: Any  # a truth value of Python's, or a bool
    kind: type

    @property
    def is_natural(self) -> bool:
        """Whether the elements of the scalar's dtype are Python's numbers."""
        return np.dtype(self.kind) == self.number.dtype


def mark_of(trace: Any, value: Any) -> Mark | None:
    return trace.mixed.get(id(value)) if trace.mixed else None


def marked(trace: Any, number: TracedArray, python: Any, kind: type) -> TracedArray:
    """The number, which is a ``kind`` where ``python`` holds."""
    if python is False:
        return number
    value = TracedArray(number.tensor, number.weak)
    value.scalar = True
    trace.mixed[id(value)] = Mark(value, number, python, kind)
    return value


def same(a: Any, b: Any) -> bool:
    """Whether two numbers of Python's are one: of the same type and sign; a NaN is none but itself."""
    return a is b or (type(a) is type(b) and repr(a) == repr(b) and a == b)


def chosen(trace: Any, condition: TracedArray, a: Any, b: Any, select: Any = np.where) -> Any:
    """``a`` where the condition holds, ``b`` elsewhere, as one value; None where there is none that is both."""
    if type(a) is type(b) and type(a) in (*PLAIN, str, bytes, type(None)) and same(a, b):
        return a
    if isinstance(a, _core.Dim) and isinstance(b, _core.Dim) and _core.dims_equal(a, b):
        return a
    if a is None or b is None or Maybe in (type(a), type(b)):
        given = [value for _, value in map(parts_of, (a, b)) if value is not None]
        if not all(isinstance(value, TracedArray) or kind_of(value) is not None for value in given):
            return None
        choose = lambda first, second: chosen(trace, condition, first, second, select)
        return either(trace, condition, a, b, choose, select)
    if all(isinstance(value, TracedArray) and not value.scalar for value in (a, b)):
        return chosen_array(trace, condition, a, b, select)
    first, second = kind_of(a), kind_of(b)
    if first is None or second is None:
        return None
    if first != second or mark_of(trace, a) or mark_of(trace, b):
        return chosen_kind(trace, condition, a, b, select)
    dtype, weak = first
    result = select(condition, wrap(as_tensor(a, dtype)), wrap(as_tensor(b, dtype)))
    result.weak, result.scalar = weak, True
    spans = span_of(a), span_of(b)
    if weak is int and None not in spans:
        lows, highs = zip(*spans, strict=True)  # type: ignore[arg-type]
        trace.spans[id(result.tensor)] = (result.tensor, (min(lows), max(highs)))
    return result


def chosen_kind(trace: Any, condition: TracedArray, a: Any, b: Any, select: Any) -> Any:
    kinds = alternatives(trace, a, b)
    first, second = (sides(trace, value, kinds) if kinds else None for value in (a, b))
    if kinds is None or first is None or second is None:
        return None
    number = select(condition, first[1], second[1])
    number.weak, number.scalar = kinds[2], True
    python = first[0]
    if first[0] is not second[0]:
        truths = (wrap(as_tensor(side[0], np.dtype(bool))) for side in (first, second))
        python = python_truth(select(condition, *truths))
    return marked(trace, number, python, kinds[0])


def alternatives(trace: Any, a: Any, b: Any) -> tuple[type, np.dtype, type | None] | None:
    """The type of Python's and the dtype (and type) of the other that two values have between them."""
    for mark in (mark_of(trace, a), mark_of(trace, b)):
        if mark is not None:
            return mark.kind, mark.number.dtype, mark.number.weak
    for value, other in ((a, b), (b, a)):
        kind, target = kind_of(value), kind_of(other)
        if kind is None or target is None or kind[1] is None:
            continue
        is_number = type(value) in PLAIN and (type(other) not in PLAIN or can_be(value, *target))
        if is_number or (target[1] is None and kind[0] == target[0]):
            return kind[1], *target
    return None


def sides(trace: Any, value: Any, kinds: tuple[type, np.dtype, type | None]) -> tuple[Any, TracedArray] | None:
    """Whether a value is Python's, and the number that stands for it; None where it is neither of the alternatives."""
    kind, dtype, weak = kinds
    mark, own = mark_of(trace, value), kind_of(value)
    if mark is not None:
        agrees = (mark.kind, mark.number.dtype, mark.number.weak) == kinds
        return (mark.python, mark.number) if agrees else None
    if own is None:
        return None
    if own == (dtype, weak):
        return False, value if isinstance(value, TracedArray) else scalar(value, dtype, weak)
    if own[1] is kind and (can_be(value, dtype, weak) if type(value) in PLAIN else own[0] == dtype):
        return True, scalar(value, dtype, weak)
    return None


def scalar(value: Any, dtype: np.dtype, weak: type | None) -> TracedArray:
    number = TracedArray(as_tensor(value, dtype), weak)
    number.scalar = True
    return number


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


def is_stood_for(number: Any, value: Any) -> bool:
    """Whether a value stands for a number of Python's that a variable was before it: the number is of another type."""
    kind = kind_of(value)
    return type(number) in PLAIN and kind is not None and kind[1] is not type(number) and can_be(number, *kind)


def require_one_type(trace: Any, value: Any) -> bool:
    """Notes that a value is no number of Python's but what it is; whether that could be noted."""
    mark = mark_of(trace, value)
    if mark is None:
        return True
    if not can_note(trace):
        return False
    note(trace, np.logical_not(mark.python))
    if trace.predicate is None:  # in a way it is known for that way
        trace.mixed.pop(id(value))
    return True


def kinds_agree(mark: Mark, other: np.dtype) -> bool:
    """Whether a number of Python's and what stands for it give the same type beside arrays of a dtype."""
    weak = mark.number.weak
    return np.result_type(mark.kind(0), other) == np.result_type(mark.number.dtype if weak is None else weak(0), other)
