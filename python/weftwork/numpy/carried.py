"""What changes from turn to turn of a loop that is recorded once: variables that are bound anew, arrays that are written."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .layout import lasting_strides
from .maybe import Maybe, default_of, parts_of
from .mixed import PLAIN, alternatives, is_stood_for, mark_of, sides
from .shared_arrays import identity
from .tracer import Storage, Tensor, TracedArray
from .tuples import Parts, are_numbers, part_name

__all__ = ["Carried", "CarriedValues", "Unset"]


class Unset:
    """Stands for a local variable that is not bound yet: variables of a running function cannot be unbound."""


class Carried:
    """A value that changes from turn to turn: a local variable, or (name None) an array that is written to."""

    def __init__(
        self, name: str | None, storage: Storage | None, dtype: np.dtype, shape: tuple, weak: Any, has_entry: bool
    ) -> None:
        self.name = name
        self.storage = storage
        self.dtype = dtype
        self.shape = shape
        self.weak = weak
        self.has_entry = has_entry
        self.parameter: Tensor | None = None
        self.scalar = weak is not None
        #: Of an array that is bound anew: its layout, as its storage has it.
        self.strides: Any = None
        self.parents: tuple[Storage, ...] | None = None

    def key(self) -> tuple:
        strides = tuple(self.strides) if isinstance(self.strides, list) else id(self.strides)
        return (
            self.name,
            id(self.storage),
            self.dtype,
            tuple(map(str, self.shape)),
            self.weak,
            strides,
        )

    def array_of(self, tensor: Tensor, is_apart: bool) -> TracedArray:
        """What the local variable is bound to, in the turns and after them; ``is_apart``: that may be what it was before the loop."""
        array = TracedArray(tensor, self.weak)
        array.scalar, array._storage.apart = self.scalar, is_apart
        array._storage.strides, array._storage.parents = self.strides, self.parents
        return array


class CarriedValues:
    """The part of a recorded loop that finds what a turn hands to the next, after each pass over the body."""

    turns: Any
    trace: Any
    step: Any
    symbol: str
    counter: Any
    born: int
    entry: dict[str, Any]
    at_begin: dict[str, Any]
    entry_tensors: dict[Storage, Tensor]
    turn: Any
    is_known_elsewhere: Any

    def __init__(self) -> None:
        super().__init__()
        self.carried: list[Carried] = []
        self.inductions: dict[str, tuple[Any, int]] = {}
        self.not_linear: set[str] = set()
        self.parts = Parts(self)

    def fail(self, reason: str) -> Any:
        raise NotImplementedError

    def peel(self, reason: str) -> Any:
        raise NotImplementedError

    def has_turns(self) -> bool:
        raise NotImplementedError

    def find_carried(self, now: dict[str, Any]) -> list[Carried]:
        self.changed_inductions = False
        found = [
            Carried(None, storage, storage.tensor.dtype, storage.tensor.shape, None, True)
            for storage in self.entry_tensors
        ]
        for name, value in now.items():
            before = self.at_begin.get(name, Unset)
            if value is before or (value is self.counter and self.turns.target in (None, name)):
                # What was bound anew in an earlier pass may come back as it was.
                continue
            item = self.carried_local(name, before, value)
            if item is not None:
                found.append(item)
        known = {c.name: c for c in self.carried if c.name is not None}
        names = {c.name for c in found}
        found += [c for name, c in known.items() if name not in names and now.get(name) is not None and c.has_entry]
        return sorted(found, key=lambda c: (c.storage is None, c.name or ""))

    def in_program(self, value: Any) -> Any:
        """A number that Python computes at each call as an input of the program; others as they are."""
        recorder = self.trace.recorder
        return value if recorder is None else recorder.number_operand(value)

    def carried_local(self, name: str, before: Any, value: Any) -> Carried | None:
        entry, value = self.in_program(self.entry.get(name, Unset)), self.in_program(value)
        if Maybe in (type(entry), type(value)) and entry is not Unset:
            given = [number for _, number in (parts_of(value), parts_of(entry)) if number is not None]
            self.parts.maybes[name] = default_of(given[0])
            self.not_linear.add(part_name(name, 1))  # what the default is leads nowhere
            return None
        if self.may_be_python(name, entry, value):
            return None
        if isinstance(value, TracedArray):
            if self.inductions.pop(name, None) is not None:
                # A number that grew evenly in the first turn, as a loop inside did nothing then.
                self.not_linear.add(name)
                self.changed_inductions = True
            if entry is Unset and not self.can_outlive(value):
                return None
            if entry is not Unset and not isinstance(entry, (TracedArray, *PLAIN, np.generic, np.ndarray, _core.Dim)):
                self.peel(f"'{name}' is an array after a turn and was {type(entry).__name__} before")
            if entry is not Unset:
                self.check_type(name, entry, value)
            if self.may_be_kept(name, entry, value):
                self.parts.kept[name] = entry
                self.not_linear.add(part_name(name, 0))
                return None
            carried = Carried(name, None, value.dtype, value.shape, value.weak, entry is not Unset)
            carried.scalar = value.scalar
            carried.strides = lasting_strides(entry, value)
            carried.parents = tuple(v._storage for v in (entry, value) if isinstance(v, TracedArray)) or None
            return carried
        if entry is Unset or (
            type(value) in PLAIN and type(entry) in PLAIN and value == entry and type(value) is type(entry)
        ):
            return None
        if isinstance(value, (int, _core.Dim)) and isinstance(entry, (int, _core.Dim)) and not isinstance(value, bool):
            return self.carried_integer(name, entry, value)
        if type(value) in (float, complex) and type(entry) in (int, float, complex):
            return Carried(name, None, np.dtype(type(value)), (), type(value), True)
        if type(value) is type(before) and isinstance(value, (str, bool, type(None))) and value == before:
            return None
        if are_numbers(value) and are_numbers(entry) and len(value) == len(entry):
            self.parts.tuples[name] = len(value)
            return None
        return self.fail(f"'{name}' is bound to another {type(value).__name__} in each turn")

    def has_other_parts(self) -> bool:
        """Takes the variables before the loop apart as those after a turn are; whether that changes any."""
        known, self.entry = self.entry.keys(), self.parts.without_lost(self.entry)
        return self.entry.keys() != known

    def may_be_kept(self, name: str, entry: Any, value: TracedArray) -> bool:
        """Whether the program knows if a variable is, behind the loop, the array that it was before it, which somebody else has."""
        if not isinstance(entry, TracedArray) or entry.scalar or value.scalar or name in self.parts.lost:
            return False
        if self.parts.kept_by(name) is not None:
            return False
        is_kept = identity(value, entry)
        never = is_kept is False and self.has_turns()
        return is_kept is not None and not never and self.is_known_elsewhere(entry._storage)

    def may_be_entry(self, item: Carried) -> bool:
        """Whether a variable may be an array that it was before the loop, and somebody else has, without the program knowing it."""
        entry = None if self.has_turns() or self.parts.kept_by(item.name or "") else self.entry.get(item.name or "")
        return isinstance(entry, TracedArray) and not entry.scalar and self.is_known_elsewhere(entry._storage)

    def may_be_python(self, name: str, entry: Any, value: Any) -> bool:
        """Whether a variable is a number of Python's or NumPy's as the run decides: both are parts of it, see mixed.py."""
        is_marked = mark_of(self.trace, entry) is not None or mark_of(self.trace, value) is not None
        if not is_marked and not is_stood_for(entry, value):
            return False
        kinds = None if entry is Unset else alternatives(self.trace, entry, value)
        if kinds is None or any(sides(self.trace, each, kinds) is None for each in (entry, value)):
            return self.peel(f"'{name}' may be Python's number or NumPy's") if is_marked else False
        self.parts.mixed[name] = kinds
        self.not_linear.add(name)
        if self.inductions.pop(name, None) is not None:
            self.changed_inductions = True
        return True

    def carried_integer(self, name: str, entry: Any, value: Any) -> Carried | None:
        """A Python integer that grows evenly is an extent; any other is carried as a number."""
        if type(entry) is bool and not self.has_turns():
            self.peel(f"'{name}' is an integer after a turn and a bool before")
        if name not in self.not_linear:
            known = self.inductions.get(name)
            if known is None and isinstance(entry, int) and isinstance(value, int):
                self.inductions[name] = (entry, value - entry)
                self.changed_inductions = True
                return None
            if known is None and isinstance(entry, int) and isinstance(value, _core.Dim):
                self.follow_counter(name, entry, value)
                return None
            if known is not None and _core.dims_equal(value, known[0] + known[1] * (self.turn() + 1)):
                return None
            self.inductions.pop(name, None)
            self.not_linear.add(name)
            self.changed_inductions = True
        return Carried(name, None, np.dtype(np.int64), (), int, True)

    def follow_counter(self, name: str, entry: int, value: Any) -> None:
        """A variable that has the counter of the turn before: from the second or third turn on it grows as the counter does."""
        if not _core.dims_equal(value, entry + self.step * (self.turn() + 1)):
            self.peel(f"'{name}' follows the counter")
        self.inductions[name] = (entry, self.step)
        self.changed_inductions = True

    def check_type(self, name: str, entry: Any, value: TracedArray) -> None:
        """The first turn is written out where it gives another type than it was given."""
        is_scalar = entry.scalar if isinstance(entry, TracedArray) else not isinstance(entry, np.ndarray)
        if isinstance(entry, TracedArray):
            dtype, shape, weak = entry.dtype, entry.shape, entry.weak
        elif type(entry) in PLAIN or isinstance(entry, _core.Dim):
            is_truth = isinstance(entry, bool) and value.weak is bool
            is_integer = isinstance(entry, _core.Dim) or (isinstance(entry, bool) and self.has_turns())
            kind = bool if is_truth else int if is_integer else type(entry)
            dtype, shape, weak = np.dtype(kind), (), kind
        else:
            dtype, shape, weak = np.asarray(entry).dtype, np.shape(entry), None
        is_one_program = self.trace.recorder is not None and self.trace.recorder.raises and not value.weak
        same = (
            dtype == value.dtype
            and len(shape) == value.ndim
            and all(map(_core.dims_equal, shape, value.shape))
            and (weak == value.weak or (is_one_program and value.scalar))
            and (value.ndim > 0 or is_one_program or is_scalar == value.scalar)
        )
        if same or any(c.name == name for c in self.carried):
            if not same:
                self.fail(f"the type of '{name}' changes from turn to turn")
            return
        self.peel(f"the type of '{name}' changes from {dtype}{list(shape)} to {value!r}")

    def can_outlive(self, value: TracedArray) -> bool:
        """Whether a variable of the body alone can be read after the loop: not a view, and of a fixed size."""
        fixed = not any(isinstance(e, _core.Dim) and self.symbol in str(e) for e in value.shape)
        return fixed and value._storage.born >= self.born
