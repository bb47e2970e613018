"""Lists whose length only the run knows: what a loop appends by a condition, or appends and takes off again.

Such a list is arrays of its elements, of as many rows as it may have elements, and the number of those that it has. Its
elements are numbers, or tuples of numbers of one form.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .dispatch import broadcast_to
from .mixed import PLAIN, mark_of
from .tracer import TracedArray, as_tensor, current_trace, python_truth, wrap
from .tuples import are_numbers
from .validity import demanded, note_bound

__all__ = ["LONGEST", "Elements", "GrownList", "Trimmed", "array_of_elements", "elements_of", "listed_elements"]

#: Elements that such a list may have.
LONGEST = 1 << 22


class Elements(NamedTuple):
    """Of which form the elements of a list are, one or several numbers or texts each, and how many there may be.

    ``forms``: the dtype of each number, and its type where that is Python's; of a text that of its number among those of the list.
    """

    is_tuple: bool
    forms: tuple[tuple[np.dtype, type | None], ...]
    capacity: int


def elements_of(value: Any, capacity: int) -> Elements | None:
    """The form of an element; None where it is no number, or tuple of numbers."""
    is_tuple = type(value) is tuple
    forms = [form_of(part) for part in (value if is_tuple else (value,))]
    known = [form for form in forms if form is not None]
    return Elements(is_tuple, tuple(known), capacity) if known and len(known) == len(forms) else None


def form_of(value: Any) -> tuple[np.dtype, type | None] | None:
    trace = current_trace()
    if trace is None or mark_of(trace, value) is not None:
        return None
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return value.dtype, None
    if type(value) is str:
        return np.dtype(np.int64), str
    if not are_numbers((value,)):
        return None
    if isinstance(value, TracedArray):
        return value.dtype, value.weak
    kind = int if type(value) is _core.Dim else type(value)
    return (np.dtype(kind), kind) if kind in PLAIN else None


class GrownList:
    """Stands for a list, which a variable of this name had when a loop began; ``site``: that loop."""

    def __init__(self, elements: Elements, site: Any, name: str, items: list[Any]) -> None:
        self.elements, self.site, self.name, self.count = elements, site, name, 0
        self.texts: dict[str, int] = {}
        self.is_open = False  # nobody knows how many are appended at most
        #: How many that is: in the pass over a loop that goes on, and before it.
        self.in_pass, self.before, self.pass_ = 0, len(items), (None, 0)
        rows = elements.capacity + 1  # the last for what is appended where it is not
        self.columns = [wrap(broadcast_to(as_tensor(0, dtype), (rows,))) for dtype, _ in elements.forms]
        for item in items:
            self.write(self.count, item)
            self.count += 1

    def write(self, place: Any, value: Any) -> None:
        for column, part in zip(self.columns, value if self.elements.is_tuple else (value,), strict=True):
            column[place] = self.texts.setdefault(part, len(self.texts)) if type(part) is str else part

    def copied(self) -> GrownList:
        made = copy.copy(self)
        made.columns, made.texts = [wrap(as_tensor(column)) for column in self.columns], dict(self.texts)
        return made

    def has_texts(self) -> bool:
        return any(kind is str for _, kind in self.elements.forms)

    def read(self, place: Any) -> Any:
        parts = []
        for column, (_, kind) in zip(self.columns, self.elements.forms, strict=True):
            part = TracedArray(column[place].tensor, kind)
            part.scalar = True
            parts.append(part)
        return tuple(parts) if self.elements.is_tuple else parts[0]

    def end(self) -> Any:
        """The row that is appended next; the call runs plainly, or the one program raises, where there is none left."""
        if not self.is_open:
            return self.row(self.count)
        count, most = wrap(as_tensor(self.count, np.dtype(np.int64))), self.elements.capacity
        found = demanded(count.tensor, count < most, "list_length", f"a list grows beyond {most} elements")
        return self.row(np.minimum(wrap(found), most))

    def row(self, place: Any) -> Any:
        is_known = not isinstance(place, TracedArray)
        return place if is_known else note_bound(wrap(place.tensor), self.elements.capacity + 1)

    def place(self, index: Any, what: str) -> Any:
        """The row of an element that the list must have, counted from either end."""
        if type(index) is int and type(self.count) is int:
            if not -self.count <= index < self.count:
                raise IndexError(f"{what} out of range")
            return index % self.count
        number, count = (wrap(as_tensor(part, np.dtype(np.int64))) for part in (index, self.count))
        from_begin: Any
        if type(index) is not int:
            from_begin = np.where(number < 0, number + count, number)
            is_there = np.logical_and(from_begin >= 0, from_begin < count)
        else:
            from_begin = number if index >= 0 else number + count
            is_there = count > index if index >= 0 else count >= -index
        found = demanded(from_begin.tensor, is_there, "list_index", f"{what} out of range")
        # In a way that is not taken it may be anywhere.
        return self.row(np.minimum(np.maximum(wrap(found), 0), self.elements.capacity))

    def is_filled(self) -> Any:
        """Its truth value."""
        if type(self.count) is int:
            return self.count > 0
        return python_truth(wrap(as_tensor(self.count, np.dtype(np.int64))) > 0)

    def note_append(self, loop: Any, times: int) -> int:
        """How many elements it may have, of which ``times`` are appended by one call in a pass over a loop."""
        pass_ = (loop, 0 if loop is None else loop.passes)
        if pass_ != self.pass_:
            # What an earlier pass over the same loop has appended counts no more.
            self.before += self.in_pass if loop is not self.pass_[0] else 0
            self.in_pass, self.pass_ = 0, pass_
        self.in_pass += times
        return self.before + self.in_pass

    def rows(self) -> TracedArray:
        """What NumPy makes an array of: each row an element, those that are not there at the end."""
        values = [wrap(as_tensor(column)) for column in self.columns]
        return wrap(as_tensor(np.stack(values, axis=1))) if self.elements.is_tuple else values[0]


def refuse_use(*_: Any) -> Any:
    """What Python's own operators do with such a list: it has to be Python's then."""
    trace = current_trace()
    assert trace is not None
    return trace.recorder.unknown_use("such a use of a list that grows in a loop")


for _name in [
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "add",
    "mul",
    "rmul",
    "iadd",
    "imul",
    "contains",
    "iter",
    "len",
    "getitem",
    "reversed",
]:
    setattr(GrownList, f"__{_name}__", refuse_use)
GrownList.__hash__ = None  # type: ignore[assignment]


class Trimmed(NamedTuple):
    """An array of the elements of such a list: all rows, how many are there, and the dtype that NumPy gives it without any."""

    array: Any
    rows: TracedArray
    count: Any
    empty: np.dtype


def array_of_elements(empty: np.dtype, count: int, rows: np.ndarray) -> np.ndarray:
    """The array that a call gives of such a list."""
    return rows[:count].copy() if count else np.zeros(0, empty)


def listed_elements(elements: Elements, texts: list[str], count: int, *columns: np.ndarray) -> list[Any]:
    """The list that a call gives."""
    parts = zip(columns, elements.forms, strict=True)
    values = [listed(column[:count], kind, texts) for column, (_, kind) in parts]
    return list(zip(*values, strict=True)) if elements.is_tuple else values[0]


def listed(column: np.ndarray, kind: type | None, texts: list[str]) -> list[Any]:
    if kind is None:
        return list(column)
    return [texts[number] for number in column.tolist()] if kind is str else column.tolist()
