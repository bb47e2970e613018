"""What Python programs do every day runs compiled, as one program or in pieces, and gives what NumPy gives."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import itertools
import math
import operator
import random
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weftwork as wf

X = np.array([1.0, 2.0, 3.0, 0.5, 4.0, -1.0])


class Counted:
    def __init__(self) -> None:
        super().__init__()
        self.rate = 2.0


class Doubling(Counted):
    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value * 2)


class Single(Mapping):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    def __getitem__(self, key: Any) -> Any:
        return self.value

    def __iter__(self) -> Any:
        return iter(["value"])

    def __len__(self) -> int:
        return 1


class Strict:
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)


def cooperative(x: Any) -> Any:
    return Counted().rate * Single(x)["value"]


def stored_by_super(x: Any) -> Any:
    return Doubling().rate * x


def too_many_for_object(x: Any) -> Any:
    try:
        Strict(1)
    except TypeError as error:
        return x * len(error.args[0])
    return x


def sorted_in_place(x: Any) -> Any:
    items = list(x)
    items.sort(reverse=True)
    pairs = [(x[0], 1), (x[1], 0)]
    pairs.sort(key=lambda pair: pair[1])
    return np.array(items), pairs


def from_iterators(x: Any) -> Any:
    return np.fromiter((v * 2 for v in x), float), np.fromiter([1, 2], dtype=np.int32), np.fromiter([], float)


def chosen(x: Any) -> Any:
    return x * random.choice([1.0, 2.0, 3.0]), random.choice(["a", "b"]), random.choices([1, 2], k=2), random.choice(x)


def over_indices(x: Any) -> Any:
    table = np.outer(x, x)
    result, count, pairs = np.zeros_like(table), 0, {}
    for i, j in np.ndindex(table.shape):
        if j:
            result[i, j] = table[i, j] + result[i, j - 1]
        count += 1
    for i, j in itertools.product(range(6), range(5, -1, -1)):
        result[i, j] += i - 2 * j
    for k, (i, j) in enumerate(np.ndindex(3, 4)):
        pairs[i, j] = k * x[0]
    total = 0.0
    for a, b in itertools.product(x, x[:4]):
        total = total * 0.5 + a * b
    rest = [
        list(np.ndindex(0, 3)),
        list(np.ndindex()),
        list(np.ndindex((2,))),
        list(itertools.product([1, 2], repeat=2)),
    ]
    return result, count, pairs, total, rest


def hashed(x: Any) -> Any:
    return x * (hash((1, "a", None)) == hash((1, "a", None)))


def without_a_library(x: Any) -> Any:
    try:
        import no_such_library.part as library
    except ImportError as error:
        return x * 2, error.name
    return library.f(x)


@dataclasses.dataclass(order=True)
class Pair:
    first: float = 1.0
    second: int = 2


class Ordered:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Any) -> Any:
        return self.value < other.value

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class Told(Ordered):
    def __str__(self) -> str:
        return "told"


FACTOR, LIST, PAIR = 2.0, [1.5, 2.5], Pair()
ORDERED = [Ordered(3.0), Ordered(1.0), Told(2.0)]
TUPLES = [(1, Ordered(3.0)), (1, Ordered(1.0)), (0, Ordered(9.0))]


def compared_lists(x: Any) -> Any:
    equal = LIST == [1.5, 2.5], (FACTOR, 1) == (2, 1), [[FACTOR]] == [[2.0]], (FACTOR,) != (FACTOR, 1)
    less = LIST < [1.5, 3], [FACTOR] > [1.0, 5], (FACTOR,) < (FACTOR, 1)
    return equal, less, FACTOR in LIST, FACTOR in (1.0, 2.0), (x[0], FACTOR) < (2.0, 3.0), x


def compared_objects(x: Any) -> Any:
    first = sorted([Pair(3.0), PAIR])[0].first
    return Pair() == PAIR, Pair() != PAIR, Pair(2.0) > PAIR, Pair(0.5) <= PAIR, first, ORDERED[0] == ORDERED[1], x


def sorted_objects(x: Any) -> Any:
    items = [Ordered(x[0]), Ordered(x[3])]
    items.sort()
    orders = [[item.value for item in sorted(ORDERED, reverse=flag)] for flag in (False, True)]
    return orders, [item[1].value for item in sorted(TUPLES)], [item.value for item in items], x


def texts_of_objects(x: Any) -> Any:
    return repr(ORDERED[0]), str(ORDERED[0]), str(ORDERED[2]), f"{ORDERED[2]} {ORDERED[2]!r}", x


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("function", [compared_lists, compared_objects, sorted_objects, texts_of_objects])
def test_numbers_in_lists_and_objects_may_change(
    function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    jitted = wf.jit(function, strict=False)
    for values in ((2.0, 1.5, 1.0, 3.0), (1.0, 9.0, 0.1, 0.5), (2.0, 1.5, 1.0, 3.0), (float("inf"), 2.0, 2.0, 1.0)):
        monkeypatch.setitem(globals(), "FACTOR", values[0])
        LIST[0], PAIR.first, ORDERED[0].value = values[1:]
        assert repr(jitted(X)) == repr(function(X))
    assert jitted.ways["plain"] == 0, jitted.refusals


class Failure(Exception):
    def __init__(self, code: int, text: str = "") -> None:
        super().__init__(text)
        self.code = code


class Named(Exception):
    pass


def own_errors(x: Any) -> Any:
    found = []
    try:
        raise Failure(3, "text")
    except Failure as error:
        found += [error.code, error.args, str(error)]
    for kind in (Named, ValueError, KeyError):
        try:
            raise kind("a", 1)
        except Exception as error:
            found += [str(error), error.args]
    try:
        try:
            raise Named("k")
        except Named as error:
            raise Failure(1) from error
    except Failure as error:
        found.append(repr(error.__cause__))
    return found, x * 2


class Item:
    def __init__(self, value: float) -> None:
        self.value, self.own = value, self

    def times(self, k: float) -> float:
        return self.value * k


ITEMS = [Item(2.0), Item(1.0)]


def getters(x: Any) -> Any:
    ordered = sorted(ITEMS, key=operator.attrgetter("value"))
    both = operator.attrgetter("ndim", "real.dtype")(x)
    calls = operator.methodcaller("sum", axis=0)(x), operator.methodcaller("times", 3)(ordered[0])
    return [item.value for item in ordered], both, calls, operator.attrgetter("own.own.value")(ITEMS[0]) * x


def sums_of_many(x: Any) -> Any:
    return math.fsum(x), math.dist(x, x * 2), math.fsum([x[0], 1.0]), math.fsum(v * v for v in x), math.fsum([0.1] * 10)


@functools.singledispatch
def of_kind(value: Any) -> Any:
    return 0


@of_kind.register
def _(value: np.ndarray) -> Any:
    return value * 2


@of_kind.register(int)
@of_kind.register(float)
def _(value: Any) -> Any:
    return value + 1


class Kinds:
    @functools.singledispatchmethod
    def of(self, value: Any) -> Any:
        return 0

    @of.register
    def _(self, value: np.ndarray) -> Any:
        return value * 3


def by_type(x: Any) -> Any:
    return of_kind(x), of_kind(3), of_kind(2.0), of_kind("q"), of_kind(x[0]), Kinds().of(x), Kinds().of(1)


def wrapping(x: Any) -> Any:
    def doubled(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any) -> Any:
            wrapper.calls += 1  # type: ignore[attr-defined]
            return function(*args) * 2

        wrapper.calls = 0  # type: ignore[attr-defined]
        return wrapper

    @doubled
    def plus(x: Any) -> Any:
        return x + 1

    return plus(x) + plus(x), plus.__name__, plus.calls


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "function",
    [
        cooperative,
        stored_by_super,
        too_many_for_object,
        sorted_in_place,
        from_iterators,
        chosen,
        over_indices,
        own_errors,
        getters,
        sums_of_many,
        by_type,
        wrapping,
        hashed,
        without_a_library,
    ],
)
def test_is_compiled(function: Callable[[Any], Any]) -> None:
    jitted = wf.jit(function, strict=False)
    for turn in range(5):
        random.seed(turn)
        expected = function(X + turn)
        random.seed(turn)
        assert repr(jitted(X + turn)) == repr(expected)
    assert jitted.ways["plain"] == 0, jitted.refusals


def test_functions_without_a_module_may_be_given_to_numpy() -> None:
    space: dict[str, Any] = {"np": np}
    exec("def f(x):\n    return np.apply_along_axis(lambda row: row.sum(), 0, np.outer(x, x))", space)
    np.testing.assert_allclose(wf.jit(space["f"], strict=True)(X), space["f"](X))


def test_a_module_is_imported_once_and_then_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: Any) -> Any:
        import weft_late_module as module  # type: ignore[import-not-found]

        return module.f(x)

    def guarded(x: Any) -> Any:
        try:
            import weft_later_module as module  # type: ignore[import-not-found]
        except ImportError:
            return x
        return module.f(x)

    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "weft_late_module.py").write_text("LOADS = []\ndef f(x):\n    return x * 2\nLOADS.append(1)\n")
    jitted, jitted_guarded = wf.jit(function, strict=False), wf.jit(guarded, strict=False)
    for _ in range(4):
        np.testing.assert_array_equal(jitted(X), X * 2)
        np.testing.assert_array_equal(jitted_guarded(X), X)
    assert sys.modules["weft_late_module"].LOADS == [1]
    assert jitted.ways == {"compiled": 3, "pieces": 0, "plain": 1}
    (tmp_path / "weft_later_module.py").write_text("def f(x):\n    return x * 3\n")
    importlib.invalidate_caches()
    for _ in range(3):
        np.testing.assert_array_equal(jitted_guarded(X), X * 3)
    assert jitted_guarded.ways == {"compiled": 6, "pieces": 0, "plain": 1}
    for name in ("weft_late_module", "weft_later_module"):
        del sys.modules[name]


class Attributes(types.ModuleType):
    """The class of a module that finds its functions elsewhere."""

    backend = types.SimpleNamespace(scale=2.0)

    class Found:
        def __init__(self, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            return getattr(owner.backend, self.name)

    scale = Found("scale")

    @staticmethod
    def doubled(x: Any) -> Any:
        return x * 2

    @property
    def half(self) -> float:
        return 0.5


def test_modules_may_have_classes_of_their_own() -> None:
    module: Any = Attributes("a_module")
    other: Any = types.ModuleType("another_module")
    other.__getattr__ = module.__getattribute__

    @wf.jit
    def function(x: Any) -> Any:
        return module.doubled(x) * module.scale + other.half * other.doubled(x)

    for scale in (2.0, 3.0):
        Attributes.backend.scale = scale
        np.testing.assert_array_equal(function(X), X * 2 * scale + X)
    module.doubled = lambda x: x * 10
    np.testing.assert_array_equal(function(X), X * 30 + X * 5)
    other.half = 1.0
    np.testing.assert_array_equal(function(X), X * 30 + X * 10)


ATTRIBUTES = """
def helper(x):
    return x
