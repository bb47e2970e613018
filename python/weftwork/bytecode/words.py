"""What a recorded program depends on, reads and stores, in words."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .kinds import ABSENT, has_own_text
from .outside import ARGUMENT, ATTRIBUTE, BASES, CALL, CELL, CLASS, ENTRY, ITEM, LEAF, VALUE, Steps

__all__ = ["Words"]

NUMBERS = (float, complex, int, bool, np.generic)
LONGEST = 60


class Words:
    """The steps of a recording, told with the names of the function: ``names`` are its positional parameters."""

    def __init__(self, steps: Steps, function: Any, names: list[str]) -> None:
        self.steps, self.names = steps, names
        cells: tuple[Any, ...] = getattr(function, "__closure__", None) or ()
        self.cells = {id(c): n for n, c in zip(function.__code__.co_freevars, cells, strict=False)} if cells else {}
        self.owners: dict[int, str] = {}

    # -- places ----------------------------------------------------------------------------------------------------

    def place(self, number: int) -> str:
        """Where a step's value is found."""
        kind, *parts = self.steps.steps[number]
        if kind == ENTRY:
            return self.entry(*parts)
        if kind in (ATTRIBUTE, CLASS):
            return f"the attribute '{parts[1]}' of {self.place(parts[0])}"
        if kind == ITEM:
            return f"item {short(parts[1])} of {self.place(parts[0])}"
        if kind == CELL:
            return self.cell(parts[0])
        if kind == CALL and not parts[1]:
            return f"what {parts[0].__name__}() gives"
        if kind == CALL:
            return f"what is computed of {self.sources(number)}"
        if kind == VALUE:
            return "a value that an earlier piece computes"
        if kind == ARGUMENT:
            return f"the argument '{self.argument(parts[0])}'"
        if kind == LEAF:
            return f"the argument '{self.steps.paths[parts[0]]}'"
        return named(parts[0])

    def argument(self, key: int | str) -> str:
        if isinstance(key, int):
            return self.names[key] if key < len(self.names) else f"*{key}"
        return key

    def entry(self, space: Any, key: Any) -> str:
        """An entry of a dictionary: a global, or an attribute of an object."""
        if "__builtins__" in space or "__spec__" in space:
            return f"the global '{key}'"
        return f"the attribute '{key}' of {self.owner(space)}"

    def owner(self, space: Any) -> str:
        known = self.owners.get(id(space))
        if known is None:
            holders = gc.get_referrers(space)
            known = self.owners[id(space)] = next((named(h) for h in holders if has_space(h, space)), "an object")
        return known

    def cell(self, cell: Any) -> str:
        name = self.cells.get(id(cell))
        return f"the outer variable '{name}'" if name else "a variable of an outer function"

    def sources(self, number: int) -> str:
        """The places that a computed number comes from."""
        found: list[str] = []
        todo = [number]
        while todo:
            step = self.steps.steps[todo.pop()]
            for kind, value in step[2]:
                if kind == "step" and self.steps.steps[value][0] == CALL:
                    todo.append(value)
                elif kind == "step":
                    found.append(self.place(value))
        return " and ".join(dict.fromkeys(found)) or "constants"

    # -- what it depends on ----------------------------------------------------------------------------------------

    def guards(self) -> tuple[str, ...]:
        """What has to be as it was. Modules and their functions are left out: they hardly ever change."""
        found = [self.of_entry(*entry) for entry in self.steps.entries.values()]
        found += [self.of_check(kind, step, expected) for kind, step, expected, *_ in self.steps.checks]
        return tuple(dict.fromkeys(text for text in found if text))

    def of_entry(self, space: Any, key: Any, value: Any) -> str:
        if not isinstance(space, (dict, type)):
            return ""  # what a function is made of, the class of an object
        if isinstance(space, type):
            return "" if is_of_library(space) or key == BASES else f"{named(space)} has the '{key}' that it had"
        if value is ABSENT or is_of_library(value) or space is sys.modules:
            return ""
        return self.same(self.entry(space, key), value)

    @staticmethod
    def same(place: str, value: Any) -> str:
        if value is None or type(value) in (int, str, bytes, bool, float, complex):
            return f"{place} is {short(value)}"
        known = isinstance(value, (type, types.FunctionType, types.ModuleType))
        return f"{place} is {named(value)}" if known else f"{place} is the {type(value).__name__} that it was"

    def of_check(self, kind: str, step: int, expected: Any) -> str:
        form = CHECKS.get(kind)
        if form is None or (kind == "is" and is_of_library(expected)):
            return ""
        return form(self, self.place(step), expected)

    def reads(self) -> tuple[str, ...]:
        """Arrays and numbers that each call reads anew."""
        fixed = {step for kind, step, *_ in self.steps.checks if kind in ("equal", "bytes")}
        found = []
        for kind, step, expected, *_ in self.steps.checks:
            if kind == "array":
                dtype, shape, *_ = expected
                found.append(f"{self.place(step)}: an array of {dtype}, shape {shape}")
            elif kind == "type" and issubclass(expected, NUMBERS) and step not in fixed and not self.is_computed(step):
                found.append(f"{self.place(step)}: {with_article(expected.__name__)}")
        return tuple(dict.fromkeys(found))

    def is_computed(self, step: int) -> bool:
        kind, *parts = self.steps.steps[step]
        return kind == CALL and bool(parts[1])

    # -- what it stores --------------------------------------------------------------------------------------------

    def stores(self, traced: Any) -> tuple[str, ...]:
        """What is stored once the program has run, and the arrays of the surroundings that it writes."""
        found = []
        for kind, target, key, _ in traced.blueprint.stores:
            if kind == "entry":
                found.append(self.entry(target, key))
            elif kind == "attribute":
                found.append(f"the attribute '{key}' of {named(target)}")
            elif kind == "cell":
                found.append(self.cell(target))
            elif kind == "call":
                continue
            else:
                part = traced.blueprint.parts[target]
                place = self.place(traced.blueprint.steps[part[1]]) if part[0] == "step" else f"a {kind}"
                found.append(f"the items of {place}")
        found += [f"the elements of {self.place(traced.extra[i])}" for i in traced.outside_aliases.values()]
        return tuple(dict.fromkeys(found))


