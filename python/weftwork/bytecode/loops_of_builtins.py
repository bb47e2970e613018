"""Python's functions that go through what they are given, as Python code whose loops a recorder knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["IN_PYTHON", "IN_PYTHON_FILE", "each", "each_of", "filtered", "is_among", "listed", "mapped"]


#: Its functions are recorded as those of users are.
IN_PYTHON_FILE = __file__


def sum_of(items: Iterable[Any], start: Any = 0) -> Any:
    for item in items:
        start = start + item
    return start


def any_of(items: Iterable[Any]) -> bool:
    found = False
    for item in items:
        if item:
            found = True
    return found


def all_of(items: Iterable[Any]) -> bool:
    found = True
    for item in items:
        if not item:
            found = False
    return found


def least_of(items: Sequence[Any], key: Callable[[Any], Any] | None = None) -> Any:
    best = items[0]
    if key is None:
        for item in items:
            if item < best:
                best = item
        return best
    best_key = key(best)
    for item in items[1:]:
        item_key = key(item)
        if item_key < best_key:
            best, best_key = item, item_key
    return best


def greatest_of(items: Sequence[Any], key: Callable[[Any], Any] | None = None) -> Any:
    best = items[0]
    if key is None:
        for item in items:
            if item > best:
                best = item
        return best
    best_key = key(best)
    for item in items[1:]:
        item_key = key(item)
        if item_key > best_key:
            best, best_key = item, item_key
    return best


def is_among(items: Iterable[Any], value: Any) -> bool:
    found = False
    for item in items:
        if item == value:
            found = True
    return found


def listed(items: Iterable[Any]) -> list[Any]:
    return [item for item in items]


def each(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    return [function(item) for item in items]


def each_of(items: Iterable[Any]) -> Any:
    return (item for item in items)


def mapped(function: Callable[..., Any], items: Iterable[Any]) -> Any:
    return (function(item) for item in items)


def filtered(function: Callable[[Any], Any] | None, items: Iterable[Any]) -> Any:
    return (item for item in items if item) if function is None else (item for item in items if function(item))


#: What stands for Python's functions that go through their argument, by identity.
IN_PYTHON: dict[int, Callable[..., Any]] = {
    id(sum): sum_of,
    id(any): any_of,
    id(all): all_of,
    id(min): least_of,
    id(max): greatest_of,
}
