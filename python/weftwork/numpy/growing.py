"""Lists whose length only the run knows: what a loop appends by a condition, or appends and takes off again.

Such a list is arrays of its elements, of as many rows as it may have elements, and the number of those that it has. Its
elements are numbers, or tuples of numbers of one form.
"""

from __future__ import annotations

import copy
import math
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from .dispatch import broadcast_to
from .mixed import kind_of, mark_of, marked, sides
from .retry import Retry
from .tracer import TracedArray, as_tensor, current_trace, python_truth, wrap
from .tuples import are_numbers
from .validity import can_note, demanded, note_bound, require

__all__ = [
    "LIST",
    "LONGEST",
    "Each",
    "Elements",
    "GrownList",
    "Trimmed",
    "array_of_elements",
    "elements_of",
    "joined",
    "listed_elements",
    "lists_with",
]

#: In the place of the variable that has a list: the one that a comprehension makes has none.
LIST = ".list"
#: Numbers that the arrays of such a list may have together: by a condition it may have few of those that there is room for.
MOST_NUMBERS = 1 << 25
#: Elements that such a list may have.
LONGEST = 1 << 22


class Form(NamedTuple):
    """Of a number: its dtype, its type where that is Python's, and of which other type of Python's it may be (see mixed.py).

    A text has the dtype of its number among those of the list. ``shape``: of an array.
    """

    dtype: np.dtype
    kind: type | None
    other: type | None = None
    shape: tuple[int, ...] = ()

    def is_within(self, other: Form) -> bool:
        """Whether what has this form has the other one, too."""
        is_one = self.other is None and (self.dtype, self.shape) == (other.dtype, other.shape)
        return self == other or (is_one and self.kind in (other.kind, other.other))

    @property
    def alternatives(self) -> tuple[Any, np.dtype, type | None]:
        return self.other, self.dtype, self.kind


class Elements(NamedTuple):
    """Of which form the elements of a list are, one or several numbers or texts each, and how many there may be.

    ``by_turn``: whether the number of a turn may say where its one element is.
    """

    is_tuple: bool
    forms: tuple[Form, ...]
    capacity: int
    by_turn: bool = True

    def has(self, value: Any) -> bool:
        """Whether a list of such elements may have this one."""
        if (type(value) is tuple) is not self.is_tuple or (self.is_tuple and len(value) != len(self.forms)):
            return False
        trace, parts = current_trace(), value if self.is_tuple else (value,)
        return all(
            sides(trace, part, form.alternatives) is not None if form.other else form_of(part) == form
            for part, form in zip(parts, self.forms, strict=True)
        )


def joined(known: Elements, value: Any) -> Elements | None:
    """The form of elements that are as those known so far, or as this value; of the value alone where there is none of both."""
    found = elements_of(value, known.capacity)
    if found is None or found.is_tuple is not known.is_tuple or len(found.forms) != len(known.forms):
        return found
    both = found._replace(forms=tuple(map(joined_form, known.forms, found.forms)))
    return both if both.has(value) else found


def joined_form(known: Form, new: Form) -> Form:
    """Of numbers that may be of either form: one is NumPy's, or a float, and the other of one of Python's types."""
    if known == new or known.shape or new.shape or str in (known.kind, new.kind):
        return new
    if known.other is not None or new.other is not None:
        return new if known.other is None else known
    number, other = (new, known) if new.kind is None or known.kind is int else (known, new)
    return number._replace(other=other.kind) if other.kind is not None else new


def elements_of(value: Any, capacity: int) -> Elements | None:
    """The form of an element; None where it is no number, or tuple of numbers."""
    is_tuple = type(value) is tuple
    forms = [form_of(part) for part in (value if is_tuple else (value,))]
    known = [form for form in forms if form is not None]
    is_large = any(form.shape and capacity * math.prod(form.shape) > MOST_NUMBERS for form in known)
    return Elements(is_tuple, tuple(known), capacity) if known and len(known) == len(forms) and not is_large else None


def form_of(value: Any) -> Form | None:
    mark = mark_of(current_trace(), value)
    if mark is not None:
        return Form(mark.number.dtype, mark.number.weak, mark.kind)
    if type(value) is str:
        return Form(np.dtype(np.int64), str)
    if isinstance(value, TracedArray) and not are_numbers((value,)):
        is_fixed = all(isinstance(extent, int) for extent in value.shape) and value.dtype.kind in "fciub"
        return Form(value.dtype, None, None, tuple(value.shape)) if is_fixed and value.ndim else None
    found = kind_of(value)
    return None if found is None else Form(*found)


