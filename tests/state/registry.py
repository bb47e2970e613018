"""Fragments of programs by name: each adds statements to the body that a Builder draws."""

from __future__ import annotations

from collections.abc import Callable

from .builder import Builder

FRAGMENTS: dict[str, Callable[[Builder], None]] = {}


def fragment(function: Callable[[Builder], None]) -> Callable[[Builder], None]:
    FRAGMENTS[function.__name__] = function
    return function


def add_fragment(b: Builder, *names: str) -> None:
    """One of the named fragments, or any; deep inside blocks only those that open none."""
    options = [n for n in names or FRAGMENTS if b.depth < 4 or n not in NESTING]
    name = b.pick(*(options or ["count"]))
    b.tags.append(name)
    FRAGMENTS[name](b)


#: Fragments with blocks that further fragments go into.
NESTING: set[str] = set()


def nesting(function: Callable[[Builder], None]) -> Callable[[Builder], None]:
    NESTING.add(function.__name__)
    return fragment(function)


def fill(b: Builder, low: int = 1, high: int = 2) -> None:
    """The inside of a block."""
    for _ in range(b.random.randint(low, high)):
        add_fragment(b, *(SMALL if b.chance(0.75) else ()))


#: What is added inside of blocks most often.
SMALL = (
    "count", "add_float", "rebind_vec", "write_vec", "append", "write_item", "dict_count", "advance", "carry", "read",
    "local_array", "write_argument",
)  # fmt: skip
