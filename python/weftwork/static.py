"""Static arguments as they were when a call was recorded: what tells them is what they hold, so nobody may change that."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np

from .bytecode.kinds import CONTAINERS, instance_space
from .pytree import is_record, items_of

__all__ = ["Snapshots"]


#: Elements of a set of which all orders are tried.
MOST_ORDERED = 5


class Snapshots:
    """Copies of static arguments, which stand for them while a function is recorded."""

    def __init__(self, do: bool = True) -> None:
        self.do = do  # whether they stand for the arguments; where they would not do, nothing does
        self.made: dict[int, Any] = {}
        self.known: dict[int, tuple[Any, Any]] = {}
        self.objects: dict[int, Any] = {}
        self.held: list[tuple[Any, Any]] = []
        self.is_other = False  # whether the function may tell one from the argument

    def __contains__(self, value: Any) -> bool:
        return id(value) in self.made

    def of(self, value: Any) -> Any:
        """A copy of all that `Signature` (src/signature.cpp) tells by content; the rest is itself."""
        known = self.known.get(id(value))
        if known is None:
            known = self.known[id(value)] = (value, self._copied(value))
        return known[1]

    def _copied(self, value: Any) -> Any:
        kind = type(value)
        if kind is bytearray:
            return self._kept(bytearray(value))
        if kind is list:
            return self._kept([self.of(item) for item in value])
        if kind in (set, frozenset):
            items = [self.of(item) for item in value]
            copy, order = kind(items), [*map(id, items)]
            if [*map(id, copy)] != order:
                # Which of some that collide comes first depends on which was there first.
                others: Any = map(kind, itertools.permutations(items) if len(items) <= MOST_ORDERED else [items[::-1]])
                copy = next((other for other in others if [*map(id, other)] == order), copy)
                self.is_other |= [*map(id, copy)] != order  # a loop over it goes another way
            return self._kept(copy)
        if kind is tuple or is_record(kind):
            items = [self.of(item) for item in items_of(value)]
            is_same = all(map(lambda a, b: a is b, items, items_of(value)))
            return value if is_same else self._kept(tuple.__new__(kind, items))
        if kind is dict:
            return self._kept({self.of(key): self.of(item) for key, item in value.items()})
        if kind is np.ndarray:
            return self._kept(self._array(value))
        return self._kept(self._object(value)) if is_told_by_fields(value) else value

    def _array(self, value: np.ndarray) -> np.ndarray:
        array = value.copy(order="K")
        if array.dtype == object:
            for place in np.ndindex(array.shape):
                array[place] = self.of(array[place])
        self.is_other |= array.dtype.hasobject and array.dtype.names is not None  # what its fields hold may change
        array.flags.writeable = False
        return array

    def _object(self, value: Any) -> Any:
        copy = object.__new__(type(value))
        for name, part in attributes_of(value).items():
            object.__setattr__(copy, name, self.of(part))
        self.objects[id(copy)] = copy
        self.held.append((copy, attributes_of(copy)))
        return copy

    def _kept(self, copy: Any) -> Any:
        self.made[id(copy)] = copy
        if isinstance(copy, (set, bytearray)):
            self.held.append((copy, type(copy)(copy)))
        return copy

    def note_comparison(self, lhs: Any, rhs: Any) -> None:
        """Called where two objects are compared by identity."""
        if lhs is not None and rhs is not None:
            self.is_other |= lhs in self or rhs in self

    def are_used(self) -> bool:
        return self.do and bool(self.made)

    def are_changed(self) -> bool:
        """Whether the function stored anything in them; what it does to lists and dictionaries is done to the arguments, too."""
        return any(
            different(attributes_of(value), before) if isinstance(before, dict) else value != before
            for value, before in self.held
        )

    def have_escaped(self, recorder: Any, blueprint: Any) -> bool:
        """Whether a program that was recorded with them would do anything else than with the arguments."""
        parts = [*blueprint.kept, *(owner for owner, _, _ in recorder.overlay.values())]
        strays = any(part in self and id(part) not in recorder.copies for part in parts)
        is_in_pieces = recorder.session is not None and recorder.session.path
        return self.are_used() and (strays or bool(is_in_pieces) or self.is_other or self.are_changed())


def is_told_by_fields(value: Any) -> bool:
    """Whether it is a dataclass that is compared by its fields."""
    kind = type(value)
    is_compared = dataclasses.is_dataclass(kind) and kind.__dataclass_params__.eq  # type: ignore[attr-defined]
    return bool(is_compared) and not isinstance(value, CONTAINERS)


def attributes_of(value: Any) -> dict[str, Any]:
    """All that a dataclass holds, in slots too."""
    space = instance_space(value) or {}
    slots = {n: getattr(value, n) for n in value.__dataclass_fields__ if n not in space and hasattr(value, n)}
    return slots | space


def different(now: dict[str, Any], before: dict[str, Any]) -> bool:
    return now.keys() != before.keys() or any(now[name] is not value for name, value in before.items())