def has_space(holder: Any, space: Any) -> bool:
    """Whether the attributes of an object are this dictionary."""
    try:
        return object.__getattribute__(holder, "__dict__") is space
    except (AttributeError, TypeError):
        return False


def named(value: Any) -> str:
    """A person's word for an object."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        return f"the function {value.__name__}"
    if isinstance(value, types.ModuleType):
        return f"the module {value.__name__}"
    return with_article(type(value).__name__)


def with_article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiouAEIOU" else f"a {word}"


def short(value: Any) -> str:
    """A value in words; not with those of code of the user's, which no plain call would run."""
    try:
        text = repr(value) if has_own_text(value) else f"a {type(value).__name__}"
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def is_of_library(value: Any) -> bool:
    """Whether it is a module, or belongs to NumPy, to Python or to this package."""
    if isinstance(value, (types.ModuleType, types.BuiltinFunctionType, np.ufunc, np.dtype)):
        return True
    module = getattr(value, "__module__", None)
    first = module.partition(".")[0] if isinstance(module, str) else ""
    ours = first in ("numpy", "weftwork", "builtins") or first in sys.stdlib_module_names - {"__main__"}
    return ours and isinstance(value, (type, types.FunctionType))


CHECKS: dict[str, Callable[[Words, str, Any], str]] = {
    "is": lambda words, place, value: words.same(place, value),
    "equal": lambda words, place, value: f"{place} is {short(value)}",
    "length": lambda words, place, value: f"{place} has {value} items",
    "keys": lambda words, place, value: f"{place} has the keys {short(value)}",
    "truth": lambda words, place, value: f"{place} is {'true' if value else 'false'}",
    "alias": lambda words, place, value: f"{place} is {words.place(value)}",
    "apart": lambda words, place, value: f"{place} is not {words.place(value)}",
    "bytes": lambda words, place, value: f"{place} has the elements that it had",
}
