"""``sorted``: of arrays and of lists that grow it is an operation of the program, of others Python sorts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numpy.growing import LIST, GrownList
from ..numpy.loops import SHORT, trips_of
from ..numpy.loops import Range as LoopRange
from ..numpy.rows import Together
from ..numpy.tracer import TracedArray, as_tensor, wrap
from ..numpy.validity import require
from . import loops_of_builtins
from .calls import special
from .comprehensions import count_of
from .kinds import contains_traced, holds_object


class Ordered:
    """What Python's sort asks which of two values is less."""

    def __init__(self, recorder: Any, value: Any) -> None:
        self.recorder, self.value = recorder, value

    def __lt__(self, other: Ordered) -> bool:
        return bool(self.recorder.truth(self.recorder.compare("<", self.value, other.value)))


@special(sorted)
def call_sorted(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    key, many = kwargs.get("key"), r.gathered(args[0])
    result = ordered_list(r, many, key, bool(kwargs.get("reverse", False)))
    if result is not NotImplemented:
        return result
    items = r.listed(r.frame, many, asks_length=True)
    keys = [r.concrete(item if key is None else r.call(key, (item,), {})) for item in items]
    backwards = bool(kwargs.get("reverse", False))
    if any(map(holds_object, keys)):
        order = sorted(range(len(items)), key=lambda i: Ordered(r, keys[i]), reverse=backwards)
    elif contains_traced(keys):
        order = r.order_of(keys, backwards) if r.can_break() else r.refuse("traced values are sorted")
    else:
        order = r.guarded(sorted, (range(len(items)),), {"key": keys.__getitem__, "reverse": backwards})
    return r.born([items[i] for i in order])


def ordered_list(r: Any, items: Any, key: Any, backwards: bool) -> Any:
    """The list that ``sorted`` gives; NotImplemented where its elements are compared one by one."""
    is_array = isinstance(items, TracedArray) and items.ndim == 1
    is_range = type(items) is LoopRange and key is not None
    count = trips_of(items) if is_range else count_of(items) if is_array or type(items) in (GrownList, Together) else 0
    is_short = isinstance(count, int) and count <= SHORT
    failed = any(map(r.has_failed, (loops_of_builtins.listed, *([] if key is None else [loops_of_builtins.each]))))
    if is_short or failed or not r.are_kept():
        return NotImplemented
    every = items if type(items) is GrownList else r.run_function(loops_of_builtins.listed, (items,), {})
    if type(every) is not GrownList:
        return NotImplemented
    keys = every if key is None else r.run_function(loops_of_builtins.each, (key, every), {})
    if not are_ordered(keys):
        # Asked for once more, the keys would be computed twice.
        r.make_python_list(keys if keys.name == LIST else every, "Python compares what is sorted")
    return r.placed(every, order_of(keys, backwards))


def are_ordered(keys: GrownList) -> bool:
    """Whether NumPy orders the elements as Python does."""
    forms = keys.elements.forms
    return bool(forms) and all(form.dtype.kind in "biuf" and not (form.shape or form.kind is str) for form in forms)


def order_of(keys: GrownList, backwards: bool) -> Any:
    """The places of the elements in their order; what is equal stays as it was."""
    rows, count = keys.elements.capacity + 1, keys.count
    is_known = isinstance(count, int)
    is_missing = np.arange(rows) >= keys.length()
    given = [] if is_known else [is_missing]
    for column in keys.columns:
        values: Any = wrap(as_tensor(column))
        if values.dtype.kind == "f":
            require(np.all(np.logical_or(is_missing, np.logical_not(np.isnan(values)))))
        values = values if not backwards else -values if values.dtype.kind == "f" else np.invert(values)
        given.append(values[:count] if is_known else values)
    order = np.lexsort(tuple(given[::-1]))
    return np.concatenate([order, np.arange(count, rows)]) if is_known else order
