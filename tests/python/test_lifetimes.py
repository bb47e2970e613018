"""What a jitted function was called with lives as long as plain calls let it live, but for the last few objects."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import weftwork as wf

pytestmark = pytest.mark.usefixtures("few_objects")


class Owner:
    """An object with much memory, which a part of it may hold in turn."""

    def __init__(self, in_circle: bool) -> None:
        self.weights, self.scale = np.ones(1000), 0.5
        if in_circle:
            self.part = [self]

    @wf.jit
    def scaled(self, x: Any) -> Any:
        return x * self.weights[:3] * self.scale

    @wf.jit
    def changed(self, x: Any) -> Any:
        self.weights = self.weights + x[0]
        return self.weights[:3] * 1.0

    @wf.jit(strict=False)
    def printed(self, x: Any) -> Any:
        print(end="")
        return x * self.scale


@pytest.mark.parametrize("in_circle", [False, True])
@pytest.mark.parametrize("name", ["scaled", "changed", "printed"])
def test_objects_live_as_long_as_plain_calls_let_them(name: str, in_circle: bool) -> None:
    stays, x = Owner(in_circle), np.ones(3)
    method = getattr(Owner, name)
    expected = method(stays, x)
    alive = []
    for _ in range(60):
        owner = Owner(in_circle)
        for _ in range(2):
            np.testing.assert_array_equal(method(owner, x).shape, expected.shape)
        alive.append(weakref.ref(owner))
        del owner
    gc.collect()
    assert sum(reference() is not None for reference in alive) <= 20
    before = method.plan_count
    method(stays, x)
    assert method.plan_count == before  # of who lives, the program stays


def test_classes_live_as_long_as_plain_calls_let_them() -> None:
    alive = []
    for _ in range(3):

        class Local:
            def __init__(self) -> None:
                self.weights = np.ones(3)

            @wf.jit(strict=False)
            def step(self, x: Any) -> Any:
                self.weights = self.weights - 0.1 * x
                return self.weights.sum()

        owner, x = Local(), np.ones(3)
        for _ in range(3):
            owner.step(x)
        np.testing.assert_allclose(owner.weights, 0.7)
        alive.append(weakref.ref(Local))
        del owner, Local
    gc.collect()
    assert [reference() for reference in alive] == [None] * 3


def averaged(x: Any) -> Any:
    def average() -> Any:
        mean = 0.0
        while True:
            mean = 0.9 * mean + 0.1 * (yield mean)

    running = average()
    next(running)
    return [running.send(v) for v in x]


def test_generators_of_calls_that_run_plainly_in_the_end_are_closed_in_silence(monkeypatch: Any) -> None:
    reported: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", reported.append)
    assert wf.jit(averaged, strict=False)(np.ones(3)) == averaged(np.ones(3))
    gc.collect()
    assert not reported


def doubled(x: Any) -> Any:
    return x * 2, x.sum()


def decided(x: Any) -> Any:
    return x * 2 if x.sum() > 0 else x


def searched(x: Any) -> Any:
    k = 0
    while x[k] > 0 and k < 50:
        k += 1
    return k


def viewed(x: Any) -> Any:
    x[0] = 3
    return [x[1:], {"a": x * 2}]


def shown(x: Any) -> Any:
    print(end="")
    return x * 2


@pytest.mark.parametrize("function", [doubled, decided, searched, viewed, shown])
def test_arguments_are_let_go_after_the_call(function: Any) -> None:
    jitted = wf.jit(function, strict=False)
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            x = np.ones(100)
            alive = weakref.ref(x)
            jitted(x)
            del x
            assert alive() is None
    finally:
        gc.enable()


KNOWN: list[Owner] = []
SHAPE = 3


class Listed(Owner):
    """An object that is known to one that is known to it."""

    def __init__(self, group: Any) -> None:
        super().__init__(False)
        self.group = group
        group.members.append(self)

    @wf.jit
    def scaled(self, x: Any) -> Any:
        return x * self.weights[:SHAPE] * self.group.scale


def test_what_others_have_keeps_its_programs() -> None:
    group: Any = type("Group", (), {})()
    group.members, group.scale = [], 2.0
    KNOWN.extend(Listed(group) for _ in range(20))
    try:
        for objects in (KNOWN, [Listed(group) for _ in range(20)]):
            for _ in range(2):
                for owner in objects:
                    owner.scaled(np.ones(3))
            before = Listed.scaled.plans()
            for owner in objects:
                owner.scaled(np.ones(3))
            assert len(Listed.scaled.plans()) == len(before) >= 20
    finally:
        KNOWN.clear()


def test_functions_that_are_arguments_live_as_long_as_plain_calls_let_them() -> None:
    @wf.jit
    def applied(x: Any, function: Any) -> Any:
        return function(x) * 2

    alive = []
    for k in range(60):
        large = np.full(3, float(k))
        function = lambda x, large=large: x + large
        for _ in range(2):
            assert applied(np.ones(3), function).tolist() == [2.0 * k + 2] * 3
        alive.append(weakref.ref(function))
        del function, large
    gc.collect()
    assert sum(reference() is not None for reference in alive) <= 20
