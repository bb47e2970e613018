"""Lists whose length only the run knows: what a loop appends by a condition, or appends and takes off again.

Such a list is arrays of its elements, of as many rows as it may have elements, and the number of those that it has. Its
elements are numbers, or tuples of numbers of one form.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from .dispatch import broadcast_to
from .mixed import kind_of, mark_of, marked, sides
from .tracer import TracedArray, as_tensor, current_trace, python_truth, wrap
from .tuples import are_numbers
from .validity import demanded, note_bound

__all__ = ["LONGEST", "Elements", "GrownList", "Trimmed", "array_of_elements", "elements_of", "listed_elements"]

#: Elements that such a list may have.
LONGEST = 1 << 22


class Form(NamedTuple):
    """Of a number: its dtype, its type where that is Python's, and of which other type of Python's it may be (see mixed.py).

    A text has the dtype of its number among those of the list.
    """

    dtype: np.dtype
    kind: type | None
    other: type | None = None

    @property
    def alternatives(self) -> tuple[Any, np.dtype, type | None]:
        return self.other, self.dtype, self.kind


class Elements(NamedTuple):
    """Of which form the elements of a list are, one or several numbers or texts each, and how many there may be."""

    is_tuple: bool
    forms: tuple[Form, ...]
    capacity: int

    def has(self, value: Any) -> bool:
        """Whether a list of such elements may have this one."""
        if (type(value) is tuple) is not self.is_tuple or (self.is_tuple and len(value) != len(self.forms)):
            return False
        trace, parts = current_trace(), value if self.is_tuple else (value,)
        return all(
            sides(trace, part, form.alternatives) is not None if form.other else form_of(part) == form
            for part, form in zip(parts, self.forms, strict=True)
        )


def elements_of(value: Any, capacity: int) -> Elements | None:
    """The form of an element; None where it is no number, or tuple of numbers."""
    is_tuple = type(value) is tuple
    forms = [form_of(part) for part in (value if is_tuple else (value,))]
    known = [form for form in forms if form is not None]
    return Elements(is_tuple, tuple(known), capacity) if known and len(known) == len(forms) else None


def form_of(value: Any) -> Form | None:
    mark = mark_of(current_trace(), value)
    if mark is not None:
        return Form(mark.number.dtype, mark.number.weak, mark.kind)
    if type(value) is str:
        return Form(np.dtype(np.int64), str)
    found = kind_of(value) if not isinstance(value, TracedArray) or are_numbers((value,)) else None
    return None if found is None else Form(*found)


class GrownList:
    """Stands for a list, which a variable of this name had when a loop began; ``site``: that loop."""

    def __init__(self, elements: Elements, site: Any, name: str, items: list[Any]) -> None:
        self.elements, self.site, self.name, self.count = elements, site, name, 0
        self.texts: dict[str, int] = {}
        self.is_open = False  # nobody knows how many are appended at most
        #: How many that is: in the pass over a loop that goes on, and before it.
        self.in_pass, self.before, self.pass_ = 0, len(items), (None, 0)
        rows = elements.capacity + 1  # the last for what is appended where it is not
        empty = lambda dtype: wrap(broadcast_to(as_tensor(0, dtype), (rows,)))
        self.columns = [empty(form.dtype) for form in elements.forms]
        #: Which numbers are of the other type, where a form has one.
        self.others = [empty(np.dtype(bool)) if form.other else None for form in elements.forms]
        for item in items:
            self.write(self.count, item)
            self.count += 1

    def write(self, place: Any, value: Any) -> None:
        parts = value if self.elements.is_tuple else (value,)
        for column, other, part, form in zip(self.columns, self.others, parts, self.elements.forms, strict=True):
            if other is not None:
                other[place], part = sides(current_trace(), part, form.alternatives)  # type: ignore[misc]
            column[place] = self.texts.setdefault(part, len(self.texts)) if type(part) is str else part

    def copied(self) -> GrownList:
        made = copy.copy(self)
        made.columns, made.texts = [wrap(as_tensor(column)) for column in self.columns], dict(self.texts)
        made.others = [None if other is None else wrap(as_tensor(other)) for other in self.others]
        return made

    def has_texts(self) -> bool:
        return any(form.kind is str for form in self.elements.forms)

    def has_one_dtype(self) -> bool:
        """Whether NumPy makes an array of the same dtype of them, of whichever types they are."""
        return not self.has_texts() and all(not f.other or np.dtype(f.other) == f.dtype for f in self.elements.forms)

    def read(self, place: Any) -> Any:
        parts = []
        for column, other, form in zip(self.columns, self.others, self.elements.forms, strict=True):
            part = TracedArray(column[place].tensor, form.kind)
            part.scalar = True
            if other is not None and form.other is not None:
                part = marked(current_trace(), part, python_truth(wrap(other[place].tensor)), form.other)
            parts.append(part)
        return tuple(parts) if self.elements.is_tuple else parts[0]

    def length(self) -> TracedArray:
        """The number of its elements as a value of the program."""
        return wrap(as_tensor(self.count, np.dtype(np.int64)))

    def end(self) -> Any:
        """The row that is appended next; the call runs plainly, or the one program raises, where there is none left."""
        if not self.is_open:
            return self.row(self.count)
        count, most = self.length(), self.elements.capacity
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
        number, count = wrap(as_tensor(index, np.dtype(np.int64))), self.length()
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
        return python_truth(self.length() > 0)

    def note_append(self, loop: Any, times: int) -> int:
        """How many elements it may have, of which ``times`` are appended by one call in a pass over a loop."""
        pass_ = (loop, 0 if loop is None else loop.passes)
        if pass_ != self.pass_:
            # What an earlier pass over the same loop has appended counts no more.
            self.before += self.in_pass if loop is not self.pass_[0] else 0
            self.in_pass, self.pass_ = 0, pass_
        self.in_pass += times
        return self.before + self.in_pass

    def stored(self) -> list[TracedArray]:
        """The arrays of which :func:`listed_elements` makes the list."""
        return [each for pair in zip(self.columns, self.others, strict=True) for each in pair if each is not None]

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
    values, given = [], iter(columns)
    for form in elements.forms:
        numbers = listed(next(given)[:count], form.kind, texts)
        if form.other is not None:
            others = next(given)[:count].tolist()
            numbers = [form.other(n) if is_other else n for n, is_other in zip(numbers, others, strict=True)]
        values.append(numbers)
    return list(zip(*values, strict=True)) if elements.is_tuple else values[0]


def listed(column: np.ndarray, kind: type | None, texts: list[str]) -> list[Any]:
    if kind is None:
        return list(column)
    return [texts[number] for number in column.tolist()] if kind is str else column.tolist()
