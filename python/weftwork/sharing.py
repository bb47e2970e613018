"""Which memory the parts of a result have in common: views of one array, arrays of which each may be another one."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .bytecode.kinds import held_by
from .numpy.maybe import Either
from .numpy.retry import Retry
from .numpy.shared_arrays import Side
from .numpy.steps import all_of, whole_of
from .numpy.tracer import Storage, TracedArray
from .pytree import each_of

__all__ = ["Sharing", "root_of"]


class Sharing:
    """What several parts of a result, and of what is stored besides, have."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.is_exact = not (recorder.strict or recorder.bakes)
        #: By storage: arrays that the function made, as a whole, of which several parts are views.
        self.wholes: dict[int, TracedArray | None] = {}
        #: By storage: arrays that nothing refers to, and several parts may be.
        self.brought_back: dict[int, TracedArray] = {}
        self.roots: set[int] = set()  # arrays of constants whose memory several parts have
        self.shown: dict[int, Storage] = {}

    def find(self, values: list[Any]) -> None:
        """Looks through all parts."""
        lost = self.walk(values)
        counted = Counter(storage for sides in lost for storage in {side.storage for side in sides})
        every = dict.fromkeys(side for sides in lost for side in sides)
        seen = [side for side in every if counted[side.storage] > 1 or side.is_seen()]
        self.brought_back = {id(side.storage): all_of(side.storage) for side in seen if side.is_whole}
        for side in seen:
            if not side.is_whole and self.is_exact:
                self.recorder.refuse("which of two arrays a variable has shows")
        if self.brought_back:
            self.walk([*values, *self.brought_back.values()])
        if self.is_exact:
            self.require_apart(values)

    def walk(self, values: list[Any]) -> list[list[Side]]:
        """Finds what several parts have; of each part that was chosen the sides that nothing refers to."""
        found: dict[int, TracedArray] = {}
        roots: set[int] = set()
        lost: list[list[Side]] = []
        for value in each_of(values, self.parts_of):
            if isinstance(value, TracedArray):
                self.shown[id(value._storage)] = value._storage
                if not value.scalar and found.setdefault(id(value._storage), value) is not value:
                    self.wholes[id(value._storage)] = whole_of(value)
                lost.append([side for side in sides_of(value) if self.held(side) is None])
            elif isinstance(value, np.ndarray):
                (self.roots if id(root_of(value)) in roots else roots).add(id(root_of(value)))
        return lost

    def parts_of(self, value: Any) -> Iterable[Any]:
        """What a value is made of, or one of."""
        if isinstance(value, TracedArray):
            return [array for side in sides_of(value) if (array := self.held(side)) is not None]
        return held_by(value, self.recorder.fresh)

    def held(self, side: Side) -> TracedArray | None:
        """An array that was chosen, or what stands for it in the result; None where nothing else has it."""
        array = side.array()
        return array if array is not None else self.brought_back.get(id(side.storage) if side.is_whole else 0)

    def require_apart(self, values: list[Any]) -> None:
        """That no two arrays are parts together which a loop gives as arrays of their own and NumPy as one memory."""
        for one in list(self.shown.values()):
            for other, site in one.linked:
                if id(other) in self.shown and self.shows(values, one, other)[2]:
                    self.refuse_copy(site)

    def shows(self, value: Any, one: Storage, other: Storage) -> tuple[bool, bool, bool]:
        """Whether a part has one of two arrays, the other, both of them at once."""
        found = [self.shows(part, one, other) for part in self.parts_of(value)]
        first, second = (any(part[i] for part in found) for i in range(2))
        both = any(part[2] for part in found)
        if isinstance(value, TracedArray):
            first, second = first or value._storage is one, second or value._storage is other
        elif type(value) is not Either:
            places = ([at for at, part in enumerate(found) if part[i]][:2] for i in range(2))
            both |= any(a != b for a, b in itertools.product(*places))
        return first, second, both

    def refuse_copy(self, site: Any) -> None:
        reason = "the result is a view of an array, and a loop gives a copy of it"
        if site is not True:
            raise Retry(site, reason)
        self.recorder.refuse(reason)


def sides_of(array: TracedArray) -> Iterator[Side]:
    return iter(()) if array._storage.choice is None else array._storage.choice.all_sides()


def root_of(array: np.ndarray) -> np.ndarray:
    """The array whose memory a view has."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