class GrownList:
    """Stands for a list, which a variable of this name had when a loop began; ``site``: that loop."""

    def __init__(self, elements: Elements, site: Any, name: str, items: list[Any]) -> None:
        self.elements, self.site, self.name = elements, site, name
        self._count: Any = 0
        self.texts: dict[str, int] = {}
        self.is_open = False  # nobody knows how many are appended at most
        #: How many that is: in the pass over a loop that goes on, and before it.
        self.in_pass, self.before = 0, len(items)
        self.pass_: tuple[Any, int] = (None, 0)
        #: The outermost loop that appends one element in each turn, the pass that has, and how many there were before.
        self.loop: Any = None
        self.appended_in: int = 0
        self.begin: Any = 0
        self.has_views = False  # of other arrays, or is some of them, or has arrays in another layout
        self.columns: list[TracedArray] = []
        #: Which numbers are of the other type, where a form has one.
        self.others: list[TracedArray | None] = []
        self.take_form(elements)
        for item in items:
            self.write(self.count, item)
            self.count += 1

    def take_form(self, elements: Elements, born: int | None = None) -> None:
        """Makes the arrays of its elements; ``born``: as if they had been made then, as the list was."""
        self.elements, rows = elements, elements.capacity + 1  # the last for what is appended where it is not
        empty = lambda dtype, *shape: wrap(broadcast_to(as_tensor(0, dtype), (rows, *shape)))
        self.columns = [empty(form.dtype, *form.shape) for form in elements.forms]
        self.others = [empty(np.dtype(bool)) if form.other else None for form in elements.forms]
        if born is not None:
            for column in self.stored():
                column._storage.born = born

    @property
    def count(self) -> Any:
        """How many elements there are."""
        trace = current_trace()
        if trace is not None and self.appended_in and self.loop in trace.loops:
            # By another name: a turn of the loop that appends asks.
            raise Retry(
                self.site, "a list is read that grows", grows=(self.name, self.elements._replace(by_turn=False))
            )
        return self._count

    @count.setter
    def count(self, number: Any) -> None:
        self._count = number

    def begin_pass(self, loop: Any) -> int | None:
        """How many elements it had before a loop, of which a pass appends one; None where the pass has before."""
        if self.loop is not loop:
            self.loop, self.begin, self.appended_in = loop, self.count, 0
        if not isinstance(self.begin, int) or self.appended_in == loop.passes:
            return None
        self.appended_in = loop.passes
        return self.begin

    def write(self, place: Any, value: Any) -> None:
        parts = value if self.elements.is_tuple else (value,)
        for column, other, part, form in zip(self.columns, self.others, parts, self.elements.forms, strict=True):
            if form.shape:
                self.watch(part)
            if other is not None:
                other[place], part = sides(current_trace(), part, form.alternatives)  # type: ignore[misc]
            column[place] = self.texts.setdefault(part, len(self.texts)) if type(part) is str else part

    def watch(self, array: TracedArray) -> None:
        """An array that is in the list, of which there is a copy, must not be written from now on."""
        loops = current_trace().loops  # type: ignore[union-attr]
        is_own = not array._steps and not array._storage.peers and (not loops or array._storage.born > loops[-1].born)
        self.has_views |= not is_own or bool(array._storage.apart) or array._storage.strides is not None
        array._storage.checks = (*array._storage.checks, self.written)

    def written(self) -> None:
        raise Retry(
            self.site, "an array of a list that grows is written, or it shows which it is", grows=(self.name, None)
        )

    def copied(self) -> GrownList:
        made = copy.copy(self)
        made.before, made.in_pass, made.pass_ = self.before + self.in_pass, 0, (None, 0)
        made.columns, made.texts = [wrap(as_tensor(column)) for column in self.columns], dict(self.texts)
        made.others = [None if other is None else wrap(as_tensor(other)) for other in self.others]
        return made

    def sliced(self, start: Any, stop: Any, step: int) -> GrownList:
        """Another list with the elements of a slice."""
        made, count = self.copied(), self.count
        if type(count) is int and type(start) in (int, NoneType) and type(stop) in (int, NoneType):
            first, made.count = slice(start, stop, step).indices(count)[0], len(range(count)[start:stop:step])
        else:
            first, last = ends_of_slice(self.length(), start, stop, step)
            number = np.maximum((last - first + (step - (1 if step > 0 else -1))) // step, 0)
            made.count = TracedArray(number.tensor, int)
        rows = self.elements.capacity + 1
        made.place_elements(np.clip(first + np.arange(rows) * step, 0, rows - 1))
        return made

    def followed_by(self, other: GrownList) -> GrownList | None:
        """Another list with the elements of both; None where these are of forms that no list has."""
        lists, given = (self, other), (self.elements, other.elements)
        if (
            self.has_texts()
            or self.elements.is_tuple is not other.elements.is_tuple
            or len(set(map(len, (e.forms for e in given)))) > 1
        ):
            return None
        pairs = zip(*(elements.forms for elements in given), strict=True)
        forms = tuple(a if a == b or (a.other and not b.other) else joined_form(a, b) for a, b in pairs)
        if not forms or not all(
            form.is_within(whole) for e in given for form, whole in zip(e.forms, forms, strict=True)
        ):
            return None
        flags = [[each.of_form(place, form) for place, form in enumerate(forms)] for each in lists]
        made, most = self.copied(), self.elements.capacity + other.elements.capacity
        rows, count = np.arange(most + 1), self.length()
        of_self, of_other = np.minimum(rows, self.elements.capacity), np.clip(rows - count, 0, other.elements.capacity)

        def both(first: Any, second: Any) -> Any:
            is_first = np.reshape(rows < count, (most + 1,) + (1,) * (first.ndim - 1))
            return np.where(is_first, first[of_self], second[of_other])

        made.columns = list(map(both, self.columns, other.columns))
        made.others = [None if a is None else both(a, b) for a, b in zip(*flags, strict=True)]
        is_known = isinstance(self.count, int) and isinstance(other.count, int)
        made.count = self.count + other.count if is_known else TracedArray((count + other.length()).tensor, int)
        made.elements = self.elements._replace(forms=forms, capacity=most)
        made.has_views = self.has_views or other.has_views
        made.before += other.before + other.in_pass
        return made

    def of_form(self, place: int, form: Form) -> TracedArray | None:
        """Which numbers of a column are of the other type where its form is another, which they can have."""
        if form.other is None or self.others[place] is not None:
            return self.others[place]
        is_other = self.elements.forms[place].kind is form.other
        return wrap(broadcast_to(as_tensor(is_other, np.dtype(bool)), (self.elements.capacity + 1,)))

    def placed(self, places: Any) -> GrownList:
        made = self.copied()
        made.place_elements(places)
        return made

    def place_elements(self, places: Any) -> None:
        self.elements = self.elements._replace(capacity=places.shape[0] - 1)
        self.columns = [column[places] for column in self.columns]
        self.others = [None if other is None else other[places] for other in self.others]

    def is_rectangular(self) -> bool:
        """Whether NumPy makes one row of each element."""
        return not (self.elements.is_tuple and any(form.shape for form in self.elements.forms))

    def has_texts(self) -> bool:
        return any(form.kind is str for form in self.elements.forms)

    def has_one_dtype(self) -> bool:
        """Whether NumPy makes an array of the same dtype of them, of whichever types they are; the call runs plainly where it does not."""
        forms = self.elements.forms
        if self.has_texts() or any(f.other not in (None, int) and np.dtype(f.other) != f.dtype for f in forms):
            return False
        mixed = [f for f in forms if f.other is int and f.dtype != np.int64]
        if mixed and (len(forms) > 1 or mixed[0].dtype != np.float64 or not can_note(current_trace())):
            return False
        if mixed:  # of integers alone NumPy makes integers
            is_float = np.logical_not(wrap(as_tensor(self.others[0])))
            is_there = np.arange(self.elements.capacity + 1) < self.length()
            require(np.logical_or(self.length() == 0, np.any(np.logical_and(is_float, is_there))))
        return True

    def read(self, place: Any) -> Any:
        parts = []
        for column, other, form in zip(self.columns, self.others, self.elements.forms, strict=True):
            part = TracedArray(column[place].tensor, form.kind)
            if form.shape:
                part._storage.apart, part._storage.checks = self.site, (self.written,)
                parts.append(part)
                continue
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


def ends_of_slice(count: TracedArray, start: Any, stop: Any, step: int) -> tuple[Any, Any]:
    """What slice.indices gives."""
    lower, upper = (
        (wrap(as_tensor(0, count.dtype)), count) if step > 0 else (wrap(as_tensor(-1, count.dtype)), count - 1)
    )

    def end(bound: Any, otherwise: TracedArray) -> Any:
        if bound is None:
            return otherwise
        number = wrap(as_tensor(bound, count.dtype))
        return np.where(number < 0, np.maximum(number + count, lower), np.minimum(number, upper))

    ends = (lower, upper) if step > 0 else (upper, lower)
    return end(start, ends[0]), end(stop, ends[1])


def lists_with(array: TracedArray) -> list[GrownList]:
    """The lists that an array was appended to, or read from."""
    owners = (getattr(check, "__self__", None) for check in array._storage.checks)
    return [owner for owner in owners if isinstance(owner, GrownList)]


class Each:
    """The elements of such a list, by numbers of turns that it has."""

    def __init__(self, grown: GrownList) -> None:
        self.grown = grown

    def __len__(self) -> int:
        return self.grown.count if isinstance(self.grown.count, int) else refuse_use()

    def __getitem__(self, turn: Any) -> Any:
        return self.grown.read(turn)


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
    if not elements.forms:
        return []
    for form in elements.forms:
        numbers = listed(next(given)[:count], form.kind, texts)
        if form.other is not None:
            others = next(given)[:count].tolist()
            numbers = [form.other(n) if is_other else n for n, is_other in zip(numbers, others, strict=True)]
        values.append(numbers)
    return list(zip(*values, strict=True)) if elements.is_tuple else values[0]


def listed(column: np.ndarray, kind: type | None, texts: list[str]) -> list[Any]:
    if kind is None:
        return list(column) if column.ndim == 1 else [element.copy() for element in column]
    return [texts[number] for number in column.tolist()] if kind is str else column.tolist()
