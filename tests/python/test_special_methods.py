"""Operators, functions and statements of Python ask the special methods of all kinds of objects, at each call, as often as plain calls do."""

from __future__ import annotations

import collections
import enum
import functools
import linecache
import math
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf

LOG: list[str] = []


def noted(name: str, value: Any) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        LOG.append(name)
        return value(self, *args) if callable(value) else value

    return method


METHODS: dict[str, Any] = {
    f"__{name}__": noted(name, value)
    for name, value in dict(
        len=2, getitem=2.5, bool=lambda self: len(LOG) % 2 == 0, add=lambda self, other: other * 2, radd=lambda self, other: other * 3, iadd=lambda self, other: self,
        lt=True, eq=lambda self, other: len(LOG) % 2 == 0, contains=True, iter=lambda self: iter([1.0, 2.0]), index=1, float=1.5, int=4, neg=8.0, abs=2.0, round=2.0,
        enter=3.0, exit=None, next=4.0, reversed=lambda self: iter([3.0]), setitem=None, delitem=None, matmul=1.0, rmatmul=1.5, divmod=(1, 2), pow=2.0, mul=5.0, rmul=6.0,
        hash=5, call=7.0, length_hint=2,
    ).items()
}  # fmt: skip


class Named(collections.namedtuple("Named", "p q")):
    pass


class Number(enum.IntEnum):
    A = 1


class Mode(enum.Enum):
    A = 1
    B = 2


class Meta(type):
    pass


class Refused:
    __array_ufunc__ = None


def with_methods(*bases: type) -> Any:
    return type("Own", bases, dict(METHODS))


def given() -> dict[str, Any]:
    for kind, left_out in ((Mode, ()), (Number, ()), (Named, ()), (Meta, ("__eq__", "__hash__", "__call__"))):
        for name, method in METHODS.items():
            if name not in left_out:
                setattr(kind, name, method)
    return {
        "an object": with_methods(object)(),
        "one that refuses arrays": with_methods(Refused)(),
        "a class": Meta("OwnClass", (), {}),
        "an error": with_methods(ValueError)("text"),
        "a member": Mode.A,
        "a number's member": Number.A,
        "a float": with_methods(float)(2.0),
        "an int": with_methods(int)(2),
        "a str": with_methods(str)("k"),
        "a tuple": with_methods(tuple)((1, 2)),
        "a record": Named(1.0, 2.0),
        "a dict": with_methods(dict)(a=1, b=2),
        "a list": with_methods(list)([1, 2]),
        "a set": with_methods(set)([1, 2]),
        "a NumPy scalar": with_methods(np.float64)(2.0),
        "a module": with_methods(types.ModuleType)("own"),
    }


OBJECTS = given()
EXPRESSIONS = (
    "len(o)", "o[0]", "1 if o else 2", "o + 1", "o + x[0]", "x[0] + o", "x + o", "o < 1", "o == 1", "o != 3", "x[0] in o", "[*o]", "x[o]", "float(o)", "o(1)", "-o",
    "next(o)", "[*reversed(o)]", "round(o)", "abs(o)", "1 in [o]", "{o: 1}.get(o)", "max([o, o], key=lambda a: 0)", "o @ x", "x @ o", "divmod(o, 2)", "o**2", "np.full(2, o)",
    "[1, 2, 3][o]", "sorted([o, o]) and 1", "np.add(x, o)", "not o", "any([o])", "x * o", "[i for i in o]", "tuple(o)", "set(o)", "{*o}", "(lambda *a: len(a))(*o)", "dict(a=o) and 1",
    "(o,) == (o,)", "o is None", "math.sqrt(o)", "x.sum(axis=o)", "np.array([o, 1.0])", "x.reshape(o, -1)", "o > x", "list(map(lambda e: e, o))", "x[:o]", "operator.index(o)",
    "functools.reduce(lambda a, b: a + b, [o, 1, 2])", "np.where(o, x, 0)", "np.asarray(o)", "sum([o], 0)", "o and 1", "list(filter(None, o))", "list(enumerate(o))", "list(zip(o, x))", "int(o)",
)  # fmt: skip
STATEMENTS = (
    "with o as r:\n        pass", "o[0] = x[0]", "del o[0]", "o += 1", "a, r = o", "for r in o:\n        pass", "x[o] = 1", "x[0] = o", "while not o:\n        r = 1", "x += o", "assert o",
    "match o:\n        case 1:\n            r = 1",
)  # fmt: skip
# As one program, and in pieces.
PROGRAMS = (
    "def f(x, o):\n    r, y = None, x * 2\n    {}\n    return r, y",
    "def f(x, o):\n    r, y = None, x * 2\n    y = x if x.sum() > 1 else y\n    {}\n    return r, y",
)


