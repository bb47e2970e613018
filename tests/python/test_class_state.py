"""Attributes of classes that a call stores, descriptors of the user's and cached properties: seen by whoever reads them next."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf


class Magnitude:
    """A data descriptor."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = "_" + name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else getattr(instance, self.name, 1.0)

    def __set__(self, instance: Any, value: Any) -> None:
        setattr(instance, self.name, np.abs(value))


class Halved:
    """A descriptor that only reads."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else self.function(instance) / 2


class Base:
    scale: Any = 3.0
    count = 0
    total = np.zeros(2)
    weight = Magnitude()

    def __init__(self, base: Any = 2.0) -> None:
        self.base, self.runs = base, 0

    @functools.cached_property
    def square(self) -> Any:
        self.runs += 1
        return self.base * self.base

    @Halved
    def half(self) -> Any:
        return self.base

    @classmethod
    def counted(cls, x: Any) -> Any:
        cls.count += 1
        cls.last = x
        return x * cls.count


class Derived(Base):
    def of_base(self) -> Any:
        return super().scale


def fresh() -> tuple[type, type]:
    """Both classes as nobody has changed them."""
    base = type("Base", Base.__bases__, {k: v for k, v in vars(Base).items() if k not in ("__dict__", "__weakref__")})
    base.total = np.zeros(2)  # type: ignore[attr-defined]
    derived = type("Derived", (base,), {})
    derived.of_base = lambda self: super(derived, self).scale  # type: ignore[attr-defined]
    return base, derived


def stored_new(B: Any, D: Any, b: Any, d: Any, x: Any) -> Any:
    B.extra = (x * 2).mean()
    return b.extra * x, d.extra, D.extra


def stored_again(B: Any, D: Any, b: Any, d: Any, x: Any) -> Any:
    B.scale = B.scale + x.sum()
    return b.scale * x, d.scale, D.scale, d.of_base()


def stored_in_derived(B: Any, D: Any, b: Any, d: Any, x: Any) -> Any:
    D.scale = x.sum()
    return d.scale * x, b.scale, B.scale, d.of_base()


def hidden_by_the_object(B: Any, D: Any, b: Any, d: Any, x: Any) -> Any:
    d.count += 1
    D.count = 7
    return d.count * x, D.count, B.count, b.count


def by_a_classmethod(B: Any, D: Any, b: Any, d: Any, x: Any) -> Any:
    return B.counted(x), d.counted(x), B.count, D.count, D.last


def added_to(B: Any, D: Any, b: Any, d: Any, x: Any) -> Any:
    B.total += x
    D.total = D.total + 1
    return B.total, D.total, b.total, d.total


def described(B: Any, D: Any, b: Any, d: Any, x: Any) -> Any:
    b.weight = -2 * x
    d.weight -= 3
    return b.weight, d.weight * x, b.half, d.half


def cached(B: Any, D: Any, b: Any, d: Any, x: Any) -> Any:
    d.base = d.base + 1
    return b.square * x, b.square, b.runs, d.square, d.square is d.square


def cached_within(B: Any, D: Any, b: Any, d: Any, x: Any) -> Any:
    other = B(x)
    return other.square, other.half, other.square, other.runs


@pytest.mark.parametrize(
    "function",
    [
        stored_new,
        stored_again,
        stored_in_derived,
        hidden_by_the_object,
        by_a_classmethod,
        added_to,
        described,
        cached,
        cached_within,
    ],
)
def test_what_is_stored_is_what_is_read(function: Callable[..., Any]) -> None:
    found = []
    for run in (function, wf.jit(function)):
        base, derived = fresh()
        b, d = base(), derived(3.0)
        texts = []
        for turn in range(4):
            if turn == 2:
                base.scale, b = 0.5, base(np.array([1.0, 4.0]))  # type: ignore[attr-defined]
            texts.append(str(run(base, derived, b, d, np.array([1.0, -2.0]) + turn)))
            texts += [str(vars(thing)) for thing in (b, d)]
            texts += [
                str(vars(kind).get(name))
                for kind in (base, derived)
                for name in ("scale", "extra", "count", "last", "total")
            ]
        found.append(texts)
    assert found[0] == found[1]


def test_the_dictionary_of_a_class_is_no_constant() -> None:
    def function(x: Any) -> Any:
        Base.scale = 7.0
        return Base.__dict__["scale"] * x

    try:
        assert wf.jit(function, strict=False)(np.ones(2)).tolist() == [7.0, 7.0]
    finally:
        Base.scale = 3.0


def test_what_is_put_into_classes_between_calls_is_seen() -> None:
    class Above:
        scale = 3.0

    class Below(Above):
        pass

    thing = Below()

    def function(x: Any) -> Any:
        found = getattr(thing, "later", 1.0), hasattr(Below, "soon"), hasattr(thing, "method") and thing.method(x)
        return x * thing.scale, x * Below.scale, found, thing + x if hasattr(Below, "__add__") else None

    def put(turn: int) -> None:
        match turn:
            case 1:
                Below.scale = 5.0
            case 2:
                Below.later, Above.soon = 7.0, True  # type: ignore[attr-defined]
            case 3:
                Above.method = lambda self, x: x * 9  # type: ignore[attr-defined]
            case 4:
                Below.method = lambda self, x: x + 9  # type: ignore[attr-defined]
            case 5:
                Below.__add__ = lambda self, x: x - 1  # type: ignore[attr-defined]
            case 6:
                del Below.scale
                Above.scale = property(lambda self: 0.5)  # type: ignore[assignment]

    jitted = wf.jit(function, strict=False)
    for turn in range(7):
        put(turn)
        for _ in range(2):
            try:
                expected = str(function(np.array([1.0, 2.0])))
            except TypeError:
                with pytest.raises(TypeError):
                    jitted(np.array([1.0, 2.0]))
            else:
                assert str(jitted(np.array([1.0, 2.0]))) == expected


def test_a_counter_in_a_class_counts() -> None:
    class Counted:
        pass

    def function(x: Any) -> Any:
        Counted.made = getattr(Counted, "made", 0) + 1  # type: ignore[attr-defined]
        return x * Counted.made  # type: ignore[attr-defined]

    jitted = wf.jit(function)
    assert [float(jitted(np.ones(1))[0]) for _ in range(4)] == [1.0, 2.0, 3.0, 4.0]


def test_containers_of_others_are_returned_as_they_are_where_arguments_share_memory() -> None:
    kept: list[Any] = [1.0]

    def function(m: Any, q: Any) -> Any:
        q[-1:] = 1
        return kept, m, q

    m = np.zeros((2, 3))
    transposed = m.T
    result = wf.jit(function, strict=False)(m, transposed)
    assert result[0] is kept and result[1] is m and result[2] is transposed
    assert m.tolist() == [[0, 0, 1], [0, 0, 1]]


class Settings(dict[str, Any]):
    def __init__(self) -> None:
        super().__init__(a=1)
        self.scale = 2.0

    def scaled(self, x: Any) -> Any:
        return x * self.scale


SETTINGS = Settings()


def test_one_program_serves_an_object_that_is_a_dictionary() -> None:
    jitted = wf.jit(lambda x: SETTINGS.scaled(x))
    for scale in (2.0, 3.0, 3.0):
        SETTINGS.scale = scale
        assert jitted(np.ones(2)).tolist() == [scale, scale]
    assert jitted.ways["compiled"] == 3 and jitted.plan_count == 1
