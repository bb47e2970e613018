"""Nested tuples, lists and dicts of arrays: taken apart and put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["each_of", "flatten", "is_record", "items_of", "unflatten_with"]


def flatten(
    value: Any, is_leaf: Callable[[Any], bool], path: str = "", integers: frozenset[str] = frozenset()
) -> tuple[list[tuple[str, Any]], Any]:
    """Leaves with their paths ("x", "x.0", "x.weights"), in order, and the structure that unflatten_with takes.

    ``integers``: paths where Python integers of 64 bits are leaves, too.
    """
    if is_leaf(value) or (path in integers and type(value) is int and -(1 << 63) <= value < 1 << 63):
        return [(path, value)], None
    if type(value) in (tuple, list) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        parts = [flatten(item, is_leaf, _join(path, i), integers) for i, item in enumerate(items_of(value))]
        return [leaf for leaves, _ in parts for leaf in leaves], (type(value), None, [s for _, s in parts])
    if type(value) is dict:
        parts = [flatten(item, is_leaf, _join(path, key), integers) for key, item in value.items()]
        return [leaf for leaves, _ in parts for leaf in leaves], (dict, list(value), [s for _, s in parts])
    return [], ("static", value, [])


def items_of(container: Any) -> Any:
    """The items of a tuple, list or set, the values of a dict; what a class of the user's says they are is not asked."""
    for kind in (tuple, list, set, frozenset):
        if isinstance(container, kind):
            return kind.__iter__(container)
    return dict.values(container)


def each_of(values: Iterable[Any], parts: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """Each value once, with what it is made of, and that is made of."""
    pending, seen = list(values), set()
    while pending:
        value = pending.pop()
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            pending += parts(value)


def is_record(kind: type) -> bool:
    """Whether the instances of a class of named tuples are their items and no more."""
    if not issubclass(kind, tuple) or not hasattr(kind, "_fields") or kind.__dictoffset__:
        return False
    makers = [base for base in kind.__mro__ if "__new__" in vars(base)]
    return makers[0].__bases__ == (tuple,) and all("__init__" not in vars(b) for b in kind.__mro__[:-1])


def _join(path: str, key: Any) -> str:
    joined = f"{path}.{key}" if path else str(key)
    # A key need not be text that can be encoded.
    return joined if joined.isascii() else joined.encode(errors="backslashreplace").decode()


def unflatten_with(structure: Any, leaves: list[Any]) -> Any:
    """The value of this structure with other leaves."""
    return _built(structure, iter(leaves))


def _built(part: Any, remaining: Iterator[Any]) -> Any:
    # No function inside of another: one that calls itself is a cycle, and would keep the leaves until one is looked for.
    if part is None:
        return next(remaining)
    kind, keys, parts = part
    if kind == "static":
        return keys
    if kind is dict:
        return {key: _built(item, remaining) for key, item in zip(keys, parts, strict=True)}
    items = [_built(item, remaining) for item in parts]
    return kind(items) if kind in (list, tuple) else tuple.__new__(kind, items)
