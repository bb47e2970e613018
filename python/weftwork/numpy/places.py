"""Places that are no variables: entries of lists and dictionaries, attributes of objects, globals, variables of outer functions.

In the turns of a loop that is recorded once they are carried as variables are (``state["n"] += 1``, ``self.mean += d``); where
the ways of a condition meet each holds what the way taken has left.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Attribute", "Cell", "Entry", "Place", "Stored"]


class Place:
    """Where a value is kept; ``name`` stands for it beside the names of variables, ``owner`` is what holds it."""

    def __init__(self, name: str, owner: Any) -> None:
        self.name, self.owner = name, owner

    def read(self) -> Any:
        raise NotImplementedError

    def put(self, value: Any) -> None:
        raise NotImplementedError

    def state(self) -> Any:
        """What :meth:`bring_back` needs to make it what it is now."""
        return self.read()

    def bring_back(self, state: Any) -> None:
        self.put(state)


class Entry(Place):
    """An entry of a list or dictionary, which has it already."""

    def __init__(self, name: str, owner: Any, key: Any) -> None:
        super().__init__(name, owner)
        self.key = key

    def read(self) -> Any:
        return self.owner[self.key]

    def put(self, value: Any) -> None:
        self.owner[self.key] = value


class Attribute(Place):
    """An attribute of an object that the function has made."""

    def __init__(self, name: str, owner: Any, attribute: str) -> None:
        super().__init__(name, owner)
        self.attribute = attribute

    def read(self) -> Any:
        return object.__getattribute__(self.owner, self.attribute)

    def put(self, value: Any) -> None:
        object.__setattr__(self.owner, self.attribute, value)


class Cell(Place):
    """A variable of a function that others see."""

    def read(self) -> Any:
        return self.owner.cell_contents

    def put(self, value: Any) -> None:
        self.owner.cell_contents = value


class Stored(Place):
    """What is outside of the call, and is stored there once the program has run: in ``overlay`` until then.

    ``outside``: what is there before the call, as the program has it.
    """

    def __init__(self, name: str, owner: Any, overlay: dict[Any, Any], key: Any, entry: Any, outside: Any) -> None:
        super().__init__(name, owner)
        self.overlay, self.key, self.entry, self.outside = overlay, key, entry, outside

    def read(self) -> Any:
        stored = self.overlay.get(self.key)
        return self.outside if stored is None else stored[2]

    def put(self, value: Any) -> None:
        self.overlay[self.key] = (self.owner, self.entry, value)

    def state(self) -> Any:
        return self.overlay.get(self.key)

    def bring_back(self, state: Any) -> None:
        if state is None:
            self.overlay.pop(self.key, None)
        else:
            self.overlay[self.key] = state
