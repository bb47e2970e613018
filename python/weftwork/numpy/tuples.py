"""Variables of a loop that have parts: tuples of numbers (``at = y, x``), and numbers that may be None. Each part is a variable of its own."""

from __future__ import annotations

from typing import Any

from .. import _core
from .maybe import Maybe, parts_of
from .mixed import PLAIN
from .tracer import TracedArray

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
    """The variables of a loop that are taken apart: tuples and their lengths, what may be None and a number for its place."""

    def __init__(self) -> None:
        self.tuples: dict[str, int] = {}
        self.maybes: dict[str, Any] = {}

    def of(self, name: str, value: Any) -> tuple[Any, ...] | None:
        """The parts of a variable; None where it stays whole."""
        if name in self.maybes:
            missing, number = parts_of(value)
            return missing, self.maybes[name] if number is None else number
        return value if type(value) is tuple and self.tuples.get(name) == len(value) else None

    def apart(self, values: dict[str, Any]) -> dict[str, Any]:
        """Variables with parts in the place of those that have some."""
        found: dict[str, Any] = {}
        for name, value in values.items():
            parts = self.of(name, value)
            found |= {name: value} if parts is None else {part_name(name, i): part for i, part in enumerate(parts)}
        return found

    def together(self, values: dict[str, Any], others: dict[str, Any], site: Any) -> dict[str, Any]:
        """Variables in the place of their parts; ``others``: parts that the values lack."""
        found = dict(values)
        for name, length in (*self.tuples.items(), *((name, 2) for name in self.maybes)):
            names = [part_name(name, i) for i in range(length)]
            if not any(each in found for each in names):
                continue
            parts = tuple(found.pop(each) if each in found else others.get(each) for each in names)
            found[name] = parts if name in self.tuples else whole(parts[0], parts[1], site)
        return found


def whole(missing: Any, number: Any, site: Any) -> Any:
    if type(missing) is bool:
        return None if missing else number
    return Maybe(missing, number, site)
