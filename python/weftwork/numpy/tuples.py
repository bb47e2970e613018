"""Variables of a loop that have parts, of which each is a variable of its own: tuples of numbers (``at = y, x``), numbers that may be
None, numbers that are Python's or NumPy's as the run decides, and arrays that may be what they were before the loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .maybe import Maybe, parts_of
from .mixed import PLAIN, marked, sides
from .shared_arrays import Choice, Side, identity
from .tracer import TracedArray, as_tensor

__all__ = ["Parts", "are_numbers", "part_name", "variable_of"]


def are_numbers(value: Any) -> bool:
    is_number = lambda item: type(item) in (*PLAIN, _core.Dim) or (isinstance(item, TracedArray) and item.scalar)
    return type(value) is tuple and bool(value) and all(map(is_number, value))


def part_name(name: str, number: int) -> str:
    return f"{name}[{number}]"


def variable_of(name: str) -> str:
    """The variable that a name is of, or is a part of."""
    return name.partition("[")[0]


class Parts:
    """The variables of a loop that are taken apart: tuples and their lengths, what may be None and a number for its place, what may be
    Python's or NumPy's (see alternatives() in mixed.py), what may be the array that it was before the loop, and that array."""

    def __init__(self, loop: Any) -> None:
        self.loop = loop
        self.tuples: dict[str, int] = {}
        self.maybes: dict[str, Any] = {}
        self.mixed: dict[str, Any] = {}
        self.kept: dict[str, TracedArray] = {}
        self.lost: set[str] = set()  # of which it is not known whether they are
        #: Truth values that are known, and what a number was before it was taken apart, where that is Python's.
        self.truths: dict[bool, TracedArray] = {}
        self.originals: dict[int, tuple[TracedArray, Any]] = {}

    def of(self, name: str, value: Any) -> tuple[Any, ...] | None:
        """The parts of a variable; None where it stays whole."""
        if name in self.maybes:
            missing, number = parts_of(value)
            return missing, self.maybes[name] if number is None else number
        if name in self.mixed:
            return self.of_mixed(value, self.mixed[name])
        if name in self.kept:
            return self.of_kept(name, value)
        return value if type(value) is tuple and self.tuples.get(name) == len(value) else None

    def of_mixed(self, value: Any, kinds: tuple[Any, ...]) -> tuple[Any, ...] | None:
        value = self.loop.in_program(value)
        found = sides(self.loop.trace, value, kinds)
        if found is None:
            return None
        python, number = found
        if type(python) is bool:
            if python:
                self.originals[id(number)] = (number, value)
            python = self.truth(python)
        return python, number

    def of_kept(self, name: str, value: Any) -> tuple[Any, ...] | None:
        is_kept = identity(value, self.kept[name]) if isinstance(value, TracedArray) else None
        if is_kept is None:
            self.lost.add(name)
            return None
        return self.truth(is_kept) if type(is_kept) is bool else is_kept, value

    def kept_by(self, name: str) -> str | None:
        """The variable whose elements are of this name, if it may be the array that it was before the loop."""
        variable, _, part = name.rpartition("[")
        return variable if part == "1]" and variable in self.kept else None

    def is_kept(self, name: str, storage: Any) -> bool:
        """Whether the program knows if what has this name is the array of a storage."""
        variable = self.kept_by(name)
        return variable is not None and self.kept[variable]._storage is storage

    def without_lost(self, values: dict[str, Any]) -> dict[str, Any]:
        """The variables before the loop, of which those that are lost stay whole."""
        for name in self.lost & self.kept.keys():
            values = {**values, name: self.kept.pop(name)}
            for number in range(2):
                values.pop(part_name(name, number))
        return self.apart(values)

    def truth(self, known: bool) -> TracedArray:
        if known not in self.truths:
            self.truths[known] = TracedArray(as_tensor(known, np.dtype(bool)), bool)
        return self.truths[known]

    def settled(self, values: dict[str, Any], now: dict[str, Any]) -> None:
        """Behind a loop that has turns: a number that is NumPy's after each of them is NumPy's."""
        for name in map(lambda name: part_name(name, 0), self.mixed):
            if name in values and now.get(name) is self.truth(False):
                values[name] = self.truth(False)

    def apart(self, values: dict[str, Any]) -> dict[str, Any]:
        """Variables with parts in the place of those that have some."""
        found: dict[str, Any] = {}
        for name, value in values.items():
            parts = self.of(name, value)
            found |= (
                {name: value} if parts is None else self.apart({part_name(name, i): p for i, p in enumerate(parts)})
            )
        return found

    def together(self, values: dict[str, Any], others: dict[str, Any], site: Any) -> dict[str, Any]:
        """Variables in the place of their parts; ``others``: parts that the values lack."""
        found = dict(values)
        lengths = {**self.tuples, **dict.fromkeys((*self.maybes, *self.mixed, *self.kept), 2)}
        for name, length in sorted(lengths.items(), key=lambda item: -item[0].count("[")):  # parts of parts first
            names = [part_name(name, i) for i in range(length)]
            if not any(each in found for each in names):
                continue
            parts = tuple(found.pop(each) if each in found else others.get(each) for each in names)
            if name in self.mixed:
                found[name] = self.either_kind(parts[0], parts[1], self.mixed[name][0])
            elif name in self.kept:
                found[name] = self.kept_or_new(parts[0], parts[1], self.kept[name], site)
            else:
                found[name] = parts if name in self.tuples else whole(parts[0], parts[1], site)
        return found

    def either_kind(self, python: Any, number: Any, kind: type) -> Any:
        if python is self.truth(True) and id(number) in self.originals:
            return self.originals[id(number)][1]
        if python is self.truth(False):
            return number
        return marked(self.loop.trace, number, python, kind)

    @staticmethod
    def kept_or_new(is_kept: Any, array: Any, before: TracedArray, site: Any) -> Any:
        if isinstance(array, TracedArray) and array is not before:
            array._storage.choice = Choice(is_kept, (Side(before), None), site)
        return array


def whole(missing: Any, number: Any, site: Any) -> Any:
    if type(missing) is bool:
        return None if missing else number
    return Maybe(missing, number, site)
