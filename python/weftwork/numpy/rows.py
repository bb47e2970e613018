"""The iterators of arrays that stand for values: of one, and of several side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .tracer import TracedArray

__all__ = ["Digit", "Numbers", "Pending", "Rows", "Together", "digits"]


class Rows:
    """The iterator of an array: each row, or element, as it is when its turn comes."""

    __slots__ = ("array", "at")

    def __init__(self, array: TracedArray) -> None:
        self.array, self.at = array, 0

    def __iter__(self) -> Rows:
        return self

    def __next__(self) -> Any:
        if self.at >= len(self.array):
            raise StopIteration
        self.at += 1
        return self.array[self.at - 1]


class Waiting:
    """What ``make`` makes where a first value is asked for; until then a loop may have its ``count`` turns."""

    def __init__(self, count: Any, make: Callable[[], Iterator[Any]]) -> None:
        self.count, self.make = count, make
        self.iterator: Iterator[Any] | None = None

    def __iter__(self) -> Waiting:
        return self

    def __next__(self) -> Any:
        if self.iterator is None:
            self.iterator = self.make()
        return next(self.iterator)


class Pending(Waiting):
    """The iterator of a comprehension over what has so many turns."""

    def __init__(self, over: Any, count: Any, make: Callable[[], Iterator[Any]]) -> None:
        super().__init__(count, make)
        self.over = over


class Together(Waiting):
    """What ``zip`` and ``enumerate`` make of arrays and ranges: what belongs to a turn is known for any number of it.

    ``parts`` give it by ``[turn]``, ``make`` makes the iterator that NumPy's rows are taken from one after the other.
    """

    def __init__(self, parts: list[Any], count: Any, make: Callable[[], Iterator[Any]]) -> None:
        super().__init__(count, make)
        self.parts = parts

    def is_taken(self, held: Iterable[Any]) -> bool:
        """Whether something may take from it, or has: it is among what variables have."""
        every = self.nested()
        return any(part.iterator is not None for part in every) or any(
            value is part for part in every for value in held
        )

    def take(self) -> None:
        """Gives all that it has to a loop over its numbers."""
        for part in self.nested():
            part.iterator = iter(())

    def every_part(self) -> list[Any]:
        """What it has side by side, of those among its parts too."""
        return [part for each in self.nested() for part in each.parts]

    def nested(self) -> list[Together]:
        """This one, and those among its parts."""
        return [self, *(inner for part in self.parts if type(part) is Together for inner in part.nested())]

    def __getitem__(self, turn: Any) -> tuple[Any, ...]:
        return tuple(part[turn] for part in self.parts)


class Numbers:
    """The numbers of a range by their places, which may be symbolic."""

    def __init__(self, start: Any, step: int) -> None:
        self.start, self.step = start, step

    def __getitem__(self, turn: Any) -> Any:
        return self.start + turn * self.step


class Digit:
    """What belongs to one digit of a turn's number, whose digits are indices into several: the last one changes fastest."""

    def __init__(self, part: Any, weight: int, base: int) -> None:
        self.part, self.weight, self.base = part, weight, base

    def __getitem__(self, turn: Any) -> Any:
        return self.part[turn // self.weight % self.base]


def digits(parts: list[Any], counts: list[int]) -> list[Digit]:
    """The parts of a Cartesian product, of which each has so many elements."""
    weights = [math.prod(counts[i + 1 :]) for i in range(len(counts))]
    return [Digit(part, weight, count) for part, weight, count in zip(parts, weights, counts, strict=True)]
