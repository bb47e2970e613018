"""Objects of classes that derive from list, tuple and dict: read as plain ones are, and written plainly."""

from __future__ import annotations

import collections
import functools
from typing import Any

import numpy as np
import pytest
import same_types
from same_types import outcome

import weftwork as wf


class Layers(list):
    def total(self) -> int:
        return len(self)


class Settings(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__  # type: ignore[assignment]


class Defaults(dict):
    def __missing__(self, key: str) -> float:
        return 0.5


class Pair(tuple):
    __slots__ = ()

    @property
    def first(self) -> Any:
        return self[0]


class Doubling(list):
    def __getitem__(self, place: Any) -> Any:
        return list.__getitem__(self, place) * 2


GIVEN = np.linspace(0.1, 1, 12)
same = functools.partial(same_types.same, atol=0)


class World:
    """What a function reads, twice: for the plain call and the compiled one."""

    def __init__(self) -> None:
        self.layers = Layers([np.full(12, 2.0), np.arange(12.0)])
        self.settings = Settings(rate=0.1, steps=3, name="a", weights=[np.ones(12)])
        self.defaults, self.pair = Defaults(a=1.5), Pair((2.0, np.arange(12.0)))
        self.doubling, self.counted = Doubling([1.0, 2.0]), collections.Counter("aab")


def looped(w: World, x: np.ndarray) -> Any:
    for layer in w.layers:
        x = x + layer
    return x, len(w.layers), w.layers.total(), bool(w.layers)


def indexed(w: World, x: np.ndarray) -> Any:
    return x * w.layers[0] + w.layers[-1], w.layers[1:][0], w.pair[0] * x, w.pair.first, (*w.layers, 1)


def configured(w: World, x: np.ndarray) -> Any:
    if w.settings.name == "a" and "steps" in w.settings and w.settings.missing is None:
        for _ in range(w.settings.steps):
            x = x - w.settings.rate * w.settings["weights"][0]
    return x, [v for v in w.settings if v], w.settings.get("nothing", 4), list(w.settings.items())[1]


def defaulted(w: World, x: np.ndarray) -> Any:
    return x * w.defaults["a"] + w.defaults["b"], w.counted["a"], w.counted["z"], sorted(w.counted.values())


def unpacked(w: World, x: np.ndarray) -> Any:
    first, second = w.layers[:2]
    gathered = {**w.defaults, "c": x}
    return first + second, gathered, scaled(x, **w.defaults), sum(w.layers), max(w.pair[0], 1), dict(w.defaults)


def scaled(x: np.ndarray, a: float = 1, b: float = 0) -> np.ndarray:
    return x * a + b


def added(w: World, x: np.ndarray) -> Any:
    return (w.layers + [x])[2], (w.layers * 2)[3], next(reversed(list(w.layers))), w.layers.copy()[0]


READING = [looped, indexed, configured, defaulted, unpacked, added]


@pytest.mark.parametrize("function", READING)
def test_what_is_read_is_compiled_and_read_at_each_call(function: Any) -> None:
    fast, plain, compiled = wf.jit(function), World(), World()
    for change in (None, None, grow, None, other, None, rename):
        for world in (plain, compiled):
            if change is not None:
                change(world)
        same(outcome(fast, (compiled, GIVEN)), outcome(function, (plain, GIVEN)))
    assert not fast.ways["pieces"] and fast.ways["compiled"] >= 4


def grow(w: World) -> None:
    w.layers.append(np.ones(12))
    w.settings["steps"] = 5
    w.defaults["b"] = 3.0


def other(w: World) -> None:
    w.layers[0] = np.full(12, -1.0)
    w.layers[1] *= 2  # in place
    w.settings["rate"], w.settings["weights"] = 0.7, [np.arange(12.0)]
    w.pair = Pair((3.0, np.ones(12)))
    w.counted["a"] += 5


def rename(w: World) -> None:
    w.settings["name"] = "b"
    w.layers[:] = w.layers[:2]


def stores(w: World, x: np.ndarray) -> Any:
    w.settings.steps = w.settings.steps + 1
    w.layers.append(x)
    return x * w.settings.steps


def overridden(w: World, x: np.ndarray) -> Any:
    return x * w.doubling[0], [v * x for v in w.doubling]


def made(w: World, x: np.ndarray) -> Any:
    return Layers([x + 1, x]), Settings(a=x * 2), Pair((x, 1))


@pytest.mark.parametrize("function", [stores, overridden, made])
def test_others_run_plainly(function: Any) -> None:
    fast, plain, compiled = wf.jit(function, strict=False), World(), World()
    for _ in range(3):
        found, wanted = fast(compiled, GIVEN), function(plain, GIVEN)
        same(found, wanted)
        same(list(compiled.layers), list(plain.layers))
        assert compiled.settings["steps"] == plain.settings["steps"]


class Halved:
    def _store(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value / 2)

    __setattr__ = functools.partialmethod(_store)  # type: ignore[assignment]


def test_what_stores_attributes_in_a_way_of_its_own_is_asked() -> None:
    def bind(owner: Any, x: np.ndarray) -> Any:
        owner.total = x.sum()
        return x * owner.total

    plain, compiled = Halved(), Halved()
    np.testing.assert_allclose(wf.jit(bind, strict=False)(compiled, GIVEN), bind(plain, GIVEN))
    assert compiled.total == pytest.approx(plain.total)
