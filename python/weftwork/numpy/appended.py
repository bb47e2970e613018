"""Lists that a loop appends to: what its turns append are the rows of an array.

``out.append(x)`` in the body of a loop that is recorded once writes ``x`` to a row of an array of as many rows as there are
turns; after the loop the list has the rows. That is what Python has if nobody could tell a row from the array that was
appended: it is not written afterwards, and no other variable has a part of it. A variable that has it still when the loop
ends has the row.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from .dispatch import broadcast_to
from .tracer import Storage, TracedArray, as_tensor, wrap

__all__ = ["Appended"]


class Appended:
    """What the turns of one loop append, in the order of a turn."""

    def __init__(self, loop: Any) -> None:
        self.loop = loop
        self.arrays: list[tuple[list[Any], TracedArray]] = []
        self.values: list[TracedArray] = []  # of the pass that goes on
        self.bound: dict[str, int] = {}  # variables that have what was appended when a pass ends

    def begin(self, values: dict[str, Any]) -> None:
        """Called before a pass, with what stands for its variables."""
        self.values = []
        for name in self.bound:
            if isinstance(values.get(name), TracedArray):
                self.watch(values[name]._storage)

    def append(self, owner: list[Any], value: Any) -> None:
        """``owner.append(value)`` in a turn; the loop is written out where that is more than a row."""
        loop, number = self.loop, len(self.values)
        if (
            not isinstance(loop.trips, int)
            or loop.turns.is_endless
            or not isinstance(value, TracedArray)
            or any(loop.symbol in str(extent) for extent in value.shape)
        ):
            loop.fail("something else than an array or number of the program is appended in each turn")
        if not is_number(value):
            self.require_own(value)
        if number == len(self.arrays):
            rows = wrap(broadcast_to(as_tensor(0, value.dtype), (loop.trips, *value.shape)))
            rows._storage.born = loop.born - 1  # older than the loop, and not than those around it
            self.arrays.append((owner, rows))
        known, rows = self.arrays[number]
        same = (
            known is owner
            and rows.dtype == value.dtype
            and rows.ndim == value.ndim + 1
            and all(map(_core.dims_equal, rows.shape[1:], value.shape))
        )
        if not same:
            loop.fail("what is appended is of another type in each turn")
        rows[loop.turn()] = value
        self.values.append(value)
        if not is_number(value):
            self.watch(value._storage)

    def require_own(self, value: TracedArray) -> None:
        """An array that this turn made, or the one before for a variable, and that is no view and in no list yet."""
        loop = self.loop
        name = next((name for name, given in loop.at_begin.items() if given is value), None)
        is_older = value._storage.born < loop.born and name is None
        if (
            value._steps
            or is_older
            or value._storage.peers
            or name in self.bound
            or any(value._storage is other._storage for other in self.values)
        ):
            loop.fail("an array that may be known elsewhere is appended in each turn")
        if name is not None and loop.entry.get(name) is not value:
            entry = loop.entry[name]
            if not isinstance(entry, TracedArray) or (
                not is_number(entry) and (entry._steps or loop.is_known_elsewhere(entry._storage))
            ):
                loop.peel(f"'{name}' is an array that may be known elsewhere, and is appended in the first turn")

    def watch(self, storage: Storage) -> None:
        def check() -> None:
            if self.loop in self.loop.trace.loops:
                self.loop.fail("an array is written that is in a list by then")

        storage.checks = (*storage.checks, check)

    def end(self, now: dict[str, Any]) -> None:
        """Called after a pass, with its variables."""
        self.bound = {}
        numbers = {
            id(value._storage): (number, value) for number, value in enumerate(self.values) if not is_number(value)
        }
        for name, value in now.items():
            if not isinstance(value, TracedArray) or id(value._storage) not in numbers:
                continue
            number, appended = numbers[id(value._storage)]
            if value is not appended:
                self.loop.fail(f"'{name}' is a view of an array that is in a list by then")
            if self.loop.at_begin.get(name) is not value:
                self.bound[name] = number

    def close(self, values: dict[str, Any]) -> None:
        """Called when the loop is recorded, with what its variables are then."""
        if any(not is_number(value) and value._storage.born < self.loop.born for value in self.values):
            self.loop.fail("the same array is appended in each turn")
        last: dict[int, TracedArray] = {}
        for turn in range(self.loop.trips if self.arrays else 0):
            for number, (owner, rows) in enumerate(self.arrays):
                row, value = rows[turn], self.values[number]
                if is_number(value):
                    row = TracedArray(row.tensor, value.weak)
                    row.scalar = value.scalar
                owner.append(row)
                last[number] = row
        for name, number in self.bound.items():
            values[name] = last[number]


def is_number(value: TracedArray) -> bool:
    """Whether it stands for what nobody can write to."""
    return value.scalar or value.weak is not None