class Owner:
    def method(self, x):
        return x
def counts(x):
    helper.calls = getattr(helper, "calls", 0) + 1
    if not hasattr(counts, "calls"):
        counts.calls = 10
    counts.calls += 1
    return x * counts.calls + helper.calls
def reads(x):
    try:
        return x * helper.scale
    except AttributeError:
        return x
def keeps(x):
    helper.last = x.sum()
    return x * helper.last + getattr(helper, "scale", 0.0)
def by_method(x):
    Owner.method.calls = getattr(Owner.method, "calls", 0) + 1
    return x * Owner.method.calls, Owner().method.calls
def inner(x):
    def own(y):
        own.calls = getattr(own, "calls", 0) + 1
        return y * own.calls
    return own(x) + own(x)
"""


@pytest.mark.parametrize("name", ["counts", "reads", "keeps", "by_method", "inner"])
def test_attributes_of_functions_are_what_they_are(name: str) -> None:
    found = []
    for change in (lambda function: function, wf.jit):
        space: dict[str, Any] = {}
        exec(ATTRIBUTES, space)
        function, helper = change(space[name]), space["helper"]
        for turn in range(6):
            if turn == 2:
                helper.scale = 2.0
            if turn == 4:
                del helper.scale
            found.append(repr((function(X), vars(helper), vars(space[name]))))
    assert found[:6] == found[6:]


def test_functions_registered_later_are_found() -> None:
    @functools.singledispatch
    def kind(value: Any) -> int:
        return 0

    jitted = wf.jit(lambda x: x * 0 + kind(x))
    assert jitted(X)[0] == 0
    kind.register(np.ndarray, lambda value: 5)
    assert jitted(X)[0] == 5
