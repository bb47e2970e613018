"""Loops of which nobody knows how many turns they have: ``while`` statements, and ranges to a number that the program computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .early import ENDLESS
from .loops import Range, Site, Turns, make_range
from .tracer import TracedArray, as_tensor, current_trace, wrap

__all__ = ["Counting", "RangeByValues", "Through", "While"]


class Endless(Turns):
    """The turns of a loop that has no number of them; ``at``: the instruction that they begin with."""

    is_endless = True

    def __init__(self, frame: Any, at: int, site: Site, places: dict[int, list[Any]]) -> None:
        trace = current_trace()
        assert trace is not None
        self.trace, self.frame, self.numbers = trace, frame, make_range(Range, (ENDLESS,))
        self.site, self.trips, self.at = site, ENDLESS, at
        self.rows, self.target, self.plain, self.loop, self.peeled = None, "", None, None, 0
        self.places, self.stack = places, list(frame.stack)


class While(Endless):
    """The turns of one while statement; ``places``: where ways out of it lead, of those that are known."""

    is_while = True

    def __init__(self, frame: Any, at: int, places: dict[int, list[Any]]) -> None:
        super().__init__(frame, at, (frame.f_code, at), places)


class RangeByValues:
    """A range of which the program computes a bound; a ``for`` statement runs over it."""

    def __init__(self, start: TracedArray, stop: TracedArray, step: int) -> None:
        self.start, self.stop, self.step = start, stop, step

    def is_done(self, number: Any) -> TracedArray:
        return wrap(as_tensor(number >= self.stop if self.step > 0 else number <= self.stop, np.dtype(bool)))


class Counting(Endless):
    """The iterator of a for statement over such a range."""

    def __init__(self, values: RangeByValues, frame: Any) -> None:
        super().__init__(frame, frame.at, (frame.f_code.co_filename, frame.f_lineno), {})
        self.values = values
        self.now: Any = None  # the number of the turn

    def following(self, frame: Any) -> TracedArray:
        if self.loop is None:
            self.begin()
            self.loop.early.before = self.values.is_done(self.values.start)  # type: ignore[attr-defined]
        elif self.loop.end() is None:
            raise StopIteration
        turns = self.loop.counter * self.values.step  # type: ignore[union-attr]
        self.now = TracedArray(as_tensor(self.values.start + turns), int)
        return self.now

    def is_last(self) -> TracedArray:
        return self.values.is_done(self.now + self.values.step)


class Through(Endless):
    """The iterator of a loop over rows of which the program computes how many there are, ``most`` at most."""

    def __init__(self, frame: Any, at: int, site: Site, rows: Any, count: Callable[[], Any], most: int) -> None:
        super().__init__(frame, at, site, {})
        self.each, self.count, self.trips = rows, count, most

    def is_done(self, turn: Any) -> TracedArray:
        return wrap(as_tensor(wrap(as_tensor(self.count())) <= turn, np.dtype(bool)))

    def following(self, frame: Any) -> Any:
        if self.loop is None:
            self.begin()
            self.loop.early.before = self.is_done(0)  # type: ignore[attr-defined]
        elif self.loop.end() is None:
            raise StopIteration
        return self.each[self.loop.counter]  # type: ignore[union-attr]

    def is_last(self) -> TracedArray:
        return self.is_done(self.loop.counter + 1)  # type: ignore[union-attr]
