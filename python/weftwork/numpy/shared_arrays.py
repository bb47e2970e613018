"""Which variables of a loop that is recorded once are views of one array: a write to one, which the others would see, has it written out."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import _core
from .layout import lasting_strides
from .tracer import Storage, TracedArray, as_tensor, python_truth, wrap

__all__ = ["Choice", "SharedArrays", "Side", "chosen_array", "identity", "is_held", "may_be_one"]


def references(value: Any) -> int:
    return sys.getrefcount(value)


# What Python counts for a value while a function that it was given to asks.
OF_A_CALL = references(object())


class Side:
    """An array that NumPy may have, without keeping it: where nothing else has it, that does not show.

    ``is_whole``: it is the array that was made with its memory, and no view of it.
    """

    def __init__(self, array: TracedArray) -> None:
        self.storage, self.array = array._storage, weakref.ref(array)
        self.is_whole = array._storage.arrays[0]() is array

    def is_seen(self) -> bool:
        """Whether anything refers to its memory; of a view, to what that may be."""
        choice = None if self.is_whole else self.storage.choice
        return any(arrays_of(part) for part in (self.storage, *(choice.parts if choice is not None else ())))

    def __eq__(self, other: object) -> bool:
        return type(other) is Side and other.storage is self.storage and other.is_whole == self.is_whole

    def __hash__(self) -> int:
        return id(self.storage)


class Choice:
    """The arrays of which NumPy has one, with those that were themselves chosen, and the loop whose condition decides.

    NumPy has the first of ``sides`` where ``condition`` holds and the second elsewhere. A side is None where it is an array that nothing
    else has. ``is_computed``: the program computes both sides, whichever is taken.
    """

    is_computed = True

    def __init__(self, condition: TracedArray, sides: tuple[Side | None, Side | None], site: Any) -> None:
        self.condition, self.sides, self.site = condition, sides, site
        parts = [side.storage for side in sides if side is not None]
        older = (each for part in parts if part.choice is not None for each in part.choice.parts)
        self.parts = tuple(dict.fromkeys((*parts, *older)))

    def is_told(self, side: Side) -> bool:
        """Whether what was chosen is still one of the sides as a whole, and the program has both."""
        return self.is_computed and side.is_whole and not side.storage.version

    def all_sides(self) -> Iterator[Side]:
        """Its sides, and those of sides that nothing refers to."""
        for choice in self.choices(lambda side: side.array() is None and side.is_whole):
            yield from (side for side in choice.sides if side is not None)

    def conditions(self) -> list[TracedArray]:
        """By what it is decided, and by what the sides that were chosen themselves are."""
        return [choice.condition for choice in self.choices(lambda side: True)]

    def choices(self, goes_on: Callable[[Side], bool]) -> Iterator[Choice]:
        """It, and those of sides that were chosen themselves, each once."""
        pending, seen = [self], {self}
        while pending:
            choice = pending.pop()
            yield choice
            inner = (side.storage.choice for side in choice.sides if side is not None and goes_on(side))
            new = [each for each in inner if each is not None and each not in seen]
            seen.update(new)
            pending += new

    def shows(self, array: TracedArray) -> bool:
        """Whether anything else refers to one of them: which one ``array`` is shows then."""
        return any(other is not array for part in self.parts for other in arrays_of(part))


def arrays_of(storage: Storage) -> list[TracedArray]:
    """What shows the elements of a storage, and is still there."""
    return [array for reference in storage.arrays if (array := reference()) is not None]


def is_held(
    value: Any, references: int, known: list[Any], is_known: Callable[[Any], bool] = lambda holder: False
) -> bool:
    """Whether anything refers to a value but containers that are known.

    ``references``: how many of its own the caller has. ``is_known`` says it of other holders that the collector finds.
    """
    # No generator may have the value as a variable of its own: the cell would be one more holder.
    counted = list(map(id, gc.get_referents(*{id(holder): holder for holder in known}.values()))).count(id(value))
    if sys.getrefcount(value) == references + OF_A_CALL + counted:
        return False
    # All objects are looked through: a millisecond for 100,000 of them.
    allowed = {id(holder) for holder in known}
    return any(id(holder) not in allowed and not is_known(holder) for holder in gc.get_referrers(value))


def chosen_array(trace: Any, condition: TracedArray, a: TracedArray, b: TracedArray, select: Any) -> TracedArray | None:
    """``a`` where one truth value holds, ``b`` elsewhere: NumPy has one of them, so that a write to either may be seen here.

    None where no array is both.
    """
    if a.dtype != b.dtype or a.ndim != b.ndim or not all(map(_core.dims_equal, a.shape, b.shape)):
        return None
    result = select(condition, a, b)
    storage, parts = result._storage, (a._storage, b._storage)
    result.scalar, storage.strides, storage.parents = False, lasting_strides(a, b), parts
    storage.choice = Choice(condition, (Side(a), Side(b)), trace.decided)
    storage.choice.is_computed = select is np.where
    storage.twins = storage.choice.parts
    storage.apart = a._storage.apart or b._storage.apart
    for part in storage.twins:
        part.twins = (*part.twins, storage)
    storage.peers = parts
    return result


def identity(value: TracedArray, target: TracedArray) -> Any:
    """Whether NumPy has ``target`` itself, as a bool or a truth value of the program; None where nobody knows."""
    return True if value is target else identity_of(Side(value), target, {})


def identity_of(side: Side | None, target: TracedArray, known: dict[Side, Any]) -> Any:
    if side is None or side.array() is target:
        return side is not None
    if side not in known:
        known[side] = identity_of_other(side, target, known)
    return known[side]


def identity_of_other(side: Side, target: TracedArray, known: dict[Side, Any]) -> Any:
    storage, choice = side.storage, side.storage.choice
    if choice is not None and choice.is_told(side):
        first, second = (identity_of(each, target, known) for each in choice.sides)
        if first is None or second is None or first is second:
            return first if first is second else None
        if first is True and second is False:
            condition = choice.condition
            return condition if condition.weak is bool else python_truth(wrap(condition.tensor))
        truths = (wrap(as_tensor(each, np.dtype(bool))) for each in (first, second))
        return python_truth(np.where(choice.condition, *truths))
    older = [other for other in (*storage.peers, *storage.twins) if other.born < storage.born]
    return False if storage.born > target._storage.born and not (older or storage.apart) else None


def family_of(storage: Storage) -> set[Storage]:
    """What may be one memory with it, and with each of that."""
    found, pending = {storage}, [storage]
    while pending:
        new = [peer for peer in pending.pop().peers if peer not in found]
        found.update(new)
        pending += new
    return found


def may_be_one(a: TracedArray, b: TracedArray) -> bool:
    """Whether one is what a loop gives as an array of its own, where NumPy may have the other."""
    return any(one._storage.apart and other._storage in family_of(one._storage) for one, other in ((a, b), (b, a)))


class SharedArrays:
    """The part of a recorded loop that knows what else refers to its arrays."""

    entry: dict[str, Any]
    at_begin: dict[str, Any]
    carried: list[Any]
    frame: Any
    turns: Any
    born: int
    parts: Any

    def __init__(self) -> None:
        self.shared: list[tuple[str, str]] = []
        self.outside: list[tuple[str, Storage]] = []

    def fail(self, reason: str) -> Any:
        raise NotImplementedError

    def is_known_elsewhere(self, storage: Storage) -> bool:
        """Whether anything refers to an array but one variable that the loop binds anew, as it was before it."""
        entries = [self.entry.get(item.name) for item in self.carried if item.name is not None]
        if sum(isinstance(entry, TracedArray) and entry._storage is storage for entry in entries) > 1:
            return True
        names = {id(entry) for entry in entries}
        holders = arrays_of(storage)
        own = self.own(entries, holders)
        return any(id(holder) not in names or is_held(holder, 1, own) for holder in holders)

    def own(self, *given: Any) -> list[Any]:
        """What refers to arrays for the sake of the loop."""
        return [self.entry, self.at_begin, self.parts.maybes, self.frame, self.frame.f_locals, *given]

    def is_seen(self, storage: Storage, *given: Any) -> bool:
        """Whether anything but the loop refers to an array that it gave, or to one that a condition chose of it: a variable, an element of a list."""
        shown = [array for each in (storage, *storage.twins) for array in arrays_of(each)]
        bound = {id(value) for value in self.frame.f_locals.values()}
        own = self.own(shown, *given)
        return any(id(array) in bound or is_held(array, 1, own) for array in shown)

    def find_shared(self, carried: list[Any], now: dict[str, Any]) -> None:
        """Which variables a turn leaves as views of one array, or of one that is older than the loop: they come back as arrays of their own."""
        arrays = {
            item.name: now[item.name]
            for item in carried
            if item.name is not None and isinstance(now.get(item.name), TracedArray)
        }
        arrays = {name: value for name, value in arrays.items() if not value.scalar}
        families = {name: family_of(value._storage) for name, value in arrays.items()}
        self.shared = [
            (name, other)
            for name, family in families.items()
            for other, same in families.items()
            if name != other and family & same
        ]
        # What stands for a variable of the turn before was in the first turn what it was before the loop.
        older = {
            id(value._storage): entry._storage
            for name, value in self.at_begin.items()
            if isinstance(value, TracedArray)
            and isinstance(entry := self.entry.get(name), TracedArray)
            and entry is not value
        }
        self.outside = [
            (name, place)
            for name, family in families.items()
            for storage in family
            if (place := storage if storage.born < self.born else older.get(id(storage))) is not None
        ]

    def watch_shared(self, values: dict[str, Any], is_done: bool = False) -> None:
        """A write to such an array, which the others would have to see, has the loop written out."""

        def watch(storage: Storage, name: str, sees: Callable[[], bool]) -> None:
            def check() -> None:
                if sees():
                    self.fail(f"'{name}' is a view of an array that is written")

            storage.checks = (*storage.checks, check)

        def link(one: Storage, other: Storage) -> None:
            one.peers, other.peers = (*one.peers, other), (*other.peers, one)

        arrays = {name: value for name, value in values.items() if isinstance(value, TracedArray)}
        is_seen = lambda name: self.is_seen(arrays[name]._storage, values, arrays)
        site = self.turns.site if self.turns.places else True
        for name, other in self.shared:
            if name in arrays and other in arrays:
                one, another = arrays[name]._storage, arrays[other]._storage
                watch(one, other, lambda other=other: is_seen(other))
                link(one, another)
                one.linked = (*one.linked, (another, site))
        for name, storage in self.outside:
            if name in arrays and not (is_done and not self.is_known_elsewhere(storage)):
                # Where the program knows whether it is that array, who asks is told.
                is_told = self.parts.is_kept(name, storage)
                arrays[name]._storage.apart = arrays[name]._storage.apart or (False if is_told else site)
                watch(arrays[name]._storage, name, lambda storage=storage: self.is_known_elsewhere(storage))
                watch(storage, name, lambda name=name: is_seen(name))
                link(arrays[name]._storage, storage)
