"""Tuples of numbers that a loop binds anew in its turns (``at = y, x``): each of their items is a variable of its own."""

from __future__ import annotations

from typing import Any

from .. import _core
from .mixed import PLAIN
from .tracer import TracedArray

__all__ = ["apart", "are_numbers", "together", "variable_of"]


def are_numbers(value: Any) -> bool:
    is_number = lambda item: type(item) in (*PLAIN, _core.Dim) or (isinstance(item, TracedArray) and item.scalar)
    return type(value) is tuple and bool(value) and all(map(is_number, value))


def item_name(name: str, number: int) -> str:
    return f"{name}[{number}]"


def variable_of(name: str) -> str:
    """The variable that a name is of, or is an item of."""
    return name.partition("[")[0]


def apart(values: dict[str, Any], tuples: dict[str, int]) -> dict[str, Any]:
    """Variables with items in the place of the tuples that have these names and lengths."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if type(value) is tuple and tuples.get(name) == len(value):
            found |= {item_name(name, number): item for number, item in enumerate(value)}
        else:
            found[name] = value
    return found


def together(values: dict[str, Any], tuples: dict[str, int], others: dict[str, Any]) -> dict[str, Any]:
    """Variables with tuples in the place of their items; ``others``: items that the values lack."""
    found = dict(values)
    for name, length in tuples.items():
        names = [item_name(name, number) for number in range(length)]
        if any(each in found for each in names):
            items = tuple(found.get(each, others.get(each)) for each in names)
            found = {each: value for each, value in found.items() if each not in names} | {name: items}
    return found
