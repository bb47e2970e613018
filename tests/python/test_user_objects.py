"""Objects of classes of the user's, whose methods C code calls: each call asks them anew, and nothing else does."""

from __future__ import annotations

import collections
import enum
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf


class Number:
    """An integer, a float, a sequence and a mapping, of the elements of a list."""

    def __init__(self, values: list[float]) -> None:
        self.values = values

    def __index__(self) -> int:
        return int(self.values[0])

    def __float__(self) -> float:
        return self.values[0]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, key: Any) -> float:
        return self.values[0 if isinstance(key, str) else key]

    def __reversed__(self) -> Any:
        return iter(self.values[::-1])

    def keys(self) -> list[str]:
        return ["a"]

    def __repr__(self) -> str:
        return "a Number"


class Answering:
    """Of an array, by name: of its type it has nothing."""

    def __init__(self, values: list[float]) -> None:
        self.array = np.asarray(values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["array"], name)


STATEMENTS = """
r = x[n:]
r = x[:, n]
r = [1, 2, 3, 4][n], (1, 2, 3)[n], "abc"[n], range(9)[n]
r = [1, 2, 3, 4][n:], (1, 2, 3)[:n], "abc"[n:]
r = [1, 2, 3]; r[n] = 0
r = [1, 2, 3]; r[n:] = [0]
r = [1, 2, 3]; r[0:1] = n
r = [1, 2, 3]; del r[n]
r = [1, 2, 3]; del r[n:]
r = [1, 2, 3]; r.extend(n)
r = [1, 2, 3]; r.insert(n, 9)
r = [1, 2, 3]; r = r.pop(n), r
r = [1, 2, 3]; r.__setitem__(n, 7); r = r.__getitem__(n), list.__getitem__(r, n)
r = {}; r.update(n)
r = list(range(n)), list(reversed(n)), list(itertools.islice([1, 2, 3], n))
x[0] = n; r = x
x[:] = [n, n, n]; r = x
x.__setitem__(slice(None), n); r = x
x.flat = n; r = x
x.real = n; r = x
x.T[...] = n; r = x
x.fill(n); r = x
r = np.r_[n, x[0]]
r = np.zeros(3); r[:] = n
""".strip().splitlines()


def outcome(function: Callable[..., Any], *args: Any) -> str:
    try:
        return repr(function(*args))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("where", ["argument", "item", "outside"])
@pytest.mark.parametrize("kind", [Number, Answering])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_c_code_asks_at_each_call(statement: str, kind: type, where: str) -> None:
    import itertools

    space: dict[str, Any] = {"np": np, "itertools": itertools}
    body = "\n    ".join(part.strip() for part in statement.split(";"))
    exec(f"def use(x, n):\n    {body}\n    return r, x * 2", space)
    use = space["use"]
    thing = kind([0.0, 1.0, 2.0])
    if where == "argument":
        function, args = use, (thing,)
    elif where == "item":
        function, args = (lambda x, pair: use(x, pair[1])), ([1.0, thing],)
    else:
        function, args = (lambda x: use(x, thing)), ()
    jitted = wf.jit(function, strict=False)
    for value in (0.0, 1.0, 1.0, 2.0):
        thing.values = [value, 1.0, 2.0]
        if kind is Answering:
            thing.array = np.array(thing.values)
        got, wanted = (outcome(f, np.arange(9.0).reshape(3, 3), *args) for f in (jitted, function))
        assert got == wanted


def test_nothing_is_asked_that_a_plain_call_does_not_ask() -> None:
    asked: list[str] = []

    class Shy:
        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            raise AttributeError(name)

        def __repr__(self) -> str:
            asked.append("repr")
            return "Shy"

        def __hash__(self) -> int:
            asked.append("hash")
            return 1

    shy = Shy()
    for args in ((shy,), ([shy],), ((shy, 1),), ([[shy], {"a": shy}],)):
        jitted = wf.jit(lambda x, held: x * 2, strict=False)
        for n in range(20):
            jitted(np.ones(n), *args)
        assert jitted.ways["compiled"] and not asked


class Loud(type):
    asked: list[str] = []

    def __repr__(cls) -> str:
        Loud.asked.append(cls.__name__)
        return cls.__name__


class Held(metaclass=Loud):
    def __repr__(self) -> str:
        Loud.asked.append("held")
        return "Held()"

    def method(self) -> int:
        return 1


class Told(enum.Enum):
    one = 1

    def __repr__(self) -> str:
        Loud.asked.append("told")
        return "one"


HOLDERS: dict[str, Any] = {
    "a method": Held().method,
    "a partial call": functools.partial(len, Held()),
    "a class": Held,
    "an error": ValueError(Held()),
    "a member": Told.one,
    "a deque": collections.deque([Held()]),
    "keys": {Held(): 1}.keys(),
    "a proxy": types.MappingProxyType({1: Held()}),
    "methods": [Held().method, {"a": Held().method}],
    "objects": np.array([Held()], object),
}


@pytest.mark.parametrize("name", HOLDERS)
@pytest.mark.parametrize("static", [(), ("held",)])
def test_what_holds_objects_is_not_asked_for_its_text(name: str, static: Any) -> None:
    Loud.asked.clear()
    jitted = wf.jit(lambda x, held: x * 2, static_argnames=static, strict=False)
    for n in range(20):
        jitted(np.ones(n), HOLDERS[name])
    assert not Loud.asked
