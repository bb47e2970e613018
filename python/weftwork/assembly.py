"""How each call of a program makes its result: the plan of a result as a Python function, which is compiled once.

What the function makes only one way of a condition needs is made only where that way is taken.
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Assembly", "PartAt", "PartOf", "with_objects"]

#: Parts in parts of one expression: Python's parser ends at a hundred.
DEEPEST = 20
#: Where the numbers of the parts are that a part is made of, by its kind.
SINGLE = {"maybe": (0, 1), "either": (0, 1, 2), "mixed": (0, 1), "view": (0,)}
#: Parts that are no work.
AT_HAND = ("slot", "step", "constant")


class Assembly:
    """The source of such a function, and the objects that it names."""

    def __init__(self, blueprint: Any) -> None:
        self.first_step = blueprint.first_step
        self.is_bound = any(store[0] == "call" for store in blueprint.stores)
        self.objects: list[Any] = []
        self.texts: list[str] = []
        self.lines: list[str] = []
        if blueprint.validity is not None:
            self.lines.append(f"if not v[{blueprint.validity}]: return NotImplemented")
        uses = Counter(number for part in blueprint.parts for number in parts_of(part))
        uses.update(number for store in blueprint.stores for number in parts_of_store(store))
        uses[blueprint.result] += 1
        depths: list[int] = []
        for number, part in enumerate(blueprint.parts):
            text, depth = self.expression(part), 1 + max((depths[i] for i in parts_of(part)), default=0)
            if part[0] not in AT_HAND and (uses[number] > 1 or depth > DEEPEST):
                self.lines.append(f"p{number} = {text}")
                text, depth = f"p{number}", 0
            self.texts.append(text)
            depths.append(depth)
        for store in blueprint.stores:
            self.store(*store)
        self.lines.append(f"return {self.texts[blueprint.result]}")
        source = "def build(v, e):\n" + "".join(f"    {line}\n" for line in self.lines)
        made: dict[str, Any] = {}
        exec(compile(source, "<result>", "exec"), made)
        self.code = made["build"].__code__

    def function(self) -> Callable[[list[Any], tuple], Any]:
        names = {f"k{i}": value for i, value in enumerate(self.objects)}
        return types.FunctionType(self.code, {**names, "is_bound": self.is_bound, "made": made})

    def object(self, value: Any) -> str:
        self.is_bound |= type(value).__module__ == "weftwork.joined"
        self.objects.append(value)
        return f"k{len(self.objects) - 1}"

    def listed(self, numbers: Any) -> str:
        return "".join(f"{self.texts[i]}, " for i in numbers)

    def expression(self, part: tuple[Any, ...]) -> str:
        kind, *rest = part
        texts = [self.texts[i] for i in parts_of(part)]
        if kind == "slot":
            return f"v[{rest[0]}]"
        if kind == "step":
            return f"e[{self.first_step + rest[0]}]"
        if kind == "sequence":
            items = self.listed(rest[1])
            if rest[0] is tuple:
                return f"({items})"
            return f"[{items}]" if rest[0] is list else f"{self.object(rest[0])}._make([{items}])"
        if kind == "dict":
            return "{" + "".join(f"{self.object(key)}: {self.texts[i]}, " for key, i in rest[0]) + "}"
        if kind == "grown":
            return f"{self.object(rest[0])}({self.listed(rest[1])})"
        if kind == "slice":
            return f"slice({self.listed(rest[1])})"
        if kind == "either":
            return f"({texts[1]} if {texts[0]} else {texts[2]})"
        if kind == "maybe":
            return f"(None if {texts[0]} else {texts[1]})"
        if kind == "mixed":
            return f"{self.object(rest[2])}({texts[1]}) if {texts[0]} else {texts[1]}".join("()")
        if kind == "view":
            return self.view(texts[0], rest[1])
        if kind == "object":
            names = self.object(tuple(name for name, _ in rest[1]))
            return f"made({self.object(rest[0])}, {names}, ({self.listed(i for _, i in rest[1])}))"
        return f"{self.object(rest[0])}({self.object(rest[1])})" if kind == "copy" else self.object(rest[0])

    def view(self, text: str, forms: list[Any]) -> str:
        for i, form in enumerate(forms):
            name = self.object(form)
            if i % DEEPEST == DEEPEST - 1:
                self.lines.append(f"{name}_of = {text}")
                text = f"{name}_of"
            text = f"{name}.of({text}, v, e[{self.first_step}:])" if type(form) is PartAt else f"{name}({text})"
        return text

    def store(self, kind: str, target: Any, key: Any, number: Any) -> None:
        """Does what the function did to its surroundings."""
        if kind == "call":
            call = ", ".join(f"{mark}{self.object(given)}" for mark, given in zip(("*", "**"), key, strict=True))
            self.lines.append(f"{self.object(target)}({call})")
        elif kind == "attribute":
            kept = self.object(type.__setattr__ if isinstance(target, type) else object.__setattr__)
            self.lines.append(f"{kept}({self.object(target)}, {self.object(key)}, {self.texts[number]})")
        elif kind == "entry":
            self.lines.append(f"{self.object(target)}[{self.object(key)}] = {self.texts[number]}")
        elif kind == "cell":
            self.lines.append(f"{self.object(target)}.cell_contents = {self.texts[number]}")
        elif kind == "list":
            self.lines.append(f"{self.texts[target]}[:] = [{self.listed(number)}]")
        else:
            pairs = "".join(f"{self.object(k)}: {self.texts[i]}, " for k, i in number) if kind == "dict" else ""
            update = "{" + pairs + "}" if kind == "dict" else self.object(number)
            self.lines += [f"{self.texts[target]}.clear()", f"{self.texts[target]}.update({update})"]


def with_objects(function: Any, images: Any) -> Any:
    """The function with other objects in the place of some; NotImplemented where that cannot be told."""
    space = function.__globals__
    if space["is_bound"]:
        return NotImplemented
    return types.FunctionType(function.__code__, {name: images.of(value) for name, value in space.items()})


def parts_of(part: tuple[Any, ...]) -> list[int]:
    """The numbers of the parts that a part is made of; what it reads twice is there twice."""
    kind, *rest = part
    if kind in SINGLE:
        return [rest[i] for i in SINGLE[kind]] + ([rest[1]] if kind == "mixed" else [])
    if kind in ("sequence", "slice", "grown"):
        return list(rest[1])
    return [i for _, i in (rest[0] if kind == "dict" else rest[1] if kind == "object" else ())]


def parts_of_store(store: tuple[Any, ...]) -> list[int]:
    kind, target, _, number = store
    if kind in ("list", "dict", "set"):
        numbers = number if kind == "list" else [i for _, i in number] if kind == "dict" else []
        return [target, target, *numbers]
    return [] if kind == "call" else [number]


def made(kind: type, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """An object with these attributes."""
    result = types.SimpleNamespace() if kind is types.SimpleNamespace else object.__new__(kind)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(result, name, value)
    return result


class PartOf:
    """The part of an array that a view is of another one like it."""

    def __init__(self, root: np.ndarray, view: np.ndarray) -> None:
        self.offset = view.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        self.shape, self.strides, self.dtype = view.shape, view.strides, view.dtype

    def __call__(self, root: np.ndarray) -> np.ndarray:
        return np.ndarray(self.shape, self.dtype, root.reshape(-1).view(np.uint8), self.offset, self.strides)


class PartAt:
    """A part of fixed extents, which begins where slots and steps say."""

    def __init__(self, sizes: list[int], places: list[tuple[bool, int] | None]) -> None:
        self.sizes, self.places = sizes, places

    def of(self, array: np.ndarray, values: list[Any], steps: tuple) -> np.ndarray:
        parts = []
        for place, size in zip(self.places, self.sizes, strict=True):
            start = 0 if place is None else (values if place[0] else steps)[place[1]]
            parts.append(slice(start, start + size))
        return array[tuple(parts)]
