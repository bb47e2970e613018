"""What is changed beside arrays and variables while a call is recorded: in turns of loops and ways of conditions as a place that has a value, if it can be."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable
from typing import Any

from ..numpy.places import Attribute, Cell, Entry, Place, Stored
from ..numpy.tracer import Storage
from .kinds import ABSENT, instance_space, lookup
from .outside import ATTRIBUTE, CELL, ENTRY
from .reads import is_key

__all__ = ["Changes"]


class Changes:
    """The part of a recorder that notes what is changed."""

    trace: Any
    frame: Any
    overlay: dict[Any, Any]
    fresh: dict[int, Any]
    own_functions: dict[int, Any]
    errors: dict[int, Any]
    fresh_cells: dict[int, Any]
    opaque: dict[int, Any]

    outside: Any
    own_attribute: Any
    class_attribute: Any
    note_in_way: Any
    require_of_way: Any
    refuse: Any

    def __init__(self) -> None:
        super().__init__()
        self.births: dict[int, tuple[int, Any]] = {}
        self.places: dict[tuple[Any, ...], Place] = {}
        self.spaces: dict[int, Any] = {}  # objects of whose own dictionaries the function knows

    def born(self, value: Any) -> Any:
        """Notes that a container or iterator was made; only in loops and ways that are recorded does it matter."""
        if self.trace.is_repeated:
            self.births[id(value)] = (next(Storage.births), value)
        return value

    def is_older(self, value: Any, born: int) -> bool:
        """Whether a container or the like was there before a loop or way."""
        known = self.births.get(id(value))
        return known is None or known[0] < born

    def is_in_way(self) -> bool:
        return self.trace.predicate is not None

    def changes(self, value: Any, what: str = "", place: Place | None = None) -> None:
        """Called before anything is changed: in the body of a loop what is older must not be, but for a place.

        ``what``: what that is, if it is no container that the program itself changes. ``place``: what of it is changed, where it has a
        value before and afterwards.
        """
        if place is not None:
            self.note_change(place, what)
            return
        self.require_of_way(value, is_container=not what and id(value) not in self.spaces)
        if self.trace.loops:
            self._require_young(value, what or self.name_of(value))

    def note_change(self, place: Place, what: str = "") -> None:
        """Tells the loops and ways that go on of a change of what is older than they are, before it is made."""
        predicate = self.trace.predicate
        while predicate is not None and not predicate.has_whole(place.owner):
            if self.is_older(place.owner, predicate.born):
                self.note_in_way(predicate, place)
            predicate = predicate.outer
        for loop in reversed(self.trace.loops):
            if not self.is_older(place.owner, loop.born):
                break
            if not hasattr(loop, "turns"):
                self._require_young(place.owner, what or self.name_of(place.owner))
            is_variable = type(place) is Cell and any(
                cell is place.owner for cell in getattr(loop.frame, "cells", {}).values()
            )
            if not is_variable:  # of the frame whose loop it is
                loop.note_place(place)

    def name_of(self, value: Any) -> str:
        """What the program calls a container, where one of its variables has it."""
        frame = self.frame
        while frame is not None:
            for name, held in frame.f_locals.items():
                if held is value:
                    return f"'{name}'"
            frame = frame.caller
        return "a container"

    def _require_young(self, value: Any, what: str) -> None:
        for loop in reversed(self.trace.loops):
            if not hasattr(loop, "turns"):
                self.refuse(f"{what} is changed in a function given to wf.{loop.what}")
            if self.is_older(value, loop.born):
                loop.fail(f"{what} is changed in each turn")
            return

    # -- places ----------------------------------------------------------------------------------------------------

    def known_place(self, kind: Callable[..., Place], owner: Any, label: Any, *parts: Any) -> Place:
        key = (kind, id(owner), label)
        if key not in self.places:
            name = f"{label!r} of {type(owner).__name__} {len(self.places)}".replace("[", "(")
            self.places[key] = kind(name, owner, *parts)
        return self.places[key]

    def entry_place(self, owner: Any, key: Any) -> Place | None:
        """An entry of a list or dictionary that has it."""
        if not self.trace.is_repeated or id(owner) in self.opaque:
            return None
        if id(owner) in self.spaces:
            return self.attribute_place(self.spaces[id(owner)], key) if type(key) is str else None
        if type(owner) is list and type(key) is int and -len(owner) <= key < len(owner):
            return self.known_place(Entry, owner, key % len(owner), key % len(owner))
        if type(owner) in (dict, collections.OrderedDict) and is_key(key) and key in owner:
            return self.known_place(Entry, owner, (type(key), key), key)
        return None

    def attribute_place(self, owner: Any, name: str) -> Place | None:
        """An attribute that an object, and not its class alone, has."""
        if not self.trace.is_repeated:
            return None
        stored, is_class = (ATTRIBUTE, id(owner), name), isinstance(owner, type)
        slot = None if is_class else lookup(type(owner), name)[0]
        space = vars(owner) if is_class else instance_space(owner)
        has_slot = isinstance(slot, types.MemberDescriptorType) and hasattr(owner, name)
        if stored not in self.overlay and not has_slot and (space is None or name not in space):
            return None
        if any(id(owner) in made for made in (self.fresh, self.own_functions, self.errors)):
            return self.known_place(Attribute, owner, name, name)
        read = (
            (lambda: self.class_attribute(owner, owner, name))
            if is_class
            else (lambda: self.own_attribute(owner, name))
        )
        return self.stored_place(ATTRIBUTE, owner, owner, name, read)

    def entry_of_space(self, space: dict[str, Any], name: str) -> Place | None:
        """A global variable, or another attribute of a module or function."""
        if not self.trace.is_repeated or ((ENTRY, id(space), name) not in self.overlay and name not in space):
            return None
        return self.stored_place(ENTRY, space, space, name, lambda: self.outside(space[name], ENTRY, space, name))

    def cell_place(self, cell: Any) -> Place | None:
        """A variable of an outer function that is bound."""
        if not self.trace.is_repeated:
            return None
        try:
            _ = cell.cell_contents
        except ValueError:
            return None
        if id(cell) in self.fresh_cells:
            return self.known_place(Cell, cell, "")
        return self.stored_place(CELL, cell, cell, "", lambda: self.outside(cell.cell_contents, CELL, cell))

    def stored_place(self, kind: str, owner: Any, container: Any, name: str, read: Callable[[], Any]) -> Place:
        key = (kind, id(owner), name)
        outside = ABSENT if key in self.overlay else read()
        return self.known_place(Stored, container, name, self.overlay, key, name, outside)
