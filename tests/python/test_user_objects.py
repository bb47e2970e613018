"""Objects of classes of the user's, whose methods C code calls: each call asks them anew, and nothing else does."""

from __future__ import annotations

import collections
import enum
import functools
import types
import weakref
from collections.abc import Callable
from decimal import Decimal
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


class Unhashable:
    __hash__ = None  # type: ignore[assignment]


KEPT = Unhashable()


@pytest.mark.parametrize(
    "make",
    [
        lambda: memoryview(np.ones(3)),
        lambda: [memoryview(np.ones(3))],
        lambda: Decimal("sNaN"),
        lambda: weakref.ref(KEPT),
        lambda: np.zeros(2, [("a", float)])[0],
        lambda: slice(0, 3),
        lambda: bytearray(3),
        lambda: types.MappingProxyType({}),
    ],
)
@pytest.mark.parametrize("static", [(), ("argument",)])
def test_objects_whose_hash_raises_are_arguments(make: Callable[[], Any], static: tuple[str, ...]) -> None:
    """They have a hash function, which raises for these values."""

    def function(argument: Any, x: Any) -> Any:
        return type(argument), x * 2

    jitted = wf.jit(function, strict=False, static_argnames=static)
    for _ in range(3):
        kind, doubled = jitted(make(), np.ones(2))
        assert kind is type(make())
        np.testing.assert_array_equal(doubled, [2, 2])


def test_what_a_memory_view_shows_is_read_at_each_call() -> None:
    shown = np.arange(3.0)
    view = memoryview(shown)
    jitted = wf.jit(lambda view, x: (np.asarray(view) * x, view[1]), strict=False)
    for _ in range(3):
        shown += 1
        product, item = jitted(view, np.ones(3))
        np.testing.assert_array_equal(product, shown)
        assert item == shown[1]


class Shape:
    """Makes objects of another class, as factories do."""

    def __new__(cls, *_: Any, **__: Any) -> Any:
        return super().__new__(Circle if cls is Shape else cls)

    def __init__(self, size: Any) -> None:
        self.size = size


class Circle(Shape):
    def __init__(self, size: Any, times: float = 3.0) -> None:
        super().__init__(size * times)


class Bare:
    pass


def test_what_new_makes_is_made_ready_by_its_own_class() -> None:
    def area(x: Any) -> Any:
        return Shape(x).size, Shape(x, times=2.0).size

    given = np.arange(3.0)
    for _ in range(2):
        for value, wanted in zip(wf.jit(area, strict=True)(given), area(given), strict=True):
            np.testing.assert_array_equal(value, wanted)


@pytest.mark.parametrize("make", [Bare, lambda x: object.__new__(Bare, x), lambda x: object.__new__(Bare, size=x)])
def test_arguments_that_no_method_takes_are_an_error(make: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="takes no arguments"):
        wf.jit(lambda x: make(x), strict=False)(np.ones(2))


class Settings:
    def __init__(self) -> None:
        self.scale, self.shift, self.weights = 1.5, 2, np.ones(3)


def sum_of_variables(settings: Any, x: Any) -> Any:
    return x * sum(np.sum(value) for value in vars(settings).values())


def variables_by_name(settings: Any, x: Any) -> Any:
    named = settings.__dict__.copy()
    named["scale"] = 5
    return x * named["scale"] * settings.__dict__["scale"] + vars(settings).get("missing", 1), sorted(vars(settings))


def variable_written_by_name(settings: Any, x: Any) -> Any:
    settings.__dict__["scale"] = 3.0
    return x * settings.scale


def variables_doubled(settings: Any, x: Any) -> Any:
    for name, value in settings.__dict__.items():
        if isinstance(value, float):
            setattr(settings, name, value * 2)
    return x * settings.scale


@pytest.mark.parametrize(
    ("function", "is_compiled"),
    [
        (sum_of_variables, True),
        (variables_by_name, True),
        (variable_written_by_name, False),
        (variables_doubled, False),
    ],
)
def test_variables_as_dictionaries(function: Any, is_compiled: bool) -> None:
    fast = wf.jit(function, strict=False)
    plain, jitted = Settings(), Settings()
    for turn in range(4):
        x = np.full(3, turn + 1.0)
        wanted, got = function(plain, x), fast(jitted, x)
        assert str(got) == str(wanted) and str(vars(jitted)) == str(vars(plain))
        for settings in (plain, jitted):
            settings.scale *= 1.5
            settings.weights = settings.weights * 2
            if turn == 2:
                settings.added = 0.25
    assert (fast.ways["plain"] == 0) == is_compiled


def test_whether_objects_are_equal_is_asked_of_each_call() -> None:
    class Point:
        def __init__(self, at: float) -> None:
            self.at = at

    def moved(first: Any, second: Any, x: Any) -> Any:
        first.at += 1.0
        second.at += 1.0
        return x * first.at if first == second else x * 0

    fast = wf.jit(moved, strict=False)
    for shared in (True, False, True):
        mine, theirs = [Point(1.0), Point(2.0)], [Point(1.0), Point(2.0)]
        pair = (0, 0) if shared else (0, 1)
        got = fast(*(mine[i] for i in pair), np.ones(3))
        np.testing.assert_array_equal(got, moved(*(theirs[i] for i in pair), np.ones(3)))
        assert [p.at for p in mine] == [p.at for p in theirs]


def test_objects_that_know_one_that_is_gone() -> None:
    class Owner:
        pass

    class Part:
        def __init__(self) -> None:
            owner = Owner()
            self.owner, self.scale = weakref.proxy(owner), 2.0

    fast = wf.jit(lambda part, x: x * part.scale, strict=False)
    for _ in range(20):
        assert np.array_equal(fast(Part(), np.ones(3)), np.full(3, 2.0))
