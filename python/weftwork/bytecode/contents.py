"""Objects of classes that derive from list, tuple or dict: what they hold is read as what a plain one holds."""

from __future__ import annotations

import collections
import types
from typing import Any

from .kinds import LARGEST, is_record, is_user_object
from .machine import Machine
from .outside import HostValue

__all__ = ["Contents"]

KINDS = (list, tuple, dict)
#: Methods that show nothing of the object but what it holds.
READING = frozenset(
    [
        "__getitem__",
        "__iter__",
        "__len__",
        "__contains__",
        "__reversed__",
        "__add__",
        "__mul__",
        "__rmul__",
        "__or__",
        "get",
        "keys",
        "values",
        "items",
        "copy",
    ]
)


def as_plain(kind: Any, value: Any) -> Any:
    """A list, tuple or dict of what it holds, whatever its class says of that."""
    return dict.copy(value) if kind is dict else kind.__getitem__(value, slice(None))


class Contents(Machine):
    """The part of a recorder that reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.contents: dict[int, tuple[Any, Any]] = {}

    def method_of_contents(self, owner: Any, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A method of list, tuple or dict, of an object whose class derives from it; NotImplemented for others."""
        name = getattr(function, "__name__", "")
        if name not in READING:
            return NotImplemented
        is_bound = not isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType))
        if not is_bound and args:
            owner, args = args[0], args[1:]
        kind: Any = next((kind for kind in KINDS if isinstance(owner, kind)), None)
        if kind is None or not is_user_object(owner) or is_record(type(owner)) or not hasattr(kind, name):
            return NotImplemented
        its_own = getattr(kind, name)
        if function != (its_own.__get__(owner) if is_bound else its_own):
            return NotImplemented
        plain = self.contents_of(owner, kind)
        if name == "__contains__":
            return self.contains(plain, *args)
        if name != "__getitem__":
            return self.call(getattr(plain, name), args, kwargs)
        has_missing = kind is dict and self.found_in_class(type(owner), "__missing__")[1] is not None
        if has_missing and self.hashed(args[0]) not in plain:
            return self.call_special(owner, "__missing__", *args)
        return self.item(plain, *args)

    def contents_of(self, owner: Any, kind: Any) -> Any:
        """A list, tuple or dict of what an object holds, as the recorded program sees it."""
        known = self.contents.get(id(owner))
        if known is not None:
            return known[1]
        is_ordered = isinstance(owner, collections.OrderedDict)  # in an order of its own
        if is_ordered or id(owner) in self.fresh or kind.__len__(owner) > LARGEST:
            self.refuse(f"what an object of type {type(owner).__name__} holds")
        step = self.steps.call(as_plain, [kind, HostValue(owner, self.steps.object(owner))])
        elements = self.elements(as_plain(kind, owner), step)
        plain = tuple(elements) if kind is tuple else elements
        self.contents[id(owner)] = owner, plain
        return plain