def program(form: str, statement: str) -> Callable[..., Any]:
    text = form.format(statement)
    name = f"<{len(form)} {statement}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"np": np, "math": math, "operator": operator, "functools": functools}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def outcomes(function: Callable[..., Any], thing: Any) -> list[Any]:
    """What three calls give, which methods they call, and what they write."""
    LOG.clear()
    found = []
    for _ in range(3):
        x = np.array([1.0, 2.0, 3.0])
        try:
            value, _ = function(x, thing)
        except Exception as error:
            value = error
        text = repr(value) if type(value) in (int, float, bool, str, np.float64, np.ndarray) else ""
        count = len(LOG)
        found.append((type(value), text, LOG[:count], x.tolist()))
        del LOG[count:]
    return found


@pytest.mark.parametrize("form", PROGRAMS, ids=["one program", "pieces"])
@pytest.mark.parametrize("name", OBJECTS)
def test_methods_are_asked_as_plain_calls_ask_them(name: str, form: str) -> None:
    differences = []
    for statement in (*(f"r = {text}" for text in EXPRESSIONS), *STATEMENTS):
        function = program(form, statement)
        plain = outcomes(function, OBJECTS[name])
        jitted = outcomes(wf.jit(function, strict=False), OBJECTS[name])
        if plain != jitted:
            differences.append(f"{statement}: {jitted} for {plain}")
    assert not differences, "\n".join(differences)


class Level(enum.Enum):
    LOW = 1
    HIGH = 2

    def __lt__(self, other: Level) -> bool:
        return self.value < other.value

    def __add__(self, by: int) -> Level:
        return Level(min(self.value + by, 2))


class Registry(type):
    known: dict[str, type] = {}

    def __getitem__(cls, name: str) -> type:
        Registry.known.setdefault(name, cls)
        return cls

    @property
    def count(cls) -> int:
        return len(Registry.known)

    def __getattr__(cls, name: str) -> float:
        return float(len(name))


class Entry(metaclass=Registry):
    scale = 2.0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * max(Level.LOW, Level.HIGH).value,
        lambda x: x * {Level.LOW: 2.0, Level.HIGH: 3.0}[Level.LOW + 1],
        lambda x: (x * 2, Level.LOW in (Level.HIGH, Level.LOW), Level.LOW != Level.HIGH, Level.HIGH > Level.LOW),
        lambda x: (x * Entry.scale, Entry == Entry, {Entry: 1}[Entry], Entry.count, Entry.missing),
        lambda x: x * Entry["a"].scale,
    ],
)
def test_members_and_classes_with_methods_of_their_own_are_compiled(function: Callable[..., Any]) -> None:
    jitted = wf.jit(function)
    x = np.array([1.0, 2.0])
    for _ in range(3):
        assert str(jitted(x)) == str(function(x))
    assert jitted.ways["compiled"] == 3


def test_a_filter_asks_when_it_is_asked() -> None:
    def function(x: Any, log: list[Any]) -> Any:
        items = [1, 2, 3]
        found = filter(lambda item: log.append(item) or item > 1, items)
        items.append(7)
        log.append("made")
        return list(found), x * 2

    jitted = wf.jit(function, strict=False)
    for _ in range(2):
        plain, ours = [], []
        assert str(function(np.ones(2), plain)) == str(jitted(np.ones(2), ours))
        assert plain == ours == ["made", 1, 2, 3, 7]
