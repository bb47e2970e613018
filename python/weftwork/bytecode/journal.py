"""Lists, dictionaries and sets that a way of a condition changes: as they were before it, for the other way, and as it leaves them."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from .. import _core
from ..numpy.maybe import Either, Maybe
from ..numpy.mixed import PLAIN
from ..numpy.tracer import TracedArray
from ..pytree import each_of
from .kinds import held_by
from .outside import HostValue

__all__ = ["WITHOUT", "Journal"]

#: What holds no container.
WITHOUT = (*PLAIN, str, bytes, type(None), type, range, type(Ellipsis), np.generic, np.ndarray, np.dtype, enum.Enum)
TRACED = (TracedArray, HostValue, Maybe, _core.Dim)


class Journal:
    """The containers that a way has changed, each with what it held before."""

    def __init__(self) -> None:
        self.entries: dict[int, tuple[Any, Any]] = {}

    def can_note(self, container: Any) -> bool:
        """Whether a container can be what it was again: a set has its elements in the same order then."""
        return type(container) in (list, dict) or (type(container) is set and list(set(container)) == list(container))

    def note(self, container: Any) -> None:
        """Called before a container is changed."""
        self.entries.setdefault(id(container), (container, container.copy()))

    def undo(self) -> None:
        for container, before in self.entries.values():
            if type(container) is list:
                container[:] = before
            else:
                container.clear()
                container.update(before)

    def is_in(self, values: list[Any]) -> bool:
        """Whether any of the containers is one of these values, or held by one."""
        return any(id(value) in self.entries for value in each_of(values, lambda value: held_by(value, {})))

    def copied(self, value: Any, known: dict[int, Any]) -> Any:
        """A result with copies of the containers that it holds; LookupError where it holds what may hold others."""
        if id(value) in known:
            return known[id(value)]
        kind = type(value)
        if kind in (tuple, Either):
            items = [self.copied(item, known) for item in value]
            return tuple(items) if kind is tuple else Either(*items)
        if kind is list:
            made: Any = known.setdefault(id(value), [])
            made += [self.copied(item, known) for item in value]
            return made
        if kind is dict:
            made = known.setdefault(id(value), {})
            made |= {key: self.copied(item, known) for key, item in value.items()}
            return made
        if kind is set:
            return known.setdefault(id(value), set(value))
        if not isinstance(value, (*WITHOUT, *TRACED)):
            raise LookupError
        return value
