"""Whether NumPy would have raised: what a program notes of its values, so that such calls run plainly instead."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import UnsupportedError
from .tracer import Tensor, TracedArray, as_tensor, current_trace, raise_here

__all__ = [
    "asks",
    "demanded",
    "in_range",
    "is_bounded",
    "may_be_outside",
    "note_bound",
    "require",
    "require_apart",
    "require_rank",
    "require_sorted",
]

#: Numbers that are nearer to each other, beside the largest, are taken to be one: what belongs to each is then anyone's choice.
NEAR = 1e-9
#: A binary search for one number takes about as long as to look whether so many are in order.
CHECKED = 512


def asks() -> bool:
    """Whether the call may still run plainly, so that it has to agree with NumPy in what NumPy leaves open too."""
    trace = current_trace()
    return trace is not None and trace.checks.may_run_plainly


def require_apart(values: TracedArray) -> None:
    """Singular or eigenvalues, in order along the last axis, lie apart: then their vectors are determined."""
    if asks() and values.shape[-1] != 1:
        largest = np.max(np.abs(values), axis=-1, keepdims=True, initial=0.0)
        require(np.abs(values[..., 1:] - values[..., :-1]) > NEAR * largest)


def require_sorted(values: TracedArray, searched: Any) -> None:
    """A vector is in order, where looking costs no more than to search in it: else what is found is NumPy's own matter."""
    sizes = (values.size, searched.size)
    if asks() and all(isinstance(size, int) for size in sizes) and 1 < sizes[0] <= CHECKED * sizes[1]:
        require(values[1:] >= values[:-1])


def require_rank(pivots: TracedArray) -> None:
    """None of the numbers along the last axis is zero, or nearly so beside the largest."""
    if asks():
        sizes = np.abs(pivots)
        require(sizes > NEAR * np.max(sizes, axis=-1, keepdims=True, initial=0.0))


def require(condition: Any) -> None:
    """NumPy raises where this does not hold: the call then runs plainly instead, as if the program had not run."""
    trace = current_trace()
    if trace is not None and can_note(trace):
        note(trace, condition)


def can_note(trace: Any) -> bool:
    return trace.checks.may_run_plainly and all(hasattr(loop, "turns") for loop in trace.loops)


def note(trace: Any, condition: Any) -> None:
    holds = np.all(in_its_way(trace, condition))
    trace.checks.holds[...] = np.logical_and(trace.checks.holds, holds)


def in_its_way(trace: Any, condition: Any) -> Any:
    """A condition that counts in the way that is recorded alone, see bytecode/branches.py."""
    return condition if trace.taken is None else np.logical_or(condition, np.logical_not(trace.taken))


def demanded(value: Tensor, condition: Any, label: str, message: str) -> Tensor:
    """``value`` of a program that raises NumPy's error, with this message, where the condition does not hold everywhere."""
    trace = current_trace()
    if trace is not None and can_note(trace):
        note(trace, condition)
        return value
    end_where_it_fails(trace, condition)
    fails = np.logical_not(condition if trace is None else in_its_way(trace, condition))
    if fails.shape != value.shape:
        fails = np.any(fails)
    attrs = {"limit_indices": [1], "label": label, "message": message}
    passed = _core.apply("check_range", [fails.astype(np.int64).tensor], attrs)
    known = value.constant()
    other = 0 if known is None or np.any(known) else 1  # of two equal values the check would be no part of the program
    return np.where(TracedArray(passed) == 0, TracedArray(value), TracedArray(as_tensor(other, value.dtype))).tensor


def end_where_it_fails(trace: Any, condition: Any) -> None:
    """A loop without a last turn ends in a program that will raise: what its next turns would compute is nobody's."""
    endless = [
        loop for loop in ([] if trace is None else trace.loops) if hasattr(loop, "turns") and loop.turns.is_endless
    ]
    if endless:
        holds = endless[-1].early.holds
        holds[...] = np.logical_and(holds, np.all(in_its_way(trace, condition() if callable(condition) else condition)))


def in_range(index: Tensor, extent: Any, axis: int) -> Tensor:
    """Indices from the beginning of an axis, of a program that raises where one of them lies outside."""
    trace = current_trace()
    places = TracedArray(index)
    inside = lambda: np.logical_and(places >= 0, places < extent)
    if trace is not None and can_note(trace) and trace.is_repeated:
        note(trace, inside())
        return index
    if trace is not None and trace.taken is not None:
        if not (extent if isinstance(extent, int) else extent.min):
            raise_here(
                UnsupportedError, "an index along an axis that may have no elements, in a way of a condition", "way"
            )
        index = np.where(trace.taken, places, TracedArray(as_tensor(0, places.dtype))).tensor
    end_where_it_fails(trace, inside)
    checked = _core.apply("check_range", [index], {"limit_indices": [extent], "label": "index_bounds", "axis": axis})
    # Outside of a loop or branch nobody knows its values: there the program alone looks.
    if trace is not None and trace.checks.may_run_plainly and not trace.loops:
        trace.checks.looked_at.append((checked, lambda: note(trace, inside())))
    return checked


def note_bound(value: Any, bound: Any) -> Any:
    """Integers that lie in [0, bound), as indices need not be checked."""
    trace = current_trace()
    if trace is not None and isinstance(value, TracedArray):
        trace.bounded[id(value.tensor)] = (value.tensor, bound)
    return value


def may_be_outside(index: Any) -> Any:
    """Indices of which those that lie outside write nothing."""
    return note_bound(index, 0)


def is_bounded(tensor: Tensor, bound: Any) -> bool:
    trace = current_trace()
    known = trace.bounded.get(id(tensor)) if trace is not None else None
    if known is None or not isinstance(known[1], int):
        return False
    return known[1] == 0 or (isinstance(bound, int) and known[1] <= bound)
